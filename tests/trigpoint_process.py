"""Trigpoint as a user runs it: a process of its own on a data folder, with ports that are free."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

PORTS = ("API", "CHERWELL_SCRAPER", "DOCUMENT_STORE", "POLICY_KB", "LIBRARY", "GRAPH", "REVIEWER")
START_SECONDS = 240.0


SMALL = "25/01502/F"  # the sample application with the fewest documents


def free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(sock.getsockname()[1]) for sock in held]
    for sock in held:
        sock.close()
    return ports


def environment(data_dir: Path, **more: str) -> dict[str, str]:
    """A user's environment: nothing set but the folder, and ports beside those of others."""
    ports = dict(zip((f"{name}_PORT" for name in PORTS), map(str, free_ports(len(PORTS))), strict=True))
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TRIGPOINT_", "MCP_", "API_"))}
    return kept | ports | {"TRIGPOINT_DATA_DIR": str(data_dir), "COLUMNS": "120"} | more


def trigpoint(*args: str, env: dict[str, str], timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """A command that ends."""
    return subprocess.run(
        [sys.executable, "-m", "trigpoint.cli.main", *args], env=env, capture_output=True, text=True, timeout=timeout
    )


class Running:
    """`with Running("up", env=environment(folder)) as up:` returns once all of it answers, and stops it at the end."""

    def __init__(self, *args: str, env: dict[str, str], wait_for: tuple[str, ...] = PORTS, says: str = "") -> None:
        self.env = env
        self._args = args
        self._wait_for = wait_for
        self._says = says or ("Trigpoint is up" if args[:1] == ("up",) else "")
        self._log = Path(env["TRIGPOINT_DATA_DIR"]).parent / f"{'-'.join(args)}-{time.monotonic_ns()}.log"

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            command = [sys.executable, "-m", "trigpoint.cli.main", *self._args]
            self.process = subprocess.Popen(command, env=self.env, stdout=log, stderr=log, start_new_session=True)
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    @property
    def output(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def port(self, name: str = "API") -> int:
        return int(self.env[f"{name}_PORT"])

    def url(self, name: str = "API") -> str:
        return f"http://127.0.0.1:{self.port(name)}"

    def get(self, path: str, **kwargs: Any) -> httpx.Response:
        return httpx.get(self.url() + path, timeout=30, **kwargs)

    def stop(self, signum: int = signal.SIGINT) -> int:
        """The exit code. A process that does not end by itself is killed, and the caller sees -9."""
        if self.process.poll() is None:
            self.process.send_signal(signum)
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait(10)

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not all(map(self._answers, self._wait_for)) or self._says not in self.output:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"{' '.join(self._args)} is not up:\n{self.output}")
            time.sleep(0.1)

    def _answers(self, name: str) -> bool:
        try:
            return httpx.get(f"{self.url(name)}/health", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False


def kill_and_wait(pid: int) -> None:
    """Kill a process at once, whoever started it, and return when it is dead."""
    process = os.pidfd_open(pid)
    try:
        os.kill(pid, signal.SIGKILL)
        assert select.select([process], [], [], 10)[0], f"process {pid} is still there"
    finally:
        os.close(process)


def submitted(api: Running, reference: str, **headers: str) -> str:
    answer = httpx.post(f"{api.url()}/api/v1/reviews", json={"application_ref": reference}, headers=headers, timeout=30)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["review_id"])


def finished(api: Running, review_id: str, seconds: float = 180) -> dict[str, Any]:
    """The review once it has ended, one way or another."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        review: dict[str, Any] = api.get(f"/api/v1/reviews/{review_id}").json()
        if review.get("status") in ("completed", "failed", "cancelled"):  # none while a store is being restarted
            return review
        time.sleep(0.3)
    raise AssertionError(f"{review_id} did not end within {seconds} s: {review}")
