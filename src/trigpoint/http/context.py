"""The outermost layers of a surface: an id for every request, and an error envelope if all else fails."""

from __future__ import annotations

import logging
import re
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigpoint.http.envelope import send_error
from trigpoint.ids import new_request_id
from trigpoint.logs import new_request_id as new_call_id
from trigpoint.logs import request_id
from trigpoint.metrics import count_request

log = logging.getLogger(__name__)

UNEXPECTED = "An unexpected error occurred. Quote the X-Request-ID of this answer when you report it"
_HEADER = b"x-request-id"
_USABLE = re.compile(rb"[\x20-\x7e]{1,128}")


class RequestContext:
    """Give every request an id and its answer the headers. A client's `X-Request-ID` is echoed if it is short and printable."""

    def __init__(self, app: ASGIApp, api_version: str) -> None:
        self.app = app
        self._version = api_version.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        ident = _given_id(scope) or new_request_id().encode()
        token = request_id.set(ident.decode())
        headers = [(b"x-api-version", self._version), (_HEADER, ident)]
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


class RequestIds:
    """Give every answer the id of its request, and an id to every request that has none: for servers with logs of their own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        header = (_HEADER, _given_id(scope) or new_call_id().encode())
        others = [(name, value) for name, value in scope["headers"] if name != _HEADER]

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), header]
            await send(message)

        await self.app({**scope, "headers": [*others, header]}, receive, send_with_id)


class CatchUnexpected:
    """Turn an unexpected exception into a 500 with the envelope, and log the rest under the request's id."""

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
            await send_error(send, 500, "internal_error", UNEXPECTED)


def _given_id(scope: Scope) -> bytes | None:
    for name, value in scope["headers"]:
        if name == _HEADER:
            return value if _USABLE.fullmatch(value) else None
    return None
