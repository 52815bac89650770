"""Search: passages by meaning, or by meaning and words (P17), of documents that are wholly there (D7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trigpoint.documents.models import Mode, Passage, PassageMetadata
from trigpoint.documents.registry import Rows
from trigpoint.documents.store import DocumentStore
from trigpoint.passages.search import PassageHit, PassageIndex

_LOOKS = 20  # a document that becomes whole while we look is worth another look; a stream of them must not hold us


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
    ) -> list[Passage]:
        """The best passages, best first; equal scores in order of chunk id (D9)."""
        where = _where(application_ref, document_types)
        groups = self._groups(application_ref, document_types) if mode == "hybrid" else None
        index = PassageIndex(self.store.passages, self.store.lexical, self.store.embedding)
        asked, whole = max_results, list[PassageHit]()
        for _ in range(_LOOKS):
            before = self.store.registry.known()
            hits = index.search(query, asked, where, groups, mode)
            now = self.store.registry.confirm(_document_of(hit) for hit in hits)
            whole = [hit for hit in hits if _stood_throughout(_document_of(hit), before, now)]
            if any(before.get(document_id) != row for document_id, row in now.items()):
                continue
            if len(whole) >= max_results or len(hits) < asked:
                break
            asked *= 2
        return [_passage(hit) for hit in whole[:max_results]]

    def _groups(self, application_ref: str | None, document_types: Sequence[str] | None) -> list[str] | None:
        """The documents that the filter lets through; None where there is no filter."""
        self.store.bring_lexical_up_to_date()
        if application_ref is None and not document_types:
            return None
        return [
            row.document_id
            for row in self.store.registry.known().values()
            if (application_ref is None or row.application_ref == application_ref)
            and (not document_types or row.document_type in document_types)
        ]


def _stood_throughout(document_id: str, before: Rows, now: Rows) -> bool:
    return document_id in before and before[document_id] == now.get(document_id)


def _document_of(hit: PassageHit) -> str:
    return str(hit.metadata.get("document_id", ""))


def _where(application_ref: str | None, document_types: Sequence[str] | None) -> dict[str, Any] | None:
    clauses: list[dict[str, Any]] = []
    if application_ref is not None:
        clauses.append({"application_ref": application_ref})
    if document_types:
        clauses.append({"document_type": {"$in": list(document_types)}})
    if len(clauses) == 2:
        return {"$and": clauses}
    return clauses[0] if clauses else None


def _passage(hit: PassageHit) -> Passage:
    return Passage(
        chunk_id=hit.id,
        text=hit.text,
        relevance_score=round(hit.relevance_score, 4),
        score=None if hit.score is None else round(hit.score, 4),
        metadata=PassageMetadata.model_validate(hit.metadata),
    )
