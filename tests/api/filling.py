"""Reviews in the states of the contract's examples, put there as a worker does it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from trigpoint.config import Settings
from trigpoint.jobs.queue import Lease, Queue
from trigpoint.jobs.reviews import Reviews
from trigpoint.review.models import Progress, ReviewOptions, ReviewRequest, ReviewResult, Server
from trigpoint.review.pipeline import run_review
from trigpoint.storage.redis import redis_client

REF = "25/01178/REM"


@cache
def result() -> ReviewResult:
    """What the real pipeline makes of an application without documents: every field is there."""
    request = ReviewRequest("rev_01JKXYZ1234567890ABCDEFGHJ", REF, ReviewOptions())
    return asyncio.run(run_review(request, tools=_Tools(), checkpoints=_None(), report=_ignore, settings=Settings()))


class _Tools:
    async def call(self, server: Server, tool: str, args: dict[str, Any], *, progress: Any = None) -> dict[str, Any]:
        application = {
            "reference": REF,
            "address": "Land North of Gavray Drive, Bicester",
            "proposal": "Reserved matters for 200 dwellings pursuant to outline approval 14/01384/OUT",
            "applicant": "Countryside Properties",
            "status": "Under consideration",
            "consultation_end": "2025-03-01",
            "date_validated": "2025-02-07",
        }
        nothing = {"downloads": [], "failed_downloads": 0, "total_documents": 0, "filtered_count": 0}
        return {"application": application, "results": [], "revisions": [], **nothing}


class _None:
    async def load(self, phase: str) -> None:
        return None

    async def save(self, phase: str, data: dict[str, Any]) -> None: ...


async def _ignore(progress: Progress) -> None: ...


def processing(redis_url: str) -> None:
    """The oldest queued review is being processed."""

    async def advance(reviews: Reviews, lease: Lease, ref: str) -> None:
        progress = Progress("downloading_documents", 2, 5, 10, "Downloading 5 documents")
        await reviews.progress(lease, ref, progress)

    asyncio.run(_take_up(redis_url, advance))


def complete(redis_url: str) -> ReviewResult:
    async def advance(reviews: Reviews, lease: Lease, ref: str) -> None:
        assert await reviews.complete(lease, ref, result())

    result()
    asyncio.run(_take_up(redis_url, advance))
    return result()


def failed(redis_url: str) -> None:
    async def advance(reviews: Reviews, lease: Lease, ref: str) -> None:
        assert await reviews.fail(lease, ref, "scraper_error", "Application not found on Cherwell planning portal")

    asyncio.run(_take_up(redis_url, advance))


async def _take_up(redis_url: str, advance: Callable[[Reviews, Lease, str], Awaitable[None]]) -> None:
    async with redis_client(redis_url) as redis:
        reviews, lease = Reviews(redis), await Queue(redis).claim("test")
        assert lease is not None
        started = await reviews.start(lease)
        assert started is not None
        await advance(reviews, lease, started.application_ref)
