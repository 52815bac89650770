"""Policies as pages: what is in force, a policy's revisions, upload, and what changed between two."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import httpx
import pytest
from page_samples import browser

from serving_api import serving
from trigpoint.api.app import create_app
from trigpoint.config import Settings
from trigpoint.policies.digest import digest_pdf
from trigpoint.policies.models import PolicyCategory
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.storage.redis import redis_client

OLD = """# The framework

For the tests, for demonstration; not the official text.

## Chapter 1: Travel

### Para 10: Routes

Streets should have safe and attractive routes for walking, and plans should say where they are to be built.

### Para 11: Parking

Cycle parking must be near the entrances of all buildings that people visit in the course of a day.
"""
NEW = OLD.replace("safe and attractive routes for walking", "safe, direct routes for walking and cycling")


@pytest.fixture
def policy_site(site_settings: Callable[..., Settings], clean_redis_url: str, tmp_path: Path) -> Iterator[httpx.Client]:
    """NPPF with two ingested revisions, whose files are there, and LTN 1/20 with none."""

    async def register() -> None:
        async with redis_client(clean_redis_url) as redis:
            registry = PolicyRegistry(redis)
            await registry.create_policy("LTN_1_20", "Cycle <i>Design</i>", PolicyCategory.NATIONAL_GUIDANCE, None)
            await registry.create_policy("NPPF", "The Framework", PolicyCategory.NATIONAL_POLICY, "National policy")
            for label, start, text in (("First", date(2023, 9, 5), OLD), ("Second", date(2024, 12, 12), NEW)):
                file = tmp_path / f"{label}.pdf"
                file.write_bytes(digest_pdf(text))
                revision, _ = await registry.create_revision(
                    "NPPF", version_label=label, effective_from=start, file_path=str(file)
                )
                await registry.mark_active("NPPF", revision.revision_id, chunk_count=2, page_count=2)

    asyncio.run(register())
    with serving(create_app(site_settings())) as address, browser(address) as client:
        yield client


def test_the_day_chooses_the_revision_in_table_and_drawing(policy_site: httpx.Client) -> None:
    before, after = (policy_site.get(f"/policies?date={day}").text for day in ("2024-06-01", "2025-06-01"))
    assert "/policies/NPPF/read?revision=rev_NPPF_2023_09" in before
    assert "/policies/NPPF/read?revision=rev_NPPF_2024_12" in after
    assert before.count('class="span') == after.count('class="span') == 2
    assert before.count('class="span in-force"') == 1
    assert "No text yet" in before
    assert "Cycle &lt;i&gt;Design&lt;/i&gt;" in before


def test_a_day_that_is_none_is_refused(policy_site: httpx.Client) -> None:
    answer = policy_site.get("/policies?date=2024-02-30")
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert policy_site.get("/policies?date=1900-01-01").text.count("Not yet in force") == 1


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_the_first_and_the_last_day_that_there_are_can_be_asked_for(policy_site: httpx.Client, day: str) -> None:
    """E3: also where a revision ends on the last one."""
    assert policy_site.get(f"/policies?date={day}").status_code == 200
    this = "/api/v1/policies/NPPF/revisions/rev_NPPF_2024_12"
    assert policy_site.patch(this, json={"effective_to": "9999-12-31"}).status_code == 200
    for path in (f"/policies?date={day}", "/policies", "/policies/NPPF"):
        answer = policy_site.get(path)
        assert answer.status_code == 200
        assert "to 9999-12-31" in answer.text


def test_a_policy_shows_its_revisions_and_the_forms(policy_site: httpx.Client) -> None:
    shown = policy_site.get("/policies/NPPF").text
    assert "5 September 2023" in shown
    assert "11 December 2024" in shown
    assert 'enctype="multipart/form-data"' in shown
    assert 'action="/policies/NPPF/compare"' in shown
    assert "No revision yet" in policy_site.get("/policies/LTN_1_20").text


def test_an_uploaded_pdf_becomes_a_revision_that_is_being_read(policy_site: httpx.Client) -> None:
    form = {"version_label": "July 2020", "effective_from": "2020-07-27", "effective_to": "", "notes": ""}
    file = {"file": ("ltn.pdf", digest_pdf(OLD), "application/pdf")}
    answer = policy_site.post("/policies/LTN_1_20/revisions", data=form, files=file)
    assert answer.status_code == 303
    shown = policy_site.get("/policies/LTN_1_20").text
    assert "July 2020" in shown
    assert "Processing" in shown
    assert "data-refresh" in shown
    stored = policy_site.get("/api/v1/policies/LTN_1_20/revisions/rev_LTN_1_20_2020_07").json()
    assert stored["effective_to"] is None
    assert Path(stored["file_path"]).read_bytes().startswith(b"%PDF-")


@pytest.mark.parametrize(
    ("source", "change", "status", "said"),
    [
        ("LTN_1_20", {"effective_from": "27/07/2020"}, 422, "Effective from"),
        ("LTN_1_20", {"version_label": " "}, 422, "Version label"),
        ("LTN_1_20", {"effective_to": "2019-01-01"}, 422, "effective_to"),
        ("NPPF", {"effective_from": "2023-09-05"}, 409, "overlap"),
    ],
)
def test_what_the_rest_api_refuses_the_form_refuses_too(
    policy_site: httpx.Client, source: str, change: dict[str, str], status: int, said: str
) -> None:
    form = {"version_label": "July 2020", "effective_from": "2020-07-27", **change}
    answer = policy_site.post(f"/policies/{source}/revisions", data=form, files={"file": ("a.pdf", b"%PDF-1.7 x")})
    assert answer.status_code == status
    assert said in answer.text
    assert 'role="alert"' in answer.text


def test_what_is_no_pdf_is_refused(policy_site: httpx.Client) -> None:
    form = {"version_label": "<b>July</b>", "effective_from": "2020-07-27"}
    for files in ({"file": ("a.pdf", b"<html>")}, {"other": ("a.pdf", b"%PDF-")}):
        answer = policy_site.post("/policies/LTN_1_20/revisions", data=form, files=files)
        assert answer.status_code == 422
        assert "PDF" in answer.text
        assert "&lt;b&gt;July&lt;/b&gt;" in answer.text
    assert "No revision yet" in policy_site.get("/policies/LTN_1_20").text


def test_the_difference_of_two_revisions_is_shown_word_by_word(policy_site: httpx.Client) -> None:
    shown = policy_site.get("/policies/NPPF/compare?old=rev_NPPF_2023_09&new=rev_NPPF_2024_12").text
    assert "1 changed" in shown
    assert "<del>safe and attractive</del>" in shown
    assert "<ins>safe, direct</ins>" in shown
    assert re.search(r"<ins>and\s+cycling,</ins>|<ins>walking and cycling,</ins>|<ins>cycling,?", shown)
    assert policy_site.get("/policies/NPPF/compare?old=rev_NPPF_1999_01").status_code == 404


def test_without_the_policy_server_pages_say_so(policy_site: httpx.Client) -> None:
    for path in ("/policies/search?q=parking", "/policies/NPPF/read?section=Para%2010"):
        answer = policy_site.get(path)
        assert answer.status_code == 503
        assert "A part cannot be reached" in answer.text
        assert "cannot be used" in answer.text
