"""`trigpoint mcp NAME`: one MCP server over stdin and stdout, as Claude Desktop and editors start it. Logs go to stderr."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from trigpoint.cli.roots import settings_with_roots
from trigpoint.logs import configure_logging
from trigpoint.mcp import SERVERS, build_server

app = typer.Typer(add_completion=False)


@app.command()
def mcp(
    name: Annotated[str, typer.Argument(help=f"Which server: {', '.join(SERVERS)}.")],
    root: Annotated[list[Path] | None, typer.Option(help="Folder that documents may be ingested from.")] = None,
) -> None:
    """Run one MCP server over stdin and stdout."""
    settings = settings_with_roots(root)
    configure_logging(settings)
    signal.signal(signal.SIGTERM, _stop)
    tools = build_server(name, settings)
    try:
        asyncio.run(tools.run_stdio())
    except KeyboardInterrupt:
        sys.stderr.flush()
        os._exit(0)  # the thread that reads stdin cannot be interrupted; everything else is closed by now


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
