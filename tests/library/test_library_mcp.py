"""The library over MCP: the contract's examples replayed by a real client, every error code, and its time limits."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from library_samples import DDD, MODEL, PROJECT, item, library_settings, seeded_vector
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from trigpoint.config import Settings
from trigpoint.errors import InvalidChunk
from trigpoint.library.chunks import RULES, check_chunks
from trigpoint.library.library import Library
from trigpoint.library.projects import Project, load_projects
from trigpoint.mcp import library as library_server
from trigpoint.mcp.library import TIMEOUTS, server
from trigpoint.passages import sqlite_rows
from trigpoint.passages.sqlite import SqliteStores
from trigpoint.passages.store import PassageStore
from trigpoint.text.embed import shared_embedding

SEARCH_ITEM = ["render_text", "score", "citekey", "section", "page_span", "section_path", "doi", "full_text"]
ADDED = ["chunk_id", "doc_id", "title", "url", "citation", "page_label", "citation_doubt", "kind"]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return library_settings(tmp_path)


@pytest.fixture
async def client(settings: Settings, serve) -> AsyncIterator[Client]:
    """Opened and closed by one task, as anyio wants it; a fixture's two halves run in two."""
    opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()

    async def stay() -> None:
        async with serve(server(settings).app()) as url, Client(f"{url}/mcp") as connected:
            opened.set_result(connected)
            await done.wait()

    task = asyncio.create_task(stay())
    await asyncio.wait({task, opened}, return_when=asyncio.FIRST_COMPLETED)
    yield opened.result() if opened.done() else await task
    done.set()
    await task


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert json.loads(result.content[0].text) == result.structured_content
    assert not result.is_error, result.structured_content
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    assert list(result.structured_content) == ["error"]
    assert list(result.structured_content["error"]) == ["code", "message", "details"]
    return result.structured_content["error"]


async def test_the_examples_of_the_contract(client: Client) -> None:
    written = await call(client, "store_chunks", project=PROJECT, items=[item(f"chunk-{i}", seed=i) for i in range(42)])
    assert written == {
        "chunks_written": 42,
        "project": PROJECT,
        "embed_model": MODEL,
        "warnings": ["42 chunks: batches of 100 to 500 are quicker"],
    }
    found = await call(client, "find_chunks", project=PROJECT, query="What is an entity?")
    assert found.pop("weak") is True  # these vectors are near nothing
    assert (list(found), found["count"], len(found["items"])) == (["items", "count"], 6, 6)
    first = found["items"][0]
    assert list(first) == SEARCH_ITEM + ADDED
    assert first | {"score": 0, "chunk_id": "", "doc_id": ""} == {
        "render_text": "Entities and value objects are distinct building blocks of the domain.",
        "score": 0,
        "citekey": "cleanArchitecture2023",
        "section": "Entities",
        "page_span": [45, 46],
        "section_path": ["Part I", "Chapter 3"],
        "doi": "10.1000/xyz123",
        "full_text": None,
        "chunk_id": "",
        "doc_id": "",
        "title": "Clean Architecture",
        "url": None,
        "citation": "Clean Architecture (no date). Available at: https://doi.org/10.1000/xyz123.",
        "page_label": None,
        "citation_doubt": None,
        "kind": "source",
    }
    hybrid = await call(client, "query_hybrid", project=PROJECT, query="entities", filters={"tags": ["architecture"]})
    assert list(hybrid) == ["items", "count", "hybrid_enabled", "fusion"]
    assert (hybrid["count"], hybrid["hybrid_enabled"]) == (6, True)
    assert hybrid["fusion"] == {"method": "convex", "alpha": 0.35}
    inspected = await call(client, "inspect_collection", project=PROJECT, sample=1)
    sample = inspected.pop("sample")
    assert inspected == {
        "project": PROJECT,
        "collection": "proj-citeloom-clean-arch",
        "size": 42,
        "embed_model": MODEL,
        "payload_keys": ["project", "source", "zotero", "doc", "embed_model", "version", "fulltext"],
        "indexes": {"keyword": ["project", "zotero.tags"], "fulltext": ["fulltext"]},
    }
    assert [s["id"] for s in sample] == ["chunk-0"]
    assert sample[0]["source"] == {"path": "docs/clean-arch.pdf", "title": "Clean Architecture"}
    listed = await call(client, "list_projects")
    assert listed["projects"][:2] == [
        {"id": PROJECT, "collection": "proj-citeloom-clean-arch", "embed_model": MODEL, "hybrid_enabled": True},
        {"id": DDD, "collection": "proj-citeloom-ddd", "embed_model": MODEL, "hybrid_enabled": False},
    ]


async def test_beyond_the_five_a_chunk_with_neighbours_a_quotation_a_deletion(client: Client) -> None:
    texts = ["One entity stands here.", "Two value ob-\njects follow it.", "Three aggregates end it."]
    items = [item(f"c{i}", text, seed=i) for i, text in enumerate(texts)]
    await call(client, "store_chunks", project=PROJECT, items=items)
    around = await call(client, "get_chunk", project=PROJECT, chunk_id="c1", neighbours=1)
    assert around["chunk"]["full_text"] == texts[1]
    assert [c["chunk_id"] for c in around["before"] + around["after"]] == ["c0", "c2"]
    quoted = await call(client, "find_quote", project=PROJECT, quote="two value objects follow")
    assert [(m["citekey"], m["text"], m["exact"]) for m in quoted["matches"]] == [
        ("cleanArchitecture2023", "Two value ob-\njects follow", False)
    ]
    doc_id = around["chunk"]["doc_id"]
    assert await call(client, "delete_document", project=PROJECT, doc_id=doc_id) == {
        "project": PROJECT,
        "doc_id": doc_id,
        "chunks_removed": 3,
    }
    assert (await refusal(client, "get_chunk", project=PROJECT, chunk_id="c1"))["code"] == "CHUNK_NOT_FOUND"
    assert (await refusal(client, "delete_document", project=PROJECT, doc_id=doc_id))["code"] == "DOCUMENT_NOT_FOUND"


async def test_output_is_trimmed_and_the_full_text_comes_on_request_only(client: Client) -> None:
    long = "The dependency rule says that source code points inwards. " * 60
    await call(client, "store_chunks", project=PROJECT, items=[item("long", long)])
    for tool in ("find_chunks", "query_hybrid"):
        (short,) = (await call(client, tool, project=PROJECT, query="dependency rule"))["items"]
        assert len(short["render_text"]) <= 1800
        assert short["full_text"] is None
        (whole,) = (await call(client, tool, project=PROJECT, query="dependency", include_full_text=True))["items"]
        assert whole["full_text"] == long


async def test_top_k_is_capped_by_the_project_and_scores_fall_within_0_and_1(client: Client) -> None:
    items = [item(f"c{i}", f"entity number {i}", seed=i) for i in range(60)]
    await call(client, "store_chunks", project=PROJECT, items=items)
    for tool in ("find_chunks", "query_hybrid"):
        found = (await call(client, tool, project=PROJECT, query="entity number 7", top_k=50))["items"]
        scores = [i["score"] for i in found]
        assert len(found) == 20
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= s <= 1 for s in scores)


async def test_500_chunks_with_vectors_go_in_one_call_and_501_do_not(client: Client) -> None:
    items = [item(f"c{i}", f"passage {i}", seed=i) for i in range(501)]
    written = await call(client, "store_chunks", project=PROJECT, items=items[:500])
    assert (written["chunks_written"], written["warnings"]) == (500, [])
    again = await call(client, "store_chunks", project=PROJECT, items=items[:500])
    assert again["chunks_written"] == 500
    error = await refusal(client, "store_chunks", project=PROJECT, items=items)
    assert (error["code"], error["details"]) == ("BATCH_TOO_LARGE", {"given": 501, "limit": 500})
    assert (await call(client, "inspect_collection", project=PROJECT))["size"] == 500


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("store_chunks", {"items": []}),
        ("find_chunks", {"query": "x"}),
        ("query_hybrid", {"query": "x"}),
        ("inspect_collection", {}),
        ("get_chunk", {"chunk_id": "x"}),
        ("find_quote", {"quote": "x"}),
        ("delete_document", {"doc_id": "x"}),
    ],
)
async def test_an_unknown_project_is_refused_by_every_tool(client: Client, tool: str, arguments: dict) -> None:
    assert await refusal(client, tool, project="citeloom/unknown", **arguments) == {
        "code": "INVALID_PROJECT",
        "message": "Project 'citeloom/unknown' not found. "
        "Available projects: ['citeloom/clean-arch', 'citeloom/ddd', 'plain']",
        "details": {
            "project_id": "citeloom/unknown",
            "available_projects": ["citeloom/clean-arch", "citeloom/ddd", "plain"],
        },
    }


async def test_hybrid_search_is_refused_where_it_is_not_enabled(client: Client) -> None:
    error = await refusal(client, "query_hybrid", project=DDD, query="aggregates")
    assert (error["code"], error["details"]) == ("HYBRID_NOT_SUPPORTED", {"project_id": DDD})


async def test_another_model_is_a_mismatch_until_it_is_migrated(client: Client) -> None:
    other = "openai/text-embedding-3-small"
    await call(client, "store_chunks", project=PROJECT, items=[item("a"), item("b", seed=2)])
    error = await refusal(client, "store_chunks", project=PROJECT, items=[item("c", model=other)])
    assert (error["code"], error["details"]) == ("EMBEDDING_MISMATCH", {"bound_model": MODEL, "given_model": other})
    half = await call(client, "store_chunks", project=PROJECT, items=[item("a", model=other)], migrate=True)
    assert any("1 of 2" in warning for warning in half["warnings"])
    assert (await call(client, "find_chunks", project=PROJECT, query="entity"))["count"] == 2
    await call(client, "store_chunks", project=PROJECT, items=[item("b", model=other)], migrate=True)
    assert (await call(client, "inspect_collection", project=PROJECT))["embed_model"] == other
    for tool in ("find_chunks", "query_hybrid"):  # L10: a question in words cannot be embedded with that model
        error = await refusal(client, tool, project=PROJECT, query="entity")
        assert error["code"] == "EMBEDDING_MISMATCH"
        assert other in error["message"]
        assert "all-MiniLM-L6-v2" in error["message"]


BAD_ITEMS = {
    "wrong dimension": item() | {"embedding": seeded_vector(1, 383)},
    "zero vector": item() | {"embedding": [0.0] * 384},
    "no numbers": item() | {"embedding": ["x"] * 384},
    "true is no number": item() | {"embedding": [True] * 384},
    "overflow": item() | {"embedding": [1e300] * 384},
    "a huge integer": item() | {"embedding": [10**400] * 384},
    "no embedding": {k: v for k, v in item().items() if k != "embedding"},
    "empty text": item(text=" \n"),
    "text is no text": item() | {"text": 3},
    "another project": item(project=DDD),
    "no model": item(embed_model=None),
    "no metadata": item() | {"metadata": []},
    "zotero is no object": item(zotero="x"),
    "too large together": item() | {"embedding": [1e38] * 384},
    "empty id": item(" "),
    "an id with NUL, which no tool takes": item("a\0"),
    "a document that no tool could remove": item(doc={"doc_id": "a\0"}),
    "a document named by spaces": item(source={"doc_id": " "}),
    "a document with a name that is too long": item(doc={"doc_id": "x" * 513}),
}


@pytest.mark.parametrize("bad", BAD_ITEMS.values(), ids=BAD_ITEMS)
async def test_one_bad_chunk_rejects_the_call_with_its_index(client: Client, bad: dict) -> None:
    error = await refusal(client, "store_chunks", project=PROJECT, items=[item("a"), item("b"), bad])
    assert (error["code"], error["details"].get("index")) == ("INVALID_CHUNK", 2)
    assert (await call(client, "inspect_collection", project=PROJECT))["size"] == 0


@pytest.mark.parametrize("bad", [item(text="a \ud800 b"), item(source={"title": "\udfff"}), item("\ud800")])
def test_half_a_surrogate_pair_is_refused(bad: dict) -> None:
    with pytest.raises(InvalidChunk, match="Unicode"):
        check_chunks(Project(PROJECT, "proj"), [bad])


async def test_chunks_that_contradict_each_other_are_refused(client: Client) -> None:
    for pair in ([item("a"), item("a")], [item("a"), item("b", model="openai/x")]):
        error = await refusal(client, "store_chunks", project=PROJECT, items=pair)
        assert (error["code"], error["details"]["index"]) == ("INVALID_CHUNK", 1)


async def test_l10_ids_of_our_model_may_stand_in_one_batch(client: Client) -> None:
    ids = ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2", MODEL)
    items = [item(f"chunk-{n}", model=model) for n, model in enumerate(ids)]
    assert (await call(client, "store_chunks", project=PROJECT, items=items))["chunks_written"] == 3


async def test_l2_another_dimension_than_the_stored_one_is_refused(client: Client) -> None:
    def sized(name: str, dimensions: int) -> dict[str, Any]:
        return item(name, model="openai/y") | {"embedding": seeded_vector(1, dimensions)}

    await call(client, "store_chunks", project=PROJECT, items=[sized("a", 3), sized("b", 3)])
    error = await refusal(client, "store_chunks", project=PROJECT, items=[sized("c", 5)])
    assert (error["code"], error["details"]["index"]) == ("INVALID_CHUNK", 0)
    assert (await call(client, "inspect_collection", project=PROJECT))["size"] == 2
    quoted = await call(client, "find_quote", project=PROJECT, quote="value objects are distinct")
    assert quoted["count"] >= 1  # the words can be read whatever the model


@pytest.mark.parametrize(
    "filters",
    [
        {"colour": "red"},
        {"tags": "x"},
        {"tags": [1]},
        {"year": "2017"},
        {"year": 10**30},
        {"citekey": 3},
        {"doc_id": []},
    ],
)
async def test_a_bad_filter_is_refused(client: Client, filters: dict) -> None:
    await call(client, "store_chunks", project=PROJECT, items=[item()])
    for tool in ("find_chunks", "query_hybrid"):
        error = await refusal(client, tool, project=PROJECT, query="entity", filters=filters)
        assert error["code"] == "INVALID_FILTER"
    if "colour" in filters:
        assert error["details"]["known_filters"] == [
            *("tags", "citekey", "doc_id", "section_prefix", "year"),
            *("kind", "collection", "references"),
        ]


async def test_odd_numbers_in_the_payload_do_no_harm(client: Client) -> None:
    odd = item("odd", zotero={"year": 10**40, "tags": [1, None]}, doc={"seq": 10**40, "page_span": [1, "x"]})
    await call(client, "store_chunks", project=PROJECT, items=[odd])
    (found,) = (await call(client, "find_chunks", project=PROJECT, query="entity"))["items"]
    assert (found["page_span"], found["section_path"]) == (None, [])


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("find_chunks", {}),
        ("find_chunks", {"query": " "}),
        ("find_chunks", {"query": "x", "top_k": 0}),
        ("find_chunks", {"query": "x", "top_k": "6"}),
        ("find_chunks", {"query": "x", "surprise": 1}),
        ("inspect_collection", {"sample": -1}),
        ("store_chunks", {"items": "all"}),
        ("get_chunk", {"chunk_id": ""}),
    ],
)
async def test_arguments_of_the_wrong_shape_are_refused(client: Client, tool: str, arguments: dict) -> None:
    assert (await refusal(client, tool, project=PROJECT, **arguments))["code"] == "INVALID_INPUT"


async def test_a_damaged_database_is_index_unavailable_and_the_server_still_lists(settings: Settings, serve) -> None:
    folder = settings.data_dir / "library"
    folder.mkdir(parents=True)
    (folder / "library.db").write_bytes(b"this is no database" * 1000)
    async with serve(server(settings).app()) as url, Client(f"{url}/mcp") as client:
        assert (await refusal(client, "inspect_collection", project=PROJECT))["code"] == "INDEX_UNAVAILABLE"
        assert (await refusal(client, "find_chunks", project=PROJECT, query="x"))["code"] == "INDEX_UNAVAILABLE"
        assert (await refusal(client, "store_chunks", project=PROJECT, items=[item()]))["code"] == "INDEX_UNAVAILABLE"
        assert len((await call(client, "list_projects"))["projects"]) == 3


async def test_a_qdrant_that_is_not_there_is_index_unavailable_by_name(tmp_path: Path, serve, free_port) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    settings = library_settings(tmp_path, qdrant_url=url)
    async with serve(server(settings).app()) as at, Client(f"{at}/mcp") as client:
        error = await refusal(client, "find_chunks", project=PROJECT, query="x")
        assert error["code"] == "INDEX_UNAVAILABLE"
        assert f"QDRANT_URL={url}" in error["message"]
        assert (await call(client, "list_projects"))["projects"]


class SlowPassages:
    """Takes its time before each read, and before a change takes effect, while `slow` is set."""

    def __init__(self, passages: PassageStore, slow: threading.Event, finished: threading.Semaphore) -> None:
        self._passages = passages
        self._slow = slow
        self._finished = finished

    def __getattr__(self, name: str) -> Any:
        def late(*args: Any, **more: Any) -> Any:
            if name not in ("fingerprint", "documents", "document"):
                self._wait()
            return getattr(self._passages, name)(*args, **more)

        return late

    def write(self, *args: Any, **more: Any) -> Any:
        return self._change(self._passages.write, *args, **more)

    def delete(self, *args: Any, **more: Any) -> Any:
        return self._change(self._passages.delete, *args, **more)

    def _change(self, change: Any, *args: Any, allow: Any = lambda: True, **more: Any) -> Any:
        def late() -> bool:
            self._wait()
            return bool(allow())

        try:
            return change(*args, allow=late, **more)
        finally:
            self._finished.release()

    def _wait(self) -> None:
        if self._slow.is_set():
            time.sleep(0.6)


class SlowStores(SqliteStores):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, RULES)
        self.slow = threading.Event()
        self.finished = threading.Semaphore(0)

    def collection(self, name: str) -> Any:
        return SlowPassages(super().collection(name), self.slow, self.finished)


@asynccontextmanager
async def slow_server(settings: Settings, serve) -> AsyncIterator[tuple[Client, SlowStores]]:
    store = SlowStores(settings.data_dir / "library")

    def opening(settings: Settings) -> Library:
        return Library(load_projects(settings), store, shared_embedding(settings))

    shared_embedding(settings).embed("warm")
    app = server(settings, timeouts=dict.fromkeys(TIMEOUTS, 0.2), opening=opening).app()
    async with serve(app) as url, Client(f"{url}/mcp") as client:
        yield client, store


async def test_l8_a_timed_out_call_has_no_effect_afterwards(settings: Settings, serve) -> None:
    async with slow_server(settings, serve) as (client, store):
        Library(load_projects(settings), store, shared_embedding(settings)).store_chunks(PROJECT, [item("a")])
        doc_id = store.collection(PROJECT).documents()[0].document_id
        store.finished.acquire()
        store.slow.set()
        for tool, arguments in (
            ("store_chunks", {"items": [item("b")]}),
            ("delete_document", {"doc_id": doc_id}),
        ):
            error = await refusal(client, tool, project=PROJECT, **arguments)
            assert (error["code"], error["details"]) == ("TIMEOUT", {"tool": tool, "timeout_seconds": 0.2})
            assert await asyncio.to_thread(store.finished.acquire, timeout=20)  # the late work has ended
        store.slow.clear()
        assert [c.id for c in store.collection(PROJECT).document(doc_id)] == ["a"]


async def test_each_slow_reading_tool_times_out(settings: Settings, serve) -> None:
    async with slow_server(settings, serve) as (client, store):
        store.slow.set()
        for tool, arguments in (
            ("find_chunks", {"query": "x"}),
            ("query_hybrid", {"query": "x"}),
            ("inspect_collection", {}),
            ("get_chunk", {"chunk_id": "x"}),
            ("find_quote", {"quote": "x"}),
        ):
            error = await refusal(client, tool, project=PROJECT, **arguments)
            assert (error["code"], error["details"]["tool"]) == ("TIMEOUT", tool)


async def refusal_while_loading(client: Client, tool: str) -> dict[str, Any]:
    """Return how a search is refused once its loading has begun: on a slow machine it may not have within the time limit."""
    for _ in range(50):
        error = await refusal(client, tool, project=PROJECT, query="x")
        if "loaded" in error["message"]:
            break
    return error


async def test_search_during_the_loading_of_a_library_says_so_and_a_later_one_answers(
    settings: Settings, serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library.open(settings)
    library.store_chunks(PROJECT, [item("a"), item("b")])
    library.close()
    may_load = threading.Event()
    entries = sqlite_rows.entries

    def slowly(*args: Any) -> Any:
        assert may_load.wait(60)
        yield from entries(*args)

    monkeypatch.setattr(sqlite_rows, "entries", slowly)
    async with slow_server(settings, serve) as (client, _):
        for tool in ("find_chunks", "query_hybrid"):
            error = await refusal_while_loading(client, tool)
            assert (error["code"], error["details"]["tool"]) == ("TIMEOUT", tool)
            assert "is being loaded into memory. Ask again" in error["message"]
        assert (await call(client, "get_chunk", project=PROJECT, chunk_id="a"))["chunk"]["chunk_id"] == "a"
        may_load.set()
        assert (await call(client, "find_chunks", project=PROJECT, query="x"))["count"] == 2


def test_the_time_limits_are_those_of_the_contract() -> None:
    assert {tool: TIMEOUTS[tool] for tool in list(TIMEOUTS)[:5]} == {
        "store_chunks": 15,
        "find_chunks": 8,
        "query_hybrid": 15,
        "inspect_collection": 5,
        "list_projects": 2,
    }


async def test_the_tool_list_costs_a_model_less_than_4000_tokens(client: Client) -> None:
    tools = (await client.list_tools()).tools
    assert len(tools) == 8
    listed = json.dumps(
        [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools], separators=(",", ":")
    )
    assert len(listed) / 3 < 4000  # JSON takes more than three characters a token
    assert all(tool.description and tool.output_schema and tool.annotations for tool in tools)


@pytest.mark.slow
async def test_two_editors_over_stdio_share_one_library(settings: Settings, tmp_path: Path) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "trigpoint.cli.main", "mcp", "library"],
        env={
            **os.environ,
            "TRIGPOINT_DATA_DIR": str(settings.data_dir),
            "TRIGPOINT_CONFIG": str(settings.trigpoint_config),
        },
    )
    async with Client(command) as one, Client(command) as other:
        await call(one, "store_chunks", project=PROJECT, items=[item("a", "Ports and adapters surround the domain.")])
        found = await call(other, "query_hybrid", project=PROJECT, query="ports and adapters")
        assert [i["chunk_id"] for i in found["items"]] == ["a"]
        await call(other, "delete_document", project=PROJECT, doc_id=found["items"][0]["doc_id"])
        assert (await call(one, "query_hybrid", project=PROJECT, query="ports"))["count"] == 0
        assert (await refusal(one, "find_chunks", project="nobody", query="x"))["code"] == "INVALID_PROJECT"


async def test_a_project_added_while_the_server_runs_is_there_at_the_next_call(
    settings: Settings, client: Client
) -> None:
    assert (await refusal(client, "find_chunks", project="later", query="x"))["code"] == "INVALID_PROJECT"
    file = settings.trigpoint_config
    assert file is not None
    before = file.read_text()
    file.write_text(before + '[library.projects."later"]\n')
    assert (await call(client, "find_chunks", project="later", query="x"))["items"] == []
    file.write_text("[library.projects.broken")
    assert len((await call(client, "list_projects"))["projects"]) == 4  # the last that could be read
    file.write_text(before)
    assert len((await call(client, "list_projects"))["projects"]) == 3


async def test_what_other_documents_say_of_the_same_comes_with_a_chunk(client: Client) -> None:
    chunks = [item(f"c{n}", seed=n // 2, source={"path": f"doc{n % 3}"}) for n in range(6)]
    await call(client, "store_chunks", project=PROJECT, items=chunks)
    answer = await call(client, "get_chunk", project=PROJECT, chunk_id="c0", elsewhere=2)
    assert answer["elsewhere"][0]["chunk_id"] == "c1"  # the same vector, in another document
    assert len({found["doc_id"] for found in [answer["chunk"], *answer["elsewhere"]]}) == 3
    assert "elsewhere" not in await call(client, "get_chunk", project=PROJECT, chunk_id="c0")


def test_a_quotation_waits_between_its_steps_while_a_search_runs_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(library_server, "_GIVE_WAY_SECONDS", 0.3)
    monkeypatch.setattr(library_server, "_STEP_ASIDE_SECONDS", 0.2)
    searches = library_server.Searches()
    step = searches.courtesy()
    assert waited(step) < 0.1
    with searches.one():
        assert sum(waited(step) for _ in range(5)) >= 0.29
        assert waited(step) < 0.1  # it has waited long enough in all
    other = searches.courtesy()
    assert waited(other) < 0.1


def waited(step: Callable[[], None]) -> float:
    started = time.monotonic()
    step()
    return time.monotonic() - started
