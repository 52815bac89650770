"""One score out of two: the cosine of meaning, and how much of the question's words a passage covers. Both are in [0, 1].

Neither is scaled to the best of its list. So the words weigh much when passages have most of the question's words, and
little when they have few of them, question by question; and a score means the same in every answer.

Owns the arithmetic only. Policies, documents and the library all rank with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

FusionMethod = Literal["convex", "rrf"]

DEFAULT_ALPHA = 0.35  # weight of the cosine; chosen on two of the benchmark's four sets
RRF_CONSTANT = 60


def fuse(
    dense: Mapping[str, float],
    lexical: Mapping[str, float],
    method: FusionMethod = "convex",
    alpha: float = DEFAULT_ALPHA,
) -> dict[str, float]:
    """Return a score in [0, 1] for every id of either side. An id that is absent from one side counts 0 there."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha={alpha}: expected 0 to 1")
    if method == "rrf":
        return _reciprocal_rank(dense, lexical, alpha)
    if method != "convex":
        raise ValueError(f"method={method!r}: expected 'convex' or 'rrf'")
    return {
        key: alpha * max(0.0, dense.get(key, 0.0)) + (1 - alpha) * lexical.get(key, 0.0)
        for key in dense.keys() | lexical.keys()
    }


def _reciprocal_rank(dense: Mapping[str, float], lexical: Mapping[str, float], alpha: float) -> dict[str, float]:
    """Return weighted reciprocal ranks, scaled so that first on both sides is 1. A score of 0 has no rank."""
    by_meaning, by_words = _ranks(dense), _ranks(lexical)
    best = RRF_CONSTANT + 1
    return {
        key: min(
            1.0,
            sum(
                weight * best / (RRF_CONSTANT + ranks[key])
                for weight, ranks in ((alpha, by_meaning), (1 - alpha, by_words))
                if key in ranks
            ),
        )
        for key in dense.keys() | lexical.keys()
    }


def _ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """Return 1 for the best and so on; equal scores share a rank, so that the order of ids gives nobody an advantage."""
    ranked: dict[str, int] = {}
    previous, rank = None, 0
    for position, (key, score) in enumerate(sorted(scores.items(), key=lambda item: -item[1]), start=1):
        if score <= 0:
            break
        if score != previous:
            previous, rank = score, position
        ranked[key] = rank
    return ranked
