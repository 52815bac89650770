"""The scraper's four tools over real MCP, against a real local portal."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
import uvicorn
from portal_samples import INTERVAL, PDF, REF, served

from trigpoint.config import Settings
from trigpoint.demo.faults import Fault
from trigpoint.demo.portal import DemoPortal
from trigpoint.errors import TrigpointError
from trigpoint.mcp.client import ToolClient
from trigpoint.mcp.scraper import server
from trigpoint.registers.intake import Given
from trigpoint.registers.submission import Stated, submit_files

Portal = Callable[..., DemoPortal]
Serve = Callable[..., str]


@pytest.fixture
def serve(to_portal: Callable[..., Settings]) -> Iterator[Serve]:
    """Starts the scraper's server for a portal; gives its address."""
    with ExitStack() as running:

        def start(portal: DemoPortal, **overrides: Any) -> str:
            app = server(to_portal(portal, **overrides)).app()
            site = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, log_level="critical"))
            thread = threading.Thread(target=site.run, daemon=True)
            thread.start()
            while not site.started:
                assert thread.is_alive()
                time.sleep(0.01)

            def stop() -> None:
                site.should_exit = True
                thread.join(10)

            running.callback(stop)
            return f"http://127.0.0.1:{site.servers[0].sockets[0].getsockname()[1]}"

        yield start


async def failure(client: ToolClient, tool: str, arguments: dict[str, Any]) -> TrigpointError:
    with pytest.raises(TrigpointError) as caught:
        await client.call(tool, arguments)
    return caught.value


async def test_a_whole_visit_details_list_one_all(portal: Portal, serve: Serve, tmp_path: Path) -> None:
    running = portal(
        served("Plan A.pdf"), served("Plan B.pdf", PDF + b"b"), served("OCC.pdf", PDF, "Consultee Responses")
    )
    async with ToolClient(serve(running)) as client:
        details = await client.call("get_application_details", {"application_ref": REF})
        assert details["status"] == "success"
        assert list(details["application"]) == [
            "reference", "address", "proposal", "applicant", "agent", "status", "application_type", "ward", "parish",
            "date_received", "date_validated", "consultation_end", "target_date", "decision_date", "decision", "case_officer",
        ]  # fmt: skip
        assert details["application"]["reference"] == REF
        assert details["application"]["date_validated"] == "2025-05-21"
        assert details["application"]["decision"] is None

        listed = await client.call("list_application_documents", {"application_ref": REF})
        assert (listed["application_ref"], listed["document_count"]) == (REF, 3)
        assert list(listed["documents"][0]) == [
            "document_id", "description", "document_type", "date_published", "url", "file_size", "file_name", "drawing_ref",
        ]  # fmt: skip
        assert listed["documents"][0]["file_size"] == len(PDF)

        one = await client.call(
            "download_document",
            {"document_url": listed["documents"][0]["url"], "output_dir": "single", "filename": "x"},
        )
        assert one["file_path"] == str(tmp_path / "data" / "downloads" / "single" / "x.pdf")
        assert (one["file_size"], one["content_type"]) == (len(PDF), "application/pdf")

        steps: list[tuple[float, float | None]] = []

        async def progress(done: float, total: float | None, message: str | None) -> None:
            steps.append((done, total))

        run = await client.call(
            "download_all_documents", {"application_ref": REF, "output_dir": "."}, progress=progress
        )
        counts = {key: value for key, value in run.items() if isinstance(value, int)}
        assert counts == {
            "total_documents": 3,
            "downloaded_count": 2,
            "skipped_count": 0,
            "filtered_count": 1,
            "successful_downloads": 2,
            "failed_downloads": 0,
        }
        assert run["output_dir"] == str(tmp_path / "data" / "downloads" / "25_01178_REM")
        assert [Path(download["file_path"]).name for download in run["downloads"]] == ["Plan A.pdf", "Plan B.pdf"]
        assert "include_consultation_responses" in run["filtered_documents"][0]["filter_reason"]
        assert steps[-1] == (2, 2)

        again = await client.call("download_all_documents", {"application_ref": REF, "output_dir": "."})
        assert (again["downloaded_count"], again["skipped_count"], again["successful_downloads"]) == (0, 2, 2)


async def test_errors_have_the_servers_envelope(portal: Portal, serve: Serve) -> None:
    running = portal(served("Plan.pdf"))
    async with ToolClient(serve(running)) as client:
        cases = [
            ("get_application_details", {"application_ref": "25/99999/F"}, "application_not_found"),
            ("get_application_details", {"application_ref": "nonsense"}, "invalid_reference"),
            ("list_application_documents", {"application_ref": "25/01178/REM\n"}, "invalid_reference"),
            ("download_document", {"document_url": "http://169.254.169.254/x", "output_dir": "."}, "download_failed"),
            (
                "download_document",
                {"document_url": running.url + "/Search/Planning", "output_dir": "."},
                "download_failed",
            ),
            ("download_document", {"document_url": running.url + "/none", "output_dir": "."}, "download_failed"),
            ("download_document", {"document_url": running.url + "/x", "output_dir": "/etc"}, "download_failed"),
            ("download_all_documents", {"application_ref": REF, "output_dir": "../chroma"}, "download_failed"),
        ]
        for tool, arguments, code in cases:
            error = await failure(client, tool, arguments)
            assert error.code == code, (tool, arguments, error.message)
        running.faults.replace([Fault(kind="error", times=None)])
        assert (await failure(client, "get_application_details", {"application_ref": REF})).code == "request_failed"
        running.faults.replace([Fault(kind="too_many", times=None, value="0")])
        assert (await failure(client, "get_application_details", {"application_ref": REF})).code == "rate_limited"


async def test_eight_clients_of_the_server_keep_the_pace(portal: Portal, serve: Serve) -> None:
    running = portal(served("Plan.pdf"))
    url = serve(running)

    async def visit() -> None:
        async with ToolClient(url) as client:
            await client.call("get_application_details", {"application_ref": REF})

    await asyncio.gather(*(visit() for _ in range(8)))
    times = sorted(one.at for one in running.seen)
    assert len(times) == 8
    assert min(b - a for a, b in itertools.pairwise(times)) >= INTERVAL


def test_the_error_object_carries_details_and_no_code_of_another_surface() -> None:
    from trigpoint.errors import ApplicationNotFound, StoreUnavailable, UnknownTool
    from trigpoint.mcp.scraper import error_body

    assert error_body(ApplicationNotFound("m", application_ref=REF)) == {
        "status": "error",
        "error_type": "application_not_found",
        "message": "m",
        "details": {"application_ref": REF},
    }
    assert error_body(StoreUnavailable("m"))["error_type"] == "internal_error"
    assert error_body(UnknownTool("m"))["error_type"] == "unknown_tool"


async def test_tools_declare_schemas_and_annotations(portal: Portal, to_portal: Callable[..., Settings]) -> None:
    tools = {tool.name: tool for tool in server(to_portal(portal(served("Plan.pdf")))).descriptions}
    assert list(tools) == [
        "get_application_details",
        "list_application_documents",
        "download_document",
        "download_all_documents",
    ]
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(json.loads(json.dumps(tool.input_schema)))
        assert tool.output_schema
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint == tool.name.startswith(("get", "list"))


def test_health_and_the_token(portal: Portal, serve: Serve) -> None:
    url = serve(portal(served("Plan.pdf")), mcp_api_key="secret")
    assert httpx.get(f"{url}/health").status_code == 200
    assert httpx.post(f"{url}/mcp", json={}).status_code == 401


async def test_a_folder_keeps_its_authority_even_if_no_register_is_known_for_it(
    portal: Portal, serve: Serve, to_portal: Callable[..., Settings], tmp_path: Path
) -> None:
    running = portal(served("Plan A.pdf"))
    (tmp_path / "given.pdf").write_bytes(PDF)
    stated = Stated(REF, "Westcote District Council", None, None, date(2025, 5, 21))
    submit_files(to_portal(running), "one", [Given("Plan A.pdf", tmp_path / "given.pdf")], stated)
    async with ToolClient(serve(running)) as client:
        where = {"application_ref": REF, "folder": "one"}
        details = await client.call("get_application_details", where)
        fetched = await client.call("download_all_documents", where | {"output_dir": "."})
    entry = details["register_entry"]
    assert (entry["authority"], entry["name"], entry["page_url"]) == ("westcote-district-council", None, None)
    assert details["application"]["date_validated"] == "2025-05-21"
    assert [one["status"] for one in fetched["downloads"]] == ["already_present"]
    assert running.seen == []  # nobody was asked
