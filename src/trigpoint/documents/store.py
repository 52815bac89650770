"""The document store: passages and registry change together, so that a document is either there or not.

A document's passages are written first, the registry's row last, and removed in the opposite order. Only passages of
registered documents answer, so that nobody sees half a document, in this process or another; what a crash leaves behind
is invisible, and the next ingest of the file puts it right.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Self

from trigpoint.config import Settings
from trigpoint.documents.content import DocumentContent
from trigpoint.documents.models import RegisteredDocument
from trigpoint.documents.registry import Registry
from trigpoint.errors import Cancelled, DocumentNotFound, NoChunks, StoreError
from trigpoint.passages.chroma import ChromaPassages
from trigpoint.passages.joining import joined
from trigpoint.passages.model import Passage, Rules
from trigpoint.passages.rerank import shared_reranker
from trigpoint.storage.chroma import ChromaStore
from trigpoint.text.embed import EmbeddingService, shared_embedding

PASSAGES = "application_docs"
REGISTRY = "document_registry"
LEDGER = "document_layout"  # ours: which version of a document answers, and the places of its passages in its text
RULES = Rules(document_key="document_id")

_LOCK_POLL_SECONDS = 0.1


class DocumentStore:
    """Opens the store. Use as a context manager, or call `close`. Methods are synchronous and thread-safe."""

    def __init__(self, settings: Settings, embedding: EmbeddingService | None = None) -> None:
        self.embedding = embedding or shared_embedding(settings)
        self.reranker = shared_reranker(settings)
        self._chroma = ChromaStore(settings, "documents")
        try:
            folder = settings.chroma_dir("documents")
            self.passages = ChromaPassages(
                self._chroma, folder, PASSAGES, LEDGER, RULES, lambda: self.embedding.fingerprint()
            )
            self.registry = Registry(self._chroma.collection(REGISTRY), self.passages)
        except BaseException:
            self._chroma.close()
            raise
        self._locks: dict[str, tuple[threading.Lock, int]] = {}
        self._locks_lock = threading.Lock()

    def write(
        self,
        row: RegisteredDocument,
        passages: Sequence[Passage],
        content: DocumentContent | None,
        cancelled: Callable[[], bool],
        *,
        registered: bool = False,
    ) -> bool:
        """Write a document; it becomes visible with the last step. False: another process was first.

        `registered`: the document is known, and its passages had been lost.
        """
        kept = {} if content is None else {row.document_id: json.dumps(content.to_json(), ensure_ascii=False)}
        with self.passages.journal.turn():  # a removal in between would leave a row without passages
            self.passages.write(passages, replace=[row.document_id], allow=partial(_goes_on, cancelled), contents=kept)
            row = replace(row, ingested_at=datetime.now(UTC).isoformat(timespec="microseconds"))
            if registered:
                self.registry.update(row)
                return True
            return self.registry.register(row) == row

    def has_passages(self, document_id: str) -> bool:
        """Return whether the passages of a registered document are there: their collection may have been lost."""
        return bool(self.passages.document(document_id))

    def text_of(self, document_id: str) -> tuple[RegisteredDocument, int, str]:
        """Return the document, its number of passages and its text. Raises DocumentNotFound, NoChunks."""
        row = self.registry.get(document_id)
        if row is None:
            raise DocumentNotFound(f"Document not found: {document_id}")
        passages = self.passages.document(document_id)
        if not passages:
            raise NoChunks(f"No chunks found for document: {document_id}. Delete it and ingest the file again")
        content = self.content_of(document_id)
        return row, len(passages), joined(passages) if content is None else content.text

    def content_of(self, document_id: str) -> DocumentContent | None:
        """Return the document's text, pages and account; None if it was ingested before these were kept."""
        kept = self.passages.content(document_id)
        if kept is None:
            return None
        try:
            return DocumentContent.from_json(json.loads(kept))
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(
                f"The stored text of {document_id} is damaged ({error}). Delete it and ingest it again"
            ) from None

    def retype(self, row: RegisteredDocument, document_type: str) -> None:
        """Correct a document's type, in its row, which decides, and then in its passages, for other readers of them.

        A crash between the two is put right by a repetition. A document that was removed meanwhile stays away.
        """
        with self.passages.journal.turn():
            if self.registry.get(row.document_id) is None:
                return
            if row.document_type != document_type:
                self.registry.update(replace(row, document_type=document_type))
            passages = self.passages.document(row.document_id)
            behind = [p for p in passages if p.metadata["document_type"] != document_type]
            self.passages.write([replace(p, metadata={**p.metadata, "document_type": document_type}) for p in behind])

    def delete_document(self, document_id: str) -> int:
        """Remove a document, its row first. Returns how many passages went. Raises DocumentNotFound.

        Safe to repeat: passages that a crash left without their row go too.
        """
        with self.passages.journal.turn():  # an ingest of the file waits, so that it starts from nothing
            is_known = self.registry.get(document_id) is not None
            if is_known:
                self.registry.remove(document_id)
            removed = self.passages.delete(document_id)
        if not (is_known or removed):
            raise DocumentNotFound(f"Document not found: {document_id}")
        return removed

    @contextmanager
    def locked(self, key: str, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Let one ingest at a time in for this key, within this process.

        Raises Cancelled if the caller gives up waiting.
        """
        with self._locks_lock:
            lock, users = self._locks.get(key, (threading.Lock(), 0))
            self._locks[key] = (lock, users + 1)
        try:
            while not lock.acquire(timeout=_LOCK_POLL_SECONDS):
                _goes_on(cancelled)
            try:
                yield
            finally:
                lock.release()
        finally:
            with self._locks_lock:
                lock, users = self._locks.pop(key)
                if users > 1:
                    self._locks[key] = (lock, users - 1)

    def close(self) -> None:
        self.passages.close()
        self._chroma.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _goes_on(cancelled: Callable[[], bool]) -> bool:
    """Return True, or raise Cancelled."""
    if cancelled():
        raise Cancelled("The ingest was cancelled; nothing of it was kept")
    return True
