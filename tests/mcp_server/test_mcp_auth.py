"""E5: who may call an MCP server, and what an outsider is told."""

from __future__ import annotations

import logging

import httpx
import pytest
from echo_tools import echo_server

from trigpoint.config import load_settings

KEY = "s3cret-kéy"


@pytest.fixture
def app(tmp_path):
    return echo_server(load_settings(trigpoint_data_dir=tmp_path, mcp_api_key=KEY)).app()


async def ask(app, path="/mcp", method="POST", **headers):
    raw = [(name.replace("_", "-").encode(), value) for name, value in headers.items()]
    transport = httpx.ASGITransport(app=app, client=("203.0.113.9", 5000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.request(method, path, headers=raw)


@pytest.mark.parametrize(("method", "path"), [("GET", "/sse"), ("POST", "/messages/"), ("POST", "/mcp"), ("GET", "/x")])
async def test_every_endpoint_but_health_needs_the_key(app, method, path):
    answer = await ask(app, path, method)
    assert answer.status_code == 401
    assert answer.json() == {"error": {"code": "unauthorized", "message": "Missing Authorization header"}}


async def test_health_is_open(app):
    answer = await ask(app, "/health", "GET")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("header", [b"Basic dXNlcjpwYXNz", b"Bearer", b"Bearer ", b"Token abc", b"", b"\xff\xfe"])
async def test_another_scheme_is_told_the_format(app, header):
    answer = await ask(app, authorization=header)
    assert answer.status_code == 401
    expected = "Invalid Authorization header format. Expected: Bearer <token>"
    assert answer.json() == {"error": {"code": "unauthorized", "message": expected}}


@pytest.mark.parametrize(
    "token", [b"wrong", KEY.encode("latin-1"), "日本語".encode(), b"\x80\x81", KEY.encode() + b"x"]
)
async def test_a_wrong_token_is_refused_whatever_its_bytes(app, token):
    answer = await ask(app, authorization=b"Bearer " + token)
    assert answer.status_code == 401
    assert answer.json() == {"error": {"code": "unauthorized", "message": "Invalid bearer token"}}


async def test_the_right_token_passes_even_when_it_is_not_ascii(app):
    answer = await ask(app, "/unknown", "GET", authorization=b"Bearer " + KEY.encode())
    assert answer.status_code == 404


async def test_a_failure_is_logged_with_address_endpoint_and_method_and_without_the_secret(app, caplog):
    with caplog.at_level(logging.WARNING):
        await ask(app, "/sse", "GET", authorization=b"Bearer hunter2")
    (record,) = [r for r in caplog.records if r.name == "trigpoint.mcp.auth"]
    assert record.levelno == logging.WARNING
    line = record.getMessage()
    assert "203.0.113.9" in line
    assert "/sse" in line
    assert "GET" in line
    assert "hunter2" not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("key", ["", None])
async def test_without_a_key_auth_is_off(tmp_path, key):
    app = echo_server(load_settings(trigpoint_data_dir=tmp_path, mcp_api_key=key)).app()
    answer = await ask(app, "/unknown", "GET")
    assert answer.status_code == 404
