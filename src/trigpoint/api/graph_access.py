"""Access to the graph's backend, and its errors: an envelope of its own, with upper-case codes.

Reads need a key of the REST API with the scope `read`, the key of the MCP servers (the bridge passes it on) or a write
key; writes need a write key. Without REST keys, auth is off.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from trigpoint.api.errors import allowed_methods
from trigpoint.api.services import Services
from trigpoint.config import Settings
from trigpoint.errors import (
    GraphError,
    GraphForbidden,
    GraphUnauthorized,
    InvalidInput,
    NoSpace,
    StoreUnavailable,
    TrigpointError,
)
from trigpoint.http.bearer import bearer, client_address
from trigpoint.http.envelope import Headers, send_error
from trigpoint.http.limits import READING, too_large
from trigpoint.keys import digest, is_among
from trigpoint.storage.space import full_disk_behind

log = logging.getLogger(__name__)

PROJECT_HEADERS = (b"x-project-id", b"x-project-slug", b"cookie")  # they say which project a request is about
_CODES = {401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND", 409: "CONFLICT", 429: "RATE_LIMITED"}
_TOO_MANY = "Too many failed attempts from this address. Please retry after the specified time."


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
        if self._keys.required and (wait := await self._refused_for(scope)):
            await send_graph_error(send, 429, "", _TOO_MANY, headers=[(b"retry-after", str(wait).encode())])
            return
        try:
            self._check(scope)
        except GraphError as error:
            await error_response(error)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        request = Request(scope)
        writes = scope["method"] not in READING
        if writes:
            _same_origin(request)
        if not self._keys.required:
            return
        token = bearer(scope)
        if not self._may_read(token):
            raise GraphUnauthorized("Unauthorized")
        if writes and not is_among(token, self._writers):
            raise GraphForbidden("This key may only read. Writing needs one of GRAPH_WRITE_KEYS")

    def _may_read(self, token: bytes) -> bool:
        if is_among(token, [*self._writers, *self._bridge]):
            return True
        key = self._keys.find(token)
        return key is not None and "read" in key.scopes

    async def _refused_for(self, scope: Scope) -> int:
        """Return for how many seconds the caller's address is refused, 0 if it is not. A failed try is counted.

        The keys are those of the REST API, and so is the count: otherwise they could be guessed here.
        """
        services: Services | None = scope.get("state", {}).get("services")
        if services is None:  # within an MCP server, which nobody else reaches
            return 0
        address, is_known = client_address(scope), self._may_read(bearer(scope))
        try:
            limiter = services.limiter
            window = await limiter.admit(address) if is_known else await limiter.take(None, address)
        except StoreUnavailable:  # the graph does not need Redis, so neither do its readers
            return 0
        return 0 if window.allowed else window.retry_after


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
    elif (full := full_disk_behind(error)) is not None:
        code, message = "SERVER_ERROR", full.message
    elif isinstance(error, StoreUnavailable):
        code, message = "SERVER_ERROR", "The graph's database cannot be reached"
    else:
        code, message = "SERVER_ERROR", "Internal server error"
    return {"error": {"code": code, "message": message, **({"details": error.details} if error.details else {})}}


_STATUS_OF_CODE = {"BAD_REQUEST": 400, "SERVER_ERROR": 500}


def error_response(error: TrigpointError) -> Response:
    body = envelope(error)
    status = error.status if isinstance(error, GraphError) else _STATUS_OF_CODE[body["error"]["code"]]
    if status == 500 and full_disk_behind(error):
        status = NoSpace.status
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return json_response(body, status, headers)


async def send_graph_error(
    send: Send, status: int, code: str, message: str, details: Mapping[str, Any] | None = None, headers: Headers = ()
) -> None:
    """Send an error of a shared layer in the graph's envelope and with its codes, whatever the layer calls it."""
    status = 400 if status in (413, 422) else status
    problems = details.get("errors") if details else None
    said = problems[0]["message"] if problems else message
    code = "SERVER_ERROR" if status >= 500 else _CODES.get(status, "BAD_REQUEST")
    await send_error(send, status, code, said, headers=headers)


async def refuse_size(scope: Scope, receive: Receive, send: Send, limit: int) -> None:
    await send_graph_error(send, 413, "", too_large(limit), headers=[(b"connection", b"close")])


async def on_error(request: Request, error: Exception) -> Response:
    if isinstance(error, TrigpointError):
        if not isinstance(error, GraphError | InvalidInput):
            log.error("%s %s: %s", request.method, request.url.path, error.message)
        return error_response(error)
    if isinstance(error, HTTPException):
        headers = {"Allow": allowed_methods(request)} if error.status_code == 405 else {}
        if error.status_code == 405 and request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
        message = f"No such route: {request.method} /api{request.scope['path'].removeprefix('/api')}"
        body = {"error": {"code": _CODES.get(error.status_code, "BAD_REQUEST"), "message": message}}
        return json_response(body, error.status_code, headers)
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return json_response({"error": {"code": "SERVER_ERROR", "message": "Internal server error"}}, 500)
