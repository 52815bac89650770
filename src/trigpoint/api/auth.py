"""Access to the REST API: a valid key with the right scope, and each key's share of requests.

Without keys, auth is off and so is the limit.
"""

from __future__ import annotations

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigpoint.api.errors import RETRY_AFTER_SECONDS
from trigpoint.api.ratelimit import Window
from trigpoint.api.services import services_in
from trigpoint.errors import Forbidden, RateLimited, StoreUnavailable, Unauthorized
from trigpoint.http.bearer import bearer, client_address
from trigpoint.http.envelope import send_error
from trigpoint.http.limits import READING
from trigpoint.keys import ApiKey, KeyRing, KeyScope

log = logging.getLogger(__name__)

PUBLIC_PATHS = frozenset({"/api/v1/health", "/health", "/docs", "/redoc", "/openapi.json"})
SUBMITTING = ("/api/v1/reviews", "/api/v1/applications")
_TOO_MANY = "Too many requests. Please retry after the specified time."


class AuthMiddleware:
    """Plain ASGI middleware. The services' limiter counts requests by key, and failed tries by address."""

    def __init__(self, app: ASGIApp, keys: KeyRing) -> None:
        self.app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._keys.required or scope["type"] == "lifespan" or is_public(scope["path"]):
            await self.app(scope, receive, send)
            return
        address, key = client_address(scope), self._keys.find(bearer(scope))
        try:
            window = await services_in(scope).limiter.take(key.secret if key else None, address)
        except StoreUnavailable as error:
            again = [(b"retry-after", RETRY_AFTER_SECONDS.encode())]
            await send_error(send, error.status, error.code, error.message, headers=again)
            return
        if not window.allowed:
            await _refuse(send, window)
        elif key is None:
            log.warning("refused %s %s from %s: no valid key", scope["method"], scope["path"], address)
            challenge = [(b"www-authenticate", b"Bearer"), *window.headers()]
            await send_error(send, Unauthorized.status, Unauthorized.code, "Unauthorized", headers=challenge)
        elif (needed := scope_needed(scope["method"], scope["path"])) not in key.scopes:
            await _refuse_scope(send, key, needed, window)
        else:
            await self.app(scope, receive, _with_headers(send, window))


def scope_needed(method: str, path: str) -> KeyScope:
    """Return what a key must be allowed to do: read, work on reviews and their letters, or manage everything else."""
    if method in READING:
        return "read"
    return "submit" if path.startswith(SUBMITTING) and not path.endswith("/redeliver") else "manage"


def is_public(path: str) -> bool:
    return path in PUBLIC_PATHS


def _with_headers(send: Send, window: Window) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *window.headers()]
        await send(message)

    return send_with_headers


async def _refuse(send: Send, window: Window) -> None:
    headers = [(b"retry-after", str(window.retry_after).encode()), *window.headers()]
    details = {"retry_after_seconds": window.retry_after}
    await send_error(send, RateLimited.status, RateLimited.code, _TOO_MANY, details, headers)


async def _refuse_scope(send: Send, key: ApiKey, needed: KeyScope, window: Window) -> None:
    message = (
        f"The key '{key.name}' may {' and '.join(sorted(key.scopes))} only. This request needs the scope '{needed}'"
    )
    details = {"required_scope": needed, "scopes": sorted(key.scopes)}
    await send_error(send, Forbidden.status, Forbidden.code, message, details, window.headers())
