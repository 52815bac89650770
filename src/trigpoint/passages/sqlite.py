"""Passages in one SQLite file (WAL): the default store of the library, with a BM25 index next to it for each collection.

A change is one transaction, and moves the collection's generation on in the same transaction. Several processes may use
one folder: a process that sees a newer generation brings its memory up to it before it answers (sqlite_memory.py), and
the index of words (sqlite_words.py).
"""

from __future__ import annotations

import fcntl
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from trigpoint.errors import IndexUnavailable, LibraryTimeout
from trigpoint.passages import sqlite_rows as rows
from trigpoint.passages.deadline import check_time, time_is_up
from trigpoint.passages.embed_models import model_key
from trigpoint.passages.local import LocalCandidates
from trigpoint.passages.memory import Snapshot
from trigpoint.passages.model import DocumentRow, Hit, Passage, Question, Rules, Where
from trigpoint.passages.search import Ranked, rank
from trigpoint.passages.sqlite_memory import LoadedMemory
from trigpoint.passages.sqlite_words import Appended, IndexedWords
from trigpoint.passages.store import Inspection, Migration, always, check_dimensions, mismatch

_BUSY_SECONDS = 30
_PRAGMAS = ("journal_mode=WAL", "foreign_keys=ON", "synchronous=NORMAL", "mmap_size=268435456")
_LOOKS = 5
_STEPS_BETWEEN_LOOKS = 20_000  # of SQLite's machine, a few milliseconds: then the time left is checked


class SqliteFile:
    """The file and its connections. Opened at its first use: a damaged file is the failure of a call, not of the start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "library.db"
        self._threads = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._busy: set[sqlite3.Connection] = set()
        self._opening = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection on which everything that is read belongs to one snapshot."""
        with self._explained("read"), self._borrowed() as connection:
            connection.execute("begin")
            yield connection

    @contextmanager
    def changing(self, allow: Callable[[], bool]) -> Iterator[sqlite3.Connection]:
        """Let one writer in at a time. All of its changes count or none; `allow` has the last word."""
        with self._explained("written"), self._borrowed() as connection:
            connection.execute("begin immediate")
            yield connection
            if not allow():
                raise LibraryTimeout("The call had timed out; nothing was written")
            connection.commit()

    def close(self) -> None:
        """Close what nobody uses. A thread in the middle of a call is interrupted, and closes its connection itself."""
        with self._opening:
            for connection in self._connections:
                if connection in self._busy:
                    connection.interrupt()
                else:
                    connection.close()
            self._connections.clear()
            self._threads = threading.local()

    @contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        """Yield this thread's connection, which nobody else closes meanwhile; leave no transaction open."""
        connection = self._connection()
        with self._opening:
            self._busy.add(connection)
        try:
            yield connection
        finally:
            if connection.in_transaction:
                connection.rollback()
            with self._opening:
                self._busy.discard(connection)
                if connection not in self._connections:  # the file was closed in the meantime
                    connection.close()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._threads, "connection", None)
        if connection is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            connection.row_factory = sqlite3.Row
            connection.set_progress_handler(time_is_up, _STEPS_BETWEEN_LOOKS)
            with (self.folder / "opening.lock").open("ab") as turn:  # two first openings at once would clash
                fcntl.flock(turn, fcntl.LOCK_EX)
                for pragma in _PRAGMAS:
                    connection.execute(f"pragma {pragma}")
                rows.prepare(connection)
            with self._opening:
                self._connections.append(connection)
            self._threads.connection = connection
        return connection

    @contextmanager
    def _explained(self, done: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            check_time()  # SQLite was told to stop: nothing is wrong with the library
            raise IndexUnavailable(
                f"The library in {self.folder} cannot be {done} ({error}). Look at the disk and at library.db there"
            ) from error


class SqliteStores:
    """The collections of one folder, by name."""

    def __init__(self, folder: Path, rules: Rules) -> None:
        self._file = SqliteFile(folder)
        self._rules = rules
        self._collections: dict[str, SqlitePassages] = {}
        self._opening = threading.Lock()

    def collection(self, name: str) -> SqlitePassages:
        with self._opening:
            if name not in self._collections:
                self._collections[name] = SqlitePassages(self._file, name, self._rules)
            return self._collections[name]

    def close(self) -> None:
        with self._opening:
            for collection in self._collections.values():
                collection.close()
            self._collections.clear()
            self._file.close()


class SqlitePassages:
    """See `PassageStore`."""

    def __init__(self, file: SqliteFile, name: str, rules: Rules) -> None:
        self._file = file
        self._name = name
        self._rules = rules
        self._derived: _Derived | None = None
        self._opening = threading.Lock()

    def write(
        self,
        passages: Sequence[Passage],
        *,
        replace: Sequence[str] = (),
        model: str | None = None,
        migrate: bool = False,
        allow: Callable[[], bool] = always,
    ) -> Migration | None:
        key = model_key(model)
        with self._file.changing(allow) as connection:
            no, bound = rows.bind(connection, self._name, model or "")
            other = model_key(bound) != key
            if other and not migrate:
                raise mismatch(self._name, bound, model or "")
            check_dimensions(passages, model or "", rows.dimensions(connection, no, key))
            kept = {passage.id for passage in passages}
            for document_id in replace:
                rows.delete_others(connection, no, key, document_id, kept)
            touched = {passage.document_id for passage in passages} | set(replace)
            lengths = rows.lengths(connection, no, key, touched)
            moved = rows.insert(connection, no, key, self._rules, passages)
            rows.mark(connection, no, touched | moved, passages)
            migration = rows.swap_when_complete(connection, no, bound, model or "") if other else None
            added = None if moved or replace or other else Appended.of(passages, lengths)
            generation = rows.generation(connection, no)
        self._derived_of(no).words.caught_up(generation, added)
        return migration

    def delete(self, document_id: str, *, allow: Callable[[], bool] = always) -> int:
        with self._file.changing(allow) as connection:
            row = rows.project_row(connection, self._name)
            if row is None:
                return 0
            gone = rows.delete_document(connection, row["no"], model_key(row["model"]), document_id)
            if gone:
                rows.mark(connection, row["no"], {document_id}, [])
            generation = rows.generation(connection, row["no"])
        self._derived_of(row["no"]).words.caught_up(generation)
        return gone

    def search(self, question: Question) -> list[Hit]:
        for _ in range(_LOOKS):
            ranked, passages = self._ranked(question)
            if len(passages) == len(ranked):
                break  # else another thread's memory was ahead of what we read: look again
        return [Hit(passages[r.id], r.cosine, r.fused, r.bm25) for r in ranked if r.id in passages]

    def _ranked(self, question: Question) -> tuple[list[Ranked], dict[str, Passage]]:
        with self._reading() as (connection, row):
            if row is None or row["model"] is None:
                return [], {}
            derived = self._derived_of(row["no"])
            now = derived.caught_up(row["generation"])
            ranked = rank(LocalCandidates(now, derived.words.lexical, question.where), question)
            scope = (connection, row["no"], model_key(row["model"]))
            return ranked, {p.id: p for p in rows.read_chunks(*scope, [r.id for r in ranked])}

    def get(self, ids: Sequence[str]) -> list[Passage]:
        with self._reading() as (connection, row):
            if row is None:
                return []
            found = {p.id: p for p in rows.read_chunks(connection, row["no"], model_key(row["model"]), ids)}
        return [found[i] for i in ids if i in found]

    def document(self, document_id: str) -> list[Passage]:
        with self._reading() as (connection, row):
            if row is None:
                return []
            return rows.document_chunks(connection, row["no"], model_key(row["model"]), document_id)

    def documents(self) -> list[DocumentRow]:
        with self._reading() as (connection, row):
            return rows.list_documents(connection, row["no"], model_key(row["model"])) if row else []

    def count(self, where: Where | None = None) -> int:
        if not where:
            return self.inspect(0).size
        with self._reading() as (_, row):
            if row is None:
                return 0
            return len(self._derived_of(row["no"]).caught_up(row["generation"]).rows(where))

    def fingerprint(self) -> str | None:
        with self._reading() as (_, row):
            return row["model"] if row else None

    def inspect(self, sample: int) -> Inspection:
        with self._reading() as (connection, row):
            if row is None:
                return Inspection(0, None, (), ())
            scope = (connection, row["no"], model_key(row["model"]))
            size, first = rows.size(*scope), rows.first_chunks(*scope, max(1, sample))
        keys = tuple(dict.fromkeys(key for passage in first for key in passage.metadata))
        return Inspection(size, row["model"], keys, tuple(first[:sample]))

    def lacks_words(self) -> bool:
        with self._reading() as (_, row):
            return row is not None and not self._derived_of(row["no"]).words.caught_up(row["generation"])

    def close(self) -> None:
        if self._derived is not None:
            self._derived.close()
            self._derived = None

    @contextmanager
    def _reading(self) -> Iterator[tuple[sqlite3.Connection, sqlite3.Row | None]]:
        with self._file.reading() as connection:
            yield connection, rows.project_row(connection, self._name)

    def _derived_of(self, no: int) -> _Derived:
        with self._opening:
            if self._derived is None:
                self._derived = _Derived(self._file, no, self._rules)
            return self._derived


class _Derived:
    """Data that can be rebuilt from the tables: the memory of this process, and the index of words on disk."""

    def __init__(self, file: SqliteFile, no: int, rules: Rules) -> None:
        self.memory = LoadedMemory(file.path, no)
        self.words = IndexedWords(file.path, no, rules)

    def caught_up(self, generation: int) -> Snapshot:
        """Return what is in memory, brought to this generation of the tables or beyond it; words may be behind."""
        self.words.caught_up(generation)
        return self.memory.caught_up(generation)

    def close(self) -> None:
        self.memory.close()
        self.words.close()
