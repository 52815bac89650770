"""`Idempotency-Key`: a request that creates something can be sent again without creating it twice.

The first answer is kept for a day and repeated, byte for byte. The id of a new review is reserved before it is made: if the
process dies between making it and answering, the next request with the same key finds that review instead of making another.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigpoint.api.services import services_in
from trigpoint.errors import StoreUnavailable
from trigpoint.http.bearer import bearer
from trigpoint.http.envelope import send_error
from trigpoint.ids import new_review_id
from trigpoint.jobs.scripts import Scripts

HEADER = b"idempotency-key"
KEPT_SECONDS = 24 * 3600
_BUSY_SECONDS = 600  # longer than any upload takes
_USABLE = re.compile(rb"[\x21-\x7e]{1,255}")
_RESERVED = "trigpoint.reserved_id"


def reserved_id(scope: Scope) -> str | None:
    """Return the id that was reserved for what this request creates; None without an `Idempotency-Key`."""
    reserved: str | None = scope.get(_RESERVED)
    return reserved


@dataclass
class _Answer:
    """The application's answer, recorded while it is sent."""

    status: int = 0
    kind: bytes = b""
    body: bytes = b""

    def note(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.kind = dict(message.get("headers", ())).get(b"content-type", b"")
        else:
            self.body += message.get("body", b"")


class Idempotency:
    """Plain ASGI middleware for every POST that carries the header."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = dict(scope["headers"]).get(HEADER) if scope["type"] == "http" and scope["method"] == "POST" else None
        if key is None:
            await self.app(scope, receive, send)
            return
        if not _USABLE.fullmatch(key):
            problem = "Idempotency-Key must have 1 to 255 printable ASCII characters and no blanks"
            details = {"errors": [{"field": "header.Idempotency-Key", "message": problem, "type": "value_error"}]}
            await send_error(send, 422, "validation_error", "Request validation failed", details)
            return
        try:
            await self._once(key, scope, receive, send)
        except StoreUnavailable as error:
            await send_error(send, error.status, error.code, error.message, headers=[(b"retry-after", b"5")])

    async def _once(self, key: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        run = Scripts(services_in(scope).redis)
        name = _name(key, scope)
        fingerprint, receive = await _fingerprint(scope, receive)
        state, *rest = await run(
            "idempotency_begin", name, fingerprint, new_review_id(), _BUSY_SECONDS * 1000, KEPT_SECONDS * 1000
        )
        if state == "mine":
            await self._first(run, name, {**scope, _RESERVED: rest[0]}, receive, send)
        elif state == "done":
            await _repeat(send, *rest)
        elif state == "running":
            said = "A request with this Idempotency-Key is still being answered. Wait and send it again"
            await send_error(send, 409, "idempotency_in_progress", said, headers=[(b"retry-after", b"2")])
        else:
            said = "This Idempotency-Key was used for another request. Use a new key for every new request"
            await send_error(send, 422, "idempotency_key_reused", said)

    async def _first(self, run: Scripts, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and keep the answer unless it is a fault of ours, which a second try may mend."""
        answer = _Answer()

        async def send_and_note(message: Message) -> None:
            answer.note(message)
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                await self._end(run, name, answer)
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except BaseException:
            await run("idempotency_end", name, "", "", "")
            raise

    async def _end(self, run: Scripts, name: str, answer: _Answer) -> None:
        if answer.status < 500:
            await run("idempotency_end", name, answer.status, answer.kind, answer.body)
        else:
            await run("idempotency_end", name, "", "", "")


def _name(key: bytes, scope: Scope) -> str:
    """Return the name under which an answer is kept: a key counts only for its own caller and path."""
    parts = (bearer(scope), scope["path"].encode(), key)
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


async def _fingerprint(scope: Scope, receive: Receive) -> tuple[str, Receive]:
    """Return what tells one request from another, and the body to read after all. Of an upload it is the length only."""
    headers = dict(scope["headers"])
    if headers.get(b"content-type", b"").lower().startswith(b"multipart/form-data"):
        return f"length {headers.get(b'content-length', b'?').decode('latin-1')}", receive
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            break
        body += message.get("body", b"")
        more = message.get("more_body", False)
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return hashlib.sha256(body).hexdigest(), again


async def _repeat(send: Send, status: str, kind: str, body: str) -> None:
    content = body.encode()
    headers = [
        (b"content-type", kind.encode("latin-1")),
        (b"content-length", str(len(content)).encode()),
        (b"idempotent-replayed", b"true"),
    ]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": content})
