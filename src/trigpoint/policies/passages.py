"""The passages of policies: collection `policy_docs`, their words beside them, and the swap of one set for another.

Which revisions may answer is decided by the registry and given to every search. What a crash interrupts here is
finished from a journal when the store is opened again.
"""

from __future__ import annotations

import io
import json
import logging
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from trigpoint.config import Settings
from trigpoint.dates import day_to_int
from trigpoint.passages.lexical import LexicalIndex, Row
from trigpoint.passages.search import PassageHit, PassageIndex, SearchMode
from trigpoint.passages.surroundings import surroundings
from trigpoint.policies.gate import SwapGate
from trigpoint.policies.models import Policy, Revision
from trigpoint.storage.chroma import ChromaStore, Collection, Record
from trigpoint.storage.files import inside, write_atomic
from trigpoint.text.chunk import Chunk, without_overlap
from trigpoint.text.embed import EmbeddingService, Vector, shared_embedding

log = logging.getLogger(__name__)

COLLECTION = "policy_docs"
_WORDS_MAKE_UP = 1  # what `_words` gives the lexical index; one of another make-up is built anew
_REVISION_ID = re.compile(r"rev_[A-Z0-9_]+", re.ASCII)  # all that the registry makes, and never a path


@dataclass(frozen=True)
class Passage:
    """A chunk of a revision as it is stored. `start` and `end` are its place in the revision's text, `pages` all that it touches."""

    id: str
    text: str
    metadata: dict[str, str | int]
    start: int
    end: int
    pages: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Place:
    start: int
    end: int
    pages: tuple[int, ...] = ()


def revision_metadata(policy: Policy, revision: Revision) -> dict[str, str | int]:
    """The part of the contract's metadata that a revision's passages share. Dates are those for which it answers."""
    span = next((s for s in policy.timeline if s.revision.revision_id == revision.revision_id), None)
    return {
        "source": policy.source,
        "source_title": policy.title,
        "revision_id": revision.revision_id,
        "version_label": revision.version_label,
        "effective_from": day_to_int(revision.effective_from),
        "effective_to": day_to_int(revision.effective_to if span is None else span.end),
    }


def passage_id(source: str, revision_id: str, section_ref: str, index: int) -> str:
    section = section_ref.replace(" ", "_").replace("/", "_") or "doc"
    return f"{source}__{revision_id}__{section}__{index:03d}"


class PolicyChromaClient:
    """Opens the policies' store. Calls are synchronous and thread-safe. Use as a context manager, or call `close`."""

    def __init__(self, settings: Settings, embedding: EmbeddingService | None = None) -> None:
        self.embedding = embedding or shared_embedding(settings)
        self._store = ChromaStore(settings, "policies")
        self._folder = settings.chroma_dir("policies")
        self._lexical = LexicalIndex(self._folder / "lexical" if self._store.owned else None)
        self._indexed = self._words_of_this_make_up()
        self._compared: set[str] = set()
        self._gate = SwapGate()
        self._writing = threading.RLock()
        self._finish_swaps()

    @property
    def collection(self) -> Collection:
        """Opened on first use: its fingerprint needs the model (D10)."""
        return self._store.collection(COLLECTION, fingerprint=self.embedding.fingerprint())

    # Writing

    def replace_revision(self, revision_id: str, passages: Sequence[Passage], vectors: Vector) -> None:
        """Make these the revision's only passages (P9). Once the journal is written, the swap will be finished."""
        with self._writing:
            journal = self._journal_path(revision_id)
            write_atomic(journal, _pack(passages, vectors))
            self._swap(revision_id, passages, vectors)
            journal.unlink()

    def upsert(self, passages: Sequence[Passage], vectors: Vector) -> None:
        """Write passages in batches below the store's limit, beside those that are there."""
        self.collection.upsert(
            [p.id for p in passages], vectors, [p.text for p in passages], [p.metadata for p in passages]
        )

    def update_revision_metadata(self, revision_id: str, shared: Mapping[str, str | int]) -> int:
        """Let the passages follow the registry: dates, label, title. Returns how many were behind."""
        with self._writing:
            records = self.collection.get(where={"revision_id": revision_id})
            behind = [r for r in records if any(r.metadata.get(k) != v for k, v in shared.items())]
            if behind:
                self.collection.update_metadatas([r.id for r in behind], [{**r.metadata, **shared} for r in behind])
            return len(behind)

    def delete_revision_chunks(self, source: str, revision_id: str) -> int:
        """Remove a revision's passages; none is no error. Returns how many there were."""
        if _REVISION_ID.fullmatch(revision_id) is None:
            return 0
        with self._writing:
            ids = self.collection.ids({"$and": [{"source": source}, {"revision_id": revision_id}]})
            if not ids and self.count(revision_id):
                return 0  # another policy's revision
            self._journal_path(revision_id).unlink(missing_ok=True)
            self.collection.delete(ids)
            self._lexical.remove(revision_id)
            self._indexed.pop(revision_id, None)
            self._layout_path(revision_id).unlink(missing_ok=True)
            return len(ids)

    # Reading

    def search(
        self, query: str, n_results: int, revision_ids: Sequence[str], mode: SearchMode = "semantic"
    ) -> list[PassageHit]:
        """The best passages of these revisions, exactly (P16)."""
        if not revision_ids:
            return []
        where = {"revision_id": revision_ids[0] if len(revision_ids) == 1 else {"$in": list(revision_ids)}}
        if mode == "hybrid":
            self.bring_words_up_to_date(revision_ids)
        with self._gate.reading():
            index = PassageIndex(self.collection, self._lexical, self.embedding)
            return index.search(query, n_results, where, list(revision_ids), mode)

    def passages_of(self, revision_id: str) -> list[Record]:
        """A revision's passages in their order."""
        with self._gate.reading():
            records = self.collection.get(where={"revision_id": revision_id})
        return sorted(records, key=lambda record: int(record.metadata["chunk_index"]))

    def joined(self, revision_id: str, records: Sequence[Record]) -> str:
        """The text of passages in order, without what neighbours share (P12)."""
        layout = self._read_layout(revision_id)
        places = [layout.get(record.id, _Place(-1, -1)) for record in records]
        chunks = [Chunk(i, r.text, at.start, at.end) for i, (r, at) in enumerate(zip(records, places, strict=True))]
        if any(chunk.end - chunk.start != len(chunk.text) for chunk in chunks):
            chunks = _placed_by_text(records)
        return "\n\n".join(text for text in without_overlap(chunks) if text)

    def pages(self, revision_id: str, records: Sequence[Record]) -> tuple[int, ...]:
        """The pages that passages stand on. Their metadata has the first of each only."""
        layout = self._read_layout(revision_id)
        touched = {int(record.metadata["page_number"]) for record in records}
        return tuple(sorted(touched.union(*(layout[r.id].pages for r in records if r.id in layout))))

    def count(self, revision_id: str | None = None) -> int:
        return self.collection.count(None if revision_id is None else {"revision_id": revision_id})

    def bring_words_up_to_date(self, revision_ids: Sequence[str]) -> None:
        """The lexical index is derived (P17): a revision whose count differs is read from its passages again."""
        unsure = [r for r in revision_ids if r not in self._compared]
        behind = [r for r in unsure if self._indexed.get(r) != self.count(r)]
        if self._store.owned:
            self._compared.update(unsure)  # from now on nobody but this process changes them
        if not behind:
            return
        with self._writing:
            for revision_id in behind:
                records = self.collection.get(where={"revision_id": revision_id})
                self._lexical.replace(revision_id, _words(records))
                self._indexed[revision_id] = len(records)

    def close(self) -> None:
        self._lexical.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _words_of_this_make_up(self) -> dict[str, int]:
        """How many rows the lexical index has of each revision. What another make-up left is emptied, and so rebuilt."""
        indexed = self._lexical.groups()
        if self._lexical.stamp() == _WORDS_MAKE_UP:
            return indexed
        self._lexical.replace_many([(revision_id, []) for revision_id in indexed], stamp=_WORDS_MAKE_UP)
        return {}

    # The swap

    def _swap(self, revision_id: str, passages: Sequence[Passage], vectors: Vector) -> None:
        ids = [p.id for p in passages]
        with self._gate.swapping():
            leftovers = set(self.collection.ids({"revision_id": revision_id})) - set(ids)
            self.upsert(passages, vectors)
            self.collection.delete(sorted(leftovers))
            self._lexical.replace(revision_id, _words(passages))
            self._indexed[revision_id] = len(passages)
            layout = {p.id: [p.start, p.end, p.pages] for p in passages}
            write_atomic(self._layout_path(revision_id), json.dumps(layout).encode())

    def _finish_swaps(self) -> None:
        for journal in sorted((self._folder / "journal").glob("*.npz")):
            revision_id = journal.stem
            passages, vectors = _unpack(journal.read_bytes())
            log.info("Finishing the interrupted indexing of %s (%d passages)", revision_id, len(passages))
            self._swap(revision_id, passages, vectors)
            journal.unlink()

    def _journal_path(self, revision_id: str) -> Path:
        return inside(self._folder, "journal", f"{revision_id}.npz")

    def _layout_path(self, revision_id: str) -> Path:
        return inside(self._folder, "layout", f"{revision_id}.json")

    def _read_layout(self, revision_id: str) -> dict[str, _Place]:
        path = self._layout_path(revision_id)
        places: dict[str, list[Any]] = json.loads(path.read_text()) if path.is_file() else {}
        return {key: _Place(start, end, *map(tuple, pages)) for key, (start, end, *pages) in places.items()}


def _words(passages: Iterable[Passage | Record]) -> list[Row]:
    """What a revision's passages are found by: their own words, and those around them in their section."""
    ordered = sorted(passages, key=lambda passage: int(passage.metadata["chunk_index"]))
    around = surroundings([(passage.metadata["section_ref"], passage.text) for passage in ordered])
    return [(passage.id, passage.text, words) for passage, words in zip(ordered, around, strict=True)]


def _placed_by_text(records: Sequence[Record], shortest: int = 20) -> list[Chunk]:
    """Places for passages whose layout is not known: a neighbour's long common end and beginning is an overlap."""
    chunks: list[Chunk] = []
    position, before = 0, ""
    for index, record in enumerate(records):
        longest = min(len(before), len(record.text))
        shared = next((n for n in range(longest, shortest - 1, -1) if before.endswith(record.text[:n])), 0)
        start = position - shared
        position = start + len(record.text)
        chunks.append(Chunk(index, record.text, start, position))
        before = record.text
    return chunks


def _pack(passages: Sequence[Passage], vectors: Vector) -> bytes:
    rows = [[p.id, p.text, p.metadata, p.start, p.end, p.pages] for p in passages]
    buffer = io.BytesIO()
    np.savez(buffer, vectors=vectors, rows=np.frombuffer(json.dumps(rows).encode(), dtype=np.uint8))
    return buffer.getvalue()


def _unpack(content: bytes) -> tuple[list[Passage], Vector]:
    with np.load(io.BytesIO(content), allow_pickle=False) as packed:
        rows: list[Any] = json.loads(packed["rows"].tobytes())
        return [Passage(*row[:5], *map(tuple, row[5:])) for row in rows], packed["vectors"]
