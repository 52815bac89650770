"""The document store over MCP: a real client over each transport runs all five tools; bad input is a clear tool error."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx
import jsonschema
import pytest
from document_bench import CYCLE, NOISE, REF, make_pdf, prose
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters

from trigpoint.config import Settings, load_settings
from trigpoint.documents.store import DocumentStore
from trigpoint.errors import ToolFailed
from trigpoint.mcp import document_store
from trigpoint.mcp.client import ToolClient
from trigpoint.mcp.document_store import server

Connect = Callable[[Settings], AbstractAsyncContextManager[Client]]


@pytest.fixture
def connect(request, serve) -> Connect:
    """A client of a running server, over the transport that the test asks for."""
    transport, mode = request.param

    @asynccontextmanager
    async def open_client(settings: Settings) -> AsyncIterator[Client]:
        if transport == "stdio":
            command = StdioServerParameters(
                command=sys.executable,
                args=["-m", "trigpoint.cli.main", "mcp", "document-store"],
                env={
                    **os.environ,
                    "TRIGPOINT_DATA_DIR": str(settings.data_dir),
                    "CHROMA_URL": settings.chroma_url or "",
                    "TEXT_WORKERS": "1",
                },
            )
            async with Client(command, mode=mode) as client:
                yield client
            return
        async with serve(server(settings).app()) as url:
            there = sse_client(f"{url}/sse") if transport == "sse" else f"{url}/mcp"
            async with Client(there, mode=mode) as client:
                yield client

    return open_client


def every_transport(*modes: str):
    choices = [(transport, mode) for transport in ("sse", "streamable", "stdio") for mode in modes]
    return pytest.mark.parametrize("connect", choices, indirect=True, ids=lambda choice: "-".join(choice))


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert json.loads(result.content[0].text) == result.structured_content
    assert result.is_error == (result.structured_content["status"] == "error")
    return result.structured_content


@every_transport("auto")
async def test_the_text_can_be_had_with_its_pages(connect: Connect, settings: Settings):
    path = make_pdf(settings.data_dir / "Transport Assessment.pdf", [CYCLE, NOISE])
    async with connect(settings) as client:
        ingested = await call(client, "ingest_document", file_path=str(path), application_ref=REF)
        given = {"document_id": ingested["document_id"], "include_pages": True}
        answer = await call(client, "get_document_text", **given)
    parts = [answer["text"][page["start"] : page["end"]] for page in answer["pages"]]
    assert [page["number"] for page in answer["pages"]] == [1, 2]
    assert ["".join(part.split()) for part in parts] == ["".join(text.split()) for text in (CYCLE, NOISE)]


async def test_the_account_of_pages_is_listed_and_survives_a_restart(settings: Settings, serve):
    path = make_pdf(settings.data_dir / "Transport Assessment.pdf", [CYCLE, "", NOISE])
    async with serve(server(settings).app()) as url, ToolClient(url) as client:
        ingested = await client.call("ingest_document", {"file_path": str(path), "application_ref": REF})
    async with serve(server(settings).app()) as url, ToolClient(url) as client:
        plain = await client.call("list_ingested_documents", {"application_ref": REF})
        listed = await client.call("list_ingested_documents", {"application_ref": REF, "include_pages": True})
        given = {"document_id": ingested["document_id"], "include_pages": True}
        text = await client.call("get_document_text", given)
    (document,) = listed["documents"]
    assert not {"account", "pages"} & plain["documents"][0].keys()
    assert document["account"] == text["account"] == ingested["account"]
    assert document["account"]["summary"] == "3 pages: 2 text, 1 blank."
    assert document["pages"] == text["pages"]
    assert [(page["number"], page["read_by"]) for page in document["pages"]] == [(1, "text"), (2, "none"), (3, "text")]
    assert document["pages"][1]["blank"] is True
    assert document["pages"][0]["characters"] == document["pages"][0]["end"]


async def test_a_document_of_an_earlier_version_says_that_no_account_was_kept(settings: Settings, serve, monkeypatch):
    path = make_pdf(settings.data_dir / "a.pdf", [CYCLE])
    async with serve(server(settings).app()) as url, ToolClient(url) as client:
        ingested = await client.call("ingest_document", {"file_path": str(path), "application_ref": REF})
        monkeypatch.setattr(DocumentStore, "content_of", lambda self, document_id: None)
        listed = await client.call("list_ingested_documents", {"application_ref": REF, "include_pages": True})
        given = {"document_id": ingested["document_id"], "include_pages": True}
        text = await client.call("get_document_text", given)
        again = await client.call("ingest_document", {"file_path": str(path), "application_ref": REF})
    assert "No account of its pages was kept" in listed["documents"][0]["message"]
    assert text["message"] == listed["documents"][0]["message"]
    assert "account" not in again


async def test_a_text_too_large_for_one_answer_is_read_in_parts(settings: Settings, serve, monkeypatch):
    monkeypatch.setattr(document_store, "MOST_BYTES", 4_000)
    path = make_pdf(settings.data_dir / "a.pdf", [prose("survey", 40), prose("access", 40)])
    async with serve(server(settings).app()) as url, Client(f"{url}/mcp") as client:
        ingested = await call(client, "ingest_document", file_path=str(path), application_ref=REF)
        whole, pages, offset = "", set(), 0
        while offset is not None:
            given = {"document_id": ingested["document_id"], "offset": offset, "include_pages": True}
            part = await call(client, "get_document_text", **given)
            whole += part["text"]
            pages |= {page["number"] for page in part["pages"]}
            offset = part.get("next_offset")
    async with serve(server(settings).app()) as url, ToolClient(url) as ours:
        at_once = await ours.call("get_document_text", {"document_id": ingested["document_id"]})
    assert len(whole) == part["total_chars"] > 4_000
    assert whole == at_once["text"], "our own client gets it at once"
    assert pages == {1, 2}


@every_transport("legacy", "auto")
async def test_a_client_runs_all_five_tools(connect: Connect, settings: Settings):
    path = make_pdf(settings.data_dir / "Transport Assessment.pdf", [CYCLE, NOISE])
    async with connect(settings) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == [
            "ingest_document",
            "search_application_docs",
            "get_document_text",
            "list_ingested_documents",
            "remove_document",
        ]
        types = tools["ingest_document"].input_schema["properties"]["document_type"]["anyOf"][0]["enum"]
        assert len(types) == 13
        ingested = await call(client, "ingest_document", file_path=str(path), application_ref=REF)
        again = await call(client, "ingest_document", file_path=str(path), application_ref=REF)
        found = await call(client, "search_application_docs", query="cycle parking provision", application_ref=REF)
        hybrid = await call(client, "search_application_docs", query="cycle parking", mode="hybrid", max_results=1)
        text = await call(client, "get_document_text", document_id=ingested["document_id"])
        listed = await call(client, "list_ingested_documents", application_ref=REF)
        nothing = await call(client, "list_ingested_documents", application_ref="24/00001/F")
        removed = await call(client, "remove_document", document_id=ingested["document_id"])
        gone = await call(client, "list_ingested_documents", application_ref=REF)
    document_id = ingested["document_id"]
    assert list(ingested) == [
        "status",
        "document_id",
        "chunks_created",
        "extraction_method",
        "contains_drawings",
        "total_chars",
        "total_words",
        "account",
    ]
    assert ingested["account"] == {
        "page_count": 2,
        "pages_read": 2,
        "pages_by_ocr": 0,
        "pages_not_read": [],
        "summary": "2 pages: 2 text.",
    }
    assert again == {
        "status": "already_ingested",
        "document_id": document_id,
        "message": "Document has already been ingested with the same content",
        "account": ingested["account"],
    }
    assert removed == {"status": "success", "document_id": document_id, "chunks_removed": 1}
    assert gone["documents"] == []
    assert list(found) == ["status", "query", "results_count", "results"]
    assert (found["query"], found["results_count"], len(found["results"])) == ("cycle parking provision", 1, 1)
    assert list(found["results"][0]) == ["chunk_id", "text", "relevance_score", "metadata"]
    assert found["results"][0]["chunk_id"] == f"{document_id}_001_000"
    assert "score" in hybrid["results"][0]
    assert list(text) == ["status", "document_id", "file_path", "document_type", "chunk_count", "text", "total_chars"]
    assert "".join(text["text"].split()) == "".join((CYCLE + NOISE).split())
    assert list(listed) == ["status", "application_ref", "document_count", "documents"]
    assert listed["document_count"] == 1
    assert list(listed["documents"][0]) == [
        "document_id",
        "file_path",
        "document_type",
        "chunk_count",
        "ingested_at",
        "extraction_method",
        "contains_drawings",
    ]
    assert nothing == {"status": "success", "application_ref": "24/00001/F", "document_count": 0, "documents": []}


async def test_every_answer_satisfies_the_declared_schema(settings: Settings, serve):
    path = make_pdf(settings.data_dir / "a.pdf", [CYCLE])
    async with serve(server(settings).app()) as url, Client(f"{url}/mcp") as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        calls = [
            ("ingest_document", {"file_path": str(path), "application_ref": REF}),
            ("ingest_document", {"file_path": str(path), "application_ref": REF}),
            ("ingest_document", {"file_path": "/absent.pdf", "application_ref": REF}),
            ("search_application_docs", {"query": "cycle"}),
            ("search_application_docs", {"query": "cycle", "mode": "hybrid"}),
            ("get_document_text", {"document_id": "x"}),
            ("list_ingested_documents", {"application_ref": REF}),
            ("list_ingested_documents", {"application_ref": REF, "include_pages": True}),
            ("remove_document", {"document_id": "x"}),
        ]
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            jsonschema.validate(result.structured_content, schemas[tool])


async def test_p22_a_filter_that_names_something_unknown_is_told_apart_from_nothing_found(settings: Settings, serve):
    path = make_pdf(settings.data_dir / "Transport Assessment.pdf", [CYCLE])
    async with serve(server(settings).app()) as url, Client(f"{url}/mcp") as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}

        async def warnings(**filters: Any) -> list[str]:
            answer = await call(client, "search_application_docs", query="cycle", **filters)
            jsonschema.validate(answer, schemas["search_application_docs"])
            return answer.get("warnings", [])

        empty = await warnings()
        await call(client, "ingest_document", file_path=str(path), application_ref=REF)
        application = await warnings(application_ref=REF.lower())
        kind = await warnings(document_types=["transport_assessment", "travel_plan"])
        absent = await warnings(application_ref=REF, document_types=["site_plan"])
        good = await warnings(application_ref=REF, document_types=["transport_assessment"])
    assert empty == ["No document has been ingested"]
    assert application == [f"No document of application '{REF.lower()}' has been ingested. Ingested are: {REF}"]
    assert [text.split(", ")[0] for text in kind] == [
        "There is no document type 'travel_plan'. Known are: transport_assessment"
    ]
    assert absent == [f"No document of application '{REF}' has the type 'site_plan'. There are: transport_assessment"]
    assert good == []


BAD = [
    ("ingest_document", {}, "validation_error", "'file_path' is required"),
    ("ingest_document", {"file_path": 5, "application_ref": REF}, "validation_error", "'file_path'"),
    ("ingest_document", {"file_path": "{root}/a\x00.pdf", "application_ref": REF}, "validation_error", "NUL"),
    ("ingest_document", {"file_path": "{root}/a.pdf", "application_ref": ""}, "invalid_reference", "reference"),
    ("ingest_document", {"file_path": "{root}/a.pdf", "application_ref": [REF]}, "validation_error", "string"),
    ("ingest_document", {"file_path": "{root}/absent.pdf", "application_ref": REF}, "file_not_found", "absent.pdf"),
    ("ingest_document", {"file_path": "{root}/../../etc/passwd", "application_ref": REF}, "file_not_found", "passwd"),
    ("ingest_document", {"file_path": "/etc/passwd", "application_ref": REF}, "file_not_found", "DOCUMENT_ROOTS"),
    ("ingest_document", {"file_path": "{root}/folder.pdf", "application_ref": REF}, "file_not_found", "folder"),
    ("ingest_document", {"file_path": "{root}/empty.pdf", "application_ref": REF}, "extraction_failed", "empty"),
    ("ingest_document", {"file_path": "{root}/a.bmp", "application_ref": REF}, "unsupported_file_type", ".bmp"),
    ("search_application_docs", {}, "validation_error", "'query' is required"),
    ("search_application_docs", {"query": ""}, "validation_error", "empty"),
    ("search_application_docs", {"query": " \n\t "}, "validation_error", "empty"),
    ("search_application_docs", {"query": "x" * 1_000_000}, "validation_error", "at most 10000 characters"),
    ("search_application_docs", {"query": "a\x00b"}, "validation_error", "NUL"),
    ("search_application_docs", {"query": "x", "max_results": "10"}, "validation_error", "'max_results'"),
    ("search_application_docs", {"query": "x", "max_results": 0}, "validation_error", "'max_results'"),
    ("search_application_docs", {"query": "x", "max_results": 1.5}, "validation_error", "'max_results'"),
    ("search_application_docs", {"query": "x", "max_results": 10**30}, "validation_error", "'max_results'"),
    ("search_application_docs", {"query": "x", "document_types": "site_plan"}, "validation_error", "array"),
    ("search_application_docs", {"query": "x", "mode": "magic"}, "validation_error", "semantic"),
    ("search_application_docs", {"query": "x", "limit": 3}, "validation_error", "'limit' is not an argument"),
    ("get_document_text", {"document_id": "nope"}, "document_not_found", "Document not found: nope"),
    ("get_document_text", {"document_id": ""}, "validation_error", "'document_id'"),
    ("get_document_text", {"document_id": None}, "validation_error", "'document_id'"),
    ("list_ingested_documents", {}, "validation_error", "'application_ref' is required"),
    ("list_ingested_documents", {"application_ref": {}}, "validation_error", "'application_ref'"),
    ("delete_everything", {}, "unknown_tool", "ingest_document"),
]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_bad_input_is_a_clear_tool_error_and_nothing_is_lost(settings: Settings, serve, mode):
    root = settings.data_dir
    path = make_pdf(root / "a.pdf", [CYCLE])
    (root / "folder.pdf").mkdir()
    (root / "empty.pdf").write_bytes(b"")
    (root / "a.bmp").write_bytes(b"BM")
    async with serve(server(settings).app()) as url, Client(f"{url}/mcp", mode=mode) as client:
        kept = await call(client, "ingest_document", file_path=str(path), application_ref=REF)
        for tool, arguments, code, says in BAD:
            filled = {k: v.replace("{root}", str(root)) if isinstance(v, str) else v for k, v in arguments.items()}
            error = await call(client, tool, **filled)
            assert error["status"] == "error", (tool, arguments)
            assert error["error_type"] == code, (tool, arguments, error)
            assert says in error["message"], (tool, arguments, error)
            assert len(error["message"]) < 1000
        listed = await call(client, "list_ingested_documents", application_ref=REF)
    assert [row["document_id"] for row in listed["documents"]] == [kept["document_id"]]


async def test_a_long_ingest_reports_progress_and_the_server_answers_meanwhile(settings: Settings, serve):
    path = make_pdf(settings.data_dir / "long.pdf", [prose(f"chapter {n}", 40) for n in range(6)])
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(done, total, message):
        seen.append((done, total, message))

    async with serve(server(settings).app()) as url, ToolClient(url) as client, httpx.AsyncClient() as http:
        ingest = asyncio.create_task(
            client.call("ingest_document", {"file_path": str(path), "application_ref": REF}, progress=note)
        )
        answers = 0
        while not ingest.done():
            assert (await http.get(f"{url}/health")).json() == {"status": "ok"}
            found = await client.call("search_application_docs", {"query": "survey"})
            assert found["results_count"] == 0 or ingest.done() or seen[-1][0] >= 95
            answers += 1
            await asyncio.sleep(0.05)
        outcome = await ingest
    assert outcome["status"] == "success"
    assert answers > 3
    assert [step[0] for step in seen] == sorted(step[0] for step in seen)
    assert any("passage " in (message or "") for _, _, message in seen)


async def test_cancelling_an_ingest_stops_the_work_and_leaves_nothing(settings: Settings, serve):
    path = make_pdf(settings.data_dir / "long.pdf", [prose(f"chapter {n}", 40) for n in range(6)])
    begun = asyncio.Event()

    async def note(done, total, message):
        if message.startswith("passage"):
            begun.set()

    arguments = {"file_path": str(path), "application_ref": REF}
    async with serve(server(settings).app()) as url, ToolClient(url) as client:
        ingest = asyncio.create_task(client.call("ingest_document", arguments, progress=note))
        async with asyncio.timeout(60):
            await begun.wait()
        ingest.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ingest
        listed = await client.call("list_ingested_documents", {"application_ref": REF})
        found = await client.call("search_application_docs", {"query": "survey"})
        again = await client.call("ingest_document", arguments)
    assert listed["document_count"] == found["results_count"] == 0
    assert again["status"] == "success"


async def test_two_clients_ingesting_one_file_get_one_document(settings: Settings, serve):
    path = make_pdf(settings.data_dir / "a.pdf", [prose("statement", 60)])
    arguments = {"file_path": str(path), "application_ref": REF}
    async with serve(server(settings).app()) as url, ToolClient(url) as one, ToolClient(f"{url}/sse") as two:
        answers = await asyncio.gather(one.call("ingest_document", arguments), two.call("ingest_document", arguments))
    assert sorted(answer["status"] for answer in answers) == ["already_ingested", "success"]


async def test_a_second_server_on_the_same_folder_sees_what_the_first_has_ingested(embedded: Settings, serve):
    path = make_pdf(embedded.data_dir / "a.pdf", [prose("statement", 60)])
    async with serve(server(embedded).app()) as one, serve(server(embedded).app()) as two:
        async with ToolClient(one) as first, ToolClient(two) as second:
            assert (await second.call("search_application_docs", {"query": "survey"}))["results_count"] == 0
            made = await first.call("ingest_document", {"file_path": str(path), "application_ref": REF})
            found = await second.call("search_application_docs", {"query": "survey", "mode": "hybrid"})
            again = await second.call("ingest_document", {"file_path": str(path), "application_ref": REF})
    assert {hit["metadata"]["document_id"] for hit in found["results"]} == {made["document_id"]}
    assert again["status"] == "already_ingested"


async def test_e11_a_chroma_server_out_of_reach_is_named_and_the_server_runs_on(tmp_path, serve, free_port):
    url = f"http://127.0.0.1:{free_port()}"
    settings = load_settings(trigpoint_data_dir=tmp_path, chroma_url=url)
    async with serve(server(settings).app()) as there, Client(f"{there}/mcp") as client:
        for _ in range(2):
            error = await call(client, "list_ingested_documents", application_ref=REF)
            assert error["error_type"] == "store_unavailable"
            assert f"CHROMA_URL={url}" in error["message"]
        async with httpx.AsyncClient() as http:
            health = (await http.get(f"{there}/health")).json()
    assert health["status"] == "degraded"
    assert f"CHROMA_URL={url}" in health["problems"][0]


@pytest.mark.slow
async def test_e11_a_chroma_server_that_comes_later_is_found(tmp_path, serve, chroma_server, monkeypatch):
    settings = load_settings(trigpoint_data_dir=tmp_path, chroma_url=chroma_server)
    with monkeypatch.context() as outage:
        outage.setattr("httpx.Client.request", _refuse)
        app = server(settings).app()
        started = serve(app)
        there = await started.__aenter__()
        async with ToolClient(there) as client:
            with pytest.raises(ToolFailed) as early:
                await client.call("list_ingested_documents", {"application_ref": "24/09999/F"})
    assert early.value.code == "store_unavailable"
    async with ToolClient(there) as client, asyncio.timeout(20):
        while (listed := await _listed_unless_away(client)) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    assert listed["document_count"] == 0
    await started.__aexit__(None, None, None)


async def _listed_unless_away(client: ToolClient) -> dict | None:
    try:
        return await client.call("list_ingested_documents", {"application_ref": "24/09999/F"})
    except ToolFailed as error:
        assert error.code == "store_unavailable"
        return None


def _refuse(*args, **kwargs):
    raise httpx.ConnectError("Connection refused")
