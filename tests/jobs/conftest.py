"""Redis, reviews, and a worker that runs the watched pipeline."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fake_servers import FakeServers, fake_servers
from redis.asyncio import Redis
from watched_pipeline import WatchedPipeline

from trigpoint.config import Settings, load_settings
from trigpoint.jobs.review_job import ReviewJob
from trigpoint.jobs.reviews import Reviews
from trigpoint.jobs.worker import Worker
from trigpoint.storage.redis import redis_client

sys.path.append(str(Path(__file__).parents[1] / "review"))  # the scripted model


@pytest.fixture
async def redis(clean_redis_url: str) -> AsyncIterator[Redis]:
    async with redis_client(clean_redis_url) as client:
        yield client


@pytest.fixture
def reviews(redis: Redis) -> Reviews:
    return Reviews(redis)


@pytest.fixture
def pipeline() -> WatchedPipeline:
    return WatchedPipeline()


@pytest.fixture
def job_settings(clean_redis_url: str, tmp_path: Path) -> Callable[..., Settings]:
    def make(**overrides: Any) -> Settings:
        given = {"redis_url": clean_redis_url, "trigpoint_data_dir": tmp_path / "data", "job_lease_seconds": 2}
        return load_settings(**given | overrides)

    return make


@pytest.fixture
def working(redis: Redis, pipeline: WatchedPipeline, job_settings: Callable[..., Settings]) -> Any:
    """`async with working() as worker`: a worker that runs the watched pipeline, stopped at the end."""

    @asynccontextmanager
    async def run(**overrides: Any) -> AsyncIterator[Worker]:
        settings = job_settings(**overrides)
        worker = Worker(redis, settings, {"review": ReviewJob(Reviews(redis), settings, pipeline=pipeline)})
        stop = asyncio.Event()
        task = asyncio.create_task(worker.run(stop))
        try:
            yield worker
        finally:
            stop.set()
            await asyncio.wait_for(task, 15)

    return run


@pytest.fixture
def fakes(tmp_path: Path) -> Iterator[FakeServers]:
    """The three MCP servers as fakes, running."""
    with fake_servers(tmp_path / "data") as servers:
        yield servers
