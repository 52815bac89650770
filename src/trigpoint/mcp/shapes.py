"""The answers of our servers' tools, as the tools declare them: listed and compiled once for each address.

The protocol's client lists the tools of a server and compiles their schemas anew for every connection, which takes three
times as long as the call itself. A server may be replaced by another version while we run: an answer that does not fit is
held against a new list before it is refused.
"""

from __future__ import annotations

from typing import Any

from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from mcp.client import Client
from mcp_types import CallToolResult
from referencing import Registry

Shapes = dict[str, Validator | None]

_shapes: dict[str, Shapes] = {}


async def wrong_shape(url: str, client: Client, tool: str, result: CallToolResult) -> str:
    """Return in which way an answer does not have the shape that the server declares; nothing if it does."""
    known = _shapes.get(url, {})
    if tool in known and not _problem(known[tool], result):
        return ""
    _shapes[url] = await _fetch_shapes(client)
    if tool not in _shapes[url]:
        return f"the server does not list the tool {tool}"
    return _problem(_shapes[url][tool], result)


async def _fetch_shapes(client: Client) -> Shapes:
    shapes: Shapes = {}
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        shapes |= {one.name: _compiled(one.output_schema) for one in page.tools}
        cursor = page.next_cursor
        if cursor is None:
            return shapes


def _compiled(schema: dict[str, Any] | None) -> Validator | None:
    # References are resolved within the schema only: nothing is fetched.
    return None if schema is None else validator_for(schema)(schema, registry=Registry())


def _problem(shape: Validator | None, result: CallToolResult) -> str:
    if shape is None:
        return ""
    if result.structured_content is None:
        return "it has no structured content"
    error = best_match(shape.iter_errors(result.structured_content))
    return "" if error is None else f"{error.json_path}: {error.message}"
