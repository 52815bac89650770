"""Reviews in the states of the contract's examples, put there as a worker does it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from trigpoint.jobs.queue import Lease, Queue
from trigpoint.jobs.reviews import Reviews
from trigpoint.review.models import Progress, ReviewResult
from trigpoint.storage.redis import redis_client

RESULT = ReviewResult(
    application={
        "reference": "25/01178/REM",
        "address": "Land North of Gavray Drive, Bicester",
        "proposal": "Reserved matters for 200 dwellings pursuant to outline approval 14/01384/OUT",
        "applicant": "Countryside Properties",
        "status": "Under consideration",
        "consultation_end": "2025-03-01",
        "documents_fetched": 12,
        "documents_ingested": 12,
    },
    review={
        "overall_rating": "amber",
        "summary": "Cycle parking meets the standards; the route to the town centre is weak.",
        "aspects": [
            {
                "name": "Cycle Parking",
                "rating": "green",
                "key_issue": "Provision meets LTN 1/20 standards",
                "detail": "Each dwelling has covered, secure cycle parking for 2 bikes.",
                "policy_refs": ["LTN 1/20:11.1", "NPPF:para.110"],
            }
        ],
        "policy_compliance": [
            {
                "requirement": "Secure, covered cycle parking at LTN 1/20 rates",
                "policy_source": "LTN_1_20",
                "compliant": True,
                "notes": "2 spaces per dwelling",
            }
        ],
        "recommendations": ["Install directional signage for cycle routes on site"],
        "suggested_conditions": ["A Travel Plan shall be submitted and approved."],
        "full_markdown": "# Cycle Advocacy Review: 25/01178/REM\n\n## Overall Rating: AMBER\n",
    },
    metadata={
        "model": "rules",
        "total_tokens_used": 0,
        "processing_time_seconds": 295,
        "documents_analysed": 12,
        "policy_sources_referenced": 1,
        "policy_effective_date": "2025-02-07",
        "policy_revisions_used": [
            {"source": "LTN_1_20", "revision_id": "rev_LTN_1_20_2020_07", "version_label": "July 2020"}
        ],
    },
)


def processing(redis_url: str) -> None:
    """The oldest queued review is being processed."""

    async def advance(reviews: Reviews, lease: Lease, ref: str) -> None:
        progress = Progress("downloading_documents", 2, 5, 10, "Downloading 5 documents")
        await reviews.progress(lease, ref, progress)

    asyncio.run(_take_up(redis_url, advance))


def complete(redis_url: str) -> ReviewResult:
    async def advance(reviews: Reviews, lease: Lease, ref: str) -> None:
        assert await reviews.complete(lease, ref, RESULT)

    asyncio.run(_take_up(redis_url, advance))
    return RESULT


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
