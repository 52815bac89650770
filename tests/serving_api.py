"""A running API: uvicorn in a thread, on a real Redis, and a client for it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn

from trigpoint.api.app import create_app
from trigpoint.config import Settings
from trigpoint.http.connections import GuardedProtocol

KEY, OTHER_KEY = "sk-cycle-dev-key-1", "sk-cycle-dev-key-2"


@contextmanager
def serving(app: Any, port: int = 0) -> Iterator[str]:
    """A uvicorn server in a thread; yields its address."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", port))
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=2,
            http=GuardedProtocol,
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the server did not start")
            threading.Event().wait(0.01)
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        sock.close()


@contextmanager
def running_api(settings: Settings, *, key: str | None = None) -> Iterator[httpx.Client]:
    with serving(create_app(settings)) as address:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        with httpx.Client(base_url=address, headers=headers, timeout=20, trust_env=False) as client:
            yield client
