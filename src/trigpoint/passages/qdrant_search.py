"""The two halves of a search on a Qdrant server: dense vectors for meaning, sparse ones for words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qdrant_client import QdrantClient, models

from trigpoint.passages import qdrant_points as points
from trigpoint.passages.model import Vector

_DEPTH = 200
_PLACES = 4


class QdrantCandidates:
    """See `Candidates`. Ids are those of points; the filter is Qdrant's own."""

    def __init__(self, client: QdrantClient, name: str, allowed: models.Filter, by_meaning: bool) -> None:
        self._client = client
        self._name = name
        self._allowed = allowed
        self._by_meaning = by_meaning

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        if not self._by_meaning:
            return []
        found = self._query(vector.tolist(), points.DENSE, max(k, _DEPTH), self._allowed)
        return [(str(p.id), _cosine(p.score)) for p in found]

    def cosines(self, vector: Vector, ids: Sequence[str]) -> Mapping[str, float]:
        if not ids or not self._by_meaning:
            return {}
        only = models.Filter(must=[models.HasIdCondition(has_id=list(ids))])
        return {str(p.id): _cosine(p.score) for p in self._query(vector.tolist(), points.DENSE, len(ids), only)}

    def matching(self, words: str, k: int) -> Mapping[str, float]:
        asked = points.question_words(words)
        if not asked.indices:
            return {}
        found = self._query(asked, points.WORDS, max(_DEPTH, k), self._allowed)
        hits = {str(p.id): p.score for p in found if p.score > 0}
        most = self._most_possible(asked, hits)
        return {i: min(1.0, score / most) for i, score in hits.items()}

    def _most_possible(self, question: models.SparseVector, hits: Mapping[str, float]) -> float:
        """Return about the score of a passage with every word without end: the server does not tell how rare each is."""
        if not hits:
            return 1.0
        best = max(hits, key=lambda i: (hits[i], i))
        point = self._client.retrieve(self._name, [best], with_payload=False, with_vectors=[points.WORDS])[0]
        passage = point.vector[points.WORDS] if isinstance(point.vector, dict) else None
        assert isinstance(passage, models.SparseVector)  # as _set_of makes them
        return hits[best] / points.share_of_question(question, passage)

    def _query(self, query: Any, using: str, limit: int, which: models.Filter) -> Sequence[Any]:
        return self._client.query_points(
            self._name, query=query, using=using, query_filter=which, limit=limit, with_payload=False
        ).points


def _cosine(score: float) -> float:
    return round(min(1.0, max(0.0, score)), _PLACES)
