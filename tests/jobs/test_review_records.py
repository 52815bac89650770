"""Reviews in Redis: created once, listed in order, changed only by whoever holds the lease."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from redis.asyncio import Redis
from watched_pipeline import RESULT, until

from trigpoint.errors import CannotCancel, ReviewAlreadyExists, ReviewNotFound
from trigpoint.jobs.queue import Lease, Queue
from trigpoint.jobs.reviews import Reviews
from trigpoint.review.models import Progress, ReviewOptions

REF = "25/01178/REM"


async def create(reviews: Reviews, ref: str = REF) -> str:
    return (await reviews.create(ref, None, None, request_id="-")).review_id


async def claim(redis: Redis) -> Lease:
    lease = await Queue(redis).claim("test")
    assert lease is not None
    return lease


async def test_of_twenty_concurrent_submissions_one_is_created(reviews: Reviews) -> None:
    """R2"""
    outcomes = await asyncio.gather(*(create(reviews) for _ in range(20)), return_exceptions=True)
    created = [outcome for outcome in outcomes if isinstance(outcome, str)]
    refused = [outcome for outcome in outcomes if isinstance(outcome, ReviewAlreadyExists)]
    assert (len(created), len(refused)) == (1, 19)
    rows, total = await reviews.list(limit=20, offset=0)
    assert ([row.review_id for row in rows], total) == (created, 1)


async def test_after_a_review_has_ended_another_may_be_submitted(reviews: Reviews, redis: Redis) -> None:
    first = await create(reviews)
    await reviews.cancel(first)
    second = await create(reviews)
    lease = await claim(redis)
    assert lease.job_id == second
    await reviews.start(lease)
    await reviews.complete(lease, REF, RESULT)
    assert await create(reviews) not in (first, second)


async def test_lists_are_newest_first_filtered_by_status_reference_and_both(reviews: Reviews) -> None:
    """R10"""
    ids = []
    for number in range(6):
        ids.append(await create(reviews, "24/00001/F" if number % 2 else f"25/{number:05d}/F"))
        if number in (1, 3):
            await reviews.cancel(ids[-1])
    rows, total = await reviews.list(limit=2, offset=1)
    assert ([row.review_id for row in rows], total) == ([ids[4], ids[3]], 6)
    rows, total = await reviews.list(status="cancelled", limit=20, offset=0)
    assert ([row.review_id for row in rows], total) == ([ids[3], ids[1]], 2)
    rows, total = await reviews.list(application_ref="24/00001/F", limit=20, offset=0)
    assert ([row.review_id for row in rows], total) == ([ids[5], ids[3], ids[1]], 3)
    rows, total = await reviews.list(status="queued", application_ref="24/00001/F", limit=20, offset=0)
    assert ([row.review_id for row in rows], total) == ([ids[5]], 1)
    assert await reviews.list(status="failed", application_ref="24/00001/F", limit=20, offset=0) == ([], 0)


async def test_a_completed_review_has_its_result_and_rating_and_no_progress(reviews: Reviews, redis: Redis) -> None:
    review_id = await create(reviews)
    lease = await claim(redis)
    started = await reviews.start(lease)
    assert started is not None
    assert (started.application_ref, started.options) == (REF, ReviewOptions())
    await reviews.progress(lease, REF, Progress("downloading_documents", 2, 5, 5, "…"))
    assert await reviews.status(review_id) == ("processing", "downloading_documents", "5")
    assert await reviews.complete(lease, REF, RESULT)
    review = await reviews.get(review_id)
    assert review.status == "completed"
    assert review.result() == RESULT
    assert review.progress is None
    assert review.completed_at is not None
    (row,), _ = await reviews.list(limit=20, offset=0)
    assert (row.overall_rating, row.completed_at) == ("amber", review.completed_at)
    assert not await Queue(redis).exists(review_id)


async def test_a_failed_review_has_no_completed_at(reviews: Reviews, redis: Redis) -> None:
    """R6"""
    review_id = await create(reviews)
    lease = await claim(redis)
    await reviews.start(lease)
    await reviews.fail(lease, REF, "scraper_error", "Application not found on Cherwell planning portal")
    review = await reviews.get(review_id)
    assert (review.status, review.completed_at) == ("failed", None)
    assert review.error == '{"code":"scraper_error","message":"Application not found on Cherwell planning portal"}'


async def test_progress_never_goes_back(reviews: Reviews, redis: Redis) -> None:
    """R3"""
    review_id = await create(reviews)
    lease = await claim(redis)
    await reviews.start(lease)
    await reviews.progress(lease, REF, Progress("ingesting_documents", 3, 5, 40, ""))
    for late in (Progress("downloading_documents", 2, 5, 20, ""), Progress("ingesting_documents", 3, 5, 30, "")):
        assert await reviews.progress(lease, REF, late)
        assert await reviews.status(review_id) == ("processing", "ingesting_documents", "40")


async def test_once_cancelled_nothing_that_comes_later_changes_it(reviews: Reviews, redis: Redis) -> None:
    """R4"""
    review_id = await create(reviews)
    lease = await claim(redis)
    await reviews.start(lease)
    await reviews.cancel(review_id)
    assert not await reviews.progress(lease, REF, Progress("generating_review", 5, 5, 90, ""))
    assert not await reviews.save_checkpoint(lease, "generating_review", {})
    assert not await reviews.complete(lease, REF, RESULT)
    assert not await reviews.fail(lease, REF, "internal_error", "late")
    assert await reviews.start(lease) is None
    review = await reviews.get(review_id)
    assert (review.status, review.review, review.error, review.progress) == ("cancelled", None, None, None)
    with pytest.raises(CannotCancel, match="Cannot cancel review with status 'cancelled'"):
        await reviews.cancel(review_id)


async def test_cancelling_and_finishing_at_the_same_moment_gives_one_of_the_two(reviews: Reviews, redis: Redis) -> None:
    for number in range(30):
        ref = f"25/{number:05d}/F"
        review_id = await create(reviews, ref)
        lease = await claim(redis)
        await reviews.start(lease)
        cancelled, kept = await asyncio.gather(
            reviews.cancel(review_id), reviews.complete(lease, ref, RESULT), return_exceptions=True
        )
        status = (await reviews.get(review_id)).status
        if cancelled is None:
            assert (status, kept) == ("cancelled", False)
        else:
            assert isinstance(cancelled, CannotCancel)
            assert (status, kept) == ("completed", True)


async def test_a_worker_that_lost_its_lease_can_write_nothing(redis: Redis) -> None:
    reviews = Reviews(redis)
    review_id = await create(reviews)
    impatient = Queue(redis, lease_seconds=0.01)
    first = await impatient.claim("first")
    assert first is not None
    await reviews.start(first)
    second = await until(lambda: impatient.claim("second"))
    assert (second.job_id, second.tries) == (review_id, 2)
    assert await impatient.heartbeat(first) == "lost"
    assert not await reviews.complete(first, REF, RESULT)
    assert (await reviews.get(review_id)).status == "processing"
    assert await reviews.start(second) is not None
    assert await reviews.complete(second, REF, RESULT)


async def test_an_id_that_is_no_review_is_not_found_whatever_it_says(reviews: Reviews) -> None:
    review_id = await create(reviews)
    for odd in ("rev_nonexistent", "", f"{review_id}:outbox", f"{review_id}\n", "rev_" + "Ü" * 26, "x" * 5000):
        with pytest.raises(ReviewNotFound):
            await reviews.get(odd)
        with pytest.raises(ReviewNotFound):
            await reviews.cancel(odd)


async def test_a_purge_removes_old_ended_reviews_with_all_their_keys_and_no_others(
    reviews: Reviews, redis: Redis
) -> None:
    kept = await create(reviews, "25/00001/F")
    gone = await create(reviews, "25/00002/F")
    await reviews.cancel(gone)
    assert await reviews.purge(timedelta(days=1)) == 0
    await asyncio.sleep(0.01)
    assert await reviews.purge(timedelta(0)) == 1
    assert not await redis.keys(f"*{gone}*")
    rows, total = await reviews.list(limit=20, offset=0)
    assert ([row.review_id for row in rows], total) == ([kept], 1)
    assert await reviews.list(status="cancelled", limit=20, offset=0) == ([], 0)
