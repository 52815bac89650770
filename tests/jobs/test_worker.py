"""The worker: cancels within seconds, resumes after the last finished phase, gives up after three tries."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis
from watched_pipeline import RESULT, Broken, WatchedPipeline, until, until_status

from trigpoint.jobs.queue import Queue
from trigpoint.jobs.reviews import Reviews
from trigpoint.review.models import PHASES

REF = "25/01178/REM"
NAMES = [phase.name for phase in PHASES]


async def submit(reviews: Reviews, ref: str = REF) -> str:
    return (await reviews.create(ref, None, None, request_id="req-1")).review_id


async def test_a_queued_review_is_run_to_its_end(reviews: Reviews, pipeline: WatchedPipeline, working: Any) -> None:
    async with working():
        review_id = await submit(reviews)
        assert await until_status(reviews, review_id, "completed", "failed") == "completed"
    assert pipeline.done == [(review_id, name) for name in NAMES]
    assert (await reviews.get(review_id)).result() == RESULT


async def test_a_review_cancelled_while_queued_never_starts(
    reviews: Reviews, pipeline: WatchedPipeline, working: Any, redis: Redis
) -> None:
    review_id = await submit(reviews)
    await reviews.cancel(review_id)
    after = await submit(reviews, "25/00001/F")
    async with working():
        await until_status(reviews, after, "completed")
    assert {done for done, _ in pipeline.done} == {after}
    assert (await reviews.get(review_id)).status == "cancelled"
    assert not await Queue(redis).exists(review_id)


@pytest.mark.parametrize("phase", NAMES)
async def test_a_review_cancelled_in_a_phase_stops_there_and_stays_cancelled(
    reviews: Reviews, pipeline: WatchedPipeline, working: Any, redis: Redis, phase: str
) -> None:
    """R4"""
    pipeline.hold_in = phase
    async with working():
        review_id = await submit(reviews)
        await asyncio.wait_for(pipeline.entered[phase].wait(), 10)
        await reviews.cancel(review_id)
        await until(lambda: _gone(redis, review_id), seconds=5)
        assert pipeline.stopped == [review_id]
        pipeline.go_on.set()
    review = await reviews.get(review_id)
    assert (review.status, review.review, review.completed_at) == ("cancelled", None, None)
    assert [name for _, name in pipeline.done] == NAMES[: NAMES.index(phase)]
    assert not await redis.exists(f"review:{review_id}:checkpoints")


async def _gone(redis: Redis, job_id: str) -> bool:
    return not await Queue(redis).exists(job_id)


async def test_a_new_review_may_be_submitted_at_once_after_a_cancel(
    reviews: Reviews, pipeline: WatchedPipeline, working: Any
) -> None:
    pipeline.hold_in = NAMES[2]
    async with working():
        first = await submit(reviews)
        await asyncio.wait_for(pipeline.entered[NAMES[2]].wait(), 10)
        await reviews.cancel(first)
        pipeline.hold_in = None
        second = await submit(reviews)
        assert await until_status(reviews, second, "completed", "failed") == "completed"
    assert (await reviews.get(first)).status == "cancelled"


async def test_a_stopped_worker_hands_its_job_back_and_the_next_one_goes_on_after_the_last_phase(
    reviews: Reviews, pipeline: WatchedPipeline, working: Any, redis: Redis
) -> None:
    pipeline.hold_in = NAMES[3]
    async with working():
        review_id = await submit(reviews)
        await asyncio.wait_for(pipeline.entered[NAMES[3]].wait(), 10)
    assert (await reviews.get(review_id)).status == "processing"
    assert await redis.zscore("jobs:queued", review_id) is not None
    assert await redis.hget(f"job:{review_id}", "tries") == "0"
    pipeline.hold_in = None
    async with working():
        await until_status(reviews, review_id, "completed")
    assert pipeline.done == [(review_id, name) for name in NAMES]


async def test_a_failure_that_the_pipeline_names_is_final(
    reviews: Reviews, pipeline: WatchedPipeline, working: Any
) -> None:
    pipeline.raises = Broken("No evidence could be judged")
    async with working():
        review_id = await submit(reviews)
        await until_status(reviews, review_id, "failed")
    assert (await reviews.get(review_id)).error == '{"code":"analysis_failed","message":"No evidence could be judged"}'


async def test_an_unexpected_error_is_tried_three_times_and_then_internal_error(
    reviews: Reviews, pipeline: WatchedPipeline, working: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R5"""
    monkeypatch.setattr("trigpoint.jobs.worker._RETRY_SECONDS", 0.01)
    pipeline.raises = RuntimeError("boom")
    async with working():
        review_id = await submit(reviews)
        await until_status(reviews, review_id, "failed")
    assert pipeline.calls == 3
    error = (await reviews.get(review_id)).error or ""
    assert '"code":"internal_error"' in error
    assert "boom" not in error
    await submit(reviews)  # the application is not blocked


async def test_a_job_whose_workers_all_died_is_given_up_after_three_tries(
    reviews: Reviews, pipeline: WatchedPipeline, working: Any, redis: Redis
) -> None:
    """R5"""
    review_id = await submit(reviews)
    impatient = Queue(redis, lease_seconds=0.005)
    for tries in (1, 2, 3):
        lease = await until(lambda: impatient.claim("dies"))
        assert lease.tries == tries
    async with working():
        await until_status(reviews, review_id, "failed")
    assert pipeline.done == []
    assert '"code":"internal_error"' in ((await reviews.get(review_id)).error or "")


async def test_concurrency_is_respected(reviews: Reviews, pipeline: WatchedPipeline, working: Any) -> None:
    pipeline.hold_in = NAMES[0]
    async with working(worker_concurrency=2):
        ids = [await submit(reviews, f"25/0000{n}/F") for n in range(4)]
        await until_status(reviews, ids[1], "processing")
        await asyncio.sleep(0.3)
        statuses = [(await reviews.get(review_id)).status for review_id in ids]
        assert statuses == ["processing", "processing", "queued", "queued"]
        pipeline.go_on.set()
        for review_id in ids:
            await until_status(reviews, review_id, "completed")


async def test_percent_rises_and_is_below_100_until_completed(
    reviews: Reviews, pipeline: WatchedPipeline, working: Any
) -> None:
    """R3"""
    pipeline.hold_in = NAMES[4]
    async with working():
        review_id = await submit(reviews)
        await asyncio.wait_for(pipeline.entered[NAMES[4]].wait(), 10)
        assert await reviews.status(review_id) == ("processing", NAMES[4], "85")
        pipeline.go_on.set()
        await until_status(reviews, review_id, "completed")
    assert (await reviews.status(review_id))[1] is None
