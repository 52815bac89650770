"""A Redis that answers and refuses every change: its disk is full, or too few replicas are there. Work goes on when it is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from receiver import receiving
from redis.asyncio import Redis
from redis.exceptions import ResponseError
from watched_pipeline import until, until_status

from serving_api import running_api
from trigpoint.api.web.sessions import Sessions
from trigpoint.config import Settings
from trigpoint.errors import StoreUnavailable
from trigpoint.jobs.alive import workers_alive
from trigpoint.jobs.events import EVENTS
from trigpoint.jobs.queue import Queue
from trigpoint.jobs.reviews import Reviews, Webhook
from trigpoint.jobs.webhooks import Outbox
from trigpoint.keys import ApiKey, KeyRing

REF = "25/01178/REM"


@asynccontextmanager
async def refusing(redis: Redis) -> AsyncIterator[None]:
    """Within this context the server refuses every write (NOREPLICAS), as it does with MISCONF on a full disk."""
    await redis.config_set("min-replicas-to-write", 1)
    try:
        yield
    finally:
        await redis.config_set("min-replicas-to-write", 0)


@pytest.mark.parametrize("waiting", [Queue, Outbox])
async def test_waiting_for_work_says_that_changes_are_refused(redis: Redis, waiting: type[Queue | Outbox]) -> None:
    async with refusing(redis):
        with pytest.raises(StoreUnavailable, match=r"refuses changes .*NOREPLICAS"):
            await waiting(redis).wait(0.1)


async def test_signing_in_says_that_changes_are_refused(redis: Redis) -> None:
    async with refusing(redis):
        with pytest.raises(StoreUnavailable, match="refuses changes"):
            await Sessions(KeyRing()).open(redis, ApiKey("a", "secret"))


async def test_health_tells_a_redis_that_takes_no_changes_from_one_that_is_away(
    redis: Redis, job_settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk even a PING is refused, which is no reason to say that nobody answers."""

    async def misconf(self: Redis) -> bool:
        raise ResponseError("MISCONF Errors writing to the AOF file: No space left on device")

    monkeypatch.setattr(Redis, "ping", misconf)
    with running_api(job_settings()) as api:
        health = (await asyncio.to_thread(api.get, "/health")).json()
    assert health["status"] == "degraded"
    assert "refuses changes for now (MISCONF" in health["problems"][0]
    assert "Make space" in health["problems"][0]


@pytest.mark.fault(
    "every change to Redis (its disk is full, or its replicas are gone)",
    phase="any",
    seen="503 with the reason; jobs, webhooks and the sign that a worker is alive go on afterwards",
)
async def test_a_worker_waits_until_changes_are_taken_again(
    reviews: Reviews,
    redis: Redis,
    working: Any,
    monkeypatch: pytest.MonkeyPatch,
    goes_on: Callable[[float], None],
) -> None:
    """Its jobs, its webhooks and the sign that it lives all go on by themselves."""
    monkeypatch.setattr("trigpoint.jobs.alive._EVERY_SECONDS", 0.2)
    async with receiving() as receiver, working() as worker:
        await until(lambda: _is_alive(redis, worker.name))
        async with refusing(redis):
            await asyncio.sleep(2.5)  # long enough for each of its loops to have been refused
        over = time.monotonic()
        await redis.delete("workers")
        review = await reviews.create(REF, None, Webhook(receiver.url, "s", EVENTS), request_id="-")
        assert await until_status(reviews, review.review_id, "completed") == "completed"
        await until(lambda: _all_delivered(redis, review.review_id), seconds=10)
        await until(lambda: _is_alive(redis, worker.name), seconds=10)
        goes_on(time.monotonic() - over)


async def _all_delivered(redis: Redis, review_id: str) -> bool:
    return all(record.status == "delivered" for record in await Outbox(redis).log(review_id))


async def _is_alive(redis: Redis, name: str) -> bool:
    return name in await workers_alive(redis)


async def test_a_loop_of_the_worker_that_breaks_off_is_started_again(
    reviews: Reviews, redis: Redis, working: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that nobody foresaw, here a key of the wrong type, must not end deliveries until the next restart."""
    monkeypatch.setattr("trigpoint.jobs.worker._RESTART_SECONDS", 0.1)
    await redis.set("webhooks:due", "not a sorted set")
    await redis.set("jobs:leases", "not a sorted set")
    async with receiving() as receiver, working():
        await asyncio.sleep(0.5)
        await redis.delete("webhooks:due", "jobs:leases")
        review = await reviews.create(REF, None, Webhook(receiver.url, "s", EVENTS), request_id="-")
        assert await until_status(reviews, review.review_id, "completed") == "completed"
        await until(lambda: _all_delivered(redis, review.review_id), seconds=10)
