"""Lexical: BM25 over passages (tantivy, English stemming; k1 1.2, b 0.75), in a folder or in memory.

Rows belong to a group (a document, a revision), the unit of filter and of replacement. The index is derived: its
owner rebuilds it from the passages when `groups()` or `stamp()` tells that it is missing or behind. One writer a
folder; with `shared`, several processes take turns.
"""

from __future__ import annotations

import fcntl
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tantivy

_ANALYZER = "passage"
_WRITER_BYTES = 32_000_000
_MOST_QUERY_TERMS = 256
_STAMP = "\0stamp"
_OWN_WEIGHT = 0.01  # breaks ties between a passage that says it and its neighbours; more costs quality, measured

Row = tuple[str, str] | tuple[str, str, str]  # id, text, and what stands around it, which is searched with it


def passage_analyzer() -> tantivy.TextAnalyzer:
    """How a text becomes the words that are compared."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(60))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


class LexicalIndex:
    """Thread-safe. Every change is committed, and visible to the next search, before the call returns."""

    def __init__(self, folder: Path | None, *, shared: bool = False) -> None:
        self._analyzer = passage_analyzer()
        self._index = self._open(folder)
        self._index.register_tokenizer(_ANALYZER, self._analyzer)
        self._turn = folder.with_name(f"{folder.name}.lock") if shared and folder is not None else None
        self._writer = None if self._turn else self._new_writer()
        self._writing = threading.Lock()

    def replace(self, group: str, rows: Iterable[Row]) -> None:
        """Make these rows the group's only rows."""
        self.replace_many([(group, rows)])

    def replace_many(self, groups: Iterable[tuple[str, Iterable[Row]]], *, stamp: int | None = None) -> None:
        """Replace several groups, and set the stamp, in one commit."""
        with self._changing() as writer:
            for group, rows in groups:
                writer.delete_documents_by_term("group", group)
                for passage_id, text, *around in rows:
                    writer.add_document(_document(passage_id, group, text, around[0] if around else ""))
            if stamp is not None:
                writer.delete_documents_by_term("group", _STAMP)
                writer.add_document(tantivy.Document(id=str(stamp), group=_STAMP, body=""))

    def remove(self, group: str) -> None:
        with self._changing() as writer:
            writer.delete_documents_by_term("group", group)

    def stamp(self) -> int | None:
        """The number that the last stamped change left: how far this index has come."""
        searcher = self._index.searcher()
        query = tantivy.Query.term_query(self._index.schema, "group", _STAMP)
        hits = searcher.search(query, 1, count=False).hits
        return int(str(searcher.doc(hits[0][1]).get_first("id"))) if hits else None

    def refresh(self) -> None:
        """See what other processes have committed."""
        self._index.reload()

    def search(self, query: str, limit: int, groups: Sequence[str] | None = None) -> list[tuple[str, float]]:
        """The best (id, BM25 score) pairs for any of the query's words, best first; ties by id."""
        terms = list(dict.fromkeys(self._analyzer.analyze(query)))[:_MOST_QUERY_TERMS]
        if not terms or limit < 1 or (groups is not None and not groups):
            return []
        schema = self._index.schema
        words = tantivy.Query.boolean_query(
            [(tantivy.Occur.Should, _term(schema, term, field)) for term in terms for field in ("body", "own")]
        )
        if groups is not None:
            wanted = tantivy.Query.term_set_query(schema, "group", list(groups))
            words = tantivy.Query.boolean_query(
                [
                    (tantivy.Occur.Must, words),
                    (tantivy.Occur.Must, tantivy.Query.const_score_query(wanted, 0.0)),
                ]
            )
        searcher = self._index.searcher()
        hits = searcher.search(words, limit, count=False).hits
        found = [(str(searcher.doc(address).get_first("id")), float(score)) for score, address in hits]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))

    def groups(self) -> dict[str, int]:
        """How many rows each group has."""
        searcher = self._index.searcher()
        counts = dict(searcher.terms_with_prefix("group", "", filter_query=tantivy.Query.all_query()))
        counts.pop(_STAMP, None)
        return counts

    def close(self) -> None:
        with self._writing:
            if self._writer is not None:
                self._writer.wait_merging_threads()
                self._writer = None

    @contextmanager
    def _changing(self) -> Iterator[Any]:
        """One change, committed as a whole; rolled back when it fails."""
        with self._writing, self._my_turn():
            writer = self._writer or self._new_writer()
            try:
                yield writer
                writer.commit()
            except BaseException:
                writer.rollback()
                raise
            finally:
                if writer is not self._writer:
                    writer.wait_merging_threads()
            self._index.reload()

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        if self._turn is None:
            yield
            return
        with self._turn.open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _new_writer(self) -> Any:
        return self._index.writer(heap_size=_WRITER_BYTES, num_threads=1)

    @staticmethod
    def _open(folder: Path | None) -> tantivy.Index:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("group", tokenizer_name="raw", index_option="basic")
        builder.add_text_field("body", tokenizer_name=_ANALYZER, index_option="freq")
        builder.add_text_field("own", tokenizer_name=_ANALYZER, index_option="freq")
        schema = builder.build()
        if folder is None:
            return tantivy.Index(schema)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            return tantivy.Index(schema, path=str(folder))
        except ValueError:  # damaged, or of another schema: it is derived, so it starts anew and is rebuilt
            shutil.rmtree(folder)
            folder.mkdir(parents=True)
            return tantivy.Index(schema, path=str(folder))


def _document(passage_id: str, group: str, text: str, around: str) -> tantivy.Document:
    """Without anything around it, a passage needs no field to tell its own words by."""
    if not around:
        return tantivy.Document(id=passage_id, group=group, body=text)
    return tantivy.Document(id=passage_id, group=group, body=f"{text}\n{around}", own=text)


def _term(schema: tantivy.Schema, term: str, field: str) -> tantivy.Query:
    query = tantivy.Query.term_query(schema, field, term)
    return query if field == "body" else tantivy.Query.boost_query(query, _OWN_WEIGHT)
