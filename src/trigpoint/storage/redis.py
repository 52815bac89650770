"""Redis: the server at `REDIS_URL`, or the Valkey out of a wheel on a socket in the data folder.

The embedded server is shared by all processes of one data folder: the first to come has it started, it stops
when the last has left, and a process that was killed counts as gone (see valkey.py). Its append-only file is on.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

from trigpoint.config import Settings
from trigpoint.errors import StoreUnavailable
from trigpoint.storage import valkey
from trigpoint.storage.files import data_folder

LONGEST_SECONDS = 5.0  # a Redis that says nothing for so long is reported as away (E11)
_LONGEST_SOCKET_PATH = 100  # the kernel's limit is 107 bytes
_START_SECONDS = 20.0
SOCKET = "valkey.sock"


@contextmanager
def redis_server(settings: Settings) -> Iterator[str]:
    """The URL of the server to use. While the context is open, an embedded server stays up."""
    if settings.redis_url is not None:
        yield settings.redis_url
        return
    folder = data_folder(settings, "redis", mode=0o700)
    path = socket_path(folder, SOCKET)
    with valkey.open_lock(folder, valkey.MEMBERS) as members:
        _join(folder, path, members.fileno())
        yield f"unix://{path}?db=0"


def redis_client(url: str, *, decode: bool = True) -> Redis:
    """A client with time-outs (E11). It tries again when a connection was lost, not when no answer came in time:

    a server that hangs would make each try as long as the last, and the command may have been done.
    """
    return Redis.from_url(
        url,
        decode_responses=decode,
        socket_connect_timeout=5,
        socket_timeout=15,
        health_check_interval=30,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.02), 4, supported_errors=(RedisConnectionError,)),
    )


def describe(client: Redis) -> str:
    """Return what this client talks to, as a message can name it. No password is shown."""
    given = client.connection_pool.connection_kwargs
    path = given.get("path")
    if path is not None and Path(path).name == SOCKET:
        return f"The embedded Valkey in {Path(path).parent}"
    return f"Redis at {path or '{}:{}'.format(given.get('host'), given.get('port'))} (REDIS_URL)"


def _join(folder: Path, socket_path: Path, members: int) -> None:
    """Become a member, and see that a keeper and its server are there. One process at a time."""
    with valkey.open_lock(folder, valkey.STARTING) as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        fcntl.flock(members, fcntl.LOCK_SH)  # waits while a keeper that found nobody is shutting down
        if not _keeper_lives(folder):
            _launch_keeper(folder, socket_path)
        deadline = time.monotonic() + _START_SECONDS
        while not valkey.answers(socket_path):
            if time.monotonic() > deadline:
                raise StoreUnavailable(
                    f"The embedded Valkey in {folder} did not answer within {_START_SECONDS:.0f} s. "
                    f"See {folder / 'valkey.log'}, or set REDIS_URL to a server"
                )
            time.sleep(0.01)


def _keeper_lives(folder: Path) -> bool:
    with valkey.open_lock(folder, valkey.KEEPER) as keeper:
        try:
            fcntl.flock(keeper, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _launch_keeper(folder: Path, socket_path: Path) -> None:
    subprocess.Popen(
        [sys.executable, "-m", "trigpoint.storage.valkey", str(folder), str(socket_path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for us, not for it
    )


def socket_path(folder: Path, name: str) -> Path:
    """In that folder; in a private temporary folder where the path is too long for a socket."""
    path = folder.absolute() / name
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return path
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    private = Path(tempfile.gettempdir()) / f"trigpoint-{os.getuid()}"
    private.mkdir(mode=0o700, exist_ok=True)
    if private.stat().st_uid != os.getuid():
        raise StoreUnavailable(f"{private} belongs to another user. Choose a shorter TRIGPOINT_DATA_DIR")
    return private / f"{digest}.sock"
