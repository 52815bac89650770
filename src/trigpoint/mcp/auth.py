"""Access to an MCP server: a bearer token (`MCP_API_KEY`), checked before anything else sees the request."""

from __future__ import annotations

import logging

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from trigpoint.errors import Unauthorized, shorten
from trigpoint.http.bearer import authorization, client_address, token_of
from trigpoint.http.hosts import OPEN_PATHS
from trigpoint.keys import digest, is_among

log = logging.getLogger(__name__)

MISSING = "Missing Authorization header"
WRONG_FORMAT = "Invalid Authorization header format. Expected: Bearer <token>"
WRONG_TOKEN = "Invalid bearer token"  # noqa: S105


class MCPAuthMiddleware:
    """Plain ASGI, so that streams pass through untouched. With no key every request passes. `code` names a refusal."""

    def __init__(self, app: ASGIApp, api_key: str | None = None, code: str = Unauthorized.code) -> None:
        self.app = app
        self._code = code
        self._known = [digest(api_key)] if api_key else []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._known or scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
            return
        problem = self._problem(scope)
        if problem is None:
            await self.app(scope, receive, send)
            return
        log.warning(
            "Authentication failed: client=%s endpoint=%s method=%s: %s",
            client_address(scope),
            shorten(scope["path"]),
            scope["method"],
            problem,
        )
        response = JSONResponse(
            {"error": {"code": self._code, "message": problem}}, 401, headers={"WWW-Authenticate": "Bearer"}
        )
        await response(scope, receive, send)

    def _problem(self, scope: Scope) -> str | None:
        header = authorization(scope)
        if header is None:
            return MISSING
        token = token_of(header)
        if not token:
            return WRONG_FORMAT
        return None if is_among(token, self._known) else WRONG_TOKEN
