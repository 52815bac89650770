"""Clients that went away without a word: their sessions end by themselves."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from echo_tools import echo_server

from trigpoint.config import Settings
from trigpoint.mcp import server as mcp_server

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


async def _open_session(client: httpx.AsyncClient) -> str:
    answer = await client.post("/mcp", json=HELLO, headers=HEADERS)
    assert answer.status_code == 200, answer.text
    return answer.headers["mcp-session-id"]


async def _status_of_ping(client: httpx.AsyncClient, session: str) -> int:
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    return (await client.post("/mcp", json=ping, headers={**HEADERS, "Mcp-Session-Id": session})).status_code


async def test_the_session_of_a_client_that_went_away_is_reaped(
    settings: Settings, serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "SESSION_IDLE_SECONDS", 0.5)
    async with serve(echo_server(settings).app()) as url, httpx.AsyncClient(base_url=url, timeout=20) as client:
        session = await _open_session(client)
        assert await _status_of_ping(client, session) == 200
        await asyncio.sleep(2)
        assert await _status_of_ping(client, session) == 404


async def test_there_is_a_limit_to_sessions_and_room_again_when_they_end(
    settings: Settings, serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "MOST_SESSIONS", 3)
    async with serve(echo_server(settings).app()) as url, httpx.AsyncClient(base_url=url, timeout=20) as client:
        sessions = [await _open_session(client) for _ in range(3)]
        assert (await client.post("/mcp", json=HELLO, headers=HEADERS)).status_code == 503
        await client.delete("/mcp", headers={**HEADERS, "Mcp-Session-Id": sessions[0]})
        await _open_session(client)
