"""One limit on the size of request bodies, for every surface: checked against the declared length and while bytes arrive."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigpoint.http.envelope import send_error

Refuse = Callable[[Scope, Receive, Send, int], Awaitable[None]]

READING = frozenset({"GET", "HEAD", "OPTIONS"})
"""The methods that change nothing."""
_WITHOUT_BODY = frozenset({"GET", "HEAD"})
_DRAINED_TIMES_LIMIT = 8


class BodyTooLarge(HTTPException):
    """Ends the reading of a body. Whatever the application makes of it, the client gets a 413."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, too_large(limit))


def too_large(limit: int) -> str:
    shown = f"{limit // (1024 * 1024)} MB" if limit >= 1024 * 1024 else f"{limit} bytes"
    return f"The request is larger than the {shown} that are allowed"


async def refuse_with_envelope(scope: Scope, receive: Receive, send: Send, limit: int) -> None:
    await send_error(send, 413, "payload_too_large", too_large(limit), headers=[(b"connection", b"close")])


class BodyLimit:
    """Refuse a body by its declared length at once, and by its real length while it arrives.

    `limit_of` returns the limit of a request in bytes; `refuse` sends the 413 in the surface's own form.
    """

    def __init__(self, app: ASGIApp, limit_of: Callable[[Scope], int], refuse: Refuse = refuse_with_envelope) -> None:
        self.app = app
        self._limit_of = limit_of
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _WITHOUT_BODY:
            await self.app(scope, receive, send)
            return
        limit = self._limit_of(scope)
        if _declared_length(scope) > limit:
            await _drain(receive, limit * _DRAINED_TIMES_LIMIT)
            await self._refuse(scope, receive, send, limit)
            return
        await self._count(scope, receive, send, limit)

    async def _count(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        """Pass the body on until it exceeds the limit; from then on, only the refusal goes out."""
        taken, exceeded, started = 0, False, False

        async def receive_within_limit() -> Message:
            nonlocal taken, exceeded
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit:
                exceeded = True
                if message.get("more_body", False):
                    await _drain(receive, limit * _DRAINED_TIMES_LIMIT)
                raise BodyTooLarge(limit)
            return message

        async def send_unless_exceeded(message: Message) -> None:
            nonlocal started
            if exceeded and not started:
                return
            started = True
            await send(message)

        try:
            await self.app(scope, receive_within_limit, send_unless_exceeded)
        except BodyTooLarge:
            if started:
                raise
        if exceeded and not started:
            await self._refuse(scope, receive, send, limit)


def _declared_length(scope: Scope) -> int:
    declared: bytes = dict(scope["headers"]).get(b"content-length", b"")
    return int(declared[:18]) if declared.isdigit() else 0


async def _drain(receive: Receive, most: int) -> None:
    """Read on for a while: a client that is still writing would not see the answer."""
    taken, more = 0, True
    while more and taken <= most:
        message = await receive()
        taken += len(message.get("body", b""))
        more = message["type"] == "http.request" and message.get("more_body", False)
