"""Reviews that somebody's agent leads, among the others: one leader, nothing lost, and an end if the leader falls silent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from redis.asyncio import Redis
from watched_pipeline import RESULT, until_status

from trigpoint.config import Settings
from trigpoint.errors import InvalidInput, ReviewAlreadyExists, ReviewEnded, ReviewLedByAnother
from trigpoint.ids import new_review_id
from trigpoint.jobs.led import Handle, LedReviews
from trigpoint.jobs.queue import Queue
from trigpoint.jobs.reviews import Reviews
from trigpoint.jobs.worker import Worker
from trigpoint.review.models import ReviewOptions, ReviewRequest

REF = "25/01178/REM"


@pytest.fixture
def led(redis: Redis, job_settings: Callable[..., Settings]) -> LedReviews:
    return LedReviews(redis, job_settings())


async def opened(led: LedReviews, ref: str = REF, client: str = "Desk 1.0") -> Handle:
    request = ReviewRequest(new_review_id(), ref, ReviewOptions())
    return await led.open(request, client, request_id="req-1")


async def ready(led: LedReviews, redis: Redis, handle: Handle) -> None:
    """As after its opening: the job is the agent's."""
    lease = await Queue(redis).claim_job(handle.review_id, "test")
    assert lease is not None
    assert await Reviews(redis).start(lease) is not None
    assert await led.hand_over(lease)


async def test_of_two_processes_one_opens_a_review(led: LedReviews, redis: Redis) -> None:
    handle = await opened(led)
    claims = await asyncio.gather(*(Queue(redis).claim_job(handle.review_id, f"w{n}") for n in range(8)))
    assert sum(lease is not None for lease in claims) == 1


async def test_an_application_that_an_agent_reviews_cannot_be_submitted_as_well(
    led: LedReviews, reviews: Reviews
) -> None:
    handle = await opened(led)
    with pytest.raises(ReviewAlreadyExists):
        await reviews.create(REF, None, None, request_id="req-2")
    with pytest.raises(ReviewAlreadyExists) as told:
        await opened(led)
    assert told.value.details["review_id"] == handle.review_id


async def test_a_second_agent_is_told_who_leads_and_may_follow_only_by_force_or_after_a_pause(
    led: LedReviews, redis: Redis
) -> None:
    first = await opened(led)
    await ready(led, redis, first)
    with pytest.raises(ReviewLedByAnother, match=r"Desk 1\.0 leads review .* take_over=true"):
        await led.take_over(first.review_id, "Editor 2", force=False)
    second = await led.take_over(first.review_id, "Editor 2", force=True)
    assert (await led.call(second)).led_by == "Editor 2"
    with pytest.raises(ReviewLedByAnother, match="Editor 2 has taken it over"):
        await led.call(first)
    with pytest.raises(ReviewLedByAnother):
        await led.save_draft(first, 0, {"draft": 1})
    assert await led.save_draft(second, 0, {"draft": 2})
    await redis.hincrby(f"review:{first.review_id}", "led_at", -11 * 60_000)
    third = await led.take_over(first.review_id, "Desk 1.0", force=False)
    assert await led.load_draft(third.review_id) == (1, {"draft": 2})


async def test_of_two_calls_that_change_one_draft_the_second_must_read_it_again(led: LedReviews, redis: Redis) -> None:
    handle = await opened(led)
    await ready(led, redis, handle)
    kept = await asyncio.gather(*(led.save_draft(handle, 0, {"call": n}) for n in range(5)))
    assert sorted(kept) == [False] * 4 + [True]
    version, state = await led.load_draft(handle.review_id)
    assert (version, state) == (1, {"call": kept.index(True)})


async def test_a_finished_review_is_listed_with_its_agent_and_takes_nothing_more(
    led: LedReviews, reviews: Reviews, redis: Redis
) -> None:
    handle = await opened(led)
    rows, _ = await reviews.list(limit=5, offset=0)
    assert [(row.status, row.model) for row in rows] == [("queued", "Desk 1.0")]
    assert [one.review_id for one in await led.active()] == [handle.review_id]
    await ready(led, redis, handle)
    by_desk = RESULT.model_copy(update={"metadata": RESULT.metadata.model_copy(update={"model": "Desk 1.0"})})
    assert await reviews.complete(handle.lease, REF, by_desk)
    rows, _ = await reviews.list(limit=5, offset=0)
    assert [(row.status, row.model) for row in rows] == [("completed", "Desk 1.0")]
    assert not await reviews.complete(handle.lease, REF, by_desk)
    with pytest.raises(ReviewEnded, match="completed"):
        await led.save_draft(handle, 0, {})
    with pytest.raises(ReviewEnded, match="completed"):
        await led.take_over(handle.review_id, "Desk 1.0", force=True)
    assert not await Queue(redis).exists(handle.review_id)
    await opened(led)  # the application is free again


async def test_an_agent_that_falls_silent_ends_its_review_with_that_reason_and_a_talking_one_does_not(
    reviews: Reviews, redis: Redis, job_settings: Callable[..., Settings]
) -> None:
    settings = job_settings(review_agent_hours=2 / 3600)
    led = LedReviews(redis, settings)
    silent, talking = await opened(led), await opened(led, "25/00001/F", "Editor 2")
    await ready(led, redis, silent)
    await ready(led, redis, talking)
    stop = asyncio.Event()
    worker = asyncio.create_task(Worker(redis, settings).run(stop))
    try:
        talk = asyncio.create_task(_talk(led, talking))
        assert await until_status(reviews, silent.review_id, "failed", "completed", seconds=20) == "failed"
        talk.cancel()
        review = await reviews.get(silent.review_id)
        assert "Desk 1.0, which led this review, made no call for" in str(review.error)
        assert '"analysis_failed"' in str(review.error)
        assert (await reviews.get(talking.review_id)).status == "processing"
        with pytest.raises(ReviewEnded):
            await led.save_draft(silent, 0, {})
    finally:
        stop.set()
        await asyncio.wait_for(worker, 15)


async def _talk(led: LedReviews, handle: Handle) -> None:
    while True:
        await led.call(handle)
        await asyncio.sleep(0.2)


async def test_a_cancelled_review_is_the_agents_no_longer(led: LedReviews, reviews: Reviews, redis: Redis) -> None:
    handle = await opened(led)
    await ready(led, redis, handle)
    await reviews.cancel(handle.review_id)
    assert (await led.call(handle)).status == "cancelled"
    with pytest.raises(ReviewEnded, match="cancelled"):
        await led.save_draft(handle, 0, {})
    await opened(led)


async def test_a_review_that_no_agent_opened_cannot_be_taken_over(led: LedReviews, reviews: Reviews) -> None:
    review = await reviews.create(REF, None, None, request_id="req-1")
    with pytest.raises(ReviewLedByAnother, match="judged by Trigpoint itself"):
        await led.take_over(review.review_id, "Desk 1.0", force=True)


@pytest.mark.parametrize(
    "text", ["", "rev_1", "rev_01ARZ3NDEKTSV4RRFFQ69G5FAV", "rev_01ARZ3NDEKTSV4RRFFQ69G5FAV-xyz", "*"]
)
def test_what_is_no_handle_is_refused_with_what_to_do(text: str) -> None:
    with pytest.raises(InvalidInput, match="open_review"):
        Handle.parse(text)
