"""Servers in processes of their own, so that server and client do not share an interpreter."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_SERVER = """
import sys, uvicorn
from importlib import import_module
from trigpoint.config import load_settings
module, factory = sys.argv[1].split(":")
app = getattr(import_module(module), factory)(load_settings())
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning", access_log=False)
"""


@contextmanager
def serving(factory: str, environment: Mapping[str, str]) -> Iterator[int]:
    """Serve the application that `module:factory` makes from settings of this environment. Yields its port."""
    port = _free_port()
    with _running([sys.executable, "-c", _SERVER, factory, str(port)], environment, port):
        yield port


@contextmanager
def document_store(environment: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Run `trigpoint serve document-store` in this environment. Yields its address and its process id."""
    port = _free_port()
    command = [sys.executable, "-m", "trigpoint.cli.main", "serve", "document-store"]
    with _running(command, {"LOG_LEVEL": "ERROR", **environment, "DOCUMENT_STORE_PORT": str(port)}, port) as pid:
        yield f"http://127.0.0.1:{port}", pid


@contextmanager
def _running(command: list[str], environment: Mapping[str, str], port: int) -> Iterator[int]:
    process = subprocess.Popen(command, env=os.environ | dict(environment))
    try:
        deadline = time.monotonic() + 60
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"this did not start: {shlex.join(command)}")
            time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait(30)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0
