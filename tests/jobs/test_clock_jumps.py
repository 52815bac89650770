"""A clock that is set back or forward: no job waits longer than its lease, and none is taken from its worker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest
from redis.asyncio import Redis

from trigpoint.jobs.queue import Lease, Queue

HOUR_MS = 3_600_000
LEASE_SECONDS = 0.6


@pytest.fixture
def queue(redis: Redis) -> Queue:
    return Queue(redis, lease_seconds=LEASE_SECONDS)


async def claimed(queue: Queue) -> Lease:
    await queue.enqueue("job_1", "review", {}, holds="held", request_id="-")
    lease = await queue.claim("first")
    assert lease is not None
    return lease


async def set_clock(redis: Redis, milliseconds: int) -> None:
    """Let the wall clock look as if it had moved by so much since the last look."""
    seen = int(await redis.hget("clock", "wall"))  # type: ignore[misc]
    await redis.hset("clock", "wall", seen - milliseconds)  # type: ignore[misc]


@pytest.mark.fault(
    "the clock (set back)", phase="a job whose worker died", seen="nothing: the job is taken up when its lease ends"
)
async def test_after_the_clock_went_back_a_dead_workers_job_is_taken_up_as_soon_as_its_lease_ends(
    redis: Redis, queue: Queue, goes_on: Callable[[float], None]
) -> None:
    await claimed(queue)
    died = time.monotonic()
    await set_clock(redis, -HOUR_MS)
    assert await queue.claim("second") is None
    await asyncio.sleep(LEASE_SECONDS + 0.1)
    taken = await queue.claim("second")
    assert taken is not None
    assert taken.job_id == "job_1"
    goes_on(time.monotonic() - died)


@pytest.mark.fault("the clock (set forward)", phase="a job under way", seen="nothing: the worker keeps its job")
async def test_after_the_clock_went_forward_a_living_worker_keeps_its_job(
    redis: Redis, goes_on: Callable[[float], None]
) -> None:
    queue = Queue(redis, lease_seconds=30)
    lease = await claimed(queue)
    await set_clock(redis, HOUR_MS)
    moved = time.monotonic()
    assert await queue.claim("second") is None
    assert await queue.heartbeat(lease) == "held"
    goes_on(time.monotonic() - moved)


async def test_time_passes_as_it_should_while_somebody_looks(redis: Redis, queue: Queue) -> None:
    await claimed(queue)
    for _ in range(3):
        await asyncio.sleep(LEASE_SECONDS / 4)
        assert await queue.claim("second") is None
    await asyncio.sleep(LEASE_SECONDS / 2)
    assert await queue.claim("second") is not None
