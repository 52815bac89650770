"""A question to passages: meaning alone, or meaning and words in one fused score. Policies and documents search with this.

Owns the composition of vectors (Chroma), words (BM25) and fusion; which passages may answer is the caller's filter.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trigpoint.passages.fusion import DEFAULT_ALPHA, FusionMethod, fuse
from trigpoint.passages.lexical import LexicalIndex
from trigpoint.storage.chroma import Collection
from trigpoint.text.embed import EmbeddingService, Vector

SearchMode = Literal["semantic", "hybrid"]
Where = Mapping[str, Any]

_PLACES = 4
_MOST_WORD_HITS = 1000  # passages below this rank by words alone cannot rise to a first page


@dataclass(frozen=True)
class PassageHit:
    """A passage that answers. `relevance_score` is the cosine (D9); `score` the fused one, in hybrid mode only (P17)."""

    id: str
    text: str
    metadata: dict[str, Any]
    relevance_score: float
    score: float | None = None


class PassageIndex:
    """The passages of one collection with their words beside them."""

    def __init__(self, collection: Collection, lexical: LexicalIndex, embedding: EmbeddingService) -> None:
        self._collection = collection
        self._lexical = lexical
        self._embedding = embedding

    def search(
        self,
        query: str,
        k: int,
        where: Where | None = None,
        groups: Sequence[str] | None = None,
        mode: SearchMode = "semantic",
        *,
        fusion: FusionMethod = "convex",
        alpha: float = DEFAULT_ALPHA,
    ) -> list[PassageHit]:
        """The k best passages that `where` lets through, best first, equal scores by id.

        `groups` narrows the search by words to the groups that `where` is about; it never widens the answer.
        """
        if k < 1:
            return []
        vector = self._embedding.embed(query)
        if mode == "semantic":
            return [
                PassageHit(hit.id, hit.text, hit.metadata, round(hit.score, _PLACES))
                for hit in self._collection.nearest(vector, k, where)
            ]
        if mode == "hybrid":
            return self._hybrid(query, vector, k, where, groups, fusion, alpha)
        raise ValueError(f"mode={mode!r}: expected 'semantic' or 'hybrid'")

    def _hybrid(
        self,
        query: str,
        vector: Vector,
        k: int,
        where: Where | None,
        groups: Sequence[str] | None,
        fusion: FusionMethod,
        alpha: float,
    ) -> list[PassageHit]:
        """A passage that has none of the words and is not among the k nearest cannot be among the k best fused either."""
        nearest = self._collection.nearest(vector, k if fusion == "convex" else _MOST_WORD_HITS, where)
        matching = dict(self._lexical.search(query, _MOST_WORD_HITS, groups))
        cosines = self._collection.score_of(vector, list(matching), where) | {hit.id: hit.score for hit in nearest}
        words = {i: score for i, score in matching.items() if i in cosines}
        fused = [(i, round(score, _PLACES)) for i, score in fuse(cosines, words, fusion, alpha)]
        best = heapq.nsmallest(k, fused, key=lambda pair: (-pair[1], pair[0]))
        records = {record.id: record for record in self._collection.get(ids=[i for i, _ in best])}
        return [
            PassageHit(i, records[i].text, records[i].metadata, round(cosines[i], _PLACES), score)
            for i, score in best
            if i in records  # deleted since it was scored
        ]
