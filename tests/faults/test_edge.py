"""Hostile clients against the whole product: whoever asks for health is answered within a second throughout."""

from __future__ import annotations

import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from trigpoint_process import Running, environment

pytestmark = pytest.mark.slow

HALF_OPEN = 2_000
LORIS = 200
ATTACK_SECONDS = 20.0
GoesOn = Callable[[float], None]


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))  # what a server gets by default, for 2,000 connections
    try:
        with Running("up", env=environment(tmp_path_factory.mktemp("edge") / "data")) as running:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))  # the attacker has more
            yield running
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Asking:
    """Asks for health all the time; `slowest` is the longest that an answer took, in seconds."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/api/v1/health"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self.times: list[float] = []
        self.failed: list[str] = []

    def __enter__(self) -> Asking:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(30)

    @property
    def slowest(self) -> float:
        return max(self.times)

    def _ask(self) -> None:
        while not self._stop.wait(0.1):
            began = time.monotonic()
            try:
                with httpx.Client(trust_env=False, timeout=10) as client:  # a new connection each time
                    assert client.get(self._url).status_code == 200
            except (httpx.HTTPError, AssertionError) as error:
                self.failed.append(repr(error))
            self.times.append(time.monotonic() - began)


def connect(up: Running, opened: ExitStack) -> socket.socket:
    return opened.enter_context(socket.create_connection(("127.0.0.1", up.port()), timeout=5))


def send(sock: socket.socket, data: bytes) -> bool:
    """Whether the server still listens to this connection."""
    try:
        sock.sendall(data)
    except OSError:
        return False
    return True


def report(asked: Asking, goes_on: GoesOn) -> None:
    assert not asked.failed, asked.failed[:3]
    goes_on(asked.slowest)
    assert len(asked.times) > 5
    assert asked.slowest < 1.0, sorted(asked.times)[-5:]


@pytest.mark.fault(
    "file descriptors: 2,000 half-open connections against a limit of 1,024",
    phase="any",
    seen="nothing: health is answered within a second; the oldest silent connections are closed",
)
def test_two_thousand_half_open_connections_keep_nobody_out(up: Running, goes_on: GoesOn) -> None:
    with Asking(up.url()) as asked, ExitStack() as opened:
        for number in range(HALF_OPEN):
            sock = connect(up, opened)
            if number % 2:
                send(sock, b"GET / HTTP/1.1\r\n")
        time.sleep(5)
    report(asked, goes_on)


@pytest.mark.fault(
    "patience: headers that trickle in byte by byte (slow-loris)",
    phase="any",
    seen="nothing: health is answered within a second; the connection gets 408 after 15 s",
)
def test_headers_that_trickle_in_keep_nobody_out(up: Running, goes_on: GoesOn) -> None:
    with Asking(up.url()) as asked, ExitStack() as opened:
        dripping = [connect(up, opened) for _ in range(LORIS)]
        for sock in dripping:
            send(sock, b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        deadline = time.monotonic() + ATTACK_SECONDS
        while time.monotonic() < deadline:
            dripping = [sock for sock in dripping if send(sock, b"a")]
            time.sleep(0.2)
        assert not dripping
    report(asked, goes_on)


@pytest.mark.fault(
    "bandwidth: headers without end", phase="any", seen="nothing: health is answered within a second; 431 after 64 kB"
)
def test_headers_without_end_are_cut_off_and_cost_no_memory(up: Running, goes_on: GoesOn) -> None:
    before, sent = _resident_mb(up.process.pid), 0
    with Asking(up.url()) as asked, ExitStack() as opened:
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            sock = connect(up, opened)
            send(sock, b"GET / HTTP/1.1\r\nHost: x\r\n")
            while time.monotonic() < deadline and send(sock, b"X-Endless: " + b"a" * 8192 + b"\r\n"):
                sent += 8192
            opened.close()
    report(asked, goes_on)
    assert sent > 64 * 1024
    assert _resident_mb(up.process.pid) - before < 100


def _resident_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6
