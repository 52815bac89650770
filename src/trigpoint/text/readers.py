"""The pool of reader processes, and the rule that a page which crashes or hangs its reader costs that page only.

Readers are started when first needed, by exec and never by fork (the caller is a threaded server), shared by all
threads in turn, replaced when they die, and killed by `close()`, at exit, or with the parent.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

from trigpoint import errors

_POLL_SECONDS = 0.2
_START_SECONDS = 60.0
_MAX_LOST = 8


@dataclass(frozen=True)
class Job:
    """Work for one reader: the name of a function in `extract.READERS`, its arguments, and the pages it yields."""

    name: str
    arguments: Mapping[str, Any]
    pages: tuple[int, ...]
    tries: int = 1


@dataclass(frozen=True)
class LostPage:
    """A page that no reader could read, and why."""

    page: int
    reason: str


class _ReaderProcess:
    """One reader process, seen from its parent."""

    def __init__(self) -> None:
        ours, theirs = Pipe()
        alive_read, self._lifeline = os.pipe()
        command = [sys.executable, "-P", "-m", "trigpoint.text.reader_process", str(theirs.fileno()), str(alive_read)]
        try:
            self.process = subprocess.Popen(
                command,
                pass_fds=(theirs.fileno(), alive_read),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            theirs.close()
            os.close(alive_read)
        self.connection: Connection = ours
        self.started = False

    def kill(self) -> None:
        """End the process and its children (a running `tesseract`) at once."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            self.process.kill()
        self.process.wait()
        self.connection.close()
        os.close(self._lifeline)

    def death(self) -> str:
        """Return in words how the process ended."""
        code = self.process.wait()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


@dataclass
class _Running:
    job: Job
    deadline: float
    done: set[int] = field(default_factory=set)

    def left(self) -> tuple[int, ...]:
        return tuple(page for page in self.job.pages if page not in self.done)


class ReaderPool:
    """At most `size` readers. `run` is called from any number of threads; waiting calls are served in turn."""

    def __init__(self, size: int, page_timeout: float) -> None:
        self.page_timeout = page_timeout
        self._size = size
        self._turn = threading.Condition()
        self._idle: list[_ReaderProcess] = []
        self._all: set[_ReaderProcess] = set()
        self._queue: deque[object] = deque()
        self._closed = False
        self._finalizer = weakref.finalize(self, _kill_all, self._all)

    def pids(self) -> list[int]:
        """Return the ids of the running reader processes."""
        with self._turn:
            return [reader.process.pid for reader in self._all]

    def close(self) -> None:
        """Kill every reader. Calls that are running raise ExtractionFailed."""
        with self._turn:
            self._closed = True
            self._finalizer()
            self._idle.clear()
            self._turn.notify_all()

    def run(self, jobs: Sequence[Job], cancelled: Callable[[], bool] | None = None) -> Iterator[tuple[Job, Any]]:
        """Yield each job's items as they come; a `LostPage` for a page that crashed (twice) or hung its reader.

        A job's own failure is raised as the error that the reader gave; so is Cancelled.
        """
        waiting = deque(jobs)
        running: dict[_ReaderProcess, _Running] = {}
        lost = 0
        try:
            while waiting or running:
                _stop_if(cancelled)
                while waiting and (reader := self._take(wait_for_turn=not running, cancelled=cancelled)) is not None:
                    self._send(reader, waiting.popleft(), running)
                for reader, answered in self._ready(running):
                    work = running[reader]
                    for kind, value in self._receive(reader, work, answered=answered):
                        if kind == "item":
                            yield work.job, value
                            continue
                        del running[reader]
                        if kind in ("end", "error"):
                            self._give_back(reader)
                            if kind == "error":
                                raise value
                            continue
                        self._drop(reader)
                        again, gone = _after_fault(work, hung=kind == "hung", reason=value)
                        waiting.extendleft(again)
                        for loss in gone:
                            lost += 1
                            yield work.job, loss
                if lost >= _MAX_LOST and waiting:
                    yield from _give_up(waiting, lost)
        finally:
            for reader in running:
                self._drop(reader)

    def _send(self, reader: _ReaderProcess, job: Job, running: dict[_ReaderProcess, _Running]) -> None:
        grace = 0.0 if reader.started else _START_SECONDS
        running[reader] = _Running(job, time.monotonic() + self.page_timeout + grace)
        try:
            reader.connection.send((job.name, dict(job.arguments) | {"pages": job.pages}))
        except OSError:
            return  # it died idle; reading from it says so

    def _ready(self, running: dict[_ReaderProcess, _Running]) -> list[tuple[_ReaderProcess, bool]]:
        """Return readers that have something to say (True: an answer, or their end) or are past their time (False)."""
        if not running:
            return []
        by_connection = {reader.connection: reader for reader in running}
        try:
            answered = {by_connection[c] for c in wait(list(by_connection), _POLL_SECONDS) if isinstance(c, Connection)}
        except OSError:
            raise self._closed_error() from None
        now = time.monotonic()
        late = [reader for reader, work in running.items() if now > work.deadline and reader not in answered]
        return [(reader, True) for reader in answered] + [(reader, False) for reader in late]

    def _receive(self, reader: _ReaderProcess, work: _Running, *, answered: bool) -> Iterator[tuple[str, Any]]:
        """Yield the messages that this reader has sent by now."""
        if self._closed:
            raise self._closed_error()
        if not answered:
            yield "hung", f"took longer than {self.page_timeout:g} s"
            return
        try:
            while answered:
                kind, *value = reader.connection.recv()
                reader.started = True
                if kind == "end":
                    yield "end", None
                    return
                if kind == "error":
                    yield "error", getattr(errors, value[0])(value[1])
                    return
                work.done.add(value[0].number)
                work.deadline = time.monotonic() + self.page_timeout
                yield "item", value[0]
                answered = reader.connection.poll()
        except (EOFError, OSError):
            if self._closed:
                raise self._closed_error() from None
            yield "died", f"crashed the reader, which {reader.death()}"

    def _take(self, *, wait_for_turn: bool, cancelled: Callable[[], bool] | None) -> _ReaderProcess | None:
        """Return a reader, first come, first served. Without waiting: only if nobody else waits and one is free."""
        ticket = object()
        with self._turn:
            if self._closed:
                raise self._closed_error()
            if not wait_for_turn and (self._queue or not self._available()):
                return None
            self._queue.append(ticket)
            try:
                while self._queue[0] is not ticket or not self._available():
                    self._turn.wait(_POLL_SECONDS)
                    _stop_if(cancelled)
                    if self._closed:
                        raise self._closed_error()
            finally:
                self._queue.remove(ticket)
                self._turn.notify_all()
            while self._idle:
                reader = self._idle.pop()
                if reader.process.poll() is None:
                    return reader
                self._discard(reader)
            try:
                reader = _ReaderProcess()
            except OSError as error:
                raise errors.ExtractionFailed(f"No reader process could be started: {error}.") from error
            self._all.add(reader)
            return reader

    def _available(self) -> bool:
        return bool(self._idle) or len(self._all) < self._size

    def _give_back(self, reader: _ReaderProcess) -> None:
        with self._turn:
            self._idle.append(reader)
            self._turn.notify_all()

    def _drop(self, reader: _ReaderProcess) -> None:
        with self._turn:
            if reader in self._all:
                self._discard(reader)
            self._turn.notify_all()

    def _discard(self, reader: _ReaderProcess) -> None:
        self._all.discard(reader)
        reader.kill()

    def _closed_error(self) -> errors.ExtractionFailed:
        return errors.ExtractionFailed("The document reader was closed while a file was being read.")


def _stop_if(cancelled: Callable[[], bool] | None) -> None:
    if cancelled is not None and cancelled():
        raise errors.Cancelled("Reading was cancelled between two pages.")


def _after_fault(work: _Running, *, hung: bool, reason: str) -> tuple[list[Job], list[LostPage]]:
    """Return the jobs to repeat and the pages to give up, after the first unread page of a job felled its reader.

    A crash may be another page's doing (memory), so that page is tried once more, alone; a page that hung is not.
    """
    if not work.left():
        return [], []
    first, *others = work.left()
    rest = [replace(work.job, pages=tuple(others), tries=1)] if others else []
    if hung or work.job.tries > 1:
        return rest, [LostPage(first, reason)]
    return [*rest, replace(work.job, pages=(first,), tries=2)], []


def _give_up(waiting: deque[Job], lost: int) -> Iterator[tuple[Job, LostPage]]:
    while waiting:
        job = waiting.popleft()
        for page in job.pages:
            yield job, LostPage(page, f"was not tried: {lost} earlier pages had crashed the reader")


def _kill_all(readers: set[_ReaderProcess]) -> None:
    while readers:
        readers.pop().kill()
