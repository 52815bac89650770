"""The same application through a DEF Atrium register, an Idox register and a folder: the same findings, to the byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from benchmarks.score_review import Kept, silent

from trigpoint.config import Settings, load_settings
from trigpoint.dates import parse_day
from trigpoint.demo.idox_portal import IdoxDemoPortal
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint.ids import new_review_id
from trigpoint.mcp.local_servers import local_servers
from trigpoint.registers.intake import files_below
from trigpoint.registers.submission import Stated, submit_files
from trigpoint.review.models import ReviewOptions, ReviewRequest
from trigpoint.review.pipeline import run_review
from trigpoint.review.result import ReviewResult

REF = "24/00633/F"
ROW = '[[register]]\nauthority = "cherwell"\nname = "Cherwell District Council"\nsoftware = "idox"\naddress = "{}"\n'
OPTIONS = ReviewOptions(include_consultation_responses=False, include_public_comments=False)


def findings(result: ReviewResult) -> str:
    return result.review.model_dump_json(exclude={"full_markdown"}, indent=1)


def markdown(result: ReviewResult) -> str:
    """The review as text, without the table of what the register says."""
    return result.review.full_markdown.partition("\n## ")[2].replace(result.application.portal_url or "\0", "ADDRESS")


async def reviewed(settings: Settings, *folders: str | None) -> list[ReviewResult]:
    """Review the sample from the settings' register, or from a folder."""
    async with local_servers(settings) as (tools, local):
        requests = [ReviewRequest(new_review_id(), REF, OPTIONS, folder=folder) for folder in folders]
        return [
            await run_review(request, tools=tools, checkpoints=Kept(), report=silent, settings=local)
            for request in requests
        ]


@pytest.mark.timeout(400)
async def test_the_way_in_changes_nothing_but_addresses(tmp_path: Path) -> None:
    base = load_settings(trigpoint_data_dir=tmp_path / "data")
    samples = sample_register(base)
    sample = samples[REF].application
    given = tmp_path / "given"
    for document in samples[REF].documents:
        (given / document.section).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(document.content, given / document.section / document.file_name)
    with DemoPortal(samples) as atrium, IdoxDemoPortal(samples, needs_referer=True) as idox:
        own = tmp_path / "registers.toml"  # the same authority, which decides on local policy, with other software
        own.write_text(ROW.format(idox.address))
        where = {"trigpoint_data_dir": base.data_dir, "scraper_rate_limit": 0}
        settings = load_settings(**where, cherwell_portal_url=atrium.url)
        folder = new_review_id()
        stated = Stated(REF, "cherwell", sample.address, sample.proposal, sample.date_validated)
        submit_files(settings, folder, files_below(given), stated)
        by_atrium, by_folder = await reviewed(settings, None, folder)
        (by_idox,) = await reviewed(load_settings(**where, registers_file=own), None)
    assert by_atrium.review.aspects
    assert findings(by_atrium) == findings(by_idox) == findings(by_folder)
    assert by_atrium.metadata.documents == by_idox.metadata.documents
    assert by_atrium.metadata.documents.ingested == by_folder.metadata.documents.ingested > 3
    assert by_atrium.application.portal_url == f"{atrium.url}/Planning/Display/{REF}"
    assert (by_idox.application.portal_url or "").startswith(f"{idox.address}/applicationDetails.do?")
    assert by_folder.application.portal_url is None
    assert by_idox.application.authority == "cherwell"
    assert by_folder.application.authority == "cherwell"
    assert by_atrium.metadata.policy_effective_date == by_folder.metadata.policy_effective_date == "2024-03-14"
    assert parse_day("2024-03-14") == sample.date_validated
    left_out = {one.name: one.reason for one in by_atrium.metadata.documents.left_out}
    assert "set include_consultation_responses" in left_out["Oxfordshire County Council"]
    assert markdown(by_atrium) == markdown(by_idox)
