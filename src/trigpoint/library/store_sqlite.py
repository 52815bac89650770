"""The default library store: one SQLite file (WAL) for chunks and vectors, a BM25 index beside it for each project.

Several processes may use one folder. Every change moves the project's generation on, in the same transaction; whoever
sees a newer one brings its vectors in memory, and if need be the lexical index, up to it before it answers.
"""

from __future__ import annotations

import fcntl
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from trigpoint.errors import IndexUnavailable, LibraryTimeout
from trigpoint.library import sqlite_rows as rows
from trigpoint.library.memory import ProjectMemory
from trigpoint.library.projects import Project, model_key
from trigpoint.library.store import (
    DocumentRow,
    Inspection,
    Migration,
    Question,
    Scored,
    StoredChunk,
    always,
    check_dimensions,
    mismatch,
    searched_rows,
)
from trigpoint.passages.lexical import LexicalIndex

log = logging.getLogger(__name__)

_BUSY_SECONDS = 30
_PRAGMAS = ("journal_mode=WAL", "foreign_keys=ON", "synchronous=NORMAL", "mmap_size=268435456")


class SqliteStore:
    """See `ChunkStore`. Opened at its first use: a damaged file is the failure of a call, not of the start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "library.db"
        self._threads = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._memories: dict[int, ProjectMemory] = {}
        self._opening = threading.Lock()

    def bound_model(self, project: Project) -> str | None:
        with self._reading() as connection:
            row = rows.project_row(connection, project)
            return row["model"] if row else None

    def write(
        self,
        project: Project,
        model: str,
        chunks: Sequence[StoredChunk],
        *,
        replace_documents: Sequence[str] = (),
        migrate: bool = False,
        allow: Callable[[], bool] = always,
    ) -> Migration | None:
        key = model_key(model)
        with self._changing(allow) as connection:
            no, bound = rows.bind(connection, project, model)
            other = model_key(bound) != key
            if other and not migrate:
                raise mismatch(project, bound, model)
            check_dimensions(chunks, model, rows.dimensions(connection, no, key))
            kept = {chunk.id for chunk in chunks}
            for doc_id in replace_documents:
                rows.delete_others(connection, no, key, doc_id, kept)
            touched = {chunk.doc_id for chunk in chunks} | set(replace_documents)
            touched |= rows.insert(connection, no, key, chunks)
            rows.mark(connection, no, touched, chunks)
            migration = rows.swap_when_complete(connection, no, bound, model) if other else None
        self._catch_up(no)
        return migration

    def search(self, project: Project, question: Question) -> list[Scored]:
        with self._reading() as connection:
            row = rows.project_row(connection, project)
            if row is None or row["model"] is None:
                return []
            memory = self._current(connection, row)
            scope = (connection, row["no"], model_key(row["model"]))
            ranked, cosines, words = memory.rank(question, rows.allowed(*scope, question.filters))
            best = ranked[: question.k]
            chunks = {c.id: c for c in rows.read_chunks(*scope, [i for i, _ in best])}
            if len(chunks) < len(best):  # another process has removed some, or not yet written them for us
                chunks = {c.id: c for c in rows.read_chunks(*scope, [i for i, _ in ranked])}
        found = [(i, score) for i, score in ranked if i in chunks][: question.k]
        return [Scored(chunks[i], score, cosines.get(i, 0.0), words.get(i, 0.0)) for i, score in found]

    def get(self, project: Project, ids: Sequence[str]) -> list[StoredChunk]:
        with self._reading() as connection:
            row = rows.project_row(connection, project)
            if row is None:
                return []
            found = {c.id: c for c in rows.read_chunks(connection, row["no"], model_key(row["model"]), ids)}
        return [found[i] for i in ids if i in found]

    def document(self, project: Project, doc_id: str) -> list[StoredChunk]:
        with self._reading() as connection:
            row = rows.project_row(connection, project)
            if row is None:
                return []
            stored = rows.document_rows(connection, row["no"], model_key(row["model"]), doc_id)
        return [rows.chunk_of(r) for r in stored]

    def documents(self, project: Project) -> list[DocumentRow]:
        with self._reading() as connection:
            row = rows.project_row(connection, project)
            return rows.list_documents(connection, row["no"], model_key(row["model"])) if row else []

    def delete_document(self, project: Project, doc_id: str, *, allow: Callable[[], bool] = always) -> int:
        with self._changing(allow) as connection:
            row = rows.project_row(connection, project)
            if row is None:
                return 0
            gone = rows.delete_document(connection, row["no"], model_key(row["model"]), doc_id)
            if gone:
                rows.mark(connection, row["no"], {doc_id}, [])
        if gone:
            self._catch_up(row["no"])
        return gone

    def inspect(self, project: Project, sample: int) -> Inspection:
        with self._reading() as connection:
            row = rows.project_row(connection, project)
            if row is None:
                return Inspection(0, None, (), ())
            size, first = rows.size_and_first(connection, row["no"], model_key(row["model"]), max(1, sample))
        keys = tuple(dict.fromkeys(key for chunk in first for key in chunk.payload))
        return Inspection(size, row["model"], keys, tuple(first[:sample]))

    def close(self) -> None:
        with self._opening:
            for memory in self._memories.values():
                memory.lexical.close()
            self._memories.clear()
            for connection in self._connections:
                connection.close()
            self._connections.clear()
            self._threads = threading.local()

    # --- connections and transactions ---

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._threads, "connection", None)
        if connection is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self._file, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            connection.row_factory = sqlite3.Row
            with (self._folder / "opening.lock").open("ab") as turn:  # two first openings at once would clash
                fcntl.flock(turn, fcntl.LOCK_EX)
                for pragma in _PRAGMAS:
                    connection.execute(f"pragma {pragma}")
                connection.executescript(rows.SCHEMA)
            with self._opening:
                self._connections.append(connection)
            self._threads.connection = connection
        return connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """One snapshot for all that is read inside."""
        with self._explained("read"):
            connection = self._connection()
            try:
                connection.execute("begin")
                yield connection
            finally:
                if connection.in_transaction:
                    connection.rollback()

    @contextmanager
    def _changing(self, allow: Callable[[], bool]) -> Iterator[sqlite3.Connection]:
        """One writer at a time, all or nothing; `allow` has the last word (L8)."""
        with self._explained("written"):
            connection = self._connection()
            try:
                connection.execute("begin immediate")
                yield connection
                if not allow():
                    raise LibraryTimeout("The call had timed out; nothing was written")
                connection.commit()
            finally:
                if connection.in_transaction:
                    connection.rollback()

    @contextmanager
    def _explained(self, done: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise IndexUnavailable(
                f"The library in {self._folder} cannot be {done} ({error}). Look at the disk and at library.db there"
            ) from error

    # --- what is derived ---

    def _memory(self, no: int) -> ProjectMemory:
        with self._opening:
            if no not in self._memories:
                self._memories[no] = ProjectMemory(LexicalIndex(self._folder / "lexical" / str(no), shared=True))
            return self._memories[no]

    def _current(self, connection: sqlite3.Connection, project: sqlite3.Row) -> ProjectMemory:
        """The project in memory, as of the snapshot that the caller reads."""
        memory = self._memory(project["no"])
        with memory.refreshing:
            if memory.words_generation < project["generation"]:
                self._refresh_words(memory, project, first=memory.generation < 0)
            if memory.generation < project["generation"]:
                memory.load_changes(connection, project)
        return memory

    def _refresh_words(self, memory: ProjectMemory, project: sqlite3.Row, *, first: bool) -> None:
        memory.lexical.refresh()
        if first or (memory.lexical.stamp() or 0) < project["generation"]:
            self._catch_up(project["no"], wait=False)
        memory.words_generation = memory.lexical.stamp() or 0

    def _catch_up(self, no: int, *, wait: bool = True) -> None:
        """Bring the lexical index up to the database. It is derived: a failure costs words, not chunks, and is repaired."""
        memory = self._memory(no)
        try:
            with (self._folder / "lexical" / f"{no}.catchup").open("ab") as turn:
                try:
                    fcntl.flock(turn, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                except BlockingIOError:
                    return  # another process is doing just that, and whoever wrote waits for it
                with closing(sqlite3.connect(self._file, timeout=_BUSY_SECONDS)) as connection:
                    connection.row_factory = sqlite3.Row
                    _index_changes(connection, no, memory.lexical)
        except (OSError, ValueError, sqlite3.Error) as error:
            log.warning("The lexical index of project number %d is behind (%s); the next search tries again", no, error)


def _index_changes(connection: sqlite3.Connection, no: int, lexical: LexicalIndex) -> None:
    """Every document that changed since the index's stamp; all of them where the database is older than the index."""
    project = connection.execute("select * from project where no = ?", (no,)).fetchone()
    lexical.refresh()
    stamp = lexical.stamp() or 0
    if stamp == project["generation"]:
        return
    if stamp > project["generation"]:
        log.warning("The lexical index of '%s' is newer than its database, and is rebuilt", project["id"])
        lexical.replace_many([(group, ()) for group in lexical.groups()], stamp=0)
        stamp = 0
    key = model_key(project["model"])
    changed = connection.execute(
        "select doc_id from document where project_no = ? and generation > ?", (no, stamp)
    ).fetchall()
    lexical.replace_many(
        ((doc_id, searched_rows(rows.document_chunks(connection, no, key, doc_id))) for (doc_id,) in changed),
        stamp=project["generation"],
    )
