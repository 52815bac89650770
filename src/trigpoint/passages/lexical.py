"""Finds passages by their words: BM25 with English stemming (tantivy; k1 1.2, b 0.75), in a folder or in memory.

A passage is found by its own words and by those of its neighbours; of neighbours that are found by the same words, the
one that contains them comes first. Scores say how much of the question a passage covers: 1 would be all of its words,
as strongly as BM25 allows.

Rows belong to a group (a document, a revision), the unit of filter and of replacement. The index is derived: its
owner rebuilds it from the passages when `groups()` or `stamp()` tells that it is missing or behind. One writer a
folder; with `shared`, several processes take turns.
"""

from __future__ import annotations

import fcntl
import hashlib
import math
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tantivy

from trigpoint.passages.surroundings import NEIGHBOURS, Surroundings

SCHEMA_VERSION = 2  # an index of another version has other fields: it is emptied when opened, and so rebuilt

_ANALYZER = "passage"
_WRITER_BYTES = 32_000_000
_MOST_QUERY_TERMS = 256
_STAMP = "\0stamp"
_EVERY = f"make_up_{SCHEMA_VERSION}"  # a field that every row has
_K1 = 1.2  # tantivy's
_CONTEXT_COST = 0.5  # share of its score that a passage loses if a neighbour has all the words and it has none
_PLACES = 1 << 16  # in a section, by which the index recognises neighbours

Row = tuple[str, str] | tuple[str, str, Surroundings]  # id, own words, and the words around it

# Words that ask or join and say nothing about the subject. They count in passages (as their length), not in questions.
STOP_WORDS = tuple(
    """
    a about according all also am an and any are as at be been being between both but by can could did do does doing
    during each either else for from had has have having he her here hers him his how however i if in into is it its
    itself let may me might more most must my neither no nor not of off on once only or other our ours out over own
    per please say says shall she should so some such than that the their theirs them then there these they this those through
    to too under until up upon us very was we were what when where whether which while who whom whose why will with
    within without would yes you your yours
    """.split()
)


def passage_analyzer(stop_words: Sequence[str] = ()) -> tantivy.TextAnalyzer:
    """Return the analyzer that turns a text into the words that are compared."""
    builder = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(60))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
    )
    if stop_words:
        builder = builder.filter(tantivy.Filter.custom_stopword(list(stop_words)))
    return builder.filter(tantivy.Filter.stemmer("english")).build()


def question_words(question: str) -> list[str]:
    """Return the stems that a question is about, each once; all of them if it consists of stop words."""
    stems = _QUESTION_ANALYZER.analyze(question) or _PASSAGE_ANALYZER.analyze(question)
    return list(dict.fromkeys(stems))[:_MOST_QUERY_TERMS]


_PASSAGE_ANALYZER = passage_analyzer()
_QUESTION_ANALYZER = passage_analyzer(STOP_WORDS)


class LexicalIndex:
    """Thread-safe. Every change is committed, and visible to the next search, before the call returns."""

    def __init__(self, folder: Path | None, *, shared: bool = False) -> None:
        self._index = self._open(folder)
        self._index.register_tokenizer(_ANALYZER, _PASSAGE_ANALYZER)
        self.shared = shared
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
                for place, row in enumerate(rows):
                    writer.add_document(_document(group, place, row))
            if stamp is not None:
                writer.delete_documents_by_term("group", _STAMP)
                writer.add_document(tantivy.Document(id=str(stamp), group=_STAMP, body=""))

    def append(self, rows: Iterable[tuple[str, int, Row]], *, stamp: int) -> None:
        """Add rows, each with its group and place, in one commit; a row with the same id goes. The others stay as they are."""
        with self._changing() as writer:
            for group, place, row in rows:
                writer.delete_documents_by_term("id", row[0])
                writer.add_document(_document(group, place, row))
            writer.delete_documents_by_term("group", _STAMP)
            writer.add_document(tantivy.Document(id=str(stamp), group=_STAMP, body=""))

    def remove(self, group: str) -> None:
        with self._changing() as writer:
            writer.delete_documents_by_term("group", group)

    def stamp(self) -> int | None:
        """Return the number that the last stamped change left: how far this index has come."""
        searcher = self._index.searcher()
        query = tantivy.Query.term_query(self._index.schema, "group", _STAMP)
        hits = searcher.search(query, 1, count=False).hits
        return int(str(searcher.doc(hits[0][1]).get_first("id"))) if hits else None

    def refresh(self) -> None:
        """See what other processes have committed."""
        self._index.reload()

    def search(self, query: str, limit: int, groups: Sequence[str] | None = None) -> list[tuple[str, float]]:
        """Return the best (id, score) pairs for any of the question's words, best first; equal scores by id."""
        words = question_words(query)
        if not words or limit < 1 or (groups is not None and not groups):
            return []
        searcher = self._index.searcher()
        hits = searcher.search(self._query("body", words, groups), limit, count=False).hits
        own = searcher.search(self._query("own", words, groups), limit, count=False).hits
        own_scores = dict(zip(_places_of(searcher, own), (score for score, _ in own), strict=True))
        shares = _shares_of_own_words(_places_of(searcher, hits), own_scores)
        covered = np.array([score for score, _ in hits]) * shares / self._most_possible(searcher, words)
        ids = [str(searcher.doc(address).get_first("id")) for _, address in hits]
        found = sorted(zip((-covered.clip(max=1.0)).tolist(), ids, strict=True))
        return [(passage_id, -score) for score, passage_id in found]

    def _query(self, field: str, words: Sequence[str], groups: Sequence[str] | None) -> tantivy.Query:
        schema = self._index.schema
        query = tantivy.Query.boolean_query(
            [(tantivy.Occur.Should, tantivy.Query.term_query(schema, field, word)) for word in words]
        )
        if groups is None:
            return query
        wanted = tantivy.Query.const_score_query(tantivy.Query.term_set_query(schema, "group", list(groups)), 0.0)
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, wanted)])

    @staticmethod
    def _most_possible(searcher: tantivy.Searcher, words: Sequence[str]) -> float:
        """Return the BM25 score of a text that has every word without end; a word that nobody has counts most."""
        count = searcher.doc_freq(_EVERY, "yes")  # as BM25 counts: with the rows that were removed a short time ago
        frequencies = [searcher.doc_freq("body", word) for word in words]
        return sum((1 + _K1) * math.log(1 + (count - n + 0.5) / (n + 0.5)) for n in frequencies)

    def groups(self) -> dict[str, int]:
        """Return how many rows each group has."""
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
        """Yield one change, committed as a whole; rolled back when it fails."""
        with self._writing, self._turn.open("ab") if self._turn else nullcontext() as lock:
            if lock is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
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

    def _new_writer(self) -> Any:
        return self._index.writer(heap_size=_WRITER_BYTES, num_threads=1)

    @staticmethod
    def _open(folder: Path | None) -> tantivy.Index:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("group", tokenizer_name="raw", index_option="basic")
        builder.add_text_field("body", tokenizer_name=_ANALYZER, index_option="freq")
        builder.add_text_field("own", tokenizer_name=_ANALYZER, index_option="freq")
        builder.add_integer_field("place", fast=True)
        builder.add_text_field(_EVERY, tokenizer_name="raw", index_option="basic")
        schema = builder.build()
        if folder is None:
            return tantivy.Index(schema)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            return tantivy.Index(schema, path=str(folder))
        except ValueError:  # damaged, or of another schema: it is derived, so it is emptied and rebuilt
            shutil.rmtree(folder)
            folder.mkdir(parents=True)
            return tantivy.Index(schema, path=str(folder))


def _document(group: str, place: int, row: Row) -> tantivy.Document:
    passage_id, text, *rest = row
    around = rest[0] if rest else Surroundings()
    body = f"{text}\n{around.text}" if around.text else text
    return tantivy.Document(
        id=passage_id,
        group=group,
        body=body,
        own=text,
        place=_numbered_place(group, around.section, place),
        **{_EVERY: "yes"},
    )


def _numbered_place(group: str, section: int, place: int) -> int:
    """Return a number that differs by one between neighbours in a section, and by far between sections."""
    digest = hashlib.blake2b(f"{group}\0{section}".encode(), digest_size=5).digest()
    return int.from_bytes(digest) * _PLACES + NEIGHBOURS + place % (_PLACES - 2 * NEIGHBOURS)


def _places_of(searcher: tantivy.Searcher, hits: Sequence[tuple[Any, tantivy.DocAddress]]) -> list[int]:
    return [int(place or 0) for place in searcher.fast_field_values("place", [address for _, address in hits])]


def _shares_of_own_words(places: Sequence[int], own: Mapping[int, float]) -> npt.NDArray[np.float64]:
    """Return what each passage keeps of its score: all if no neighbour has more of the words than it has itself."""
    if not places or not own:
        return np.ones(len(places))
    known = np.array(sorted(own))
    scores = np.array([own[place] for place in known.tolist()])
    around = np.array(places)[:, np.newaxis] + np.arange(-NEIGHBOURS, NEIGHBOURS + 1)
    at = np.searchsorted(known, around).clip(max=len(known) - 1)
    near = np.where(known[at] == around, scores[at], 0.0)
    best, mine = near.max(axis=1), near[:, NEIGHBOURS]
    shares: npt.NDArray[np.float64] = np.divide(mine, best, out=np.ones(len(best)), where=best > 0)
    return 1 - _CONTEXT_COST * (1 - shares)
