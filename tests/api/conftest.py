"""A running API on a real Redis, and what tests put into it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from trigpoint.api.app import create_app
from trigpoint.config import Settings, load_settings

KEY, OTHER_KEY = "sk-cycle-dev-key-1", "sk-cycle-dev-key-2"


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """A uvicorn server in a thread; yields its address."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="on"))
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


@pytest.fixture
def api_settings(clean_redis_url: str, tmp_path: Path) -> Callable[..., Settings]:
    def make(**overrides: Any) -> Settings:
        return load_settings(redis_url=clean_redis_url, trigpoint_data_dir=tmp_path / "data", **overrides)

    return make


@pytest.fixture
def api(api_settings: Callable[..., Settings]) -> Iterator[httpx.Client]:
    """Auth off."""
    with running_api(api_settings()) as client:
        yield client


@pytest.fixture
def keyed_api(api_settings: Callable[..., Settings]) -> Iterator[httpx.Client]:
    """Auth on, two keys; the client sends the first."""
    with running_api(api_settings(api_keys=(KEY, OTHER_KEY)), key=KEY) as client:
        yield client


def run(coroutine: Any) -> Any:
    """An answer of async code in a test that is not async."""
    return asyncio.run(coroutine)
