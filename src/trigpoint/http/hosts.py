"""The host names a server answers to, and the origins that may call it: a defence against DNS rebinding."""

from __future__ import annotations

import logging
from typing import Literal
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from trigpoint.config import Settings
from trigpoint.errors import shorten

log = logging.getLogger(__name__)

OPEN_PATHS = frozenset({"/health"})

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = ("0.0.0.0", "::")


def allowed_hosts(settings: Settings, *, auth_on: bool) -> frozenset[str] | None:
    """Return loopback, `HOST` and `MCP_ALLOWED_HOSTS`, or None for any host.

    Any host is accepted if `MCP_ALLOWED_HOSTS` is `*`, or if it is empty while auth is on: a page that rebinds its name has
    no key, and other machines reach a server with a key by names that we cannot know.
    """
    if "*" in settings.mcp_allowed_hosts or (auth_on and not settings.mcp_allowed_hosts):
        return None
    named = {*LOOPBACK, *(_host_of(entry) or entry.lower() for entry in settings.mcp_allowed_hosts)}
    if settings.host and settings.host not in _EVERYWHERE:
        named.add(settings.host.lower())
    return frozenset(named)


def allowed_origins(settings: Settings) -> frozenset[str]:
    """Return the hosts of the sites whose pages may call the REST API (`CORS_ORIGINS`)."""
    return frozenset(host for origin in settings.cors_origins if (host := _host_of(origin)))


def is_loopback(host: str) -> bool:
    return host in LOOPBACK or host.startswith("127.")


class HostGuard:
    """Refuse requests of web pages that rebound their name to this machine or belong to another site.

    One guard checks one header: `Host` must name a known host, and so must `Origin` if a browser sends one.
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


def _host_of(authority: str) -> str | None:
    """Return the host of `name:port`, `[::1]:port` or `scheme://name:port`, lower-cased; None if there is none."""
    try:
        return urlsplit(authority if "//" in authority else f"//{authority}").hostname
    except ValueError:
        return None
