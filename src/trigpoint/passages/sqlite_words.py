"""The index of words of one collection in SQLite: built from its tables, and kept up to date by its own thread.

A caller waits for that thread a moment, which is enough after a write. If it takes longer, after a restore or for an
index of an older schema, searches go on with the words that are indexed so far, and `caught_up` says so.
"""

from __future__ import annotations

import fcntl
import logging
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from trigpoint.passages import sqlite_rows as rows
from trigpoint.passages.embed_models import model_key
from trigpoint.passages.lexical import LexicalIndex, Row
from trigpoint.passages.model import Passage, Rules
from trigpoint.passages.store import searched_rows
from trigpoint.passages.surroundings import NEIGHBOURS, Surroundings, surroundings

log = logging.getLogger(__name__)

_BUSY_SECONDS = 30
_PATIENCE_SECONDS = 2.0  # that callers wait for an indexing, from its beginning
_CLOSING_SECONDS = 10.0  # that a batch gets to end
_BATCH = 20_000  # passages that are indexed in one commit


@dataclass(frozen=True)
class Appended:
    """Documents that one write added passages to, behind all that they had: how many those were."""

    lengths: Mapping[str, int]

    @classmethod
    def of(cls, passages: Sequence[Passage], before: Mapping[str, tuple[int, int]]) -> Self | None:
        """Return the appended passages; None if a new one comes before an old one.

        `before` has the length and the last place of each document.
        """
        first: dict[str, int] = {}
        for passage in passages:
            first[passage.document_id] = min(passage.seq, first.get(passage.document_id, passage.seq))
        if any(document_id in before and seq <= before[document_id][1] for document_id, seq in first.items()):
            return None
        return cls({document_id: before.get(document_id, (0, 0))[0] for document_id in first})


class IndexedWords:
    """Thread-safe. `database` is the file that has the tables, `no` the collection's number in it."""

    def __init__(self, database: Path, no: int, rules: Rules) -> None:
        self._database = database
        self._no = no
        self._rules = rules
        self._folder = database.parent / "lexical"
        self.lexical = LexicalIndex(self._folder / str(no), shared=True)
        self._reached: int | None = None  # the tables' generation that the index had when we last looked
        self._indexing: threading.Thread | None = None
        self._patient_until = 0.0
        self._looking = threading.Lock()
        self._closing = threading.Event()

    def caught_up(self, generation: int, appended: Appended | None = None) -> bool:
        """Return whether the index has come to this generation of the tables, after waiting a moment for it.

        `appended` is what the last write added at the ends of documents, if it did nothing else: a document that grows by
        many writes is then not indexed from its beginning each time.
        """
        for _ in range(2):  # the first thread may be one that began before this generation
            thread = self._indexing_to(generation, appended)
            if thread is None:
                return True
            thread.join(max(0.0, self._patient_until - time.monotonic()))
            if thread.is_alive():
                return False
        return self._indexing_to(generation, appended=None, start=False) is None

    def close(self) -> None:
        self._closing.set()
        if self._indexing is not None:
            self._indexing.join(_CLOSING_SECONDS)
        self.lexical.close()

    def _indexing_to(
        self, generation: int, appended: Appended | None, *, start: bool = True
    ) -> threading.Thread | None:
        """Return the thread that indexes what is missing; None if nothing is."""
        with self._looking:
            if self._reached is None or self._reached < generation:
                self._refresh(generation)
            if self._reached is not None and self._reached >= generation:
                return None
            if start and (self._indexing is None or not self._indexing.is_alive()):
                self._indexing = self._started(appended)
            return self._indexing

    def _refresh(self, generation: int) -> None:
        """See what other processes have indexed. An index that has not yet been compared with its tables counts as behind."""
        self.lexical.refresh()
        stamp = self.lexical.stamp() or 0
        if self._reached is not None or stamp == generation:
            self._reached = stamp

    def _started(self, appended: Appended | None) -> threading.Thread:
        self._patient_until = time.monotonic() + _PATIENCE_SECONDS
        name = f"words of collection {self._no}"
        thread = threading.Thread(target=self._index, args=(appended,), name=name, daemon=True)
        thread.start()
        return thread

    def _index(self, appended: Appended | None) -> None:
        """Index what is missing, one process at a time.

        A failure costs words, not passages; the next search retries.
        """
        try:
            with (self._folder / f"{self._no}.catchup").open("ab") as turn:
                fcntl.flock(turn, fcntl.LOCK_EX)
                with closing(sqlite3.connect(self._database, timeout=_BUSY_SECONDS)) as connection:
                    connection.row_factory = sqlite3.Row
                    self._index_changes(connection, appended)
            self._reached = self.lexical.stamp() or 0
        except (OSError, ValueError, sqlite3.Error) as error:
            log.warning(
                "The index of words of collection %d is behind (%s); the next search tries again", self._no, error
            )

    def _index_changes(self, connection: sqlite3.Connection, appended: Appended | None) -> None:
        """Index every document that changed since the index's stamp; all of them if the tables are older than it."""
        project = connection.execute("select * from project where no = ?", (self._no,)).fetchone()
        self.lexical.refresh()
        stamp = self.lexical.stamp() or 0
        if stamp == project["generation"]:
            return
        if stamp > project["generation"]:
            log.warning("The index of words of '%s' is newer than its database, and is rebuilt", project["id"])
            self.lexical.replace_many([(group, ()) for group in self.lexical.groups()], stamp=0)
            stamp = 0
        key = model_key(project["model"])
        if appended is not None and stamp == project["generation"] - 1:
            self.lexical.append(self._appended_rows(connection, key, appended), stamp=project["generation"])
            return
        for batch in self._changed_since(connection, stamp, key):
            if self._closing.is_set():
                return
            self.lexical.replace_many(
                (doc_id, searched_rows(self._rules, rows.document_chunks(connection, self._no, key, doc_id)))
                for doc_id in batch
            )
        self.lexical.replace_many((), stamp=project["generation"])

    def _changed_since(self, connection: sqlite3.Connection, stamp: int, key: str) -> Iterator[list[str]]:
        """Yield the documents that changed, as many at a time as make up a batch of passages."""
        changed = connection.execute(
            "select doc_id from document where project_no = ? and generation > ?", (self._no, stamp)
        ).fetchall()
        lengths = rows.lengths(connection, self._no, key, {doc_id for (doc_id,) in changed})
        batch: list[str] = []
        size = 0
        for (doc_id,) in changed:
            batch.append(doc_id)
            size += lengths.get(doc_id, (0, 0))[0]
            if size >= _BATCH:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _appended_rows(
        self, connection: sqlite3.Connection, key: str, appended: Appended
    ) -> Iterator[tuple[str, int, Row]]:
        """Yield the new rows of each document, and the last ones before them, whose surroundings have changed."""
        for document_id, length in appended.lengths.items():
            first = max(0, length - 2 * NEIGHBOURS)  # the neighbours of those whose surroundings changed
            tail = rows.document_chunks(connection, self._no, key, document_id, skip=first)
            sections = rows.section_numbers(connection, self._no, key, document_id)
            near = surroundings([(self._rules.section(p), p.text) for p in tail])
            for place, (passage, around) in enumerate(zip(tail, near, strict=True), start=first):
                if place >= length - NEIGHBOURS:
                    number = sections[self._rules.fields(passage.metadata).get("section") or ""]
                    words = self._rules.searched_text(passage)
                    yield document_id, place, (passage.id, words, Surroundings(around.text, number))
