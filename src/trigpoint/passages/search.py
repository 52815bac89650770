"""One hybrid search for every collection: a question becomes candidates by meaning and by words, and one ranking.

Owns the composition only. A store says which passages are near and which have the words, among those that the
question's filter lets through; fusion.py has the arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from trigpoint.passages.fusion import fuse
from trigpoint.passages.model import Question, Vector, Where

SearchMode = Literal["semantic", "hybrid"]

PLACES = 4
_MOST_WORD_HITS = 1000  # passages below this rank by words alone cannot rise to a first page


class Candidates(Protocol):
    """A collection as a search needs it. Every answer respects the filter, and scores are those of single passages."""

    def nearest(self, vector: Vector, k: int, where: Where) -> list[tuple[str, float]]:
        """Return at least the k passages nearest to the vector with their cosines, best first, equal ones by id."""
        ...

    def cosines(self, vector: Vector, ids: Sequence[str], where: Where) -> Mapping[str, float]:
        """Return the cosines of those of these passages that the filter lets through."""
        ...

    def matching(self, words: str, k: int, where: Where) -> Mapping[str, float]:
        """Return at least the k passages that match the words best, with their BM25 scores."""
        ...


@dataclass(frozen=True)
class Ranked:
    """A passage's place in the answer."""

    id: str
    cosine: float
    fused: float | None = None
    bm25: float = 0.0


def rank(candidates: Candidates, question: Question) -> list[Ranked]:
    """Return the k best passages, best first, equal scores by id."""
    if question.k < 1:
        return []
    if question.words is None:
        nearest = candidates.nearest(question.vector, question.k, question.where)
        return [Ranked(i, round(cosine, PLACES)) for i, cosine in nearest[: question.k]]
    return _hybrid(candidates, question, question.words)


def _hybrid(candidates: Candidates, question: Question, words: str) -> list[Ranked]:
    """Return the k best passages by both scores.

    One that has none of the words and is not among the k nearest cannot be among them.
    """
    vector, where = question.vector, question.where
    depth = question.k if question.fusion == "convex" else _MOST_WORD_HITS
    cosines = dict(candidates.nearest(vector, depth, where))
    matching = candidates.matching(words, _MOST_WORD_HITS, where)
    cosines |= candidates.cosines(vector, [i for i in matching if i not in cosines], where)
    best = _best(fuse(cosines, matching, question.fusion, question.alpha), question.k)
    return [Ranked(i, round(cosines.get(i, 0.0), PLACES), score, matching.get(i, 0.0)) for i, score in best]


def _best(fused: Sequence[tuple[str, float]], k: int) -> list[tuple[str, float]]:
    """Return the k best by rounded score, best first, without sorting those that rounding cannot lift among them."""
    cut = fused[k - 1][1] - 10**-PLACES if len(fused) > k else 0.0
    near = itertools.takewhile(lambda pair: pair[1] >= cut, fused)
    return sorted(((i, round(score, PLACES)) for i, score in near), key=lambda pair: (-pair[1], pair[0]))[:k]
