"""The servers that a review needs, on free ports of this process, for commands that run where nothing else does."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import uvicorn

from trigpoint.config import Settings
from trigpoint.jobs.tools import McpTools
from trigpoint.mcp import build_server
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.policies.seed import Seeder, SeedPolicy, load_seed
from trigpoint.storage.redis import redis_client, redis_server

_ADDRESSES = {
    "scraper": "cherwell_scraper_url",
    "document-store": "document_store_url",
    "policy-kb": "policy_kb_url",
}


@asynccontextmanager
async def local_servers(settings: Settings, *, seed: bool = True) -> AsyncIterator[tuple[McpTools, Settings]]:
    """Tools over the three servers, and the settings that point to them. Policies are loaded where they are missing."""
    async with AsyncExitStack() as opened:
        redis_url = opened.enter_context(redis_server(settings))
        settings = settings.model_copy(update={"redis_url": redis_url, "mcp_api_key": None})
        addresses = {}
        for name, setting in _ADDRESSES.items():
            addresses[setting] = await opened.enter_async_context(_serving(build_server(name, settings).app()))
        settings = settings.model_copy(update=addresses)
        tools = await opened.enter_async_context(McpTools(settings, patience=5.0))
        if seed:
            await seed_missing(settings, tools)
        yield tools, settings


async def seed_missing(settings: Settings, tools: McpTools) -> None:
    """The shipped policies that have no passages yet: official texts that were fetched, digests for the others."""
    assert settings.redis_url is not None
    redis = redis_client(settings.redis_url)

    async def ingest(source: str, revision_id: str, file_path: str) -> tuple[int, int]:
        arguments = {"source": source, "revision_id": revision_id, "file_path": file_path, "reindex": True}
        answer = await tools.call("policy-kb", "ingest_policy_revision", arguments)
        return int(answer["chunks_created"]), int(answer["page_count"])

    try:
        registry = PolicyRegistry(redis)
        missing = await _missing(registry, load_seed(settings.policy_set))
        if missing:
            async for _ in Seeder(settings, registry, ingest, digest=True).seed(missing):
                await asyncio.sleep(0)
    finally:
        await redis.aclose()


async def _missing(registry: PolicyRegistry, wanted: Sequence[SeedPolicy]) -> tuple[SeedPolicy, ...]:
    there = {(r.source, r.effective_from) for p in await registry.list_policies() for r in p.revisions if r.queryable}
    return tuple(p for p in wanted if not all((p.source, r.effective_from) in there for r in p.revisions))


class _Server(uvicorn.Server):
    """Leaves signals to the command."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


@asynccontextmanager
async def _serving(app: Any) -> AsyncIterator[str]:
    """One application on a free port of loopback; its address."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        async with app.router.lifespan_context(app) as state:
            config = uvicorn.Config(_with_state(app, state), lifespan="off", log_config=None, access_log=False)
            running = _Server(config)
            task = asyncio.create_task(running.serve(sockets=[sock]))
            try:
                yield f"http://127.0.0.1:{sock.getsockname()[1]}"
            finally:
                running.should_exit = running.force_exit = True
                await task


def _with_state(app: Any, state: Any) -> Any:
    async def call(scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = dict(state or {})
        await app(scope, receive, send)

    return call
