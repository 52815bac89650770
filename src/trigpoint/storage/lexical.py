"""Lexical: BM25 over passages (tantivy, English stemming; k1 1.2, b 0.75), in a folder or in memory.

Rows belong to a group (a document, a revision), the unit of filter and of replacement. The index is derived: its
owner rebuilds it from the passages when `groups()` tells that it is missing or behind. One writer a folder.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import tantivy

_ANALYZER = "passage"
_WRITER_BYTES = 32_000_000
_MOST_QUERY_TERMS = 256


class LexicalIndex:
    """Thread-safe. Every change is committed, and visible to the next search, before the call returns."""

    def __init__(self, folder: Path | None) -> None:
        self._analyzer = (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
            .filter(tantivy.Filter.remove_long(60))
            .filter(tantivy.Filter.lowercase())
            .filter(tantivy.Filter.ascii_fold())
            .filter(tantivy.Filter.stemmer("english"))
            .build()
        )
        self._index = self._open(folder)
        self._index.register_tokenizer(_ANALYZER, self._analyzer)
        self._writer = self._index.writer(heap_size=_WRITER_BYTES, num_threads=1)
        self._writing = threading.Lock()

    def replace(self, group: str, rows: Iterable[tuple[str, str]]) -> None:
        """Make these (id, text) rows the group's only rows."""
        self.replace_many([(group, rows)])

    def replace_many(self, groups: Iterable[tuple[str, Iterable[tuple[str, str]]]]) -> None:
        """Replace several groups in one commit; for rebuilding."""
        with self._writing:
            for group, rows in groups:
                self._writer.delete_documents_by_term("group", group)
                for passage_id, text in rows:
                    self._writer.add_document(tantivy.Document(id=passage_id, group=group, body=text))
            self._commit()

    def remove(self, group: str) -> None:
        with self._writing:
            self._writer.delete_documents_by_term("group", group)
            self._commit()

    def search(self, query: str, limit: int, groups: Sequence[str] | None = None) -> list[tuple[str, float]]:
        """The best (id, BM25 score) pairs for any of the query's words, best first; ties by id."""
        terms = list(dict.fromkeys(self._analyzer.analyze(query)))[:_MOST_QUERY_TERMS]
        if not terms or limit < 1 or (groups is not None and not groups):
            return []
        schema = self._index.schema
        words = tantivy.Query.boolean_query(
            [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", term)) for term in terms]
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
        return dict(searcher.terms_with_prefix("group", "", filter_query=tantivy.Query.all_query()))

    def close(self) -> None:
        with self._writing:
            self._writer.wait_merging_threads()

    def _commit(self) -> None:
        self._writer.commit()
        self._index.reload()

    @staticmethod
    def _open(folder: Path | None) -> tantivy.Index:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("group", tokenizer_name="raw", index_option="basic")
        builder.add_text_field("body", tokenizer_name=_ANALYZER, index_option="freq")
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
