"""The review: what it finds of the samples' facts, and how long one takes from a cold start to its PDF."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from benchmarks.report import Report
from benchmarks.score_review import Score, review_sample, sample_world, score
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.facts import sample_facts
from trigpoint.review.render import render_pdf
from trigpoint.review.result import ReviewResult

LARGEST = "25/01178/REM"


def run(report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_run(report, Path(folder)))


async def _run(report: Report, folder: Path) -> None:
    started = time.perf_counter()
    async with sample_world(folder) as (tools, settings):
        report.row("start of servers and policies, nothing there yet", time.perf_counter() - started, "s")
        first = await review_sample(tools, settings, LARGEST)
        pdf, pdf_seconds = await _timed_pdf(first)
        report.row("sample review, cold start to PDF", time.perf_counter() - started, "s", bar="<= 60")
        report.row("  of which the review", sum(first.metadata.phase_seconds.values()), "s")
        for phase, seconds in first.metadata.phase_seconds.items():
            report.row(f"  phase {phase}", seconds, "s")
        report.row("  PDF", pdf_seconds, "s", note=f"{len(pdf) // 1024} KB")
        again_started = time.perf_counter()
        again = await review_sample(tools, settings, LARGEST)
        report.row("the same review again, documents there", time.perf_counter() - again_started, "s")
        same = _bytes(first) == _bytes(again)
        report.row("same bytes twice, but for ids and times", float(same), "yes=1", bar=">= 1")
        others = [reference for reference in sample_applications() if reference != LARGEST]
        results = {LARGEST: first} | {one: await review_sample(tools, settings, one) for one in others}
    _score(report, results)


def _score(report: Report, results: dict[str, ReviewResult]) -> None:
    scores = [score(result, sample_facts(reference)) for reference, result in results.items()]
    report.row("planted facts quoted, with document and page", _share(scores, "found", "expected"), "%")
    given = sum(one.ratings_expected for one in scores)
    report.row("ratings given", float(given), "aspects")
    if given:
        right = _share(scores, "ratings_met", "ratings_expected")
        report.row("ratings that are right, of those given", right, "%", bar=">= 95")
    report.row("ratings left to a person", float(sum(one.abstained for one in scores)), "aspects")
    report.row(
        "planted contradictions reported",
        _share(scores, "contradictions_found", "contradictions_expected"),
        "%",
    )
    counts = [result.metadata.citations for result in results.values()]
    verified = sum(count.verified for count in counts) / max(1, sum(count.checked for count in counts))
    report.row("citations that resolve", 100 * verified, "%", bar=">= 100")
    for problem in (problem for one in scores for problem in one.problems):
        print(f"    {problem}")


def _share(scores: list[Score], part: str, whole: str) -> float:
    total = sum(getattr(one, whole) for one in scores)
    return 100 * sum(getattr(one, part) for one in scores) / max(1, total)


async def _timed_pdf(result: ReviewResult) -> tuple[bytes, float]:
    started = time.perf_counter()
    pdf = await asyncio.to_thread(render_pdf, result)
    return pdf, time.perf_counter() - started


def _bytes(result: ReviewResult) -> str:
    return result.model_dump_json(exclude={"metadata": {"processing_time_seconds", "phase_seconds"}})
