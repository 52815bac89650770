"""Asks the MCP servers for the pages: one call for each question, with short time-outs."""

from __future__ import annotations

from typing import Any, Literal

from trigpoint.config import Settings
from trigpoint.mcp import SERVERS
from trigpoint.mcp.client import ToolClient

Part = Literal["scraper", "document-store", "policy-kb", "library", "graph", "reviewer"]

_SECONDS = 20.0


def address(settings: Settings, part: Part) -> str:
    """Return the address of a server; the library, the graph's bridge and the reviewer run on this machine."""
    if part in ("scraper", "document-store", "policy-kb"):
        return settings.server_url(part)
    return f"http://127.0.0.1:{SERVERS[part].port(settings)}"


def site_of(where: str) -> str:
    """Return the address of a server without the path at which its tools are, which some settings carry."""
    return where.rstrip("/").removesuffix("/mcp").removesuffix("/sse")


async def ask(settings: Settings, part: Part, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    """Return a tool's answer. Raises ToolFailed if it refuses, ServerUnreachable if nobody answers."""
    async with ToolClient(address(settings, part), settings.mcp_token) as client:
        return await client.call(tool, args, timeout=_SECONDS)
