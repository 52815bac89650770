"""Runs the servers that a review needs on free ports of this process, if no others are running."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Generator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import uvicorn

from trigpoint.config import Settings
from trigpoint.http.serving import listen, with_state
from trigpoint.jobs.tools import McpTools
from trigpoint.mcp import build_server
from trigpoint.policies.first_load import seed_missing
from trigpoint.policies.seed import Ingester
from trigpoint.storage.redis import redis_server

_ADDRESSES = {
    "scraper": "cherwell_scraper_url",
    "document-store": "document_store_url",
    "policy-kb": "policy_kb_url",
}


@asynccontextmanager
async def local_servers(settings: Settings, *, seed: bool = True) -> AsyncIterator[tuple[McpTools, Settings]]:
    """Yield tools over the three servers, and the settings that point to them. Missing policies are loaded."""
    async with AsyncExitStack() as opened:
        redis_url = opened.enter_context(redis_server(settings))
        settings = settings.model_copy(update={"redis_url": redis_url, "mcp_api_key": None})
        addresses = {}
        for name, setting in _ADDRESSES.items():
            addresses[setting] = await opened.enter_async_context(_serving(build_server(name, settings).app()))
        settings = settings.model_copy(update=addresses)
        tools = await opened.enter_async_context(McpTools(settings, patience=5.0))
        if seed:
            await seed_missing(settings, ingester(tools))
        yield tools, settings


def ingester(tools: McpTools) -> Ingester:
    """Return what makes passages of a revision by the policy server."""

    async def ingest(source: str, revision_id: str, file_path: str) -> tuple[int, int]:
        arguments = {"source": source, "revision_id": revision_id, "file_path": file_path, "reindex": True}
        answer = await tools.call("policy-kb", "ingest_policy_revision", arguments)
        return int(answer["chunks_created"]), int(answer["page_count"])

    return ingest


class _Server(uvicorn.Server):
    """Leaves signals to the command."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


@asynccontextmanager
async def _serving(app: Any) -> AsyncIterator[str]:
    """Serve one application on a free port of loopback, and yield its address."""
    with listen("127.0.0.1", 0) as sock:
        async with app.router.lifespan_context(app) as state:
            config = uvicorn.Config(with_state(app, state), lifespan="off", log_config=None, access_log=False)
            running = _Server(config)
            task = asyncio.create_task(running.serve(sockets=[sock]))
            try:
                yield f"http://127.0.0.1:{sock.getsockname()[1]}"
            finally:
                running.should_exit = running.force_exit = True
                await task
