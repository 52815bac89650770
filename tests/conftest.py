"""Fixtures for every test: settings on an empty data folder, a real Redis, free ports, the real data if it is there."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import uvicorn

from trigpoint.config import Settings, load_settings
from trigpoint.storage.redis import redis_server

pytest_plugins = ["fault_rows"]

SHARED_DATA = Path(os.environ.get("TRIGPOINT_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell started us in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("trigpoint", deadline=None)  # a busy machine is not a failure
hypothesis.settings.load_profile("trigpoint")

for _name in Settings.model_fields:  # a developer's own settings must not reach the tests
    os.environ.pop(_name.upper(), None)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings on a data folder of this test's own, embedded stores, auth off."""
    return load_settings(trigpoint_data_dir=tmp_path / "data")


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Valkey for this test process. Tests that need it empty use `clean_redis_url`."""
    with redis_server(load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("redis"))) as url:
        yield url


@pytest.fixture
def clean_redis_url(redis_url: str) -> str:
    import redis

    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    return redis_url


@pytest.fixture
def free_port() -> Callable[[], int]:
    """A port that nobody listens on at this moment."""

    def pick() -> int:
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            return int(sock.getsockname()[1])

    return pick


@pytest.fixture
def serve() -> Callable[[Any], AbstractAsyncContextManager[str]]:
    """`async with serve(app) as url:` runs an ASGI app on a free port of this machine, in this process."""

    @asynccontextmanager
    async def run(app: Any) -> AsyncIterator[str]:
        config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        while not server.started:
            if task.done():
                task.result()
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            await task

    return run


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data; the test is skipped where it is not at hand."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no real data at {SHARED_DATA} (set TRIGPOINT_TEST_DATA)")
    return SHARED_DATA


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB, if this machine lets us mount one."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(place)]
    if sys.platform != "linux" or shutil.which("mount") is None or subprocess.run(command, check=False).returncode:
        pytest.skip("mounting a small file system is not possible here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
