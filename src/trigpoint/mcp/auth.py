"""Who may call an MCP server: a bearer token (`MCP_API_KEY`), checked before anything else sees the request (E5)."""

from __future__ import annotations

import hmac
import logging

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from trigpoint.errors import shorten

log = logging.getLogger(__name__)

MISSING = "Missing Authorization header"
WRONG_FORMAT = "Invalid Authorization header format. Expected: Bearer <token>"
WRONG_TOKEN = "Invalid bearer token"  # noqa: S105

OPEN_PATHS = frozenset({"/health"})


class MCPAuthMiddleware:
    """Plain ASGI, so that streams pass through untouched. With no key every request passes."""

    def __init__(self, app: ASGIApp, api_key: str | None = None) -> None:
        self.app = app
        self.expected = api_key.encode() if api_key else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.expected is None or scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
            return
        problem = self._problem(scope)
        if problem is None:
            await self.app(scope, receive, send)
            return
        client = scope["client"][0] if scope.get("client") else "unknown"
        log.warning(
            "Authentication failed: client=%s endpoint=%s method=%s: %s",
            client,
            shorten(scope["path"]),
            scope["method"],
            problem,
        )
        response = JSONResponse(
            {"error": {"code": "unauthorized", "message": problem}}, 401, headers={"WWW-Authenticate": "Bearer"}
        )
        await response(scope, receive, send)

    def _problem(self, scope: Scope) -> str | None:
        header = next((value for name, value in scope["headers"] if name == b"authorization"), None)
        if header is None:
            return MISSING
        scheme, _, token = header.partition(b" ")
        token = token.strip()
        if scheme.lower() != b"bearer" or not token:
            return WRONG_FORMAT
        assert self.expected is not None
        return None if hmac.compare_digest(token, self.expected) else WRONG_TOKEN
