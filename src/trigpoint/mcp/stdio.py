"""Stdin and stdout as a transport on which every request is answered, even one that cannot be read.

The protocol's package drops a line that is not a message. Some clients write halves of surrogate pairs (an emoji that was
cut in two), which are not JSON for it, and would wait for the answer until their time is up.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from trigpoint.errors import shorten

log = logging.getLogger(__name__)

_UNREADABLE = "Parse error: the request is not a message of the protocol in valid JSON and Unicode"


@asynccontextmanager
async def answering_stdio() -> AsyncIterator[tuple[MemoryObjectReceiveStream[SessionMessage | Exception], Any]]:
    """Yield the messages that can be read, and the stream for answers; refuse the others under their ids."""
    async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
        readable, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()

        async def sift() -> None:
            async with readable:
                async for item in read:
                    if not isinstance(item, Exception):
                        await readable.send(item)
                    elif (refusal := _refusal(item)) is not None:
                        await write.send(SessionMessage(refusal))

        tasks.start_soon(sift)
        yield messages, write
        tasks.cancel_scope.cancel()


def _refusal(error: Exception) -> types.JSONRPCError | None:
    log.warning("A line on stdin could not be read: %s", shorten(error))
    given = error.errors(include_url=False)[0]["input"] if isinstance(error, ValidationError) else None
    if isinstance(given, str):
        try:
            given = json.loads(given)  # reads what the strict parser refuses
        except (ValueError, RecursionError):
            return None
    ident = given.get("id") if isinstance(given, dict) else None
    if type(ident) not in (int, str):
        return None
    problem = types.ErrorData(code=types.PARSE_ERROR, message=_UNREADABLE)
    return types.JSONRPCError(jsonrpc="2.0", id=ident, error=problem)
