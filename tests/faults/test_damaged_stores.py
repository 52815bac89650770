"""Damaged and missing stores: what is damaged is named with the way out, the rest starts, and `repair` mends it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from trigpoint.errors import ToolFailed
from trigpoint.mcp.client import ToolClient
from trigpoint_process import Running, environment, trigpoint

pytestmark = pytest.mark.slow

Copied = Callable[[], Path]
GoesOn = Callable[[float], None]
QUESTION = {"query": "cycle parking", "effective_date": "2025-06-01"}


def overwrite(path: Path, start: int, end: int) -> None:
    content = bytearray(path.read_bytes())
    assert len(content) > end
    content[start:end] = b"\xa5" * (end - start)
    path.write_bytes(content)


def not_a_database(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"not a database, " * 500)


def damage_vectors(data: Path, store: str) -> Path:
    path = data / "chroma" / store / "chroma.sqlite3"
    overwrite(path, 4096, path.stat().st_size // 2)
    return path


def damage_log(data: Path) -> Path:
    """Damage the middle of the log, where a command begins: within a text, no reader could tell."""
    (path,) = (data / "redis" / "appendonlydir").glob("*.incr.aof")
    content = path.read_bytes()
    start = content.index(b"\r\n*", len(content) // 2) + 2
    overwrite(path, start, start + 300)
    return path


def wrapped(text: str) -> str:
    """The text of doctor's table without its lines and breaks."""
    return "".join(text.replace("│", " ").split())


def problems(up: Running) -> list[str]:
    health = up.get("/api/v1/health").json()
    assert health["status"] == "degraded", health
    return list(health["problems"])


def until_named(up: Running, words: str, seconds: float = 60) -> None:
    """Return when a problem names it: health asks the other servers, and on a busy machine one may answer too late."""
    deadline = time.monotonic() + seconds
    while not any(words in problem for problem in problems(up)):
        assert time.monotonic() < deadline, problems(up)
        time.sleep(0.3)


def until_healthy(up: Running, seconds: float = 120) -> float:
    began = time.monotonic()
    while up.get("/api/v1/health").json()["status"] != "healthy":
        assert time.monotonic() - began < seconds, up.output
        time.sleep(0.3)
    return time.monotonic() - began


def part_health(up: Running, name: str) -> object:
    return httpx.get(f"{up.url(name)}/health").json()


def submit(up: Running) -> httpx.Response:
    return httpx.post(f"{up.url()}/api/v1/reviews", json={"application_ref": "25/00001/F"}, timeout=30)


async def search(up: Running) -> list[dict[str, object]]:
    async with ToolClient(up.url("POLICY_KB")) as tools:
        return list((await tools.call("search_policy", QUESTION))["results"])


def assert_doctor_names(env: dict[str, str], path: Path, *words: str) -> None:
    done = trigpoint("doctor", env=env)
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert "".join(str(path).split()) in wrapped(done.stdout)
    for word in words:
        assert "".join(word.split()) in wrapped(done.stdout)


@pytest.mark.fault(
    "the vectors of the policies (chroma.sqlite3 damaged)",
    phase="start, search",
    seen="health `degraded` with the file and `trigpoint repair`; policy tools answer `store_damaged`; all else works",
)
async def test_a_damaged_store_of_policies_is_named_and_rebuilt_after_repair(copied: Copied, goes_on: GoesOn) -> None:
    data = copied()
    env, path = environment(data), damage_vectors(data, "policies")
    assert_doctor_names(env, path, "trigpoint repair")
    with Running("up", env=env) as up:
        (problem,) = problems(up)
        assert str(path) in problem
        assert "`trigpoint repair`" in problem
        with pytest.raises(ToolFailed) as refused:
            await search(up)
        assert refused.value.code == "store_damaged"
        assert up.get("/api/v1/policies").status_code == 200
        assert part_health(up, "DOCUMENT_STORE") == {"status": "ok"}
        in_use = trigpoint("repair", env=env)
        assert in_use.returncode == 1
        assert "already up" in in_use.stderr
    assert "Traceback" not in up.output
    mended = trigpoint("repair", env=env)
    assert mended.returncode == 0, mended.stderr
    assert str(path.parent) in mended.stdout
    assert (next((data / "damaged").iterdir()) / "chroma" / "policies" / "chroma.sqlite3").is_file()
    with Running("up", env=env) as up:
        goes_on(until_healthy(up))
        assert "are being rebuilt from" in up.output
        assert await search(up)
    assert trigpoint("doctor", env=env).returncode == 0


@pytest.mark.fault(
    "the folder `chroma/policies` (deleted)",
    phase="start, search",
    seen="health `degraded`: which texts are being rebuilt from their files; searches are refused until they are there",
)
async def test_a_deleted_store_of_policies_is_rebuilt_from_the_stored_files(copied: Copied, goes_on: GoesOn) -> None:
    data = copied()
    before = {path: path.read_bytes() for path in (data / "policy").rglob("*.pdf")}
    shutil.rmtree(data / "chroma" / "policies")
    env = environment(data)
    done = trigpoint("doctor", env=env)
    assert done.returncode == 1
    assert "rev_NPPF_2024_12" in wrapped(done.stdout)
    with Running("up", env=env) as up:
        goes_on(until_healthy(up))
        assert "are being rebuilt from" in up.output
        assert await search(up)
        revisions = up.get("/api/v1/policies/NPPF").json()["revisions"]
        assert {one["status"] for one in revisions} == {"active", "superseded"}
    assert before == {path: path.read_bytes() for path in (data / "policy").rglob("*.pdf")}


@pytest.mark.fault(
    "the passages of one policy, and its file",
    phase="start, search",
    until="the text is uploaded again",
    seen="the revision is `failed` with the reason, or its digest is loaded again; never `active` without a text",
    lost="the text, until it is uploaded again",
)
async def test_a_revision_whose_passages_and_file_are_gone_is_failed_with_the_reason(copied: Copied) -> None:
    data = copied()
    shutil.rmtree(data / "chroma" / "policies")
    shutil.rmtree(data / "policy" / "LTN_1_20")
    env = environment(data)
    with (
        Running("serve", "policy-kb", env=env, wait_for=("POLICY_KB",)) as kb,
        Running("serve", "api", env=env, wait_for=("API",)) as api,
    ):
        until_healthy(api)
        assert "cannot be rebuilt" in kb.output
        (revision,) = api.get("/api/v1/policies/LTN_1_20").json()["revisions"]
        assert revision["status"] == "failed"
        told = api.get("/api/v1/policies/LTN_1_20/revisions/rev_LTN_1_20_2020_07").json()
        assert "File not found" in told["error"]
        async with ToolClient(kb.url("POLICY_KB")) as tools:
            answer = await tools.call("search_policy", {**QUESTION, "sources": ["LTN_1_20"]})
        assert answer["results"] == []
        assert any("LTN_1_20" in warning and "cannot be used" in warning for warning in answer["warnings"])


@pytest.mark.fault(
    "the vectors of the documents (chroma.sqlite3 damaged)",
    phase="start, ingest",
    seen="health `degraded` with the file and `trigpoint repair`; the document store's tools answer `store_damaged`",
    lost="passages of documents, until a review ingests them again",
)
async def test_a_damaged_store_of_documents_is_named_and_set_aside_by_repair(copied: Copied, goes_on: GoesOn) -> None:
    data = copied()
    env, path = environment(data), data / "chroma" / "documents" / "chroma.sqlite3"
    not_a_database(path)
    assert_doctor_names(env, path, "trigpoint repair")
    with Running("up", env=env) as up:
        until_named(up, str(path))
        assert await search(up)
    mended = trigpoint("repair", env=env)
    assert "ingested again by the next review" in mended.stdout, mended.stderr
    with Running("up", env=env) as up:
        goes_on(until_healthy(up))


@pytest.mark.fault(
    "the middle of Valkey's log (append-only file damaged)",
    phase="start, submit",
    seen="health `degraded` with `trigpoint repair`; 503 with the reason; the servers that need no Redis work",
    lost="the changes after the damage, which `repair` names",
)
async def test_a_log_of_valkey_damaged_in_the_middle_is_cut_there_by_repair(copied: Copied, goes_on: GoesOn) -> None:
    data = copied()
    env, path = environment(data), damage_log(data)
    damaged = path.read_bytes()
    assert_doctor_names(env, data / "redis", "trigpoint repair", path.name)
    with Running("up", env=env) as up:
        until_named(up, "`trigpoint repair`")
        refused = submit(up)
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "store_unavailable"
        assert "embedded Valkey" in refused.json()["error"]["message"]
        async with ToolClient(up.url("LIBRARY")) as tools:
            assert (await tools.call("list_projects", {}))["projects"] is not None
        assert up.stop() == 0
    mended = trigpoint("repair", env=env)
    assert mended.returncode == 0, mended.stderr
    assert f"of {len(damaged)}" in mended.stdout
    assert "policy_revision" in mended.stdout  # the kinds of records whose last changes were cut
    kept = next((data / "damaged").iterdir()) / "redis" / "appendonlydir" / path.name
    assert kept.read_bytes() == damaged
    with Running("up", env=env) as up:  # what was cut of the shipped policies is loaded again
        goes_on(until_healthy(up))
        assert await search(up)


@pytest.mark.fault(
    "`library.db` or `graph.db` (malformed)",
    phase="start, search",
    seen="health `degraded` with the file and `trigpoint repair`; calls that need it say so; all else works",
    lost="what the file held, unless all of its rows can be read",
)
def test_malformed_databases_of_library_and_graph_are_named_and_set_aside_by_repair(
    copied: Copied, goes_on: GoesOn
) -> None:
    data = copied()
    env = environment(data)
    paths = (data / "library" / "library.db", data / "graph" / "graph.db")
    for path in paths:
        not_a_database(path)
        assert_doctor_names(env, path, "trigpoint repair")
    with Running("up", env=env) as up:
        said = problems(up)
        assert all(any(str(path) in problem for problem in said) for path in paths)
    mended = trigpoint("repair", env=env)
    assert mended.stdout.count("cannot be read through") == 2, mended.stdout
    again = trigpoint("repair", env=env)
    assert "Nothing in" in again.stdout
    with Running("up", env=env) as up:
        goes_on(until_healthy(up))
