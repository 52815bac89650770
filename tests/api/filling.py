"""Reviews in the states of the contract's examples."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from review_states import advance, complete, fail
from trigpoint.config import Settings
from trigpoint.review.models import Progress, ReviewOptions, ReviewRequest, Server
from trigpoint.review.pipeline import run_review
from trigpoint.review.result import ReviewResult

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
        return {"application": application, "documents": [], "provisions": [], "results": [], **nothing}


class _None:
    async def load(self, phase: str) -> None:
        return None

    async def save(self, phase: str, data: dict[str, Any]) -> None: ...


async def _ignore(progress: Progress) -> None: ...


def processing(redis_url: str) -> None:
    advance(redis_url, Progress("downloading_documents", 2, 5, 10, "Downloading 5 documents"))


def completed(redis_url: str) -> ReviewResult:
    complete(redis_url, result())
    return result()


def failed(redis_url: str) -> None:
    fail(redis_url, "Application not found on Cherwell planning portal")
