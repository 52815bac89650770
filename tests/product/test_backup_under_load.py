"""A backup taken while reviews run and documents come in, restored elsewhere: what was there answers the same."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from trigpoint.config import load_settings
from trigpoint.demo.documents import sample_documents
from trigpoint.demo.portal import DemoPortal
from trigpoint.errors import ToolFailed
from trigpoint.mcp.client import ToolClient
from trigpoint_process import SMALL, Running, environment, finished, submitted, trigpoint

pytestmark = pytest.mark.slow

LARGER = "25/01178/REM"
Ask = Callable[..., Any]
QUESTIONS = ("cycle parking", "what is refused on highways grounds", "bats in the barn")


@asynccontextmanager
async def asking(up: Running) -> AsyncIterator[Ask]:
    """`ask(server, tool, …)` over one connection a server."""
    async with ToolClient(up.url("POLICY_KB")) as policies, ToolClient(up.url("DOCUMENT_STORE")) as documents:
        clients = {"POLICY_KB": policies, "DOCUMENT_STORE": documents}

        async def ask(server: str, tool: str, **arguments: Any) -> Any:
            return await clients[server].call(tool, arguments)

        yield ask


async def answers(up: Running, review_ids: list[str], references: list[str]) -> dict[str, Any]:
    async with asking(up) as call:
        return await _answers(up, call, review_ids, references)


async def _answers(up: Running, call: Ask, review_ids: list[str], references: list[str]) -> dict[str, Any]:
    """Every review, every policy, and searches of both stores, without what names the folder or the moment."""
    found: dict[str, Any] = {f"review {i}": up.get(f"/api/v1/reviews/{i}").json() for i in review_ids}
    found |= {f"markdown {i}": up.get(f"/api/v1/reviews/{i}/download?format=markdown").text for i in review_ids}
    listed = up.get("/api/v1/policies").json()
    found["policies"] = listed
    for policy in listed["policies"]:
        found[f"policy {policy['source']}"] = up.get(f"/api/v1/policies/{policy['source']}").json()
    for date in ("2024-03-15", "2025-06-01"):
        found[f"in force {date}"] = up.get("/api/v1/policies/effective", params={"date": date}).json()
        for question in QUESTIONS:
            for mode in ("semantic", "hybrid"):
                arguments = {"query": question, "effective_date": date, "mode": mode}
                found[f"policy search {arguments}"] = await call("POLICY_KB", "search_policy", **arguments)
    section = {"source": "NPPF", "section_ref": "Para 116"}
    found["section"] = await call("POLICY_KB", "get_policy_section", **section)
    for reference in references:
        documents = await call("DOCUMENT_STORE", "list_ingested_documents", application_ref=reference)
        found[f"documents {reference}"] = documents
        for document in documents["documents"]:
            text = await call("DOCUMENT_STORE", "get_document_text", document_id=document["document_id"])
            found[f"text {document['document_id']}"] = text
        for question in QUESTIONS:
            for mode in ("semantic", "hybrid"):
                arguments = {"query": question, "application_ref": reference, "mode": mode, "max_results": 50}
                result = await call("DOCUMENT_STORE", "search_application_docs", **arguments)
                found[f"document search {arguments}"] = result if mode == "semantic" else without_word_scores(result)
    plain: dict[str, Any] = json.loads(json.dumps(found).replace(up.env["TRIGPOINT_DATA_DIR"], "DATA"))
    return plain


def without_word_scores(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without what the load changes after the backup: how rare a word is, which decides the scores and
    whether the best of them is weak, and what is still to be indexed.
    """
    rows = sorted(answer["results"], key=lambda row: str(row["chunk_id"]))
    kept = {name: value for name, value in answer.items() if name not in ("warnings", "weak")}
    return kept | {"results": [{k: v for k, v in row.items() if k != "score"} for row in rows]}


@contextmanager
def documents_coming_in(up: Running, files: list[Path]) -> Iterator[list[str]]:
    """Ingests one document after another under ever new references until told to stop."""
    enough = threading.Event()
    done: list[str] = []

    async def ingest() -> None:
        async with ToolClient(up.url("DOCUMENT_STORE")) as client:
            for number in range(10_000):
                if enough.is_set():
                    return
                reference = f"LOAD/{number:05d}"
                file = str(files[number % len(files)])
                with suppress(ToolFailed):  # a rendering has no text
                    await client.call("ingest_document", {"file_path": file, "application_ref": reference})
                    done.append(reference)

    thread = threading.Thread(target=lambda: asyncio.run(ingest()))
    thread.start()
    try:
        yield done
    finally:
        enough.set()
        thread.join(60)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("suffix", [".tar.zst"])
async def test_what_was_there_answers_the_same_elsewhere(tmp_path: Path, portal: DemoPortal, suffix: str) -> None:
    samples = sample_documents(load_settings(trigpoint_data_dir=tmp_path / "samples"))
    files = sorted(samples[SMALL].values())
    register = {"CHERWELL_PORTAL_URL": portal.url, "SCRAPER_RATE_LIMIT": "0"}
    env = environment(tmp_path / "data", DOCUMENT_ROOTS=str(tmp_path / "samples"), **register)
    archive = tmp_path / f"backup{suffix}"
    with Running("up", env=env) as up:
        before = submitted(up, SMALL)
        assert finished(up, before)["status"] == "completed"
        with documents_coming_in(up, files) as incoming:
            under_way = submitted(up, LARGER)
            async with asyncio.timeout(120):
                while len(incoming) < 3:  # noqa: ASYNC110  filled by a thread
                    await asyncio.sleep(0.05)
            then = list(incoming)
            made = await asyncio.to_thread(lambda: trigpoint("backup", str(archive), env=env))
            assert made.returncode == 0, made.stderr
            assert len(incoming) > len(then), "the load stood still"
        assert finished(up, under_way)["status"] == "completed"
        expected = await answers(up, [before], [SMALL, *then])
        assert up.stop() == 0

    restored = trigpoint("restore", str(archive), "--to", str(tmp_path / "elsewhere" / "data"), env=env)
    assert restored.returncode == 0, restored.stderr
    env = environment(tmp_path / "elsewhere" / "data", **register)
    with Running("up", env=env) as up:
        assert await answers(up, [before], [SMALL, *then]) == expected
        await assert_nothing_is_there_by_halves(up, incoming)
        assert finished(up, under_way)["status"] == "completed", "what ran at the time is taken up again"
        assert up.stop() == 0
    assert "Traceback" not in up.output


async def assert_nothing_is_there_by_halves(up: Running, references: list[str]) -> None:
    async with asking(up) as call:
        for reference in references:
            listed = await call("DOCUMENT_STORE", "list_ingested_documents", application_ref=reference)
            for document in listed["documents"]:
                text = await call("DOCUMENT_STORE", "get_document_text", document_id=document["document_id"])
                assert text["chunk_count"] == document["chunk_count"]
