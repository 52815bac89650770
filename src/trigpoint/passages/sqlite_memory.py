"""Vectors and fields of one collection in SQLite, in memory: loaded and kept up to date by a thread of their own.

A million chunks take longer to load than a search may take. A search waits for that thread as long as its caller waits
for the search; if that is too short, its time-out says how far the loading is, and the loading goes on. Nothing of it is
on disk, so that a crash costs only the loading.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from trigpoint.errors import IndexUnavailable, LibraryTimeout
from trigpoint.passages import sqlite_rows as rows
from trigpoint.passages.deadline import check_time, waiting_for
from trigpoint.passages.embed_models import is_our_model, model_key
from trigpoint.passages.memory import DIMENSIONS, Entry, Memory, Snapshot
from trigpoint.passages.model import Vector

_BUSY_SECONDS = 30
_PATIENCE_SECONDS = 2.0  # that every caller waits for a loading
_MOST_WAITING = 6  # callers that wait longer: the server's other threads are for calls that need no memory
_LOOK_SECONDS = 0.1  # between two looks at the caller's time
_CLOSING_SECONDS = 10.0


@dataclass(frozen=True)
class LoadProgress:
    done: int = 0
    total: int = 0
    began: float = field(default_factory=time.monotonic)

    def told(self) -> str:
        """Say how far the loading is, and when to ask again."""
        if not self.done:
            return "The library is being loaded into memory. Ask again in a few seconds"
        left = (time.monotonic() - self.began) * (self.total - self.done) / self.done
        return (
            f"The library is being loaded into memory: {self.done:,} of {self.total:,} chunks are there. Ask again in "
            f"{max(1, round(left))} s"
        )


class LoadedMemory:
    """Thread-safe. `database` is the file that has the tables, `no` the collection's number in it."""

    def __init__(self, database: Path, no: int) -> None:
        self._database = database
        self._no = no
        self._memory = Memory()
        self._model = ""
        self._generation = -1  # of the tables, that the memory has
        self._progress = LoadProgress()
        self._loading: Future[None] | None = None
        self._looking = threading.Lock()
        self._long_waits = threading.Semaphore(_MOST_WAITING)
        self._closing = threading.Event()

    def caught_up(self, generation: int) -> Snapshot:
        """Return what is in memory when it has come to this generation of the tables, or beyond it.

        Raise LibraryTimeout if the caller's time is up before.
        """
        for _ in range(2):  # the first loading may be one that began before this generation
            loading = self._loading_to(generation)
            if loading is None:
                return self._memory.snapshot
            self._wait_for(loading)
        if self._generation < generation:
            raise IndexUnavailable(f"{self._database} was replaced while it was in use. Restart the server")
        return self._memory.snapshot

    def close(self) -> None:
        self._closing.set()
        if self._loading is not None:
            wait((self._loading,), _CLOSING_SECONDS)

    def _loading_to(self, generation: int) -> Future[None] | None:
        """Return the loading of what is missing, begun if it was not; None if nothing is."""
        with self._looking:
            if self._generation >= generation:
                return None
            if self._loading is None or self._loading.done():
                self._progress = LoadProgress()
                self._loading = Future()
                name = f"memory of collection {self._no}"
                threading.Thread(target=self._run, args=(self._loading,), name=name, daemon=True).start()
            return self._loading

    def _wait_for(self, loading: Future[None]) -> None:
        with waiting_for(self._told):
            if _ended(loading, _PATIENCE_SECONDS):
                return
            with self._long_wait():
                while not _ended(loading, _LOOK_SECONDS):
                    pass

    @contextmanager
    def _long_wait(self) -> Iterator[None]:
        if not self._long_waits.acquire(blocking=False):
            raise LibraryTimeout(self._told())
        try:
            yield
        finally:
            self._long_waits.release()

    def _told(self) -> str:
        return self._progress.told()

    def _run(self, loading: Future[None]) -> None:
        try:
            with closing(sqlite3.connect(self._database, timeout=_BUSY_SECONDS)) as connection:
                connection.row_factory = sqlite3.Row
                connection.execute("begin")  # one snapshot for all that is read
                self._refresh(connection)
        except BaseException as error:
            loading.set_exception(error)  # each caller that waits raises it; the next one begins again
        else:
            loading.set_result(None)

    def _refresh(self, connection: sqlite3.Connection) -> None:
        project = connection.execute("select * from project where no = ?", (self._no,)).fetchone()
        key = model_key(project["model"])
        if self._generation < 0 or key != self._model:
            self._memory = self._loaded(connection, key)
        else:
            self._replace_changed(connection, key)
        self._model, self._generation = key, project["generation"]

    def _loaded(self, connection: sqlite3.Connection, key: str) -> Memory:
        """Return all of the set of this model."""
        total = rows.size(connection, self._no, key)
        memory = Memory(DIMENSIONS if is_our_model(key) else None, total)
        memory.fill(self._parts(connection, key, total))
        return memory

    def _parts(
        self, connection: sqlite3.Connection, key: str, total: int
    ) -> Iterator[tuple[list[Entry], Vector | None]]:
        done = 0
        for entries, vectors in rows.entries(connection, self._no, key):
            if self._closing.is_set():
                raise IndexUnavailable("The library was closed while it was being loaded")
            yield entries, _matrix(b"".join(vectors), len(entries))
            done += len(entries)
            self._progress = LoadProgress(done, total, self._progress.began)

    def _replace_changed(self, connection: sqlite3.Connection, key: str) -> None:
        changed = connection.execute(
            "select doc_id from document where project_no = ? and generation > ?", (self._no, self._generation)
        ).fetchall()
        loaded = [part for (doc_id,) in changed for part in rows.entries(connection, self._no, key, doc_id)]
        entries = [entry for part, _ in loaded for entry in part]
        vectors = b"".join(vector for _, part in loaded for vector in part)
        self._memory.replace([doc_id for (doc_id,) in changed], entries, _matrix(vectors, len(entries)))


def _ended(loading: Future[None], seconds: float) -> bool:
    """Return whether the loading ends within this time; raise its error, or LibraryTimeout if the caller's time is up."""
    if not wait((loading,), seconds).done:
        check_time()
        return False
    loading.result()
    return True


def _matrix(vectors: bytes, count: int) -> Vector | None:
    return np.frombuffer(vectors, dtype=np.float32).reshape(count, -1) if count else None
