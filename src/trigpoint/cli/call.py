"""`trigpoint call SERVER TOOL NAME=VALUE…`: calls one tool of a running MCP server from a terminal."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, cast

import typer

from trigpoint.config import load_settings
from trigpoint.errors import InvalidInput, shorten

app = typer.Typer(add_completion=False)


@app.command()
def call(
    server: Annotated[
        str, typer.Argument(help="scraper, document-store, policy-kb, library, graph, reviewer; or an address.")
    ],
    tool: Annotated[str, typer.Argument(help="Name of the tool.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="NAME=VALUE; a value that is valid JSON (a number, a list) is sent as JSON."),
    ] = None,
) -> None:
    """Call a tool and print its answer as JSON. Exit code 1 if the tool returns an error."""
    given = dict(_parsed(one) for one in arguments or ())
    answer = asyncio.run(_call_tool(_server_address(server), tool, given))
    print(json.dumps(answer, indent=1, ensure_ascii=False))


def _parsed(argument: str) -> tuple[str, Any]:
    name, equals, value = argument.partition("=")
    if not equals or not name:
        raise InvalidInput(f"'{shorten(argument)}': expected NAME=VALUE, for example query='cycle parking'")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _server_address(server: str) -> str:
    from trigpoint.api.web.asking import Part, address
    from trigpoint.mcp import SERVERS

    if server.startswith(("http://", "https://")):
        return server
    if server not in SERVERS:
        raise InvalidInput(f"No server is called '{shorten(server)}'. There are: {', '.join(SERVERS)}")
    return address(load_settings(), cast(Part, server))


async def _call_tool(url: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    from trigpoint.mcp.client import ToolClient

    async with ToolClient(url, load_settings().mcp_token) as client:
        return await client.call(tool, arguments)
