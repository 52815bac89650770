"""An application under uvicorn, in a process of its own, so that server and client do not share an interpreter."""

from __future__ import annotations

import os
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
    """The port of `module:factory`, called with settings of this environment."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = int(sock.getsockname()[1])
    process = subprocess.Popen([sys.executable, "-c", _SERVER, factory, str(port)], env=os.environ | dict(environment))
    try:
        deadline = time.monotonic() + 60
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{factory} did not start")
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def _answers(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0
