"""The embedded Chroma as its keeper sees it: `chroma run` on a local port, in a process of its own.

No code of Chroma runs in a process that serves requests: it may block for ever, with whatever locks it holds, and all
that happens is that it is killed and started again. `server.json` tells its port and process. A client whose call got
no answer in time leaves a complaint that names the process.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

from trigpoint.storage.damage import require_whole
from trigpoint.storage.keeper import is_held

DATABASE = "chroma.sqlite3"
_ADDRESS, _COMPLAINT = "server.json", "complaint"
_PATIENCE_SECONDS = 3.0
_PROBE_SECONDS = 1.0
_MAIN = "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(sys.argv[1:])"  # its Python half is not needed


class Server:
    name = "Chroma"
    own_lock = "owner.lock"  # the file that released versions lock too, so that old and new never share a folder

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._port = 0
        self._next_probe = 0.0

    def command(self) -> list[str]:
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            self._port = sock.getsockname()[1]
        (self.folder / _ADDRESS).unlink(missing_ok=True)
        (self.folder / _COMPLAINT).unlink(missing_ok=True)
        os.environ["RUST_LOG"] = "warn"  # else it logs every request
        where = ["--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self._port)]
        return [sys.executable, "-c", _MAIN, "chroma", "run", *where]

    def started(self, pid: int) -> None:
        _publish(self.folder / _ADDRESS, json.dumps({"port": self._port, "pid": pid}))
        self._next_probe = time.monotonic() + 2 * _PATIENCE_SECONDS  # opening a large folder takes a moment

    def address(self) -> tuple[int, int] | None:
        """Return port and process id; None if there is no server now."""
        try:
            said = json.loads((self.folder / _ADDRESS).read_text())
            return int(said["port"]), int(said["pid"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def process(self) -> int | None:
        known = self.address()
        return known[1] if known else None

    def answers(self) -> bool:
        known = self.address()
        return known is not None and is_held(self.folder, self.own_lock) and _heartbeat(known[0])

    def hangs(self) -> bool:
        """Return whether somebody complained about this very process, or a heartbeat is not answered in time."""
        if self._complained_of() == self.process():
            return True
        if time.monotonic() < self._next_probe:
            return False
        self._next_probe = time.monotonic() + _PROBE_SECONDS
        return not self.answers()

    def complain(self, pid: int) -> None:
        """Ask the keeper to replace the server, if it is still the process of this id."""
        _publish(self.folder / _COMPLAINT, str(pid))

    def shut_down(self) -> None:
        pid = self.process()
        if pid is not None and is_held(self.folder, self.own_lock):
            os.kill(pid, signal.SIGTERM)

    def check_files(self) -> None:
        require_whole(self.folder / DATABASE, f"The vector store {self.folder}")

    def complaint_since(self, moment: float) -> str | None:
        """Return None: its files were looked at before it was started."""
        return None

    def _complained_of(self) -> int:
        try:
            return int((self.folder / _COMPLAINT).read_text())
        except (OSError, ValueError):
            return 0


def _publish(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text)
    part.replace(path)


def _heartbeat(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), _PATIENCE_SECONDS) as sock:
            sock.settimeout(_PATIENCE_SECONDS)
            sock.sendall(b"GET /api/v2/heartbeat HTTP/1.0\r\nHost: localhost\r\n\r\n")
            return b" 200 " in sock.recv(256).partition(b"\r\n")[0]
    except OSError:
        return False
