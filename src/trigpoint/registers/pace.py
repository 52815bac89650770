"""One request at a time to a host and a pause after each, for all callers and all processes on this machine.

The turn is a file lock in the data folder; it holds when the next request may go. The pause is counted from the
answer's first byte, so that the host itself never sees two requests closer than the interval.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

from filelock import FileLock, Timeout

from trigpoint.storage.files import safe_name

LONGEST_PAUSE = 60.0
_POLL_SECONDS = 0.01


class Pace:
    """The turn to speak to one host."""

    def __init__(self, folder: Path, host: str, interval: float) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.interval = interval
        self._next = folder / f"{safe_name(host.replace(':', '_'))}.next"
        self._lock_path = self._next.with_suffix(".lock")
        self._here = asyncio.Lock()  # callers of this process queue in order; the file lock is for the others
        self._asked = 0.0

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the turn and hold it while the request goes out and its answer begins."""
        async with self._here:
            lock = FileLock(self._lock_path, thread_local=False)
            await acquire(lock)
            try:
                await self._until_due()
                yield
            finally:
                try:
                    self._hold(self.interval)
                finally:
                    lock.release()

    async def _until_due(self) -> None:
        while (wait := self._seconds_left()) > 0:  # noqa: ASYNC110  other processes move the time, there is no event
            await asyncio.sleep(wait)

    def rest(self, seconds: float) -> None:
        """Record the pause that the host asked for, within a turn: it applies to every caller, not only to the one that received it."""
        self._asked = min(seconds, LONGEST_PAUSE)

    def _hold(self, seconds: float) -> None:
        seconds, self._asked = max(seconds, self._asked), 0.0
        self._next.write_text(repr(time.time() + seconds), encoding="ascii")

    def _seconds_left(self) -> float:
        try:
            left = float(self._next.read_text(encoding="ascii")) - time.time()
        except (FileNotFoundError, ValueError):
            return 0.0
        if left > max(self.interval, LONGEST_PAUSE):  # a clock that was set back must not stop us for days
            self._hold(self.interval)
            return self.interval
        return left


async def acquire(lock: FileLock) -> None:
    """Take a file lock without blocking the event loop or leaving a thread behind on cancellation."""
    while True:
        try:
            lock.acquire(blocking=False)
        except Timeout:
            await asyncio.sleep(_POLL_SECONDS)
        else:
            return
