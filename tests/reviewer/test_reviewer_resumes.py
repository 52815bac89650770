"""Server and agent may end between any two calls: nothing that was answered is lost, and the same handle goes on."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest
from reviewing_agent import REFERENCE, TRUE_WORDS, Refused, conclusion, finding, over_http, over_stdio

from trigpoint.config import load_settings
from trigpoint.demo.documents import sample_documents
from trigpoint.demo.portal import DemoPortal
from trigpoint_process import Running, environment, free_ports

STATEMENT = "The houses have no cycle parking."


def another_reviewer(everything: Running) -> Running:
    """A reviewer server of its own, on the same stores and servers."""
    env = everything.env | {"REVIEWER_PORT": str(free_ports(1)[0])}
    return Running("serve", "reviewer", env=env, wait_for=("REVIEWER",))


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_server_that_is_killed_while_opening_and_between_calls_loses_nothing(everything: Running) -> None:
    with another_reviewer(everything) as first:
        async with over_http(first.url("REVIEWER")) as agent:
            await agent.open(application_ref=REFERENCE)
            review = agent.review
            first.process.kill()
    with another_reviewer(everything) as second:
        async with over_http(second.url("REVIEWER")) as agent:
            agent.review = review
            await agent.read_all()
            label = agent.documents["Transport Statement.pdf"]
            answer = await agent.on("submit_findings", findings=[finding(label, 6, TRUE_WORDS, STATEMENT)])
            assert [one["verdict"] for one in answer["verdicts"]] == ["verified"]
            second.process.kill()
    with another_reviewer(everything) as third:
        async with over_http(third.url("REVIEWER")) as agent:
            agent.review = review
            status = await agent.on("review_status")
            assert [(one["verdict"], one["statement"]) for one in status["findings"]] == [("verified", STATEMENT)]
            assert "cycle_parking/long_stay" not in status["open_questions"]
            done = await agent.on("finish_review", conclusion=conclusion("F1"))
    assert everything.get(f"/api/v1/reviews/{done['review_id']}").json()["status"] == "completed"


def processes_of(data_dir: Path) -> list[int]:
    """The reviewers over stdio that use this data folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0")
            env = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"reviewer" in command and f"TRIGPOINT_DATA_DIR={data_dir}".encode() in env:
            found.append(int(entry.name))
    return found


async def killed_while_opening(env: dict[str, str], data: Path) -> str:
    async with over_stdio(env) as agent:
        await agent.open(application_ref=REFERENCE)
        await asyncio.sleep(3)
        [process] = processes_of(data)
        os.kill(process, signal.SIGKILL)
    return agent.review


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_over_stdio_alone_in_an_empty_folder_killed_twice_with_pdf_and_letter_at_the_end(
    portal: DemoPortal, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    env = environment(data, CHERWELL_PORTAL_URL=portal.url, SCRAPER_RATE_LIMIT="0", JOB_LEASE_SECONDS="2")
    review = await killed_while_opening(env, data)
    async with over_stdio(env) as agent:
        agent.review = review
        await agent.read_all()
        label = agent.documents["Transport Statement.pdf"]
        await agent.on("submit_findings", findings=[finding(label, 6, TRUE_WORDS, STATEMENT)])
    async with over_stdio(env, name="Other Editor") as agent:
        with pytest.raises(Refused, match=r"Test Desktop 1\.2 leads review"):
            await agent.open(application_ref=REFERENCE)
        await agent.open(application_ref=REFERENCE, take_over=True)
        await agent.on("draft_letter", conclusion=conclusion("F1"))
        done = await agent.on("finish_review")
    files = {one["format"]: Path(one["path"]) for one in done["files"] if one["path"]}
    assert files["pdf"].read_bytes().startswith(b"%PDF")
    assert files["letter"].read_bytes().startswith(b"%PDF")
    assert all(data in path.parents for path in files.values())


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_server_over_stdio_works_next_to_everything_else_on_the_same_folder(everything: Running) -> None:
    async with over_stdio(everything.env, name="Beside") as agent, over_http(everything.url("REVIEWER")) as other:
        await agent.open(application_ref=REFERENCE)
        await agent.read_all()
        with pytest.raises(Refused, match=r"Beside 1\.2 leads review"):
            await other.open(application_ref=REFERENCE)
        label = agent.documents["Transport Statement.pdf"]
        await agent.on("submit_findings", findings=[finding(label, 6, TRUE_WORDS, STATEMENT)])
        other.review = agent.review  # the same conversation, now by way of the other server
        status = await other.on("review_status")
        assert [one["verdict"] for one in status["findings"]] == ["verified"]
        done = await agent.on("finish_review", conclusion=conclusion("F1"))
        assert (await other.on("review_status"))["review_status"] == "completed"
    listed = everything.get("/api/v1/reviews").json()["reviews"]
    assert (done["review_id"], "Beside 1.2") in [(one["review_id"], one["model"]) for one in listed]


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_folder_of_documents_over_stdio(tmp_path: Path) -> None:
    settings = load_settings(trigpoint_data_dir=tmp_path / "samples")
    folder = tmp_path / "given" / "cotley road"
    folder.mkdir(parents=True)
    for path in sample_documents(settings)[REFERENCE].values():
        shutil.copy(path, folder)
    for form in folder.glob("Application Form*"):
        form.unlink()
    env = environment(tmp_path / "data")
    async with over_stdio(env, "--root", str(tmp_path / "given")) as agent:
        with pytest.raises(Refused, match="the date on which the application was validated"):
            await agent.open(folder=str(folder))
        with pytest.raises(Refused, match="start it with --root"):
            await agent.open(folder=str(tmp_path))
        given = {"date_validated": "2024-03-14", "authority": "cherwell", "application_ref": REFERENCE}
        proposal = "Erection of 120 dwellings with access from Cotley Road"
        await agent.open(folder=str(folder), proposal=proposal, **given)
        await agent.read_all()
        label = agent.documents["Transport Statement.pdf"]
        answer = await agent.on("submit_findings", findings=[finding(label, 6, TRUE_WORDS, STATEMENT)])
        assert [one["verdict"] for one in answer["verdicts"]] == ["verified"]
        done = await agent.on("finish_review", conclusion=conclusion("F1"))
    assert done["ratings"]["Cycle Parking"] == "red"
    assert any(one["format"] == "pdf" and one["path"] for one in done["files"])
