"""The MCP servers by name. Each module has `server(settings) -> ToolServer`; only the one asked for is imported."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trigpoint.config import Settings
from trigpoint.errors import InvalidInput, shorten

if TYPE_CHECKING:
    from trigpoint.mcp.server import ToolServer


@dataclass(frozen=True)
class ServerEntry:
    module: str
    port_setting: str

    def port(self, settings: Settings) -> int:
        return int(getattr(settings, self.port_setting))


SERVERS = {
    "scraper": ServerEntry("trigpoint.mcp.scraper", "cherwell_scraper_port"),
    "document-store": ServerEntry("trigpoint.mcp.document_store", "document_store_port"),
    "policy-kb": ServerEntry("trigpoint.mcp.policy_kb", "policy_kb_port"),
    "library": ServerEntry("trigpoint.mcp.library", "library_port"),
    "graph": ServerEntry("trigpoint.mcp.graph", "graph_port"),
    "reviewer": ServerEntry("trigpoint.mcp.reviewer", "reviewer_port"),
}


def build_server(name: str, settings: Settings) -> ToolServer:
    """Return the server of this name. Raises InvalidInput listing the names there are."""
    entry = SERVERS.get(name)
    if entry is None:
        raise InvalidInput(f"No server is called '{shorten(name)}'. There are: {', '.join(SERVERS)}")
    built: ToolServer = importlib.import_module(entry.module).server(settings)
    return built
