"""Shared by all our servers, around the application: a socket to listen on, and the state that its lifespan made."""

from __future__ import annotations

import socket
from typing import Any

_BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; raise OSError if none can.

    Its connections send at once. Otherwise an answer of two packets waits 40 ms until the client has acknowledged the
    first, since asyncio does not see that a socket made this way is TCP.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def with_state(app: Any, state: Any) -> Any:
    """Return the application with what its lifespan yielded in the scope of each request, as if the server ran the lifespan."""

    async def call(scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = dict(state or {})
        await app(scope, receive, send)

    return call
