"""One hybrid search for every collection: a question becomes candidates by meaning and by words, and one ranking.

Owns the composition only. A store says which passages are near and which have the words, among those that the
question's filter lets through; fusion.py has the arithmetic.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from trigpoint.passages.fusion import fuse
from trigpoint.passages.model import Question, Vector

SearchMode = Literal["semantic", "hybrid"]

PLACES = 4
_MOST_WORD_HITS = 1000  # passages below this rank by words alone cannot rise to a first page


class Candidates(Protocol):
    """A collection as a search needs it: the passages that the question's filter lets through, each scored by itself."""

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """Return at least the k passages nearest to the vector with their cosines, best first, equal ones by id."""
        ...

    def matching(self, words: str, k: int) -> Mapping[str, float]:
        """Return at least the k passages that match the words best, with their BM25 scores."""
        ...

    def cosines(self, vector: Vector, ids: Sequence[str]) -> Mapping[str, float]:
        """Return the cosines of passages that `matching` returned."""
        ...


@dataclass(frozen=True)
class Ranked:
    """A passage's place in the answer."""

    id: str
    cosine: float
    fused: float | None = None
    bm25: float = 0.0


def rank(candidates: Candidates, question: Question) -> list[Ranked]:
    """Return the k best passages, best first, equal scores by id.

    One that has none of the words and is not among the k nearest cannot be among them.
    """
    vector, words, k = question.vector, question.words, question.k
    if k < 1:
        return []
    if words is None:
        return [Ranked(i, round(cosine, PLACES)) for i, cosine in candidates.nearest(vector, k)[:k]]
    cosines = dict(candidates.nearest(vector, k if question.fusion == "convex" else _MOST_WORD_HITS))
    matching = candidates.matching(words, _MOST_WORD_HITS)
    cosines |= candidates.cosines(vector, [i for i in matching if i not in cosines])
    fused = fuse(cosines, matching, question.fusion, question.alpha)
    cut = min(heapq.nlargest(k, fused.values()), default=0.0) - 10**-PLACES  # below it, rounding lifts none among the k
    best = sorted((-round(score, PLACES), i) for i, score in fused.items() if score >= cut)[:k]
    return [Ranked(i, round(cosines.get(i, 0.0), PLACES), -score, matching.get(i, 0.0)) for score, i in best]
