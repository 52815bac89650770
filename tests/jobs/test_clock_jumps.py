"""A clock that is set back or forward: no job waits longer than its lease, and none is taken from its worker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis.asyncio import Redis

from trigpoint.config import Settings
from trigpoint.errors import StoreUnavailable
from trigpoint.jobs.queue import Lease, Queue
from trigpoint.jobs.watching import look_where_due
from trigpoint.watch.models import Look, Watch
from trigpoint.watch.store import WatchStore

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


async def test_after_the_clock_went_back_watches_are_looked_at_again(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []

    async def look(settings: Settings, store: WatchStore, watch_id: str) -> Any:
        looked.append(watch_id)
        raise StoreUnavailable("nothing is asked here")

    monkeypatch.setattr("trigpoint.jobs.watching.look", look)
    store = WatchStore(settings)
    moment = datetime.now(UTC)
    for number, at in enumerate((moment - timedelta(hours=1), moment + timedelta(days=400))):
        record = store.add(
            Watch(id=f"{number:08d}", authority="cherwell", since=at.date(), created_at=at, words=("homes",))
        )
        last = Look(at=at, since=at.date())
        store.change(record.watch.id, lambda kept, last=last: kept.model_copy(update={"last": last}))  # type: ignore[misc]
    await look_where_due(settings, timedelta(hours=6))
    assert looked == ["00000001"]
