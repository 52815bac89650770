"""Passages in Chroma, under the ids and with the metadata that their contract fixes; all of them in memory, too.

A search asks Chroma nothing. A ledger, one record a document in a collection of ours, says which version of the document
answers and where in its text its passages are. A document is replaced in these steps, and a crash between any two of
them is finished by the next process that looks:

1. the whole new set goes into the journal; from here on the change will happen
2. the ledger says that the document is changing: readers keep the old set, or wait for the new one
3. the new passages are written over the old ones, and what is left of those is deleted
4. the ledger names the new version, memory and words follow, the mark moves
5. the journal forgets the change
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace as with_changes
from pathlib import Path
from typing import Any

import numpy as np

from trigpoint.errors import StoreError
from trigpoint.passages.contents import Contents
from trigpoint.passages.journal import Change, Journal, unpack
from trigpoint.passages.ledger import Place, ledger_row, places_in
from trigpoint.passages.lexical import LexicalIndex
from trigpoint.passages.local import LocalCandidates
from trigpoint.passages.marks import HEAD, FileMark, Mark, RecordMark
from trigpoint.passages.memory import Entry, Memory, Snapshot
from trigpoint.passages.model import DocumentRow, Hit, Passage, Question, Rules, Vector, Where
from trigpoint.passages.search import rank
from trigpoint.passages.store import Inspection, Migration, always, ask, searched_rows
from trigpoint.storage.chroma import ChromaStore, Collection, Record

log = logging.getLogger(__name__)

_RETRY_SECONDS = 1.0


class ChromaPassages:
    """See `PassageStore`. `fingerprint` is asked for at the first use, since it needs the model."""

    def __init__(
        self, store: ChromaStore, folder: Path, name: str, ledger: str, rules: Rules, fingerprint: Callable[[], str]
    ) -> None:
        self._store = store
        self._name = name
        self._rules = rules
        self._fingerprint = fingerprint
        self._records: Collection | None = None
        self._folder = folder
        self._ledger = store.collection(ledger)
        self._contents = Contents(store.collection(f"{ledger}_contents"))
        self.journal = Journal(folder / "journal")
        self.mark: Mark = FileMark(folder / "changes") if store.folder else RecordMark(self._ledger)
        self.lexical = LexicalIndex(folder / "lexical" if store.folder else None, shared=store.folder is not None)
        self._memory = Memory()
        self._versions: dict[str, str] = {}  # of the documents in memory
        self._seen: str | None = None  # the mark up to which memory has read; None: nothing has been read yet
        self._refreshing = threading.RLock()
        self._retry_at = 0.0

    @property
    def records(self) -> Collection:
        """The collection as others see it."""
        if self._records is None:
            self._records = self._store.collection(self._name, fingerprint=self._fingerprint())
        return self._records

    # --- changing ---

    def write(
        self,
        passages: Sequence[Passage],
        *,
        replace: Sequence[str] = (),
        model: str | None = None,
        migrate: bool = False,
        allow: Callable[[], bool] = always,
        contents: Mapping[str, str] | None = None,
    ) -> Migration | None:
        """Write passages; `contents` are texts to keep with documents, such as the whole of each."""
        with self.journal.turn():
            self.finish_interrupted()
            documents, texts = self._changed(self._current(), passages, set(replace), contents or {})
            ask(allow)
            self._perform(documents, texts)
        return None

    def delete(self, document_id: str, *, allow: Callable[[], bool] = always) -> int:
        with self.journal.turn():
            self.finish_interrupted()
            gone = len(self._current().members.get(document_id, ()))
            if gone:
                ask(allow)
                self._perform({document_id: ()}, {})
            return gone

    def _changed(
        self, now: Snapshot, passages: Sequence[Passage], replaced: set[str], contents: Mapping[str, str]
    ) -> tuple[dict[str, list[Passage]], dict[str, str]]:
        """Return the whole new set of every document that gains or loses a passage, and what is kept with it."""
        new: dict[str, dict[str, Passage]] = {document_id: {} for document_id in sorted(replaced)}
        moved = {now.document_of(now.places[p.id]) for p in passages if p.id in now.places}
        for document_id in sorted(({p.document_id for p in passages} | moved) - replaced):
            kept = self._placed(document_id, now.members.get(document_id, ()), now)
            new[document_id] = {passage.id: passage for passage in kept}
        written = {passage.id for passage in passages}
        for members in new.values():
            for passage_id in written & members.keys():
                del members[passage_id]
        for passage in passages:
            new[passage.document_id][passage.id] = passage
        ordered = {i: sorted(members.values(), key=lambda p: (p.seq, p.id)) for i, members in new.items()}
        texts = {i: contents.get(i) if i in replaced else self.content(i) for i in ordered}
        return ordered, {i: text for i, text in texts.items() if text is not None}

    def place(self, document_id: str, places: Mapping[str, Place]) -> None:
        """Record the places of a document's passages in its text; the passages themselves stay as they are."""
        with self.journal.turn():
            self.finish_interrupted()
            passages = [
                with_changes(p, start=places[p.id][0], end=places[p.id][1], pages=places[p.id][2])
                for p in self.document(document_id)
                if p.id in places
            ]
            change = Change({document_id: passages}, {})
            self._note(change, changing=False)
            self._versions[document_id] = change.id
            self.move_mark()

    def _perform(self, documents: Mapping[str, Sequence[Passage]], contents: Mapping[str, str]) -> None:
        change = Change(documents, {i: self._versions.get(i, "") for i in documents}, contents)
        with self._explained():
            path = self.journal.commit(change)
            self._apply(change)
            path.unlink()

    def move_mark(self) -> None:
        """Let others look again. What we have seen stays seen, if nobody else has changed anything since."""
        with self._refreshing:
            current = self._seen is not None and self._seen == self.mark.read()
            mark = self.mark.move()
            if current and self.mark.exclusive:
                self._seen = mark

    def _apply(self, change: Change) -> None:
        """Carry out a change of the journal. May be repeated."""
        self._note(change, changing=True)
        self._write_records(change)
        self._contents.write(change.id, change.contents)
        with (
            self._refreshing
        ):  # a search that looked in between would index the same words, and BM25 would count them twice
            self._note(change, changing=False)
            self._remember(change.documents, dict.fromkeys(change.documents, change.id))
            self._index(change.documents)
        self._contents.remove_others(change.documents, change.id)
        self.move_mark()

    def _note(self, change: Change, *, changing: bool) -> None:
        """Tell in the ledger which version of each document answers; one that is empty has none."""
        kept = [i for i, passages in change.documents.items() if passages or changing]
        if kept:
            rows = [ledger_row(change, document_id, changing=changing) for document_id in kept]
            nowhere = np.zeros((len(kept), 1), dtype=np.float32)
            self._ledger.upsert(kept, nowhere, [text for text, _ in rows], [metadata for _, metadata in rows])
        self._ledger.delete([document_id for document_id in change.documents if document_id not in kept])

    def _write_records(self, change: Change) -> None:
        filters = [{self._rules.document_key: i} for i in change.documents]
        stale = {r.id: r.metadata for where in filters for r in self.records.get(where=where, texts=False)}
        kept = self._with_known_vectors([p for p in change.passages if p.id in stale])
        moved = [p for p in change.passages if p.id not in kept]
        if moved:
            vectors: Vector = np.array([p.vector for p in moved], dtype=np.float32)
            self.records.upsert([p.id for p in moved], vectors, *_texts_and_fields(moved, stale))
        same = [p for p in change.passages if p.id in kept]  # to write their vectors, too, takes several times as long
        self.records.update([p.id for p in same], *_texts_and_fields(same, stale))
        self.records.delete(sorted(stale.keys() - {p.id for p in change.passages}))

    def _with_known_vectors(self, passages: Sequence[Passage]) -> set[str]:
        """Return the ids of those that Chroma has with this very vector: none, unless memory is surely up to date."""
        with self._refreshing:
            if not self.mark.exclusive or self._seen is None or self._seen != self.mark.read():
                return set()
            now = self._memory.snapshot
        known = [(p, now.matrix[now.places[p.id]]) for p in passages if p.id in now.places]
        return {p.id for p, vector in known if p.vector is not None and np.array_equal(vector, p.vector)}

    # --- what was interrupted, here or elsewhere ---

    def finish_interrupted(self) -> None:
        """Apply the changes that the journal still has. Raises StoreError; then they are tried again later."""
        with self.journal.turn(), self._explained():
            for path in self.journal.pending():
                change = unpack(path.read_bytes())
                if self._superseded(change):
                    log.warning("An interrupted change of %s was overtaken by a later one", list(change.documents))
                else:
                    log.info("Finishing the interrupted change of %s", list(change.documents))
                    self._apply(change)
                path.unlink()

    def _superseded(self, change: Change) -> bool:
        """Return whether another machine has changed one of the documents since."""
        rows = {row.id: str(row.metadata.get("version", "")) for row in self._ledger.get(ids=list(change.documents))}
        return any(
            rows.get(document_id, "") not in (before, change.id, "") for document_id, before in change.before.items()
        )

    def _current(self) -> Snapshot:
        """Return memory, brought up to date with the store. Interrupted changes are finished first, if possible."""
        if self._seen is None:
            self._begin()
        if self.journal.pending() and time.monotonic() >= self._retry_at and self.journal.idle():
            self._try_to_finish()
        mark = self.mark.read()
        if mark != self._seen:
            with self._refreshing:
                if mark != self._seen:
                    self._refresh()
                    self._seen = mark
        return self._memory.snapshot

    def _begin(self) -> None:
        """Read all of it, at the first use. Nobody changes anything meanwhile."""
        with self.journal.turn(), self._refreshing:
            if self._seen is None:
                self.finish_interrupted()
                mark = self.mark.read()
                self._load()
                self._index_what_is_behind()
                self._seen = mark

    def _try_to_finish(self) -> None:
        try:
            self.finish_interrupted()
        except StoreError as error:
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            log.warning("An interrupted change cannot be finished yet, will try again: %s", error.message)

    def _refresh(self) -> None:
        """Read the documents whose version has changed. One that is changing now stays as it was."""
        whole, changing = self._ledgered()
        known = self._versions
        changed = {i for i in whole.keys() | known.keys() if whole.get(i, "") != known.get(i, "")} - changing
        if changed:
            documents = {i: self._read(i) for i in changed}
            if not self.lexical.shared:  # else whoever changed them has indexed them
                self._index(documents)
            self._remember(documents, {i: whole.get(i, "") for i in changed})
        self._index_what_is_behind()

    def _ledgered(self) -> tuple[dict[str, str], set[str]]:
        """Return the versions of the documents that are whole, and the documents that are changing."""
        rows = {row.id: row.metadata for row in self._ledger.get(texts=False) if row.id != HEAD}
        whole = {i: str(about.get("version", "")) for i, about in rows.items() if about.get("state") != "changing"}
        return whole, rows.keys() - whole.keys()

    def _load(self) -> None:
        versions, changing = self._ledgered()
        memory = Memory()
        for page in self.records.pages(embeddings=True):
            records = [r for r in page if str(r.metadata.get(self._rules.document_key, "")) not in changing]
            if records:
                vectors: Vector = np.array([r.embedding for r in records], dtype=np.float32)
                memory.replace((), [self._entry(self._passage(record)) for record in records], vectors)
        self._memory = memory
        self._versions = {i: versions.get(i, "") for i in memory.snapshot.members}

    def _read(self, document_id: str) -> list[Passage]:
        where = {self._rules.document_key: document_id}
        return [self._passage(record) for record in self.records.get(where=where, embeddings=True)]

    def _remember(self, documents: Mapping[str, Sequence[Passage]], versions: Mapping[str, str]) -> None:
        passages = [passage for found in documents.values() for passage in found]
        vectors: Vector | None = np.array([p.vector for p in passages], dtype=np.float32) if passages else None
        with self._refreshing:
            if self._seen is None:
                return  # all of it will be read at the first use
            self._memory.replace(documents, [self._entry(passage) for passage in passages], vectors)
            self._versions = {
                **{i: v for i, v in self._versions.items() if i not in documents},
                **{i: versions[i] for i, found in documents.items() if found},
            }

    # --- words ---

    def _index(self, documents: Mapping[str, Sequence[Passage]]) -> None:
        self.lexical.replace_many(
            (document_id, searched_rows(self._rules, sorted(passages, key=lambda p: (p.seq, p.id))))
            for document_id, passages in documents.items()
        )

    def _index_what_is_behind(self) -> None:
        """Bring the index of words up to date from memory: it is derived, so it can always be completed."""
        self.lexical.refresh()
        now, indexed = self._memory.snapshot, self.lexical.groups()
        behind = [i for i in now.members.keys() | indexed.keys() if len(now.members.get(i, ())) != indexed.get(i, 0)]
        if behind:
            log.info("Indexing the words of %d documents", len(behind))
            self._index({i: self._passages(now, now.members.get(i, ())) for i in behind})

    # --- reading ---

    def search(self, question: Question) -> list[Hit]:
        now = self._current()
        ranked = rank(LocalCandidates(now, self.lexical, question.where), question)
        found = self._passages(now, [r.id for r in ranked])
        return [Hit(passage, r.cosine, r.fused, r.bm25) for passage, r in zip(found, ranked, strict=True)]

    def get(self, ids: Sequence[str]) -> list[Passage]:
        now = self._current()
        return self._passages(now, [i for i in ids if i in now.places])

    def document(self, document_id: str) -> list[Passage]:
        """Return the passages in reading order, each with its place in the document's text if the ledger knows it."""
        now = self._current()
        return self._placed(document_id, now.members.get(document_id, ()), now)

    def content(self, document_id: str) -> str | None:
        """Return what was kept with the document; None if nothing was."""
        rows = self._ledger.get(ids=[document_id], texts=False)
        return self._contents.read(document_id, str(rows[0].metadata.get("version", ""))) if rows else None

    def documents(self) -> list[DocumentRow]:
        members = self._current().members
        return [DocumentRow(i, None, None, None, len(members[i])) for i in sorted(members)]

    def count(self, where: Where | None = None) -> int:
        return len(self._current().rows(where or Where()))

    def fingerprint(self) -> str | None:
        return self._fingerprint() if self.count() else None

    def inspect(self, sample: int) -> Inspection:
        now = self._current()
        first = self._passages(now, now.ids[: max(1, sample)])
        keys = tuple(dict.fromkeys(key for passage in first for key in passage.metadata))
        return Inspection(len(now.ids), self.fingerprint(), keys, tuple(first[:sample]))

    def lacks_words(self) -> bool:
        return False  # a search waits for them

    def close(self) -> None:
        self.lexical.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn an error of the disk into StoreError. A committed change stays in the journal, and is finished later."""
        try:
            yield
        except (OSError, ValueError) as error:
            raise StoreError(
                f"The vector store in {self._folder} cannot be written ({error}). Look at the disk"
            ) from error

    def _passages(self, now: Snapshot, ids: Iterable[str]) -> list[Passage]:
        passages = []
        for passage_id in ids:
            row = now.places[passage_id]
            fields = now.fields(row)
            seq = int(fields.get(self._rules.seq_key, 0))
            passages.append(Passage(passage_id, now.document_of(row), seq, now.texts[row], fields, now.matrix[row]))
        return passages

    def _placed(self, document_id: str, ids: Iterable[str], now: Snapshot) -> list[Passage]:
        passages = sorted(self._passages(now, ids), key=lambda passage: (passage.seq, passage.id))
        rows = self._ledger.get(ids=[document_id]) if passages else []
        places = places_in(rows[0]) if rows else []
        if len(places) != len(passages):
            return passages
        return [
            with_changes(passage, start=start, end=end, pages=tuple(pages[0]) if pages else ())
            for passage, (start, end, *pages) in zip(passages, places, strict=True)
        ]

    def _passage(self, record: Record) -> Passage:
        metadata = record.metadata
        document_id = str(metadata.get(self._rules.document_key, ""))
        seq = int(metadata.get(self._rules.seq_key, 0))
        return Passage(record.id, document_id, seq, record.text, metadata, record.embedding)

    def _entry(self, passage: Passage) -> Entry:
        return Entry(passage.id, passage.document_id, passage.metadata, passage.text)


def _texts_and_fields(
    passages: Sequence[Passage], stored: Mapping[str, Mapping[str, Any]]
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return both as Chroma wants them: a field that the stored passage has and the new one lacks must be named."""
    fields = [{**dict.fromkeys(stored.get(p.id, ())), **p.metadata} for p in passages]
    return [p.text for p in passages], fields
