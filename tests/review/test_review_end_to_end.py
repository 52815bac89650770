"""A whole review over real servers: the demo portal, the scraper, the document store, the policy server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pymupdf
import pytest
from benchmarks.score_review import Kept, review_sample, sample_world, score, silent

from trigpoint.config import load_settings
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.facts import sample_facts
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint.errors import ReviewFailed
from trigpoint.review.models import ReviewOptions, ReviewRequest
from trigpoint.review.pipeline import run_review
from trigpoint.review.render import render_pdf
from trigpoint.review.result import ReviewResult


def _without_times(result: ReviewResult) -> str:
    return result.model_dump_json(exclude={"metadata": {"processing_time_seconds", "phase_seconds"}})


@pytest.mark.timeout(300)
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
    assert not [problem for problem in scored.problems if "must not be" in problem or "expected" in problem]
    assert scored.found >= 0.7 * scored.expected
    assert first.metadata.citations.dropped == 0
    assert first.metadata.policy_effective_date == "2024-03-14"
    assert {one.revision_id for one in first.metadata.policy_revisions_used if one.source == "NPPF"} == {
        "rev_NPPF_2023_09"
    }
    assert _without_times(first) == _without_times(again)
    pdf = await asyncio.to_thread(render_pdf, first)
    with pymupdf.open(stream=pdf) as document:
        assert document.page_count > 3
    assert pdf == render_pdf(again)


@pytest.mark.slow
async def test_most_planted_facts_of_all_samples_are_quoted_and_no_rating_is_wrong(tmp_path: Path) -> None:
    async with sample_world(tmp_path) as (tools, settings):
        scores = [
            score(await review_sample(tools, settings, reference), sample_facts(reference))
            for reference in sample_applications()
        ]
    problems = [problem for one in scores for problem in one.problems]
    assert not [problem for problem in problems if "must not be" in problem or "expected" in problem]
    assert sum(one.found for one in scores) >= 0.75 * sum(one.expected for one in scores) > 60


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
    assert "Overall: " in done.stdout
    review = json.loads((tmp_path / "review-25_02034_F.json").read_text())
    assert [aspect["name"] for aspect in review["review"]["aspects"]] == ["Cycle Parking"]
    assert (tmp_path / "review-25_02034_F.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "review-25_02034_F-letter.pdf").read_bytes().startswith(b"%PDF")


@contextmanager
def _up(environment: dict[str, str]) -> Iterator[None]:
    """`trigpoint up` as its own process, from when it answers until it is told to stop."""
    log = Path(environment["TRIGPOINT_DATA_DIR"]).parent / "up.log"
    command = [sys.executable, "-m", "trigpoint.cli.main", "up"]
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
    try:
        deadline = time.monotonic() + 120
        while True:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline
            try:
                policies = httpx.get(f"http://127.0.0.1:{environment['API_PORT']}/api/v1/policies", trust_env=False)
                if len(policies.json()["policies"]) == 6 and all(
                    p["current_revision"] for p in policies.json()["policies"]
                ):
                    break
            except (httpx.HTTPError, ValueError, KeyError):
                pass
            time.sleep(0.5)
        yield
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.slow
def test_the_command_uses_an_api_that_runs(tmp_path: Path, free_port: Callable[[], int]) -> None:
    settings = load_settings(trigpoint_data_dir=tmp_path / "data")
    ports = ("API", "CHERWELL_SCRAPER", "DOCUMENT_STORE", "POLICY_KB", "LIBRARY", "GRAPH", "REVIEWER")
    with DemoPortal(sample_register(settings)) as portal:
        environment = os.environ | {f"{name}_PORT": str(free_port()) for name in ports}
        environment |= {"TRIGPOINT_DATA_DIR": str(tmp_path / "data"), "CHERWELL_PORTAL_URL": portal.url}
        environment |= {"SCRAPER_RATE_LIMIT": "0"}
        command = [sys.executable, "-m", "trigpoint.cli.main", "review"]
        with _up(environment):
            out = str(tmp_path / "letter.pdf")
            done = subprocess.run(
                [*command, "24/00633/F", "--format", "letter", "--out", out],
                env=environment,
                capture_output=True,
                text=True,
                timeout=300,
            )
            unknown = subprocess.run(
                [*command, "25/99999/F"], env=environment, capture_output=True, text=True, timeout=300
            )
            listed = httpx.get(f"http://127.0.0.1:{environment['API_PORT']}/api/v1/reviews", trust_env=False).json()
    assert done.returncode == 0, done.stderr
    assert "Overall: AMBER" in done.stdout
    assert (tmp_path / "letter.pdf").read_bytes().startswith(b"%PDF")
    assert unknown.returncode == 1
    assert "Application not found on Cherwell planning portal" in unknown.stderr
    assert [one["status"] for one in listed["reviews"]] == ["failed", "completed"]
