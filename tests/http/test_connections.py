"""What a connection may cost before anybody knows who is calling: raw sockets against a running server."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from serving_api import serving
from trigpoint.http import connections


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the number of bytes it got."""
    if scope["type"] == "lifespan":
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": f"{message['type']}.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    body = str(size).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.5)
    monkeypatch.setattr(connections, "BODY_SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(connections, "WAITING_PER_ADDRESS", 20)
    monkeypatch.setattr(connections, "REQUESTS_PER_ADDRESS", 8)
    with serving(echo) as address:
        yield int(address.rpartition(":")[2])


def connect(port: int, sent: bytes = b"") -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", port), timeout=10)
    sock.sendall(sent)
    return sock


def answer_to(port: int, sent: bytes) -> tuple[int, dict[str, Any] | bytes]:
    """The status and body of whatever comes back before the server closes; status 0 if nothing does."""
    with connect(port) as sock:
        received = b""
        try:
            sock.sendall(sent)
            while part := sock.recv(65536):
                received += part
        except OSError:
            received = received or b""
    head, _, body = received.partition(b"\r\n\r\n")
    if not head:
        return 0, b""
    return int(head.split()[1]), json.loads(body) if b"application/json" in head else body


def test_an_endless_header_is_refused_while_it_comes(port: int) -> None:
    with connect(port, b"GET / HTTP/1.1\r\nHost: x\r\n") as sock:
        sent = 0
        try:
            while sent < 50_000_000:
                sock.sendall(b"X-Long: " + b"a" * 8000 + b"\r\n")
                sent += 8010
        except OSError:
            assert sent < 5_000_000
        else:
            raise AssertionError("50 MB of headers were taken")


@pytest.mark.parametrize("one_header", [True, False])
def test_headers_beyond_the_limit_get_a_431_in_the_envelope(port: int, one_header: bool) -> None:
    many = [b"A: " + b"x" * 70_000] if one_header else [b"A%d: " % n + b"x" * 700 for n in range(100)]
    status, body = answer_to(port, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"\r\n".join(many) + b"\r\n\r\n")
    assert status == 431
    assert isinstance(body, dict)
    assert body["error"]["code"] == "headers_too_large"


def test_a_head_that_never_ends_is_timed_out_however_often_it_sends_a_byte(port: int) -> None:
    started = time.monotonic()
    with connect(port, b"GET / HTTP/1.1\r\nHost: x\r\nX: ") as sock:
        sock.settimeout(0.1)
        received = b""
        while time.monotonic() - started < 8 and not received:
            try:
                sock.sendall(b"a")
                received = sock.recv(65536)
            except TimeoutError:
                continue
            except OSError:
                break
    assert b"408" in received
    assert time.monotonic() - started < 6


def ended(sock: socket.socket) -> bool:
    """Whether the server closes or resets this connection within five seconds."""
    sock.settimeout(5)
    try:
        while sock.recv(65536):
            continue
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


def test_a_connection_that_says_nothing_is_closed(port: int) -> None:
    with connect(port) as sock:
        assert ended(sock)


def test_a_blank_line_between_requests_does_not_keep_a_connection_for_ever(port: int) -> None:
    with connect(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as sock:
        assert b"200" in sock.recv(65536)
        sock.sendall(b"\r\n")
        assert ended(sock)


def test_a_body_that_stops_arriving_is_timed_out(port: int) -> None:
    status, body = answer_to(port, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc")
    assert status == 408
    assert isinstance(body, dict)
    assert body["error"]["code"] == "request_timeout"


def test_a_slow_body_that_keeps_arriving_is_taken(port: int) -> None:
    with connect(port, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\nConnection: close\r\n\r\n") as sock:
        for _ in range(8):
            time.sleep(0.2)
            sock.sendall(b"a")
        assert b"".join(iter(lambda: sock.recv(65536), b"")).endswith(b"\r\n\r\n8")


@pytest.mark.parametrize(
    "line",
    [
        b"GET * HTTP/1.1",
        b"OPTIONS * HTTP/1.1",
        b"CONNECT x:1 HTTP/1.1",
        b"nonsense",
        b"GET / HTTP/9.9",
        b"\x16\x03\x01",
    ],
)
def test_a_request_line_that_is_none_is_a_400_and_never_a_500(port: int, line: bytes) -> None:
    status, body = answer_to(port, line + b"\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert status == 400
    assert isinstance(body, dict)
    assert body["error"]["code"] == "bad_request"


def test_half_open_connections_make_room_for_the_request_behind_them(port: int) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(connect(port, b"GET / HT")) for _ in range(200)]
        assert httpx.get(f"http://127.0.0.1:{port}/", trust_env=False, timeout=5).text == "0"
        assert ended(held[0])


def test_one_address_cannot_have_more_requests_under_way_than_the_limit(port: int) -> None:
    unfinished = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n"
    with ExitStack() as stack:
        held = [stack.enter_context(connect(port, unfinished)) for _ in range(8)]
        time.sleep(0.1)
        assert answer_to(port, unfinished)[0] == 503
        for sock in held:
            sock.sendall(b"x" * 10)
            assert b"200" in sock.recv(65536)
    assert httpx.get(f"http://127.0.0.1:{port}/", trust_env=False, timeout=5).status_code == 200


def test_a_kept_connection_can_be_used_many_times(port: int) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        assert [client.post("/", content=b"x" * n).text for n in range(100)] == [str(n) for n in range(100)]


def test_pipelined_requests_are_all_answered(port: int) -> None:
    one = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with connect(port, one * 5 + last) as sock:
        received = b""
        while part := sock.recv(65536):
            received += part
    assert received.count(b"HTTP/1.1 200 OK") == 6


async def hasty(scope: Any, receive: Any, send: Any) -> None:
    """Answers before it has read the body, as a refusal for want of a key does."""
    if scope["type"] == "lifespan":
        await echo(scope, receive, send)
        return
    await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"no"})


@pytest.mark.parametrize("size", [100_000, 10_000_000])
def test_a_refusal_reaches_a_client_that_is_still_sending_its_body(size: int) -> None:
    """The rest of the body is no head: it must not be refused as one, and the connection can be used again."""
    with serving(hasty) as address:
        client = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
        for _ in range(2):
            client.request("POST", "/", body=b"x" * size)
            answer = client.getresponse()
            assert (answer.status, answer.read()) == (401, b"no")
        client.close()


def test_an_upgrade_is_answered_as_any_request_and_counts_no_longer_than_it_lasts(port: int) -> None:
    """A connection that another protocol takes over would be counted for ever, until its address is locked out."""
    upgrade = (
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    for _ in range(20):
        with connect(port, upgrade) as sock:
            assert sock.recv(65536).startswith(b"HTTP/1.1 200")
    assert httpx.get(f"http://127.0.0.1:{port}/", trust_env=False, timeout=5).status_code == 200
    deadline = time.monotonic() + 5
    while connections.CROWD._busy_at and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not connections.CROWD._busy_at


def test_nonsense_behind_a_request_under_way_never_answers_that_request(port: int) -> None:
    """Behind a proxy, an answer out of order would reach somebody else."""
    waiting = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
    with connect(port, waiting + b"nonsense\r\n\r\n") as sock:
        received = b""
        try:
            while part := sock.recv(65536):
                received += part
        except ConnectionResetError:
            pass
    assert received.startswith(b"HTTP/1.1 200")
    assert received.endswith(b"\r\n\r\n3")


CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"


@pytest.mark.parametrize(
    ("begun", "more"),
    [(b"0\r\nX: ", b"a" * 8000), (b"0\r\n", b"X: y\r\n" * 1500), (b"2;", b"a" * 8000)],
    ids=["one trailer", "many trailers", "an extension"],
)
def test_what_accompanies_a_body_is_limited_as_its_headers_are(port: int, begun: bytes, more: bytes) -> None:
    with connect(port, CHUNKED + begun) as sock:
        sent = 0
        try:
            while sent < 50_000_000:
                sock.sendall(more)
                sent += len(more)
        except OSError:
            assert sent < 5_000_000
        else:
            raise AssertionError("50 MB were taken that belong to no body")


def test_trailers_change_nothing_that_was_said_before_the_body() -> None:
    async def tell(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await echo(scope, receive, send)
            return
        while (await receive()).get("more_body", False):
            continue
        body = b" ".join(name for name, _ in scope["headers"])
        headers = [(b"content-length", b"%d" % len(body)), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    with serving(tell) as address:
        sent = CHUNKED + b"0\r\nAuthorization: Bearer late\r\n\r\n"
        assert answer_to(int(address.rpartition(":")[2]), sent) == (200, b"host transfer-encoding")


def test_a_body_in_chunks_of_a_byte_keeps_nobody_waiting(port: int) -> None:
    with connect(port, CHUNKED) as sock:
        sender = threading.Thread(target=sock.sendall, args=(b"1\r\na\r\n" * 1_000_000 + b"0\r\n\r\n",))
        sender.start()
        time.sleep(0.3)
        started = time.monotonic()
        assert httpx.get(f"http://127.0.0.1:{port}/", timeout=10).status_code == 200
        assert time.monotonic() - started < 2
        sender.join()
        assert sock.recv(65536).endswith(b"1000001")


def test_a_broken_body_behind_a_request_under_way_never_answers_that_request() -> None:
    async def late(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await echo(scope, receive, send)
            return
        await asyncio.sleep(0.3)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    with serving(late) as address:
        sent = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + CHUNKED + b"zz\r\n"
        assert answer_to(int(address.rpartition(":")[2]), sent)[0] != 400
