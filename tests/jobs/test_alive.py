"""A worker shows that it lives, and is forgotten when it stops or dies."""

from __future__ import annotations

from typing import Any

from redis.asyncio import Redis
from watched_pipeline import until

from trigpoint.jobs.alive import workers_alive


async def test_a_worker_is_seen_while_it_runs_and_gone_when_it_stops(redis: Redis, working: Any) -> None:
    async with working() as worker:
        assert await until(lambda: workers_alive(redis)) == [worker.name]
    assert await workers_alive(redis) == []


async def test_a_worker_that_died_without_a_word_is_forgotten(redis: Redis) -> None:
    await redis.sadd("workers", "host:1:dead")  # type: ignore[misc]
    assert await workers_alive(redis) == []
    assert await redis.scard("workers") == 0  # type: ignore[misc]
