"""`trigpoint serve NAME…`: some of the servers, in one process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from trigpoint.cli.roots import settings_with_roots
from trigpoint.cli.running import Site, run_sites
from trigpoint.config import Settings
from trigpoint.logs import configure_logging
from trigpoint.mcp import SERVERS, server

app = typer.Typer(add_completion=False)


@app.command()
def serve(
    names: Annotated[list[str], typer.Argument(help=f"Which servers: {', '.join(SERVERS)}.")],
    root: Annotated[list[Path] | None, typer.Option(help="Folder that documents may be ingested from.")] = None,
) -> None:
    """Run some of the servers."""
    settings = settings_with_roots(root)
    configure_logging(settings)
    asyncio.run(run_sites([mcp_site(name, settings) for name in dict.fromkeys(names)]))


def mcp_site(name: str, settings: Settings) -> Site:
    """An MCP server as a site. Raises InvalidInput where no server has that name."""
    tools = server(name, settings)
    host = settings.bind_host(auth_on=settings.mcp_auth_on)
    return Site(name, tools.app(), host, SERVERS[name].port(settings), settings.mcp_auth_on, tools.begin_stop)
