"""A whole review over real servers: the demo portal, the scraper, the document store, the policy server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from benchmarks.score_review import Kept, review_sample, sample_world, score, silent

from trigpoint.cli.review import Format, render
from trigpoint.config import load_settings
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.facts import sample_facts
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint.errors import ReviewFailed
from trigpoint.review.models import ReviewOptions, ReviewRequest, ReviewResult
from trigpoint.review.pipeline import run_review


def _without_times(result: ReviewResult) -> dict[str, Any]:
    times = ("processing_time_seconds", "phase_seconds")
    return {
        "application": result.application,
        "review": result.review,
        "metadata": {key: value for key, value in result.metadata.items() if key not in times},
    }


async def test_a_review_of_a_sample_from_its_reference_to_its_pdf(tmp_path: Path) -> None:
    """The older sample: its policy is that of March 2024, so every paragraph of the NPPF is the old one's."""
    reference = "24/00633/F"
    async with sample_world(tmp_path) as (tools, settings):
        first = await review_sample(tools, settings, reference)
        again = await review_sample(tools, settings, reference)
        request = ReviewRequest("rev_x", "25/99999/F", ReviewOptions())
        with pytest.raises(ReviewFailed, match="Application not found on Cherwell planning portal") as unknown:
            await run_review(request, tools=tools, checkpoints=Kept(), report=silent, settings=settings)
    assert unknown.value.code == "scraper_error"
    scored = score(first, sample_facts(reference))
    assert scored.problems == []
    assert first.metadata["citations"]["dropped"] == 0
    assert first.metadata["policy_effective_date"] == "2024-03-14"
    assert {one["revision_id"] for one in first.metadata["policy_revisions_used"] if one["source"] == "NPPF"} == {
        "rev_NPPF_2023_09"
    }
    assert json.dumps(_without_times(first)) == json.dumps(_without_times(again))
    pdf = await asyncio.to_thread(render, first, Format.PDF)
    with pymupdf.open(stream=pdf) as document:
        assert document.page_count > 3
    assert pdf == render(again, Format.PDF)


@pytest.mark.slow
async def test_all_samples_are_found_and_rated_as_known(tmp_path: Path) -> None:
    async with sample_world(tmp_path) as (tools, settings):
        scores = [
            score(await review_sample(tools, settings, reference), sample_facts(reference))
            for reference in sample_applications()
        ]
    assert [problem for one in scores for problem in one.problems] == []
    assert sum(one.found for one in scores) >= 0.95 * sum(one.expected for one in scores) > 80


@pytest.mark.slow
def test_the_command_writes_what_was_asked_for(tmp_path: Path) -> None:
    settings = load_settings(trigpoint_data_dir=tmp_path / "data")
    with DemoPortal(sample_register(settings)) as portal:
        environment = os.environ | {
            "TRIGPOINT_DATA_DIR": str(tmp_path / "data"),
            "CHERWELL_PORTAL_URL": portal.url,
            "SCRAPER_RATE_LIMIT": "0",
            "API_PORT": "1",
        }
        command = [sys.executable, "-m", "trigpoint.cli.main", "review", "25/02034/F", "--focus", "cycle_parking"]
        wanted = ["--format", "pdf", "--format", "json", "--format", "letter", "--out", str(tmp_path)]
        done = subprocess.run([*command, *wanted], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Overall: GREEN" in done.stdout
    review = json.loads((tmp_path / "review-25_02034_F.json").read_text())
    assert [aspect["name"] for aspect in review["review"]["aspects"]] == ["Cycle Parking"]
    assert (tmp_path / "review-25_02034_F.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "review-25_02034_F-letter.pdf").read_bytes().startswith(b"%PDF")
