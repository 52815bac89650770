"""From the digest of the NPPF to the official text, and on to the revision after it: no review loses what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from benchmarks.bench_provisions import text_as_pdf
from benchmarks.provision_sections import provision_ids, right_sections
from benchmarks.score_review import Kept, sample_world, silent

from trigpoint.cli.policy_life import upload_revision
from trigpoint.config import Settings
from trigpoint.demo.applications import sample_applications
from trigpoint.ids import new_review_id
from trigpoint.jobs.tools import McpTools
from trigpoint.review.models import ReviewOptions, ReviewRequest, Server, ToolProgress
from trigpoint.review.pipeline import run_review
from trigpoint.review.result import ReviewResult

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


class ValidatedOn:
    """The servers, of which the register says that every application was validated on another day."""

    def __init__(self, tools: McpTools, day: str) -> None:
        self._tools, self._day = tools, day

    async def call(
        self, server: Server, tool: str, args: dict[str, Any], *, progress: ToolProgress | None = None
    ) -> dict[str, Any]:
        answer = await self._tools.call(server, tool, args, progress=progress)
        if tool == "get_application_details":
            return answer | {"application": answer["application"] | {"date_validated": self._day}}
        return answer


async def _reviews(tools: McpTools, settings: Settings, day: str) -> dict[str, ReviewResult]:
    return {
        reference: await run_review(
            ReviewRequest(new_review_id(), reference, ReviewOptions()),
            tools=ValidatedOn(tools, day),
            checkpoints=Kept(),
            report=silent,
            settings=settings,
        )
        for reference in sample_applications()
    }


def _judged(results: Mapping[str, ReviewResult]) -> dict[tuple[str, str], tuple[str, str, int]]:
    """Return by application and aspect whether it was assessed, how it was rated, and how many findings cite policy."""
    return {
        (reference, aspect.id): (aspect.assessed, aspect.rating, sum(bool(one.policy) for one in aspect.findings))
        for reference, result in results.items()
        for aspect in result.review.aspects
    }


def _cited(results: Mapping[str, ReviewResult]) -> set[str]:
    """Return the provisions that are cited with their section."""
    return {
        ask.provision
        for result in results.values()
        for aspect in result.review.aspects
        for ask in aspect.asks
        if ask.citation is not None
    }


def _misplaced(results: Mapping[str, ReviewResult], revision: str) -> list[str]:
    """Return the citations of the NPPF that are not to a section which states the provision."""
    return [
        f"{ask.provision} in {ask.citation.section_ref}"
        for result in results.values()
        for aspect in result.review.aspects
        for ask in aspect.asks
        if ask.source == "NPPF" and ask.citation is not None and ask.provision in provision_ids()
        if ask.citation.section_ref not in right_sections(ask.provision, revision)
    ]


def _dropped(results: Mapping[str, ReviewResult]) -> int:
    return sum(result.metadata.citations.dropped for result in results.values())


async def test_reviews_keep_judgements_and_citations_from_the_digest_to_the_official_text_and_the_next_revision(
    tmp_path: Path, shared_data: Path
) -> None:
    texts = shared_data / "policy"
    async with sample_world(tmp_path / "data") as (tools, settings):
        digest = await _reviews(tools, settings, "2025-06-01")
        await upload_revision(
            settings, "NPPF", texts / "NPPF_December_2024.pdf", "December 2024", replace="rev_NPPF_2024_12"
        )
        official = await _reviews(tools, settings, "2025-06-01")
        newest = text_as_pdf(texts / "NPPF_August_2026.txt", tmp_path)
        await upload_revision(settings, "NPPF", newest, "August 2026", start="2026-08-17")
        later = await _reviews(tools, settings, "2026-09-01")
        still = await _reviews(tools, settings, "2025-06-01")

    assert _judged(digest) == _judged(official) == _judged(still) == _judged(later)
    assert _cited(digest) == _cited(official) == _cited(still)
    assert _cited(official) - _cited(later) == {"obligations_tests"}
    assert not right_sections("obligations_tests", "August 2026")  # which that revision does not state
    assert _misplaced(official, "December 2024") == _misplaced(later, "August 2026") == []
    assert _dropped(digest) == _dropped(official) == _dropped(later) == 0
    used = {one.revision_id for one in later["24/00633/F"].metadata.policy_revisions_used if one.source == "NPPF"}
    assert used == {"rev_NPPF_2026_08"}
