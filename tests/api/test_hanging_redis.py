"""A Redis that takes connections and never answers: everything says so in a few seconds, nothing waits for it (E11)."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from redis.exceptions import TimeoutError as RedisTimeoutError

from serving_api import running_api
from trigpoint.config import Settings, load_settings
from trigpoint.errors import RegistryUnavailable, ToolFailed
from trigpoint.ids import new_review_id
from trigpoint.mcp.client import ToolClient
from trigpoint.mcp.policy_kb import server
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.storage.redis import LONGEST_SECONDS, redis_client

PATIENCE_SECONDS = 3 * LONGEST_SECONDS  # of this test: far beyond the product's own, far below for ever


class SilentServer:
    """Takes every connection, keeps it, says nothing."""

    def __init__(self) -> None:
        self.connections: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                self.connections.append(self._listener.accept()[0])

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self.connections:
            connection.close()


@pytest.fixture
def silent() -> Iterator[SilentServer]:
    server = SilentServer()
    yield server
    server.close()


@pytest.fixture
def settings(silent: SilentServer, tmp_path: Path) -> Settings:
    return load_settings(redis_url=silent.url, trigpoint_data_dir=tmp_path / "data")


async def test_a_command_without_an_answer_is_not_sent_again(silent: SilentServer) -> None:
    async with redis_client(f"{silent.url}?socket_timeout=0.1") as redis:
        with pytest.raises(RedisTimeoutError):
            await redis.ping()
    assert len(silent.connections) == 1


@pytest.mark.slow
async def test_the_registry_names_the_silence(silent: SilentServer) -> None:
    async with redis_client(silent.url) as redis, asyncio.timeout(PATIENCE_SECONDS):
        registry = PolicyRegistry(redis)
        for ask in (registry.list_policies, registry.policies_due):
            with pytest.raises(RegistryUnavailable, match=r"no answer within 5 s.*REDIS_URL"):
                await ask()


@pytest.mark.slow
async def test_the_api_answers_every_request_and_health_says_degraded(settings: Settings) -> None:
    expected = {
        "/health": (200, "degraded"),
        "/api/v1/health": (200, "degraded"),
        "/metrics": (200, "trigpoint_redis_up 0.0"),
        "/api/v1/policies": (503, "registry_unavailable"),
        "/api/v1/policies/NPPF": (503, "registry_unavailable"),
        "/api/v1/policies/effective?date=2025-01-01": (503, "registry_unavailable"),
        "/api/v1/reviews": (503, "store_unavailable"),
        f"/api/v1/reviews/{new_review_id()}": (503, "store_unavailable"),
        "/policies": (503, "REDIS_URL"),
        "/status": (200, "Redis"),
    }
    with running_api(settings) as api:
        limits = {"timeout": PATIENCE_SECONDS, "trust_env": False}
        async with httpx.AsyncClient(base_url=api.base_url, headers={"Accept": "text/html"}, **limits) as client:
            answers = await asyncio.gather(*(client.get(path) for path in expected))
    for (path, (status, says)), answer in zip(expected.items(), answers, strict=True):
        assert answer.status_code == status, path
        assert says in answer.text, path


@pytest.mark.slow
async def test_the_policy_server_starts_and_its_tools_say_what_is_missing(settings: Settings, serve) -> None:
    calls = [
        ("list_policy_documents", {}),
        ("search_policy", {"query": "cycle parking", "effective_date": "2025-01-01"}),
        ("get_policy_section", {"source": "NPPF", "section_ref": "116"}),
    ]

    async def outcome(client: ToolClient, tool: str, arguments: dict[str, str]) -> str:
        with pytest.raises(ToolFailed) as failed:
            await client.call(tool, arguments, timeout=PATIENCE_SECONDS)
        return failed.value.code

    async with serve(server(settings).app()) as url, ToolClient(url) as client:
        outcomes = await asyncio.gather(*(outcome(client, *call) for call in calls))
    assert outcomes == ["registry_unavailable"] * len(calls)
