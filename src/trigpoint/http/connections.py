"""Limits on a connection before the caller is known: size and time of a request's head, silence within its
body, and how many connections one address may hold.

`GuardedProtocol` is uvicorn's own HTTP protocol with these limits. It overrides parts of uvicorn that are not documented, so
`pyproject.toml` pins uvicorn to the versions it was tested with.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from trigpoint.http.envelope import envelope
from trigpoint.ids import new_request_id

log = logging.getLogger(__name__)

HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 15.0
BODY_SILENCE_SECONDS = 30.0
WAITING_PER_ADDRESS = 128
WAITING_IN_ALL = 1024
REQUESTS_PER_ADDRESS = 512


class Crowd:
    """The connections of this process. Those without a complete request wait; if too many do, the oldest has to go.

    A flood of half-open connections thus makes room for the request behind it, whatever address it comes from.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[GuardedProtocol, str] = OrderedDict()
        self._waiting_at: Counter[str] = Counter()
        self._busy_at: Counter[str] = Counter()

    def wait(self, connection: GuardedProtocol, address: str) -> None:
        """Count a connection that has not sent a complete request yet."""
        self._waiting[connection] = address
        self._waiting_at[address] += 1
        if self._waiting_at[address] > WAITING_PER_ADDRESS:
            next(other for other, at in self._waiting.items() if at == address).abort()
        elif len(self._waiting) > WAITING_IN_ALL:
            next(iter(self._waiting)).abort()

    def begin(self, connection: GuardedProtocol, address: str) -> bool:
        """Count a request that has arrived. False: its address has too many under way."""
        self._stop_waiting(connection)
        self._busy_at[address] += 1
        return self._busy_at[address] <= REQUESTS_PER_ADDRESS

    def end(self, address: str) -> None:
        self._busy_at[address] -= 1
        if not self._busy_at[address]:
            del self._busy_at[address]

    def leave(self, connection: GuardedProtocol) -> None:
        self._stop_waiting(connection)

    def _stop_waiting(self, connection: GuardedProtocol) -> None:
        address = self._waiting.pop(connection, None)
        if address is None:
            return
        self._waiting_at[address] -= 1
        if not self._waiting_at[address]:
            del self._waiting_at[address]


CROWD = Crowd()


class GuardedProtocol(HttpToolsProtocol):
    """One connection. A head that is too large or too slow and a body that stops arriving end it with an error."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._address = "unknown"
        self._head_bytes = 0
        self._in_head = True
        self._pieces: list[bytes] = []
        self._bytes_between = 0
        self._busy = False
        self._refused = False
        self._timer: asyncio.TimerHandle | None = None

    # --- the connection

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._address = self.client[0] if self.client else "local"
        self._time(HEAD_SECONDS, self._slow_head)
        CROWD.wait(self, self._address)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        CROWD.leave(self)
        if self._busy:
            self._busy = False
            CROWD.end(self._address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        if self._in_head:
            if not self._head_bytes:
                self._time(HEAD_SECONDS, self._slow_head)
            self._head_bytes += len(data)
        self._bytes_between += len(data)
        super().data_received(data)
        if self._pieces:
            self._hand_on_body()
        if (self._head_bytes if self._in_head else self._bytes_between) > HEAD_BYTES:
            self._refuse_head()

    def abort(self) -> None:
        """Close without a word: the other end has not asked for anything."""
        self._refused = True
        CROWD.leave(self)
        self.transport.abort()

    # --- the parser's callbacks

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header. Trailers, which follow the body, are dropped: a request must not change once it has been let in."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > HEAD_BYTES:
            self._refuse_head()
        elif not self.url.startswith((b"/", b"http://", b"https://")):
            self._refuse(400, "bad_request", "The request must name a path that begins with /")
        elif not self._busy and not CROWD.begin(self, self._address):
            self._busy = True
            self._refuse(
                503, "too_many_connections", "Too many requests from this address are in progress. Try again later"
            )
        else:
            self._busy, self._in_head, self._bytes_between = True, False, 0
            self._time(BODY_SILENCE_SECONDS, self._silent_body)
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            self._pieces.append(body)

    def _hand_on_body(self) -> None:
        """Pass on what arrived together as one: chunks of a byte each would be copied, and timed, one by one."""
        body, self._pieces, self._bytes_between = b"".join(self._pieces), [], 0
        if not self._refused:
            self._time(BODY_SILENCE_SECONDS, self._silent_body)
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._refused:
            if self._pieces:
                self._hand_on_body()
            self._stop_timer()
            self._in_head, self._head_bytes = True, 0
            super().on_message_complete()

    def on_response_complete(self) -> None:
        if self._busy and not self.pipeline:
            self._busy = False
            CROWD.end(self._address)
            if not self.transport.is_closing():
                CROWD.wait(self, self._address)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "bad_request", "This is not an HTTP request that we can read")

    def _should_upgrade_to_ws(self) -> bool:
        """Return that no connection becomes another protocol's, which would know nothing of these limits."""
        return False

    def _unsupported_upgrade_warning(self) -> None:
        """Answer a request for another protocol as any other, as its last: what follows may be of that protocol."""
        if not self._refused:
            self.cycle.keep_alive = False

    # --- limits

    def _time(self, seconds: float, then: Any) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, then)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _slow_head(self) -> None:
        if self._head_bytes:
            self._refuse(408, "request_timeout", f"The request's headers took longer than {HEAD_SECONDS:g} s")
        else:
            self.abort()

    def _silent_body(self) -> None:
        if self.flow.read_paused:  # we are the slow ones
            self._time(BODY_SILENCE_SECONDS, self._silent_body)
        else:
            self._refuse(408, "request_timeout", f"Nothing of the body arrived for {BODY_SILENCE_SECONDS:g} s")

    def _refuse_head(self) -> None:
        self._refuse(431, "headers_too_large", f"The request's headers are larger than {HEAD_BYTES // 1024} kB")

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Answer in the envelope, and close. Nothing further of this connection is read.

        While a request is being answered, nothing is said, or the refusal would be taken for its answer or a part of it.
        """
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        self._stop_timer()
        log.warning("refused a connection from %s: %s", self._address, message)
        if self._in_head and self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
            return
        if not self._in_head and (self.cycle.response_started or self.pipeline):
            self.transport.close()
            return
        body = envelope(code, message)
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nx-request-id: {new_request_id()}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()
