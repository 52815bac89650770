"""Access to the graph's backend, and its errors: an envelope of its own, with upper-case codes.

Reads need a key of the REST API with the scope `read`, the key of the MCP servers (the bridge passes it on) or a write
key; writes need a write key. Without REST keys, auth is off.
"""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import urlsplit

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from trigpoint.config import Settings
from trigpoint.errors import (
    GraphError,
    GraphForbidden,
    GraphUnauthorized,
    InvalidInput,
    StoreUnavailable,
    TrigpointError,
)
from trigpoint.http.bearer import bearer
from trigpoint.keys import digest, is_among

log = logging.getLogger(__name__)

READS = frozenset({"GET", "HEAD", "OPTIONS"})
_CODES = {401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND", 409: "CONFLICT"}


class GraphAccess:
    """Plain ASGI middleware in front of every route of the graph."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._keys = settings.key_ring
        self._writers = [digest(key) for key in settings.graph_write_keys]
        self._bridge = [digest(settings.mcp_token)] if settings.mcp_token else []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            self._check(scope)
        except GraphError as error:
            await error_response(error)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        request = Request(scope)
        writes = scope["method"] not in READS
        if writes:
            _same_origin(request)
        if not self._keys.required:
            return
        token = bearer(scope)
        may_write = is_among(token, self._writers)
        if not (may_write or is_among(token, self._bridge) or self._may_read(token)):
            raise GraphUnauthorized("Unauthorized")
        if writes and not may_write:
            raise GraphForbidden("This key may only read. Writing needs one of GRAPH_WRITE_KEYS")

    def _may_read(self, token: bytes) -> bool:
        key = self._keys.find(token)
        return key is not None and "read" in key.scopes


def _same_origin(request: Request) -> None:
    """Refuse to let a page of another site, open in the user's browser, write."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise GraphForbidden("Writes from pages of another origin are refused")


def json_response(body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(body), status, headers, media_type="application/json")


def envelope(error: TrigpointError) -> dict[str, Any]:
    """Return `{"error": {"code", "message"}}`, and `details` if there are any."""
    if isinstance(error, GraphError):
        code, message = error.code, error.message
    elif isinstance(error, InvalidInput):
        code, message = "BAD_REQUEST", error.message
    elif isinstance(error, StoreUnavailable):
        code, message = "SERVER_ERROR", "The graph's database cannot be reached"
    else:
        code, message = "SERVER_ERROR", "Internal server error"
    return {"error": {"code": code, "message": message, **({"details": error.details} if error.details else {})}}


_STATUS_OF_CODE = {"BAD_REQUEST": 400, "SERVER_ERROR": 500}


def error_response(error: TrigpointError) -> Response:
    body = envelope(error)
    status = error.status if isinstance(error, GraphError) else _STATUS_OF_CODE[body["error"]["code"]]
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return json_response(body, status, headers)


async def on_error(request: Request, error: Exception) -> Response:
    if isinstance(error, TrigpointError):
        if not isinstance(error, GraphError | InvalidInput):
            log.error("%s %s: %s", request.method, request.url.path, error.message)
        return error_response(error)
    if isinstance(error, HTTPException):
        message = f"No such route: {request.method} /api{request.scope['path'].removeprefix('/api')}"
        body = {"error": {"code": _CODES.get(error.status_code, "BAD_REQUEST"), "message": message}}
        return json_response(body, error.status_code, dict(error.headers or {}))
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return json_response({"error": {"code": "SERVER_ERROR", "message": "Internal server error"}}, 500)
