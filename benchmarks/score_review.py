"""How well reviews find what is known of the sample applications: `python -m benchmarks.score_review`.

A fact is found when its aspect quotes it with the right document and page, in a finding or among what the documents
say. A rating is compared only where the review assessed the aspect; what it left to a person is counted as abstained.
Consultation responses, public comments and superseded documents are not part of a review, so their facts must not be
cited. The samples are ours and measure that nothing is lost, not how well real documents are read: see
`benchmarks/reading` for that.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trigpoint.config import Settings, load_settings
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.facts import SampleFact, SampleFacts, sample_facts
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint.ids import new_review_id
from trigpoint.jobs.tools import McpTools
from trigpoint.mcp.local_servers import local_servers
from trigpoint.review.evidence import fold
from trigpoint.review.findings import Citation
from trigpoint.review.models import Progress, ReviewOptions, ReviewRequest
from trigpoint.review.pipeline import run_review
from trigpoint.review.render import render_pdf
from trigpoint.review.result import AspectReview, ReviewResult


@dataclass
class Score:
    """What one review made of its sample."""

    reference: str
    expected: int = 0
    found: int = 0
    ratings_expected: int = 0
    ratings_met: int = 0
    abstained: int = 0
    contradictions_expected: int = 0
    contradictions_found: int = 0
    problems: list[str] = field(default_factory=list)


def score(result: ReviewResult, facts: SampleFacts) -> Score:
    """Compare a review with what is known of its application."""
    scored = Score(facts.reference)
    aspects = {aspect.id: aspect for aspect in result.review.aspects}
    for fact in facts.facts:
        _score_fact(scored, fact, aspects[fact.aspect], result)
    given = {name: (aspect.rating, aspect.assessed) for name, aspect in aspects.items()}
    given["overall"] = (result.review.overall_rating, result.review.assessed)
    for name, wanted in {**facts.aspects, "overall": facts.overall}.items():
        _score_rating(scored, name, wanted, *given[name])
    return scored


def _score_fact(scored: Score, fact: SampleFact, aspect: AspectReview, result: ReviewResult) -> None:
    quoted = any(_quotes(quotation.citation, fact) for quotation in aspect.says)
    findings = [finding for finding in aspect.findings if any(_quotes(one, fact) for one in finding.evidence)]
    if fact.needs or fact.superseded:
        if any(_quotes(citation, fact) for citation in result.review.quotations()):
            scored.problems.append(f"cited, and must not be: {fact.id}")
        return
    scored.expected += 1
    scored.found += bool(quoted or findings)
    if not (quoted or findings):
        scored.problems.append(f"not quoted: {fact.aspect}: {fact.id} ({fact.document}, page {fact.page})")
    if fact.bearing == "contradiction":
        reported = any(finding.outcome == "contradicted" for finding in findings)
        scored.contradictions_expected += 1
        scored.contradictions_found += reported
        if not reported:
            scored.problems.append(f"contradiction not reported: {fact.id}")


def _score_rating(scored: Score, name: str, wanted: str, given: str, assessed: str) -> None:
    if assessed != "yes":
        scored.abstained += 1
        return
    scored.ratings_expected += 1
    scored.ratings_met += given == wanted
    if given != wanted:
        scored.problems.append(f"{name} is {given}, expected {wanted}")


def _quotes(citation: Citation, fact: SampleFact) -> bool:
    quote, known = (fold(text.replace("|", " ")) for text in (citation.quote, fact.quote))
    return citation.document == fact.document and fact.page in citation.pages and (known in quote or quote in known)


class Kept:
    """Checkpoints in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}

    async def load(self, phase: str) -> dict[str, Any] | None:
        return self.kept.get(phase)

    async def save(self, phase: str, data: dict[str, Any]) -> None:
        self.kept[phase] = data


async def silent(progress: Progress) -> None:
    """Nobody watches."""


@asynccontextmanager
async def sample_world(folder: Path) -> AsyncIterator[tuple[McpTools, Settings]]:
    """The demo portal, the three servers and the seeded policies, in an empty data folder, at no delay."""
    base = load_settings(trigpoint_data_dir=folder)
    with DemoPortal(sample_register(base)) as portal:
        settings = load_settings(trigpoint_data_dir=folder, cherwell_portal_url=portal.url, scraper_rate_limit=0)
        async with local_servers(settings) as (tools, local):
            yield tools, local


async def review_sample(tools: McpTools, settings: Settings, reference: str) -> ReviewResult:
    request = ReviewRequest(new_review_id(), reference, ReviewOptions())
    return await run_review(request, tools=tools, checkpoints=Kept(), report=silent, settings=settings)


async def _main() -> None:
    scores: list[Score] = []
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        async with sample_world(Path(folder)) as (tools, settings):
            for reference in sample_applications():
                result = await review_sample(tools, settings, reference)
                pdf = await asyncio.to_thread(render_pdf, result)
                one = score(result, sample_facts(reference))
                scores.append(one)
                taken = time.perf_counter() - started
                print(
                    f"{reference}: {one.found}/{one.expected} facts, {one.ratings_met}/{one.ratings_expected} ratings, {one.abstained} left open, "
                    f"{one.contradictions_found}/{one.contradictions_expected} contradictions, citations "
                    f"{result.metadata.citations.verified} of {result.metadata.citations.checked} verified, PDF {len(pdf) // 1024} KB, after {taken:.1f} s"
                )
                for problem in one.problems:
                    print(f"  {problem}")
    found, expected = sum(s.found for s in scores), sum(s.expected for s in scores)
    print(f"found {found} of {expected} facts: {100 * found / expected:.1f} %")


if __name__ == "__main__":
    asyncio.run(_main())
