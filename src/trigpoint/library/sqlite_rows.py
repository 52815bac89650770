"""The tables of the SQLite store: what is asked of them, each within the caller's transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from trigpoint.library.projects import Project, model_key
from trigpoint.library.store import SECTION_JOINT, DocumentRow, Filters, Migration, StoredChunk

_VARIABLES = 900  # below SQLite's oldest limit on bound values

SCHEMA = """
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


def bind(connection: sqlite3.Connection, project: Project, model: str) -> tuple[int, str]:
    connection.execute("insert or ignore into project (id) values (?)", (project.id,))
    connection.execute("update project set model = ? where id = ? and model is null", (model, project.id))
    row = project_row(connection, project)
    assert row is not None
    return row["no"], row["model"]


def dimensions(connection: sqlite3.Connection, no: int, key: str) -> int | None:
    """Of the vectors of one set; None where it is empty."""
    row = connection.execute(
        "select length(vector) / 4 from chunk where project_no = ? and model = ? limit 1", (no, key)
    ).fetchone()
    return row[0] if row else None


def insert(connection: sqlite3.Connection, no: int, key: str, chunks: Sequence[StoredChunk]) -> set[str]:
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


def delete_others(connection: sqlite3.Connection, no: int, key: str, doc_id: str, keep: set[str]) -> None:
    rows = connection.execute(
        "select no, chunk_id from chunk where project_no = ? and model = ? and doc_id = ?", (no, key, doc_id)
    ).fetchall()
    stale = [(r["no"],) for r in rows if r["chunk_id"] not in keep]
    connection.executemany("delete from chunk where no = ?", stale)


def mark(connection: sqlite3.Connection, no: int, doc_ids: Iterable[str], chunks: Sequence[StoredChunk]) -> None:
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


def swap_when_complete(connection: sqlite3.Connection, no: int, bound: str, model: str) -> Migration:
    old, new = model_key(bound), model_key(model)
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
        mark(connection, no, [r["doc_id"] for r in everything], [])
    return Migration(total - missing, total)


def allowed(connection: sqlite3.Connection, no: int, key: str, filters: Filters) -> dict[str, str] | None:
    """The chunks that the filters let through, each with its document; None without a filter."""
    if not filters:
        return None
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
    query = f"select chunk_id, doc_id from chunk where {' and '.join(clauses)}"  # noqa: S608  only our own column names
    return dict(connection.execute(query, values).fetchall())


def project_row(connection: sqlite3.Connection, project: Project) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute("select * from project where id = ?", (project.id,)).fetchone()
    return row


def document_rows(connection: sqlite3.Connection, no: int, key: str, doc_id: str) -> list[sqlite3.Row]:
    return connection.execute(
        "select * from chunk where project_no = ? and model = ? and doc_id = ? order by seq, chunk_id",
        (no, key, doc_id),
    ).fetchall()


def document_chunks(connection: sqlite3.Connection, no: int, key: str, doc_id: str) -> list[StoredChunk]:
    """A document's chunks in reading order."""
    return [chunk_of(row) for row in document_rows(connection, no, key, doc_id)]


def list_documents(connection: sqlite3.Connection, no: int, key: str) -> list[DocumentRow]:
    found = connection.execute(
        "select d.doc_id, d.path, d.title, d.sha256, count(*) as chunks from document d join chunk c "
        "on c.project_no = d.project_no and c.doc_id = d.doc_id and c.model = ? "
        "where d.project_no = ? group by d.doc_id order by d.doc_id",
        (key, no),
    )
    return [DocumentRow(r["doc_id"], r["path"], r["title"], r["sha256"], r["chunks"]) for r in found]


def delete_document(connection: sqlite3.Connection, no: int, key: str, doc_id: str) -> int:
    """The number of chunks that are gone; those of a set in migration go too, and do not count."""
    condition = "project_no = ? and doc_id = ? and model"
    gone = connection.execute(f"delete from chunk where {condition} = ?", (no, doc_id, key)).rowcount  # noqa: S608
    connection.execute(f"delete from chunk where {condition} != ?", (no, doc_id, key))  # noqa: S608
    return gone


def size_and_first(connection: sqlite3.Connection, no: int, key: str, count: int) -> tuple[int, list[StoredChunk]]:
    scope = (no, key)
    size = connection.execute("select count(*) from chunk where project_no = ? and model = ?", scope).fetchone()[0]
    first = connection.execute(
        "select * from chunk where project_no = ? and model = ? order by doc_id, seq limit ?", (*scope, count)
    )
    return size, [chunk_of(row) for row in first]


def read_chunks(connection: sqlite3.Connection, no: int, key: str, ids: Sequence[str]) -> Iterator[StoredChunk]:
    for start in range(0, len(ids), _VARIABLES):
        part = ids[start : start + _VARIABLES]
        query = f"select * from chunk where project_no = ? and model = ? and chunk_id in ({', '.join('?' * len(part))})"  # noqa: S608
        yield from map(chunk_of, connection.execute(query, (no, key, *part)).fetchall())


def chunk_of(row: sqlite3.Row) -> StoredChunk:
    vector = np.frombuffer(row["vector"], dtype=np.float32)
    return StoredChunk(row["chunk_id"], row["doc_id"], row["seq"], row["text"], vector, json.loads(row["payload"]))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
