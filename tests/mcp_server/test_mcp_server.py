"""E3, E4: tools over real transports with the official client, and what goes wrong shown as the tool's own error."""

from __future__ import annotations

import asyncio
import json
import logging

import httpx
import pytest
from echo_tools import Log, echo_server
from mcp.client import Client
from mcp.client.sse import sse_client

from trigpoint.config import load_settings
from trigpoint.errors import ServerUnreachable, ToolFailed
from trigpoint.mcp.client import ToolClient

MODES = ["legacy", "auto"]


def connect(url: str, transport: str, mode: str = "auto") -> Client:
    if transport == "sse":
        return Client(sse_client(f"{url}/sse"), mode=mode)
    return Client(f"{url}/mcp", mode=mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", ["sse", "streamable"])
async def test_a_call_answers_with_structured_content_and_its_json_text(settings, serve, transport, mode):
    async with serve(echo_server(settings).app()) as url, connect(url, transport, mode) as client:
        result = await client.call_tool("echo", {"text": "grüße ", "times": 2.0})
    assert not result.is_error
    assert result.structured_content == {"status": "success", "text": "grüße grüße "}
    assert json.loads(result.content[0].text) == result.structured_content


WRONG = [
    ("fail", {}, "file_not_found", "No file here"),
    ("nope", {}, "unknown_tool", "Unknown tool 'nope'. echo-mcp has: echo, fail, crash, steps, wait"),
    ("echo", {}, "validation_error", "'text' is required"),
    ("echo", {"text": 5}, "validation_error", "'text'"),
    ("echo", {"text": "x", "times": "3"}, "validation_error", "'times'"),
    ("echo", {"text": "x", "times": None}, "validation_error", "'times'"),
    ("echo", {"text": "x", "times": 2.5}, "validation_error", "'times'"),
    ("echo", {"text": "x", "extra": 1}, "validation_error", "'extra' is not an argument"),
    ("echo", {"text": "a\x00b"}, "validation_error", "NUL"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", ["sse", "streamable"])
async def test_what_goes_wrong_is_a_tool_error_that_a_model_can_read(settings, serve, transport, mode):
    async with serve(echo_server(settings).app()) as url, connect(url, transport, mode) as client:
        for tool, arguments, code, says in WRONG:
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert result.structured_content["status"] == "error"
            assert result.structured_content["error_type"] == code
            assert says in result.structured_content["message"]
            assert json.loads(result.content[0].text) == result.structured_content


async def test_an_unexpected_failure_shows_its_request_id_and_no_more(settings, serve, caplog):
    with caplog.at_level(logging.ERROR):
        async with serve(echo_server(settings).app()) as url, connect(url, "streamable") as client:
            result = await client.call_tool("crash", {})
    assert result.is_error
    message = result.structured_content["message"]
    assert result.structured_content["error_type"] == "internal_error"
    assert "hunter2" not in result.content[0].text
    assert "Traceback" not in result.content[0].text
    assert "req_" in message
    assert "RuntimeError" in caplog.text


async def test_tools_declare_schemas_and_annotations_that_results_and_errors_satisfy(settings, serve):
    import jsonschema

    async with serve(echo_server(settings).app()) as url, connect(url, "streamable") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        failed = await client.call_tool("fail", {})
        ok = await client.call_tool("echo", {"text": "x"})
    echo = tools["echo"]
    assert echo.input_schema["type"] == "object"
    assert echo.input_schema["required"] == ["text"]
    assert echo.input_schema["additionalProperties"] is False
    assert echo.output_schema["type"] == "object"
    assert echo.annotations.read_only_hint
    assert tools["crash"].annotations.destructive_hint
    assert tools["fail"].annotations.idempotent_hint
    jsonschema.validate(ok.structured_content, echo.output_schema)
    jsonschema.validate(failed.structured_content, tools["fail"].output_schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"status": "success"}, echo.output_schema)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", ["sse", "streamable"])
async def test_progress_reaches_a_client_that_asks_for_it(settings, serve, transport, mode):
    seen = []

    async def note(done, total, message):
        seen.append((done, total, message))

    async with serve(echo_server(settings).app()) as url, connect(url, transport, mode) as client:
        result = await client.call_tool("steps", {}, progress_callback=note)
        quiet = await client.call_tool("steps", {})
    assert seen == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
    assert result.structured_content == quiet.structured_content == {"status": "success", "text": "done"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", ["sse", "streamable"])
async def test_cancelling_a_call_cancels_the_handler_and_raises_its_flag(settings, serve, transport, mode):
    log = Log()
    async with serve(echo_server(settings, log).app()) as url, connect(url, transport, mode) as client:
        call = asyncio.create_task(client.call_tool("wait", {}))
        async with asyncio.timeout(10):
            await log.began.wait()
            call.cancel()
            await log.ended.wait()
        again = await client.call_tool("echo", {"text": "still here"})
    assert log.left == [True]
    assert log.calls[0].cancelled()
    assert again.structured_content["text"] == "still here"


async def test_a_request_beyond_the_limit_is_413_with_json(settings, serve):
    server = echo_server(settings, max_body_bytes=1000)
    async with serve(server.app()) as url, httpx.AsyncClient() as http:
        for path in ("/mcp", "/messages/"):
            answer = await http.post(url + path, content=b"x" * 5000, headers={"content-type": "application/json"})
            assert answer.status_code == 413
            assert answer.json()["error"]["code"] == "payload_too_large"

        async def endless():
            for _ in range(50):
                yield b"x" * 100

        streamed = await http.post(url + "/mcp", content=endless(), headers={"content-type": "application/json"})
        assert streamed.status_code == 413


@pytest.mark.parametrize("header", [{"host": "evil.example"}, {"host": "localhost.evil.example:3002"}, {"host": ""}])
async def test_a_rebound_host_is_refused_with_the_way_out(settings, serve, header):
    async with serve(echo_server(settings).app()) as url, httpx.AsyncClient() as http:
        answer = await http.post(f"{url}/mcp", json={}, headers=header)
        health = await http.get(f"{url}/health", headers=header)
    assert answer.status_code == 421 or (header["host"] == "" and answer.status_code == 400)
    assert health.status_code in (200, 400)
    if answer.status_code == 421:
        assert "MCP_ALLOWED_HOSTS" in answer.json()["error"]["message"]


async def test_a_foreign_origin_is_refused(settings, serve):
    async with serve(echo_server(settings).app()) as url, httpx.AsyncClient() as http:
        foreign = await http.post(f"{url}/mcp", json={}, headers={"origin": "https://evil.example"})
        own = await http.post(f"{url}/mcp", json={}, headers={"origin": "http://localhost:5173"})
    assert foreign.status_code == 403
    assert own.status_code != 403


@pytest.mark.parametrize("allowed", ["docs.example.org", "*"])
async def test_allowed_hosts_are_answered(tmp_path, serve, allowed):
    settings = load_settings(trigpoint_data_dir=tmp_path, mcp_allowed_hosts=allowed)
    async with serve(echo_server(settings).app()) as url, httpx.AsyncClient() as http:
        answer = await http.post(f"{url}/mcp", json={}, headers={"host": "docs.example.org:3002"})
    assert answer.status_code not in (421, 403)


async def test_with_a_key_any_host_is_answered_unless_some_are_named(tmp_path, serve):
    for named, status in (("", 404), ("docs.example.org", 421)):
        settings = load_settings(trigpoint_data_dir=tmp_path, mcp_api_key="k", mcp_allowed_hosts=named)
        headers = {"host": "document-store:3002", "authorization": "Bearer k"}
        async with serve(echo_server(settings).app()) as url, httpx.AsyncClient() as http:
            assert (await http.get(f"{url}/unknown", headers=headers)).status_code == status


async def test_garbage_on_the_wire_never_gives_a_500(settings, serve):
    bodies = [b"", b"{", b"[]", b"null", b'{"jsonrpc":"2.0"}', b"\xff\xfe", b'{"a":' * 2000, b'{"id":1e999999}']
    async with serve(echo_server(settings).app()) as url, httpx.AsyncClient() as http:
        for body in bodies:
            for version in ({}, {"mcp-protocol-version": "2026-07-28"}, {"mcp-protocol-version": "nonsense"}):
                answer = await http.post(
                    f"{url}/mcp",
                    content=body,
                    headers={
                        "content-type": "application/json",
                        "accept": "application/json, text/event-stream",
                        **version,
                    },
                )
                assert 400 <= answer.status_code < 500, (body, version, answer.text)
        assert (await http.post(f"{url}/messages/?session_id=zzz", content=b"{}")).status_code == 400


async def test_our_client_raises_the_tools_own_code_and_names_what_it_cannot_reach(settings, serve, free_port):
    async with serve(echo_server(settings).app()) as url, ToolClient(url) as client:
        assert await client.call("echo", {"text": "x"}) == {"status": "success", "text": "x"}
        with pytest.raises(ToolFailed) as failed:
            await client.call("fail", {})
        assert (failed.value.code, failed.value.message) == ("file_not_found", "No file here")
        with pytest.raises(ToolFailed) as slow:
            await ToolClient.call(client, "wait", {}, timeout=0.2)
        assert slow.value.code in ("timeout", "internal_error")
    nobody = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(ServerUnreachable, match=nobody):
        async with ToolClient(nobody):
            pass


async def test_our_client_says_when_its_key_is_refused(tmp_path, serve):
    settings = load_settings(trigpoint_data_dir=tmp_path, mcp_api_key="kéy")
    async with serve(echo_server(settings).app()) as url:
        for address in (url, f"{url}/sse"):
            with pytest.raises(ServerUnreachable, match="MCP_API_KEY"):
                async with ToolClient(address, "wrong"):
                    pass
            async with ToolClient(address, "kéy") as client:
                assert (await client.call("echo", {"text": "x"}))["text"] == "x"


async def test_an_answer_of_several_megabytes_arrives(settings, serve):
    async with serve(echo_server(settings).app()) as url, ToolClient(url) as client:
        answer = await client.call("echo", {"text": "0123456789", "times": 300_000})
    assert len(answer["text"]) == 3_000_000


async def test_twenty_calls_run_side_by_side(settings, serve):
    async with serve(echo_server(settings).app()) as url, ToolClient(url) as client:
        answers = await asyncio.gather(*(client.call("echo", {"text": str(n)}) for n in range(20)))
    assert [answer["text"] for answer in answers] == [str(n) for n in range(20)]
