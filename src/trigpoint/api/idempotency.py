"""`Idempotency-Key`: a request that creates something can be sent again without creating it twice.

The first answer is kept for a day and repeated, byte for byte. The id of a new review is reserved before it is made: if the
process dies between making it and answering, the next request with the same key finds that review instead of making another.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from contextlib import suppress
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigpoint.api.form_hash import FormHash, form_boundary
from trigpoint.api.services import services_in
from trigpoint.ending import end
from trigpoint.errors import StoreUnavailable
from trigpoint.http.bearer import bearer
from trigpoint.http.envelope import SendError, send_error
from trigpoint.ids import new_review_id
from trigpoint.jobs.scripts import Scripts

log = logging.getLogger(__name__)

HEADER = b"idempotency-key"
KEPT_SECONDS = 24 * 3600
_BUSY_SECONDS = 30  # renewed while a request is being answered, so that a crash blocks its key no longer than this
_RENEWED_SECONDS = 10.0
_USABLE = re.compile(rb"[\x21-\x7e]{1,255}")
_RESERVED = "trigpoint.reserved_id"
_UNUSABLE = "Idempotency-Key must have 1 to 255 printable ASCII characters and no blanks"
_REUSED = "This Idempotency-Key was used for another request. Use a new key for every new request"
_IN_PROGRESS = "A request with this Idempotency-Key is still being answered. Wait and send it again"
_BROKEN_OFF = "The body of the request broke off. Send it again"


def reserved_id(scope: Scope) -> str | None:
    """Return the id that was reserved for what this request creates; None without an `Idempotency-Key`."""
    reserved: str | None = scope.get(_RESERVED)
    return reserved


@dataclass
class _Answer:
    """The application's answer, held back until it is kept: what a client has seen can be repeated."""

    start: Message | None = None
    body: bytes = b""

    @property
    def status(self) -> int:
        return int(self.start["status"]) if self.start else 0

    @property
    def kind(self) -> bytes:
        headers: dict[bytes, bytes] = dict(self.start.get("headers", ())) if self.start else {}
        return headers.get(b"content-type", b"")


class Idempotency:
    """Plain ASGI middleware for every POST that carries the header.

    `refuse` sends errors in the surface's own form; `headers` are those that belong to what a request asks for.
    """

    def __init__(self, app: ASGIApp, refuse: SendError = send_error, headers: frozenset[bytes] = frozenset()) -> None:
        self.app = app
        self._refuse = refuse
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = dict(scope["headers"]).get(HEADER) if scope["type"] == "http" and scope["method"] == "POST" else None
        if key is None:
            await self.app(scope, receive, send)
            return
        if not _USABLE.fullmatch(key):
            details = {"errors": [{"field": "header.Idempotency-Key", "message": _UNUSABLE, "type": "value_error"}]}
            await self._refuse(send, 422, "validation_error", "Request validation failed", details)
            return
        run = Scripts(services_in(scope).redis)
        name = _name(key, scope)
        form, content = _form_of(scope), None
        if form is None:
            content = await _whole_body(receive)
            if content is None:  # half of a request must not take the key of the whole one, which is sent next
                await self._refuse(send, 400, "bad_request", _BROKEN_OFF)
                return
            receive = _again(content, receive)
        fingerprint = _fingerprint(scope, content, self._headers)
        try:
            state, *rest = await run(
                "idempotency_begin", name, fingerprint, new_review_id(), _BUSY_SECONDS * 1000, KEPT_SECONDS * 1000
            )
        except StoreUnavailable as error:
            await self._refuse(send, error.status, error.code, error.message, headers=[(b"retry-after", b"5")])
            return
        if state == "mine":
            await self._first(run, name, {**scope, _RESERVED: rest[0]}, receive, send, form)
        elif state == "running":
            await self._refuse(send, 409, "idempotency_in_progress", _IN_PROGRESS, headers=[(b"retry-after", b"2")])
        elif state == "done" and await _is_same_form(form, receive, rest.pop()):
            await _repeat(send, *rest)
        else:
            await self._refuse(send, 422, "idempotency_key_reused", _REUSED)

    async def _first(
        self, run: Scripts, name: str, scope: Scope, receive: Receive, send: Send, form: FormHash | None
    ) -> None:
        """Answer, and keep the answer unless it is a fault of ours, which a second try may mend."""
        answer = _Answer()

        async def send_once_kept(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer.start = message
                return
            answer.body += message.get("body", b"")
            if not message.get("more_body", False) and answer.start is not None:
                await _keep(run, name, answer, form)
                await send(answer.start)
                await send({"type": "http.response.body", "body": answer.body})

        renewing = asyncio.create_task(_renew(run, name))
        try:
            await self.app(scope, form.reading(receive) if form else receive, send_once_kept)
        except BaseException:
            with suppress(StoreUnavailable):  # its time runs out by itself
                await run("idempotency_end", name, "", "", "", "")
            raise
        finally:
            await end(renewing)


async def _keep(run: Scripts, name: str, answer: _Answer, form: FormHash | None) -> None:
    """Keep an answer. If that cannot be done, the client gets it all the same: what it tells has happened."""
    try:
        if answer.status < 500 and answer.status != 405:  # its `Allow` belongs to it, and it has done nothing
            digest = form.digest() if form else ""
            await run("idempotency_end", name, answer.status, answer.kind, answer.body, digest)
        else:
            await run("idempotency_end", name, "", "", "", "")
    except StoreUnavailable as error:
        log.warning("an answer cannot be kept for its Idempotency-Key: %s", error.message)


async def _renew(run: Scripts, name: str) -> None:
    """Keep a key busy for as long as its request is being answered."""
    while True:
        await asyncio.sleep(_RENEWED_SECONDS)
        with suppress(StoreUnavailable):  # the next one may get through
            await run("idempotency_renew", name, _BUSY_SECONDS * 1000)


def _name(key: bytes, scope: Scope) -> str:
    """Return the name under which an answer is kept: a key counts only for its own caller and path."""
    parts = (bearer(scope), scope["path"].encode(), key)
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def _form_of(scope: Scope) -> FormHash | None:
    """Return the hash of a form, to be made while it comes in; None for any other body."""
    headers = dict(scope["headers"])
    boundary = form_boundary(headers.get(b"content-type", b""))
    return None if boundary is None else FormHash(boundary, headers.get(b"content-length", b"?").decode("latin-1"))


async def _whole_body(receive: Receive) -> bytes | None:
    """Return the body, or None if the client left before it had sent all of it."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that begins with a body which has been read already."""
    sent = False

    async def receive_again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _fingerprint(scope: Scope, content: bytes | None, named: frozenset[bytes]) -> str:
    """Return what tells one request from another. The content of a form (None) is compared once it has come in."""
    headers = dict(scope["headers"])
    asked = scope["query_string"] + b"".join(
        b"\n%b: %b" % (name, headers[name]) for name in sorted(named & headers.keys())
    )
    prefix = f"{hashlib.sha256(asked).hexdigest()} " if asked else ""
    return f"{prefix}{'form' if content is None else hashlib.sha256(content).hexdigest()}"


async def _is_same_form(form: FormHash | None, receive: Receive, kept: str) -> bool:
    """Return whether a form has the content of the one that was answered."""
    if form is None:
        return True
    reading, more = form.reading(receive), True
    while more:
        message = await reading()
        more = message["type"] == "http.request" and message.get("more_body", False)
    return form.is_that_of(kept)


async def _repeat(send: Send, status: str, kind: str, body: str) -> None:
    content = body.encode()
    headers = [
        (b"content-type", kind.encode("latin-1")),
        (b"content-length", str(len(content)).encode()),
        (b"idempotent-replayed", b"true"),
    ]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": content})
