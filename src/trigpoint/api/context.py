"""The outermost layers: an id for every request, the version on every answer, an envelope when all else failed."""

from __future__ import annotations

import logging
import re
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigpoint.api.errors import send_unexpected
from trigpoint.ids import new_request_id
from trigpoint.logs import request_id
from trigpoint.metrics import count_request

log = logging.getLogger(__name__)

API_VERSION = "1.0.0"
_USABLE = re.compile(rb"[\x20-\x7e]{1,128}")


class RequestContext:
    """Plain ASGI middleware. A client's `X-Request-ID` is echoed if it is short and printable."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        ident = _given_id(scope) or new_request_id().encode()
        token = request_id.set(ident.decode())
        headers = [(b"x-api-version", API_VERSION.encode()), (b"x-request-id", ident)]
        started = time.perf_counter()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *headers]
            await send(message)

        try:
            await self.app(scope, receive, send_with_headers)
        finally:
            seconds = time.perf_counter() - started
            count_request(scope, status, seconds)
            level = logging.INFO if status >= 400 or scope["method"] != "GET" else logging.DEBUG
            if log.isEnabledFor(level):
                log.log(level, "%s %s %d %.1f ms", scope["method"], scope["path"], status, seconds * 1000)
            request_id.reset(token)


class CatchUnexpected:
    """What nobody expected becomes a 500 with the envelope; the log has the rest, under the request's id (E3)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_and_note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except Exception:
            if scope["type"] != "http" or started:
                raise  # too late for another answer: the server closes the connection
            log.exception("%s %s", scope["method"], scope["path"])
            await send_unexpected(send)


def _given_id(scope: Scope) -> bytes | None:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            return value if _USABLE.fullmatch(value) else None
    return None
