"""The HTTP edge of an MCP server: ids on every answer, errors in the envelope, methods that are named."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from serving_api import serving
from trigpoint.config import load_settings
from trigpoint.errors import ToolFailed
from trigpoint.mcp import document_store, graph
from trigpoint.mcp.client import ToolClient
from trigpoint.mcp.server import Tool, ToolCall, ToolInput, ToolServer

KEY = "mcp-key"


@pytest.fixture(params=["graph", "document-store"])
def mcp(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[httpx.Client]:
    settings = load_settings(trigpoint_data_dir=tmp_path, mcp_api_key=KEY)
    server = {"graph": graph.server, "document-store": document_store.server}[request.param](settings)
    with serving(server.app()) as url:
        headers = {"Authorization": f"Bearer {KEY}"}
        with httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=20) as client:
            yield client


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [("GET", "/nowhere", 404, "not_found"), ("GET", "/%00", 404, "not_found"),
     ("PUT", "/health", 405, "method_not_allowed"), ("POST", "/sse", 405, "method_not_allowed")],
)  # fmt: skip
def test_a_wrong_path_or_method_is_told_in_the_envelope(
    mcp: httpx.Client, method: str, path: str, status: int, code: str
) -> None:
    answer = mcp.request(method, path)
    assert (answer.status_code, answer.json()["error"]["code"].lower()) == (status, code)
    assert answer.headers["x-request-id"]
    assert status != 405 or "GET" in answer.headers["allow"]


def test_every_answer_has_the_id_of_its_request(mcp: httpx.Client) -> None:
    assert mcp.get("/health", headers={"X-Request-ID": "mine"}).headers["x-request-id"] == "mine"
    assert mcp.get("/health").headers["x-request-id"].startswith("req_")
    refused = mcp.get("/mcp", headers={"Authorization": "Bearer wrong", "X-Request-ID": "mine"})
    assert (refused.status_code, refused.headers["x-request-id"]) == (401, "mine")


def test_head_and_options_work_where_get_does(mcp: httpx.Client) -> None:
    assert (mcp.head("/health").status_code, mcp.head("/health").content) == (200, b"")
    asked = mcp.options("/health")
    assert asked.status_code == 204
    assert set(asked.headers["allow"].split(", ")) == {"GET", "HEAD"}


async def test_a_tool_on_a_full_disk_says_so_and_can_be_asked_again(tmp_path: Path) -> None:
    """The worker waits for space if a tool answers `insufficient_storage`; any other error would end the review."""

    async def write(given: ToolInput, call: ToolCall) -> dict[str, str]:
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "file"))

    tool = Tool("write", "Writes.", ToolInput, ToolInput, write)
    with serving(ToolServer("writer", [tool], load_settings(trigpoint_data_dir=tmp_path)).app()) as url:
        async with ToolClient(url) as client:
            with pytest.raises(ToolFailed, match=f"No space left in {tmp_path}") as refused:
                await client.call("write", {})
    assert refused.value.code == "insufficient_storage"
