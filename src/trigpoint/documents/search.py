"""Search: passages by meaning, or by meaning and words, of documents that are registered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trigpoint.documents.models import FoundPassage, Mode, PassageMetadata
from trigpoint.documents.store import DocumentStore
from trigpoint.passages.model import Condition, Hit, Question, Where


class DocumentSearch:
    """Synchronous and thread-safe; a search never waits for an ingest."""

    def __init__(self, store: DocumentStore) -> None:
        self.store = store

    def search(
        self,
        query: str,
        *,
        application_ref: str | None = None,
        document_types: Sequence[str] | None = None,
        max_results: int = 10,
        mode: Mode = "semantic",
    ) -> list[FoundPassage]:
        """The best passages, best first; equal scores in order of chunk id."""
        where = _of_types(self.store.registry.answering(application_ref), document_types)
        words = query if mode == "hybrid" else None
        question = Question(self.store.embedding.embed(query), max_results, words, where)
        return [_found(hit) for hit in self.store.passages.search(question)]


def _of_types(where: Where, document_types: Sequence[str] | None) -> Where:
    if not document_types:
        return where
    return replace(where, conditions=(Condition("document_type", "in", frozenset(document_types)),))


def _found(hit: Hit) -> FoundPassage:
    return FoundPassage(
        chunk_id=hit.id,
        text=hit.text,
        relevance_score=hit.cosine,
        score=hit.fused,
        metadata=PassageMetadata.model_validate(hit.metadata),
    )
