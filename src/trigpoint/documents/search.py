"""Search: passages by meaning, or by meaning and words, of documents that are registered."""

from __future__ import annotations

from collections.abc import Sequence

from trigpoint.documents.models import FoundPassage, Mode, PassageMetadata, RegisteredDocument
from trigpoint.documents.scope import warnings_of
from trigpoint.documents.store import DocumentStore
from trigpoint.passages.model import Hit, Question
from trigpoint.passages.rerank import best_passages


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
        """Return the best passages, best first; equal scores in order of chunk id."""
        where = self.store.registry.answering(application_ref, document_types or ())
        words = query if mode == "hybrid" else None
        question = Question(self.store.embedding.embed(query), max_results, words, where)
        hits = best_passages(self.store.passages, question, self.store.reranker)
        rows = self.store.registry.rows()
        return [_found(hit, rows[hit.passage.document_id]) for hit in hits if hit.passage.document_id in rows]

    def warnings(
        self, application_ref: str | None = None, document_types: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """Return a warning for each filter that names something unknown, or something that no ingested document has."""
        return warnings_of(self.store.registry.rows().values(), application_ref, document_types or ())


def _found(hit: Hit, row: RegisteredDocument) -> FoundPassage:
    return FoundPassage(
        chunk_id=hit.id,
        text=hit.text,
        relevance_score=hit.cosine,
        score=hit.fused,
        metadata=PassageMetadata.model_validate({**hit.metadata, "document_type": row.document_type}),
    )
