"""The default library store: one SQLite file (WAL) for chunks and vectors, a BM25 index beside it for each project.

Several processes may use one folder. Every change moves the project's generation on, in the same transaction; whoever
sees a newer one brings its vectors in memory, and if need be the lexical index, up to it before it answers.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trigpoint.errors import EmbeddingMismatch, IndexUnavailable, LibraryTimeout
from trigpoint.library.projects import Project, is_our_model
from trigpoint.library.store import (
    SECTION_JOINT,
    DocumentRow,
    Filters,
    Inspection,
    Migration,
    Question,
    Scored,
    StoredChunk,
    always,
)
from trigpoint.storage.lexical import LexicalIndex
from trigpoint.storage.mirror import Mirror
from trigpoint.text.fusion import fuse

_DEPTH = 200  # candidates that each half of a hybrid search brings
_FILTERED_DEPTH = 1000
_VARIABLES = 900  # below SQLite's oldest limit on bound values

_SCHEMA = """
create table if not exists project (
  no integer primary key, id text not null unique, model text, generation integer not null default 0);
create table if not exists document (
  project_no integer not null references project, doc_id text not null, generation integer not null,
  path text, title text, sha256 text, primary key (project_no, doc_id)) without rowid;
create index if not exists document_generation on document (project_no, generation);
create table if not exists chunk (
  no integer primary key, project_no integer not null references project, model text not null, chunk_id text not null,
  doc_id text not null, seq integer not null, text text not null, payload text not null, vector blob not null,
  citekey text, year integer, section text not null, unique (project_no, model, chunk_id));
create index if not exists chunk_document on chunk (project_no, model, doc_id, seq);
create index if not exists chunk_citekey on chunk (project_no, model, citekey);
create index if not exists chunk_year on chunk (project_no, model, year);
create table if not exists tag (
  chunk_no integer not null references chunk on delete cascade, tag text not null,
  primary key (tag, chunk_no)) without rowid;
create index if not exists tag_chunk on tag (chunk_no);
"""


@dataclass
class _Loaded:
    """What this process holds of one project in memory, as of `generation`."""

    lexical: LexicalIndex
    generation: int = -1
    mirror: Mirror = field(default_factory=lambda: Mirror([], [], []))
    chunk_ids: dict[str, list[str]] = field(default_factory=dict)
    refreshing: threading.Lock = field(default_factory=threading.Lock)


class SqliteStore:
    """See `ChunkStore`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._file = folder / "library.db"
        self._threads = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._loaded: dict[int, _Loaded] = {}
        self._loading = threading.Lock()
        with self._reading() as connection:
            connection.executescript(_SCHEMA)

    def bound_model(self, project: Project) -> str | None:
        with self._reading() as connection:
            row = _project_row(connection, project)
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
        with self._changing(allow) as connection:
            no, bound = _bind(connection, project, model)
            other = _model_key(bound) != _model_key(model)
            if other and not migrate:
                raise EmbeddingMismatch(
                    f"Project '{project.id}' is bound to the model '{bound}', not '{model}'. Send chunks of that "
                    "model, or migrate: true to rebuild the project",
                    bound_model=bound,
                    given_model=model,
                )
            key = _model_key(model)
            for doc_id in replace_documents:
                _delete_others(connection, no, key, doc_id, {chunk.id for chunk in chunks})
            touched = {chunk.doc_id for chunk in chunks} | set(replace_documents)
            touched |= _insert(connection, no, key, chunks)
            _mark(connection, no, touched, chunks)
            migration = _swap_when_complete(connection, no, bound, model) if other else None
        self._catch_up(no)
        return migration

    def search(self, project: Project, question: Question) -> list[Scored]:
        with self._reading() as connection:
            row = _project_row(connection, project)
            if row is None or row["model"] is None:
                return []
            loaded = self._current(connection, row)
            key = _model_key(row["model"])
            allowed = _allowed(connection, row["no"], key, question.filters) if question.filters else None
            ranked, cosines, words = _rank(loaded, question, allowed)
            chunks = {c.id: c for c in _chunks(connection, row["no"], key, [i for i, _ in ranked])}
        return [Scored(chunks[i], score, cosines.get(i, 0.0), words.get(i, 0.0)) for i, score in ranked if i in chunks]

    def get(self, project: Project, ids: Sequence[str]) -> list[StoredChunk]:
        with self._reading() as connection:
            row = _project_row(connection, project)
            if row is None:
                return []
            found = {c.id: c for c in _chunks(connection, row["no"], _model_key(row["model"]), ids)}
        return [found[i] for i in ids if i in found]

    def document(self, project: Project, doc_id: str) -> list[StoredChunk]:
        with self._reading() as connection:
            row = _project_row(connection, project)
            if row is None:
                return []
            return [_chunk(r) for r in _document_rows(connection, row["no"], _model_key(row["model"]), doc_id)]

    def documents(self, project: Project) -> list[DocumentRow]:
        with self._reading() as connection:
            row = _project_row(connection, project)
            if row is None:
                return []
            rows = connection.execute(
                "select d.doc_id, d.path, d.title, d.sha256, count(*) as chunks from document d join chunk c "
                "on c.project_no = d.project_no and c.doc_id = d.doc_id and c.model = ? "
                "where d.project_no = ? group by d.doc_id order by d.doc_id",
                (_model_key(row["model"]), row["no"]),
            )
            return [DocumentRow(r["doc_id"], r["path"], r["title"], r["sha256"], r["chunks"]) for r in rows]

    def delete_document(self, project: Project, doc_id: str, *, allow: Callable[[], bool] = always) -> int:
        with self._changing(allow) as connection:
            row = _project_row(connection, project)
            if row is None:
                return 0
            gone = connection.execute(
                "delete from chunk where project_no = ? and doc_id = ?", (row["no"], doc_id)
            ).rowcount
            if gone:
                _mark(connection, row["no"], {doc_id}, [])
        if gone:
            self._catch_up(row["no"])
        return gone

    def inspect(self, project: Project, sample: int) -> Inspection:
        with self._reading() as connection:
            row = _project_row(connection, project)
            if row is None:
                return Inspection(0, None, (), ())
            scope = (row["no"], _model_key(row["model"]))
            size = connection.execute(
                "select count(*) from chunk where project_no = ? and model = ?", scope
            ).fetchone()[0]
            rows = connection.execute(
                "select * from chunk where project_no = ? and model = ? order by doc_id, seq limit ?",
                (*scope, max(1, sample)),
            ).fetchall()
        chunks = [_chunk(r) for r in rows]
        keys = tuple(dict.fromkeys(key for chunk in chunks for key in chunk.payload))
        return Inspection(size, row["model"], keys, tuple(chunks[:sample]))

    def close(self) -> None:
        with self._loading:
            for loaded in self._loaded.values():
                loaded.lexical.close()
            self._loaded.clear()
            for connection in self._connections:
                connection.close()
            self._connections.clear()
        self._threads = threading.local()

    # --- connections and transactions ---

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._threads, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._file, timeout=30, isolation_level=None, check_same_thread=False)
            connection.row_factory = sqlite3.Row
            for pragma in ("journal_mode=WAL", "foreign_keys=ON", "synchronous=NORMAL", "mmap_size=268435456"):
                connection.execute(f"pragma {pragma}")
            self._threads.connection = connection
            self._connections.append(connection)
        return connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """One snapshot for all that is read inside."""
        connection = self._connection()
        try:
            connection.execute("begin")
            yield connection
        except sqlite3.DatabaseError as error:
            raise IndexUnavailable(f"The library in {self._folder} cannot be read ({error})") from error
        finally:
            if connection.in_transaction:
                connection.rollback()

    @contextmanager
    def _changing(self, allow: Callable[[], bool]) -> Iterator[sqlite3.Connection]:
        """One writer at a time, all or nothing; `allow` has the last word (L8)."""
        connection = self._connection()
        try:
            connection.execute("begin immediate")
            yield connection
            if not allow():
                raise LibraryTimeout("The call had timed out; nothing was written")
            connection.commit()
        except sqlite3.DatabaseError as error:
            raise IndexUnavailable(f"The library in {self._folder} cannot be written ({error})") from error
        finally:
            if connection.in_transaction:
                connection.rollback()

    # --- what is derived ---

    def _project(self, no: int) -> _Loaded:
        with self._loading:
            if no not in self._loaded:
                self._loaded[no] = _Loaded(LexicalIndex(self._folder / "lexical" / str(no), shared=True))
            return self._loaded[no]

    def _current(self, connection: sqlite3.Connection, row: sqlite3.Row) -> _Loaded:
        """The project in memory, as of the snapshot that the caller reads."""
        loaded = self._project(row["no"])
        with loaded.refreshing:
            if loaded.generation < row["generation"]:
                _load_changes(connection, row, loaded)
                loaded.lexical.refresh()
                if (loaded.lexical.stamp() or 0) < row["generation"]:
                    self._catch_up(row["no"], wait=False)
                loaded.generation = row["generation"]
        return loaded

    def _catch_up(self, no: int, *, wait: bool = True) -> None:
        """Bring the lexical index up to the database: every document that changed since its stamp."""
        loaded = self._project(no)
        with (self._folder / "lexical" / f"{no}.catchup").open("ab") as turn:
            try:
                fcntl.flock(turn, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                return  # another process is doing just that
            with sqlite3.connect(self._file, timeout=30) as connection:
                connection.row_factory = sqlite3.Row
                row = connection.execute("select * from project where no = ?", (no,)).fetchone()
                loaded.lexical.refresh()
                stamp = loaded.lexical.stamp() or 0
                if stamp >= row["generation"]:
                    return
                key = _model_key(row["model"])
                changed = connection.execute(
                    "select doc_id from document where project_no = ? and generation > ?", (no, stamp)
                ).fetchall()
                groups = (
                    (
                        r["doc_id"],
                        (
                            (c.id, c.searched_text)
                            for c in map(_chunk, _document_rows(connection, no, key, r["doc_id"]))
                        ),
                    )
                    for r in changed
                )
                loaded.lexical.replace_many(groups, stamp=row["generation"])
            connection.close()


def _rank(
    loaded: _Loaded, question: Question, allowed: set[str] | None
) -> tuple[list[tuple[str, float]], dict[str, float], dict[str, float]]:
    """Candidates of either half, scored by both, fused (or by the cosine alone), best first."""
    vector, depth = question.vector, max(question.k, _DEPTH)
    if allowed is None:
        cosines = dict(loaded.mirror.nearest(vector, depth, None))
    else:
        cosines = dict(_best(loaded.mirror.score_of(vector, list(allowed)), depth))
    if question.words is None:
        return _best(cosines, question.k), cosines, {}
    hits = loaded.lexical.search(question.words, depth if allowed is None else max(depth, _FILTERED_DEPTH))
    words = {i: score for i, score in hits if allowed is None or i in allowed}
    cosines |= loaded.mirror.score_of(vector, [i for i in words if i not in cosines])
    words = {i: score for i, score in words.items() if i in cosines}  # not yet in memory: not yet written, for us
    return fuse(cosines, words, question.fusion, question.alpha)[: question.k], cosines, words


def _best(scores: dict[str, float], count: int) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:count]


def _load_changes(connection: sqlite3.Connection, row: sqlite3.Row, loaded: _Loaded) -> None:
    """Vectors of the documents that changed since this process last looked."""
    key = _model_key(row["model"])
    fresh = loaded.generation < 0
    if fresh:
        rows = connection.execute(
            "select chunk_id, doc_id, vector from chunk where project_no = ? and model = ?", (row["no"], key)
        ).fetchall()
    else:
        changed = connection.execute(
            "select doc_id from document where project_no = ? and generation > ?", (row["no"], loaded.generation)
        ).fetchall()
        gone = [i for r in changed for i in loaded.chunk_ids.pop(r["doc_id"], [])]
        loaded.mirror.delete(gone)
        rows = [
            r
            for d in changed
            for r in connection.execute(
                "select chunk_id, doc_id, vector from chunk where project_no = ? and model = ? and doc_id = ?",
                (row["no"], key, d["doc_id"]),
            )
        ]
    if not is_our_model(key) or not rows:
        return
    for r in rows:
        loaded.chunk_ids.setdefault(r["doc_id"], []).append(r["chunk_id"])
    vectors = np.frombuffer(b"".join(r["vector"] for r in rows), dtype=np.float32).reshape(len(rows), -1)
    loaded.mirror.upsert([r["chunk_id"] for r in rows], vectors, [{}] * len(rows))


def _bind(connection: sqlite3.Connection, project: Project, model: str) -> tuple[int, str]:
    connection.execute("insert or ignore into project (id) values (?)", (project.id,))
    connection.execute("update project set model = ? where id = ? and model is null", (model, project.id))
    row = _project_row(connection, project)
    assert row is not None
    return row["no"], row["model"]


def _insert(connection: sqlite3.Connection, no: int, key: str, chunks: Sequence[StoredChunk]) -> set[str]:
    """Insert or replace; returns the documents that lost a chunk to another one because its id moved."""
    moved = set()
    for chunk in chunks:
        old = connection.execute(
            "select no, doc_id from chunk where project_no = ? and model = ? and chunk_id = ?", (no, key, chunk.id)
        ).fetchone()
        if old is not None:
            moved.add(old["doc_id"])
            connection.execute("delete from chunk where no = ?", (old["no"],))
        cursor = connection.execute(
            "insert into chunk (project_no, model, chunk_id, doc_id, seq, text, payload, vector, citekey, year, section)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(no, key, chunk.id, chunk.doc_id, chunk.seq, chunk.text),
                json.dumps(chunk.payload, ensure_ascii=False),
                np.asarray(chunk.vector, dtype=np.float32).tobytes(),
                *(chunk.citekey, chunk.year, SECTION_JOINT.join(chunk.section_path)),
            ),
        )
        connection.executemany(
            "insert or ignore into tag (chunk_no, tag) values (?, ?)", [(cursor.lastrowid, t) for t in chunk.tags]
        )
    return moved


def _delete_others(connection: sqlite3.Connection, no: int, key: str, doc_id: str, keep: set[str]) -> None:
    rows = connection.execute(
        "select no, chunk_id from chunk where project_no = ? and model = ? and doc_id = ?", (no, key, doc_id)
    ).fetchall()
    stale = [(r["no"],) for r in rows if r["chunk_id"] not in keep]
    connection.executemany("delete from chunk where no = ?", stale)


def _mark(connection: sqlite3.Connection, no: int, doc_ids: Iterable[str], chunks: Sequence[StoredChunk]) -> None:
    """Move the project's generation on, and say which documents changed with it."""
    connection.execute("update project set generation = generation + 1 where no = ?", (no,))
    generation = connection.execute("select generation from project where no = ?", (no,)).fetchone()[0]
    sources = {chunk.doc_id: chunk.payload.get("source") for chunk in chunks}
    for doc_id in doc_ids:
        source: Any = sources.get(doc_id)
        source = source if isinstance(source, dict) else {}
        connection.execute(
            "insert into document (project_no, doc_id, generation, path, title, sha256) values (?, ?, ?, ?, ?, ?) "
            "on conflict do update set generation = excluded.generation, path = coalesce(excluded.path, path), "
            "title = coalesce(excluded.title, title), sha256 = coalesce(excluded.sha256, sha256)",
            (no, doc_id, generation, *(_text(source.get(name)) for name in ("path", "title", "sha256"))),
        )


def _swap_when_complete(connection: sqlite3.Connection, no: int, bound: str, model: str) -> Migration:
    old, new = _model_key(bound), _model_key(model)
    total = connection.execute("select count(*) from chunk where project_no = ? and model = ?", (no, old)).fetchone()[0]
    missing = connection.execute(
        "select count(*) from chunk a where a.project_no = ? and a.model = ? and not exists "
        "(select 1 from chunk b where b.project_no = a.project_no and b.model = ? and b.chunk_id = a.chunk_id)",
        (no, old, new),
    ).fetchone()[0]
    if missing == 0:
        connection.execute("delete from chunk where project_no = ? and model = ?", (no, old))
        connection.execute("update project set model = ? where no = ?", (model, no))
        everything = connection.execute("select doc_id from document where project_no = ?", (no,)).fetchall()
        _mark(connection, no, [r["doc_id"] for r in everything], [])
    return Migration(total - missing, total)


def _allowed(connection: sqlite3.Connection, no: int, key: str, filters: Filters) -> set[str]:
    clauses, values = ["project_no = ?", "model = ?"], [no, key]
    for column in ("citekey", "doc_id", "year"):
        value = getattr(filters, column)
        if value is not None:
            clauses.append(f"{column} = ?")
            values.append(value)
    if filters.section_prefix is not None:
        clauses.append("substr(section, 1, ?) = ?")
        values += [len(filters.section_prefix), filters.section_prefix]
    for tag in filters.tags:
        clauses.append("no in (select chunk_no from tag where tag = ?)")
        values.append(tag)
    query = f"select chunk_id from chunk where {' and '.join(clauses)}"  # noqa: S608  only our own column names
    return {row["chunk_id"] for row in connection.execute(query, values)}


def _project_row(connection: sqlite3.Connection, project: Project) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute("select * from project where id = ?", (project.id,)).fetchone()
    return row


def _document_rows(connection: sqlite3.Connection, no: int, key: str, doc_id: str) -> list[sqlite3.Row]:
    return connection.execute(
        "select * from chunk where project_no = ? and model = ? and doc_id = ? order by seq, chunk_id",
        (no, key, doc_id),
    ).fetchall()


def _chunks(connection: sqlite3.Connection, no: int, key: str, ids: Sequence[str]) -> Iterator[StoredChunk]:
    for start in range(0, len(ids), _VARIABLES):
        part = ids[start : start + _VARIABLES]
        query = f"select * from chunk where project_no = ? and model = ? and chunk_id in ({', '.join('?' * len(part))})"  # noqa: S608
        yield from map(_chunk, connection.execute(query, (no, key, *part)).fetchall())


def _chunk(row: sqlite3.Row) -> StoredChunk:
    vector = np.frombuffer(row["vector"], dtype=np.float32)
    return StoredChunk(row["chunk_id"], row["doc_id"], row["seq"], row["text"], vector, json.loads(row["payload"]))


def _model_key(model: str | None) -> str:
    """One name for all ids of our own embedding (L10)."""
    return "all-MiniLM-L6-v2" if model is not None and is_our_model(model) else model or ""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
