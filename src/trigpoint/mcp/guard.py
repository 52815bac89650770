"""What a request must look like before a server sees it: a known host (DNS rebinding), a known origin, a size within the limit.

The REST API and the pages use the first two; their bodies have limits of their own."""

from __future__ import annotations

import logging
from collections import deque
from typing import Literal
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigpoint.config import Settings
from trigpoint.errors import shorten
from trigpoint.mcp.auth import OPEN_PATHS

log = logging.getLogger(__name__)

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = ("0.0.0.0", "::")
_DRAINED_TIMES_LIMIT = 8


def allowed_hosts(settings: Settings, *, auth_on: bool) -> frozenset[str] | None:
    """Loopback, `HOST` and `MCP_ALLOWED_HOSTS`; None (any) where that says `*`, or says nothing and auth is on.

    A page that rebinds its name has no key, and other machines reach a server with a key by names we cannot know.
    """
    if "*" in settings.mcp_allowed_hosts or (auth_on and not settings.mcp_allowed_hosts):
        return None
    named = {*_LOOPBACK, *(_host_of(entry) or entry.lower() for entry in settings.mcp_allowed_hosts)}
    if settings.host and settings.host not in _EVERYWHERE:
        named.add(settings.host.lower())
    return frozenset(named)


def is_loopback(host: str) -> bool:
    return host in _LOOPBACK or host.startswith("127.")


class HostGuard:
    """A web page that rebinds its name to this machine, or belongs to another site, must not reach us.

    One guard a header: `Host` must name a known host, and so must `Origin` where a browser sends one.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None, header: Literal["Host", "Origin"]) -> None:
        self.app = app
        self.hosts = hosts
        self.header = header

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.hosts is None or scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
            return
        sent = Headers(scope=scope).get(self.header, "" if self.header == "Host" else None)
        if sent is None or _host_of(sent) in self.hosts:
            await self.app(scope, receive, send)
        else:
            await self._refusal(sent)(scope, receive, send)

    def _refusal(self, sent: str) -> JSONResponse:
        what = f"{self.header} '{shorten(sent)}'"
        log.warning("%s is not among the allowed hosts", what)
        message = f"{what} is not allowed here. Add its host name to MCP_ALLOWED_HOSTS on this server"
        status, code = (421, "invalid_host") if self.header == "Host" else (403, "invalid_origin")
        return JSONResponse({"error": {"code": code, "message": message}}, status)


class BodyLimit:
    """413 with a JSON body as soon as a request declares or sends more than the limit."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        messages: deque[Message] = deque()
        size = 0
        more = True
        while more:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            more = message["type"] == "http.request" and message.get("more_body", False)
            if size > self.max_bytes or (declared.isascii() and declared.isdigit() and int(declared) > self.max_bytes):
                await self._refuse(size, more, scope, receive, send)
                return

        async def replay() -> Message:
            return messages.popleft() if messages else await receive()

        await self.app(scope, replay, send)

    async def _refuse(self, size: int, more: bool, scope: Scope, receive: Receive, send: Send) -> None:
        while more and size <= self.max_bytes * _DRAINED_TIMES_LIMIT:  # a client still writing would miss the answer
            message = await receive()
            size += len(message.get("body", b""))
            more = message["type"] == "http.request" and message.get("more_body", False)
        message_text = f"The request is larger than {self.max_bytes} bytes, the limit of this server. Send less at once"
        body = {"error": {"code": "payload_too_large", "message": message_text}}
        await JSONResponse(body, 413, headers={"Connection": "close"})(scope, receive, send)


def _host_of(authority: str) -> str | None:
    """The host in `name:port`, `[::1]:port` or `scheme://name:port`, lower-cased; None where there is none."""
    try:
        return urlsplit(authority if "//" in authority else f"//{authority}").hostname
    except ValueError:
        return None
