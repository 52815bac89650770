"""The tables of the SQLite store: what is asked of them, each within the caller's transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from trigpoint.passages import store
from trigpoint.passages.deadline import check_time
from trigpoint.passages.embed_models import model_key
from trigpoint.passages.memory import Entry
from trigpoint.passages.model import DocumentRow, Passage, Rules
from trigpoint.passages.store import Migration

_LOADED_AT_ONCE = 20_000
_READ_AT_ONCE = 200
_DECODED = 1000  # tags and facets that are remembered: those of a document's chunks are the same
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


# Databases of version 0.1.0 have no facets. Only their readers' marks need one.
_ADD_FACETS = (
    "alter table chunk add column facets text",
    """update chunk set facets = '{"kind": "highlight"}' where payload like '%"type": "annotation"%'""",
)


def prepare(connection: sqlite3.Connection) -> None:
    """Make the tables, or bring those of an earlier version up to this one."""
    connection.executescript(SCHEMA)
    if "facets" in {row["name"] for row in connection.execute("pragma table_info(chunk)")}:
        return
    connection.execute("begin immediate")
    for statement in _ADD_FACETS:
        connection.execute(statement)
    connection.commit()


def bind(connection: sqlite3.Connection, name: str, model: str) -> tuple[int, str]:
    connection.execute("insert or ignore into project (id) values (?)", (name,))
    connection.execute("update project set model = ? where id = ? and model is null", (model, name))
    row = project_row(connection, name)
    assert row is not None
    return row["no"], row["model"]


def dimensions(connection: sqlite3.Connection, no: int, key: str) -> int | None:
    """Return the dimensions of the vectors of one set; None if it is empty."""
    row = connection.execute(
        "select length(vector) / 4 from chunk where project_no = ? and model = ? limit 1", (no, key)
    ).fetchone()
    return row[0] if row else None


def insert(connection: sqlite3.Connection, no: int, key: str, rules: Rules, chunks: Sequence[Passage]) -> set[str]:
    """Insert or replace; returns the documents that lost a chunk to another one because its id moved."""
    moved = set()
    for chunk in chunks:
        fields = rules.fields(chunk.metadata)
        old = connection.execute(
            "select no, doc_id from chunk where project_no = ? and model = ? and chunk_id = ?", (no, key, chunk.id)
        ).fetchone()
        if old is not None:
            moved.add(old["doc_id"])
            connection.execute("delete from chunk where no = ?", (old["no"],))
        cursor = connection.execute(
            "insert into chunk (project_no, model, chunk_id, doc_id, seq, text, payload, vector, citekey, year, section, "
            "facets) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(no, key, chunk.id, chunk.document_id, chunk.seq, chunk.text),
                json.dumps(chunk.metadata, ensure_ascii=False),
                np.asarray(chunk.vector, dtype=np.float32).tobytes(),
                *(fields.get("citekey"), fields.get("year"), fields.get("section") or "", _facets_json(fields)),
            ),
        )
        connection.executemany(
            "insert or ignore into tag (chunk_no, tag) values (?, ?)",
            [(cursor.lastrowid, tag) for tag in fields.get("tags") or ()],
        )
    return moved


def delete_others(connection: sqlite3.Connection, no: int, key: str, doc_id: str, keep: set[str]) -> None:
    rows = connection.execute(
        "select no, chunk_id from chunk where project_no = ? and model = ? and doc_id = ?", (no, key, doc_id)
    ).fetchall()
    stale = [(r["no"],) for r in rows if r["chunk_id"] not in keep]
    connection.executemany("delete from chunk where no = ?", stale)


def mark(connection: sqlite3.Connection, no: int, doc_ids: Iterable[str], chunks: Sequence[Passage]) -> None:
    """Move the project's generation on, and say which documents changed with it."""
    connection.execute("update project set generation = generation + 1 where no = ?", (no,))
    now = generation(connection, no)
    sources = {chunk.document_id: chunk.metadata.get("source") for chunk in chunks}
    for doc_id in doc_ids:
        source: Any = sources.get(doc_id)
        source = source if isinstance(source, dict) else {}
        connection.execute(
            "insert into document (project_no, doc_id, generation, path, title, sha256) values (?, ?, ?, ?, ?, ?) "
            "on conflict do update set generation = excluded.generation, path = coalesce(excluded.path, path), "
            "title = coalesce(excluded.title, title), sha256 = coalesce(excluded.sha256, sha256)",
            (no, doc_id, now, *(_string_or_none(source.get(name)) for name in ("path", "title", "sha256"))),
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


def project_row(connection: sqlite3.Connection, name: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute("select * from project where id = ?", (name,)).fetchone()
    return row


def document_chunks(connection: sqlite3.Connection, no: int, key: str, doc_id: str, skip: int = 0) -> list[Passage]:
    """Return a document's chunks in reading order, without the first ones that are to be skipped."""
    rows = connection.execute(
        "select * from chunk where project_no = ? and model = ? and doc_id = ? order by seq, chunk_id limit -1 offset ?",
        (no, key, doc_id, skip),
    )
    chunks: list[Passage] = []
    while part := rows.fetchmany(_READ_AT_ONCE):
        check_time()
        chunks += map(chunk_of, part)
    return chunks


def generation(connection: sqlite3.Connection, no: int) -> int:
    """Return how many changes the project has seen."""
    number: int = connection.execute("select generation from project where no = ?", (no,)).fetchone()[0]
    return number


def lengths(connection: sqlite3.Connection, no: int, key: str, doc_ids: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return how many chunks each of these documents has and the place of its last one; those without any are left out."""
    lengths_by_document = {}
    for doc_id in doc_ids:
        count, last = connection.execute(
            "select count(*), max(seq) from chunk where project_no = ? and model = ? and doc_id = ?", (no, key, doc_id)
        ).fetchone()
        if count:
            lengths_by_document[doc_id] = (count, last)
    return lengths_by_document


def section_numbers(connection: sqlite3.Connection, no: int, key: str, doc_id: str) -> dict[str, int]:
    """Return the sections of a document, numbered in the order in which they begin."""
    rows = connection.execute(
        "select section from chunk where project_no = ? and model = ? and doc_id = ? order by seq, chunk_id",
        (no, key, doc_id),
    )
    return {section: number for number, section in enumerate(dict.fromkeys(row["section"] for row in rows))}


def entries(
    connection: sqlite3.Connection, no: int, key: str, doc_id: str | None = None
) -> Iterator[tuple[list[Entry], list[bytes]]]:
    """Yield what memory holds of one document's chunks, or of all, with their vectors; some at a time."""
    scope, values = "c.project_no = ? and c.model = ?", (no, key)
    if doc_id is not None:
        scope, values = f"{scope} and c.doc_id = ?", (*values, doc_id)  # type: ignore[assignment]
    cursor = connection.cursor()
    cursor.row_factory = None  # plain tuples: there may be a million of them
    cursor.execute(
        "select c.chunk_id, c.doc_id, c.citekey, c.year, c.section, c.facets, "  # noqa: S608  only our own words
        f"(select json_group_array(t.tag) from tag t where t.chunk_no = c.no), c.vector from chunk c where {scope}",
        values,
    )
    while rows := cursor.fetchmany(_LOADED_AT_ONCE):
        yield [_entry(*row[:7]) for row in rows], [row[7] for row in rows]


def _entry(
    chunk_id: str, doc_id: str, citekey: str | None, year: int | None, section: str, facets: str | None, tags: str
) -> Entry:
    fields: dict[str, Any] = {"citekey": citekey, "year": year, "section": section}
    if tags != "[]":
        fields["tags"] = _tags(tags)
    if facets:
        fields |= _facets(facets)
    return Entry(chunk_id, doc_id, fields)


@lru_cache(_DECODED)
def _tags(encoded: str) -> tuple[str, ...]:
    return tuple(sorted(json.loads(encoded)))


@lru_cache(_DECODED)
def _facets(encoded: str) -> dict[str, Any]:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in json.loads(encoded).items()}


def _facets_json(fields: Mapping[str, Any]) -> str | None:
    facets = store.facets(fields)
    return json.dumps(facets, ensure_ascii=False) if facets else None


def list_documents(connection: sqlite3.Connection, no: int, key: str) -> list[DocumentRow]:
    rows = connection.execute(
        "select d.doc_id, d.path, d.title, d.sha256, count(*) as chunks, (select f.payload from chunk f where "
        "f.project_no = d.project_no and f.model = c.model and f.doc_id = d.doc_id order by f.seq limit 1) as about "
        "from document d join chunk c on c.project_no = d.project_no and c.doc_id = d.doc_id and c.model = ? "
        "where d.project_no = ? group by d.doc_id order by d.doc_id",
        (key, no),
    )
    return [
        DocumentRow(r["doc_id"], r["path"], r["title"], r["sha256"], r["chunks"], json.loads(r["about"])) for r in rows
    ]


def delete_document(connection: sqlite3.Connection, no: int, key: str, doc_id: str) -> int:
    """Return the number of chunks that are gone; those of a set in migration go too, and do not count."""
    condition = "project_no = ? and doc_id = ? and model"
    gone = connection.execute(f"delete from chunk where {condition} = ?", (no, doc_id, key)).rowcount  # noqa: S608
    connection.execute(f"delete from chunk where {condition} != ?", (no, doc_id, key))  # noqa: S608
    return gone


def size(connection: sqlite3.Connection, no: int, key: str) -> int:
    row = connection.execute("select count(*) from chunk where project_no = ? and model = ?", (no, key)).fetchone()
    return int(row[0])


def first_chunks(connection: sqlite3.Connection, no: int, key: str, count: int) -> list[Passage]:
    rows = connection.execute(
        "select * from chunk where project_no = ? and model = ? order by doc_id, seq limit ?", (no, key, count)
    )
    return [chunk_of(row) for row in rows]


def read_chunks(connection: sqlite3.Connection, no: int, key: str, ids: Sequence[str]) -> Iterator[Passage]:
    for start in range(0, len(ids), _VARIABLES):
        part = ids[start : start + _VARIABLES]
        query = f"select * from chunk where project_no = ? and model = ? and chunk_id in ({', '.join('?' * len(part))})"  # noqa: S608
        yield from map(chunk_of, connection.execute(query, (no, key, *part)).fetchall())


def chunk_of(row: sqlite3.Row) -> Passage:
    vector = np.frombuffer(row["vector"], dtype=np.float32)
    return Passage(row["chunk_id"], row["doc_id"], row["seq"], row["text"], json.loads(row["payload"]), vector)


def _string_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
