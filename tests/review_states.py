"""Puts reviews into the states that pages and answers show, as a worker does it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from trigpoint.jobs.queue import Lease, Queue
from trigpoint.jobs.reviews import Reviews
from trigpoint.review.models import Progress
from trigpoint.review.result import ReviewResult
from trigpoint.storage.redis import redis_client


def advance(redis_url: str, progress: Progress) -> None:
    """The oldest queued review is being processed."""

    async def step(reviews: Reviews, lease: Lease, ref: str) -> None:
        await reviews.progress(lease, ref, progress)

    asyncio.run(_take_up(redis_url, step))


def complete(redis_url: str, found: ReviewResult) -> None:
    async def step(reviews: Reviews, lease: Lease, ref: str) -> None:
        assert await reviews.complete(lease, ref, found)

    asyncio.run(_take_up(redis_url, step))


def fail(redis_url: str, message: str) -> None:
    async def step(reviews: Reviews, lease: Lease, ref: str) -> None:
        assert await reviews.fail(lease, ref, "scraper_error", message)

    asyncio.run(_take_up(redis_url, step))


async def _take_up(redis_url: str, step: Callable[[Reviews, Lease, str], Awaitable[None]]) -> None:
    async with redis_client(redis_url) as redis:
        reviews, lease = Reviews(redis), await Queue(redis).claim("test")
        assert lease is not None
        started = await reviews.start(lease)
        assert started is not None
        await step(reviews, lease, started.application_ref)
