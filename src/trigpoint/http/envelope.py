"""The error envelope `{"error": {"code", "message", "details"}}`, for middleware that has no response to return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import orjson
from starlette.types import Send

Headers = Sequence[tuple[bytes, bytes]]


def envelope(code: str, message: str, details: Mapping[str, Any] | None = None) -> bytes:
    """Return the envelope as JSON; `details` is left out if there are none."""
    error: dict[str, Any] = {"code": code, "message": message}
    if details:
        error["details"] = details
    return orjson.dumps({"error": error}, default=str)


class SendError(Protocol):
    """`send_error`, or the same in the envelope of another surface."""

    async def __call__(
        self,
        send: Send,
        status: int,
        code: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        headers: Headers = (),
    ) -> None: ...


async def send_error(
    send: Send, status: int, code: str, message: str, details: Mapping[str, Any] | None = None, headers: Headers = ()
) -> None:
    """Send a complete error response."""
    body = envelope(code, message, details)
    start = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})
