"""The document store: passages, registry and lexical index as one thing that is either there or not (D7, FR-008).

Passages are written first, the registry's row last, and removed in the opposite order. A search takes only documents
whose row stood before it looked and still stands after. So nobody sees half a document, in this process or another;
what a crash leaves behind is invisible, and the next ingest of the file puts it right.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from types import TracebackType
from typing import Any, Self

import numpy as np

from trigpoint.config import Settings
from trigpoint.documents.content import DocumentContent
from trigpoint.documents.models import RegisteredDocument
from trigpoint.documents.registry import Registry
from trigpoint.errors import Cancelled, DocumentNotFound, NoChunks, StoreError
from trigpoint.passages.lexical import LexicalIndex
from trigpoint.storage.chroma import ChromaStore, Collection, Record
from trigpoint.text.chunk import Chunk, without_overlap
from trigpoint.text.embed import EmbeddingService, Vector, shared_embedding

log = logging.getLogger(__name__)

PASSAGES = "application_docs"
REGISTRY = "document_registry"
LAYOUT = "document_layout"  # ours: a document's whole text, and where each passage begins and ends in it

_WRITTEN_AT_ONCE = 256  # small enough that searches get their turn between
_LOCK_POLL_SECONDS = 0.1


class DocumentStore:
    """Opens the store. Use as a context manager, or call `close`. Methods are synchronous and thread-safe."""

    def __init__(self, settings: Settings, embedding: EmbeddingService | None = None) -> None:
        self.embedding = embedding or shared_embedding(settings)
        self._chroma = ChromaStore(settings, "documents")
        try:
            self.registry = Registry(self._chroma.collection(REGISTRY), owned=self._chroma.owned)
            folder = self._chroma.folder
            self.lexical = LexicalIndex(folder / "lexical" if folder else None)
        except BaseException:
            self._chroma.close()
            raise
        self._indexed: dict[str, int] | None = None
        self._indexing = threading.Lock()
        self._locks: dict[str, tuple[threading.Lock, int]] = {}
        self._locks_lock = threading.Lock()

    @property
    def passages(self) -> Collection:
        """Opened on first use: its fingerprint needs the model (D10)."""
        return self._chroma.collection(PASSAGES, fingerprint=self.embedding.fingerprint())

    @property
    def layout(self) -> Collection:
        return self._chroma.collection(LAYOUT)

    def write(
        self,
        row: RegisteredDocument,
        chunks: Sequence[Chunk],
        chunk_ids: Sequence[str],
        vectors: Vector,
        metadatas: Sequence[dict[str, Any]],
        cancelled: Callable[[], bool],
        content: DocumentContent | None = None,
    ) -> bool:
        """Write a document; it becomes visible with the last step. False where another process was first."""
        texts = [chunk.text for chunk in chunks]
        try:
            for at in range(0, len(chunks), _WRITTEN_AT_ONCE):
                _stop_if(cancelled)
                part = slice(at, at + _WRITTEN_AT_ONCE)
                self.passages.upsert(chunk_ids[part], vectors[part], texts[part], metadatas[part])
            self._remove_leftovers(row.document_id, chunk_ids)
            self._write_layout(row.document_id, chunks, content)
            self._index(row.document_id, list(zip(chunk_ids, texts, strict=True)))
            _stop_if(cancelled)
        except Cancelled:
            self._forget_unregistered(row.document_id, chunk_ids)
            raise
        row = replace(row, ingested_at=datetime.now(UTC).isoformat(timespec="microseconds"))
        return self.registry.register(row) == row

    def chunks_of(self, document_id: str) -> list[Record]:
        """A document's passages in order."""
        records = self.passages.get(where={"document_id": document_id})
        return sorted(records, key=lambda record: int(record.metadata.get("chunk_index", 0)))

    def text_of(self, document_id: str) -> tuple[RegisteredDocument, int, str]:
        """The document, its number of passages and its text. Raises DocumentNotFound, NoChunks."""
        row = self.registry.get(document_id)
        if row is None:
            raise DocumentNotFound(f"Document not found: {document_id}")
        records = self.chunks_of(document_id)
        if not records:
            raise NoChunks(f"No chunks found for document: {document_id}. Delete it and ingest the file again")
        spans, content = self._layout_of(document_id)
        if content is not None:
            return row, len(records), content.text
        texts = _without_repetition([record.text for record in records], spans)
        return row, len(records), "\n\n".join(text for text in texts if text)

    def content_of(self, document_id: str) -> DocumentContent | None:
        """The document's text with its pages and their account; None if it was ingested before these were kept."""
        return self._layout_of(document_id)[1]

    def retype(self, row: RegisteredDocument, document_type: str) -> None:
        """Correct a document's type: in its row, which decides; then in its passages, for other readers of Chroma."""
        self.registry.update(replace(row, document_type=document_type))
        records = self.chunks_of(row.document_id)
        changed = [{**record.metadata, "document_type": document_type} for record in records]
        self.passages.update_metadatas([record.id for record in records], changed)

    def delete_document(self, document_id: str) -> int:
        """Remove a document, its row first. Returns how many passages went. Raises DocumentNotFound; safe to repeat."""
        if self.registry.get(document_id) is None:
            raise DocumentNotFound(f"Document not found: {document_id}")
        self.registry.remove(document_id)
        ids = self.passages.ids({"document_id": document_id})
        self.passages.delete(ids)
        self.layout.delete([document_id])
        self._unindex(document_id)
        return len(ids)

    @contextmanager
    def locked(self, key: str, cancelled: Callable[[], bool]) -> Iterator[None]:
        """One ingest at a time for this key, within this process. Waiting ends with Cancelled when the caller gives up."""
        with self._locks_lock:
            lock, users = self._locks.get(key, (threading.Lock(), 0))
            self._locks[key] = (lock, users + 1)
        try:
            while not lock.acquire(timeout=_LOCK_POLL_SECONDS):
                _stop_if(cancelled)
            try:
                yield
            finally:
                lock.release()
        finally:
            with self._locks_lock:
                lock, users = self._locks.pop(key)
                if users > 1:
                    self._locks[key] = (lock, users - 1)

    def bring_lexical_up_to_date(self) -> None:
        """The lexical index is derived (P17): what it lacks is read from the passages, what it has too much is dropped."""
        rows = self.registry.catch_up()
        with self._indexing:
            if self._indexed is None:
                self._indexed = self.lexical.groups()
            missing = [row for row in rows.values() if self._indexed.get(row.document_id) != row.chunk_count]
            gone = [group for group in self._indexed if group not in rows and not self._being_ingested(group)]
            if missing:
                log.info("indexing the words of %d documents", len(missing))
            for row in missing:
                found = [(record.id, record.text) for record in self.chunks_of(row.document_id)]
                self.lexical.replace(row.document_id, found)
                self._indexed[row.document_id] = row.chunk_count
            for group in gone:
                self.lexical.remove(group)
                del self._indexed[group]

    def close(self) -> None:
        self.lexical.close()
        self._chroma.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _index(self, document_id: str, rows: list[tuple[str, str]]) -> None:
        with self._indexing:
            if self._indexed is None:
                self._indexed = self.lexical.groups()
            self.lexical.replace(document_id, rows)
            self._indexed[document_id] = len(rows)

    def _unindex(self, document_id: str) -> None:
        with self._indexing:
            self.lexical.remove(document_id)
            if self._indexed is not None:
                self._indexed.pop(document_id, None)

    def _being_ingested(self, document_id: str) -> bool:
        with self._locks_lock:
            return any(document_id.startswith(key) for key in self._locks)

    def _remove_leftovers(self, document_id: str, written: Sequence[str]) -> None:
        """Passages of an earlier, interrupted ingest that cut the file differently."""
        stale = set(self.passages.ids({"document_id": document_id})) - set(written)
        if stale:
            self.passages.delete(sorted(stale))

    def _forget_unregistered(self, document_id: str, chunk_ids: Sequence[str]) -> None:
        if not self._chroma.owned:  # another process may be about to register the same passages
            return
        self.passages.delete(chunk_ids)
        self.layout.delete([document_id])
        self._unindex(document_id)

    def _write_layout(self, document_id: str, chunks: Sequence[Chunk], content: DocumentContent | None) -> None:
        spans = [(chunk.start, chunk.end) for chunk in chunks]
        layout = {"spans": spans, "content": content.to_json()} if content else spans
        written = json.dumps(layout, separators=(",", ":"), ensure_ascii=False)
        placeholder = np.zeros((1, 1), dtype=np.float32)
        self.layout.upsert([document_id], placeholder, [written], [{"chunk_count": len(chunks)}])

    def _layout_of(self, document_id: str) -> tuple[list[tuple[int, int]] | None, DocumentContent | None]:
        """The spans of the passages and the content. Version 0.1 wrote the spans only, as a list; other clients nothing."""
        found = self.layout.get(ids=[document_id])
        if not found:
            return None, None
        try:
            layout = json.loads(found[0].text)
            if isinstance(layout, list):
                return [(int(start), int(end)) for start, end in layout], None
            spans = [(int(start), int(end)) for start, end in layout["spans"]]
            return spans, DocumentContent.from_json(layout["content"])
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(
                f"The layout of {document_id} is damaged ({error}). Delete it and ingest it again"
            ) from None


def _without_repetition(texts: Sequence[str], spans: list[tuple[int, int]] | None) -> list[str]:
    """Each passage without what the one before has said already (D4)."""
    if spans is not None and len(spans) == len(texts):
        return without_overlap(
            Chunk(index, text, start, end) for index, (text, (start, end)) in enumerate(zip(texts, spans, strict=True))
        )
    return [texts[0], *(_after_shared(before, text) for before, text in pairwise(texts))]


def _after_shared(before: str, text: str) -> str:
    """For a document that another client wrote: the overlap is the longest end of one that begins the other."""
    for length in range(min(len(before), len(text)), 0, -1):
        if before.endswith(text[:length]):
            return text[length:].lstrip()
    return text


def _stop_if(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise Cancelled("The ingest was cancelled; nothing of it was kept")
