"""Who may call: bearer keys compared in constant time, and each key's share of requests.

With no keys set, auth is off and so is the limit (R13). Failed tries are limited by the caller's address.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigpoint.api.errors import RETRY_AFTER_SECONDS, send_error
from trigpoint.api.ratelimit import RateLimiter, Window
from trigpoint.errors import RateLimited, StoreUnavailable, Unauthorized

log = logging.getLogger(__name__)

PUBLIC_PATHS = frozenset({"/api/v1/health", "/health", "/docs", "/redoc", "/openapi.json"})
PUBLIC_PREFIXES: tuple[str, ...] = ()  # of static files only
_TOO_MANY = "Too many requests. Please retry after the specified time."


class AuthMiddleware:
    """Plain ASGI middleware. `app.state.limiter` counts."""

    def __init__(self, app: ASGIApp, keys: Iterable[str]) -> None:
        self.app = app
        self._digests = [(key, hashlib.sha256(key.encode()).digest()) for key in keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._digests or scope["type"] == "lifespan" or is_public(scope["path"]):
            await self.app(scope, receive, send)
            return
        limiter: RateLimiter = scope["app"].state.limiter
        key = self._known_key(scope)
        try:
            window = await limiter.take(f"key:{key}" if key else f"address:{_address(scope)}")
        except StoreUnavailable as error:
            again = [(b"retry-after", RETRY_AFTER_SECONDS.encode())]
            await send_error(send, error.status, error.code, error.message, headers=again)
            return
        if not window.allowed:
            await _refuse(send, window)
        elif key is None:
            log.warning("refused %s %s from %s: no valid key", scope["method"], scope["path"], _address(scope))
            challenge = [(b"www-authenticate", b"Bearer"), *window.headers()]
            await send_error(send, Unauthorized.status, Unauthorized.code, "Unauthorized", headers=challenge)
        else:
            await self.app(scope, receive, _with_headers(send, window))

    def _known_key(self, scope: Scope) -> str | None:
        """The key that was sent, if it is one of ours. Every key is compared, so that time tells nothing."""
        given = hashlib.sha256(_bearer(scope)).digest()
        found = None
        for key, digest in self._digests:
            if hmac.compare_digest(digest, given):
                found = key
        return found


def is_public(path: str) -> bool:
    return path in PUBLIC_PATHS or path.startswith(PUBLIC_PREFIXES)


def _bearer(scope: Scope) -> bytes:
    sent = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(sent) != 1:
        return b""
    scheme, _, token = sent[0].partition(b" ")
    stripped: bytes = token.strip()
    return stripped if scheme.lower() == b"bearer" else b""


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "unknown"


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
