"""The keeper of an embedded server: a small process that starts it, watches it, and stops it after its last user.

Everyone who uses the server holds a shared lock on `members.lock`; the kernel drops it however they end. When the
keeper gets that lock alone, nobody is left. `keeper.lock` says that a keeper lives. The server itself holds a lock of
its own for as long as it lives, so that there is never a second one on a folder, not even if the keeper was killed.

Run as `python -m trigpoint.storage.keeper MODULE FOLDER`; the module is `valkey` or `chroma_server`.
"""

from __future__ import annotations

import fcntl
import importlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from trigpoint.errors import StoreDamaged, StoreInUse, StoreUnavailable

log = logging.getLogger(__name__)

MEMBERS, KEEPER, STARTING = "members.lock", "keeper.lock", "starting.lock"
_LOOK_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0
_HEALTHY_SECONDS = 30.0  # a server that lived so long is restarted without delay
_START_SECONDS = 20.0
_GRACE_SECONDS = 10.0
_WATCH_SECONDS = 1.0
_QUIET_SECONDS = 1.0  # after this much silence, a server that does not run is asked why it did not start


class Server(Protocol):
    """An embedded server and its folder, as the keeper sees them. Each kind is the class `Server` of its module."""

    name: str
    folder: Path
    own_lock: str  # the file that the server holds locked while it lives

    def command(self) -> list[str]: ...

    def started(self, pid: int) -> None: ...

    def process(self) -> int | None:
        """Return the process id of the running server; None if it is not known."""
        ...

    def answers(self) -> bool: ...

    def hangs(self) -> bool:
        """Return whether the running server has to be replaced."""
        ...

    def shut_down(self) -> None: ...

    def check_files(self) -> None:
        """Raise StoreDamaged if its files are known to be damaged before it starts. Cheap."""
        ...

    def complaint_since(self, moment: float) -> str | None:
        """Return what kept it from starting since that time, with the way out; None if it did not say."""
        ...


def open_lock(folder: Path, name: str) -> IO[bytes]:
    return open(folder / name, "ab")


def is_held(folder: Path, name: str) -> bool:
    with open_lock(folder, name) as lock:
        return not _try(lock)


def wait_until_gone(folder: Path) -> None:
    """Wait until the keeper of this folder has stopped its server."""
    with open_lock(folder, KEEPER) as keeper:
        fcntl.flock(keeper, fcntl.LOCK_EX)


@contextmanager
def joined(server: Server, *, insist: bool = True) -> Iterator[None]:
    """Use the server: started if need be, and kept for as long as anybody is inside this context.

    Raises StoreUnavailable if it does not start; unless `insist`, that is logged, and its keeper goes on trying.
    """
    with open_lock(server.folder, MEMBERS) as members:
        with open_lock(server.folder, STARTING) as starting:
            fcntl.flock(starting, fcntl.LOCK_EX)
            fcntl.flock(members, fcntl.LOCK_SH)  # waits while a keeper that found nobody is shutting down
            try:
                if not is_held(server.folder, KEEPER):
                    _launch(server)
                _wait_for_answer(server)
            except StoreUnavailable as error:
                if insist:
                    raise
                log.error("%s", error.message)
        with _keeper_replaced(server):
            yield


@contextmanager
def _keeper_replaced(server: Server) -> Iterator[None]:
    """Start another keeper if the keeper is killed while we need it: nobody else would restart the server."""
    left = threading.Event()
    watching = threading.Thread(target=_watch, args=(server, left), name=f"watch-{server.name}", daemon=True)
    watching.start()
    try:
        yield
    finally:
        left.set()


def _watch(server: Server, left: threading.Event) -> None:
    while not left.wait(_WATCH_SECONDS):
        try:
            with open_lock(server.folder, STARTING) as starting:
                if _try(starting) and not is_held(server.folder, KEEPER):
                    log.warning("The keeper of %s in %s is gone; starting another", server.name, server.folder)
                    _launch(server)
                    left.wait(_WATCH_SECONDS)  # until it has its lock, nobody else starts one
        except (OSError, StoreUnavailable, StoreInUse) as error:
            log.warning("The keeper of %s cannot be started: %s", server.name, error)


def _launch(server: Server) -> None:
    if is_held(server.folder, server.own_lock) and server.process() is None:
        raise StoreInUse(
            f"The {server.name} store {server.folder} is in use by an older version of Trigpoint. "
            "Stop it, or choose another TRIGPOINT_DATA_DIR"
        )
    server.check_files()
    subprocess.Popen(
        [sys.executable, "-m", __name__, type(server).__module__.rpartition(".")[2], str(server.folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for us, not for it
    )


def _wait_for_answer(server: Server) -> None:
    began, deadline = time.time(), time.monotonic() + _START_SECONDS
    while not server.answers():
        silent = _START_SECONDS - (deadline - time.monotonic())
        dead = silent > _QUIET_SECONDS and not is_held(server.folder, server.own_lock)
        if dead and (complaint := server.complaint_since(began)):
            raise StoreDamaged(complaint)
        if time.monotonic() > deadline:
            raise StoreUnavailable(
                f"The embedded {server.name} in {server.folder} did not answer within {_START_SECONDS:.0f} s. "
                f"See {_log(server)}"
            )
        time.sleep(0.01)


def _log(server: Server) -> Path:
    return server.folder / f"{server.name.lower()}.log"


def keep(server: Server) -> int:
    """Start or adopt the server, wait until the last member has left, stop it."""
    with open_lock(server.folder, KEEPER) as keeper, open_lock(server.folder, MEMBERS) as members:
        if not _try_for(keeper, 1.0):  # anybody who checks for a keeper holds the lock for an instant
            return 0  # another keeper is there already
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        attended = _Attended(server)
        try:
            attended.until(lambda: _try(members))
        finally:
            attended.stop()
            fcntl.flock(keeper, fcntl.LOCK_UN)  # before the members' lock, so that a waiting user sees no keeper
    return 0


class _Attended:
    """One server and its successors: one that died or hangs is replaced, less and less eagerly."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._child: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._pause = _LOOK_SECONDS
        if not self._alive():
            self._start()

    def until(self, done: Callable[[], bool]) -> None:
        while not done():
            time.sleep(_LOOK_SECONDS)
            if self._alive() and self._server.hangs():
                self._kill()
            if not self._alive():
                self._wait_before_restart()
                self._start()

    def stop(self) -> None:
        self._server.shut_down()
        deadline = time.monotonic() + _GRACE_SECONDS
        while self._alive():
            if time.monotonic() > deadline:
                self._kill()
                return
            time.sleep(0.02)

    def _alive(self) -> bool:
        if self._child is not None:
            return self._child.poll() is None
        return is_held(self._server.folder, self._server.own_lock) or self._server.answers()

    def _start(self) -> None:
        """Start the server. It inherits a locked file, and so owns the folder until it ends, even if we end first."""
        with open_lock(self._server.folder, self._server.own_lock) as owner, open(_log(self._server), "ab") as output:
            if not _try(owner):
                return
            self._child = subprocess.Popen(
                self._server.command(),
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                pass_fds=(owner.fileno(),),
            )
            self._started = time.monotonic()
            self._server.started(self._child.pid)

    def _kill(self) -> None:
        pid = self._child.pid if self._child is not None else self._server.process()
        if pid is not None and self._alive():
            os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + _GRACE_SECONDS
        while self._alive() and time.monotonic() < deadline:
            time.sleep(0.01)

    def _wait_before_restart(self) -> None:
        if time.monotonic() - self._started > _HEALTHY_SECONDS:
            self._pause = _LOOK_SECONDS
        time.sleep(self._pause)
        self._pause = min(self._pause * 2, _LONGEST_PAUSE_SECONDS)


def _try(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_for(lock: IO[bytes], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not _try(lock):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


if __name__ == "__main__":
    os.umask(0o077)
    module = importlib.import_module(f"trigpoint.storage.{sys.argv[1]}")
    sys.exit(keep(module.Server(Path(sys.argv[2]))))
