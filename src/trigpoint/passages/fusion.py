"""One score out of two: the cosine of meaning and the BM25 of words, fused to [0, 1] and ranked.

Owns the arithmetic only. Policies, documents and the library all rank with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

FusionMethod = Literal["convex", "rrf"]

DEFAULT_ALPHA = 0.5  # weight of the cosine; the best all-round on the benchmark sets
RRF_CONSTANT = 60


def fuse(
    dense: Mapping[str, float],
    lexical: Mapping[str, float],
    method: FusionMethod = "convex",
    alpha: float = DEFAULT_ALPHA,
) -> list[tuple[str, float]]:
    """Every id of either side with a score in [0, 1], best first, equal scores by id. Absent from one side counts 0 there."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha={alpha}: expected 0 to 1")
    if method == "convex":
        scores = _convex(dense, lexical, alpha)
    elif method == "rrf":
        scores = _reciprocal_rank(dense, lexical, alpha)
    else:
        raise ValueError(f"method={method!r}: expected 'convex' or 'rrf'")
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _convex(dense: Mapping[str, float], lexical: Mapping[str, float], alpha: float) -> dict[str, float]:
    """alpha · cosine + (1 - alpha) · BM25 / its maximum."""
    top = max(lexical.values(), default=0.0)
    scale = 1 / top if top > 0 else 0.0
    return {
        key: min(1.0, alpha * _unit(dense.get(key, 0.0)) + (1 - alpha) * _unit(lexical.get(key, 0.0) * scale))
        for key in dense.keys() | lexical.keys()
    }


def _reciprocal_rank(dense: Mapping[str, float], lexical: Mapping[str, float], alpha: float) -> dict[str, float]:
    """Weighted reciprocal ranks, scaled so that first on both sides is 1. What scores 0 has no rank."""
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
    """1 for the best; equal scores share a rank, so that the order of ids gives nobody an advantage."""
    ranked: dict[str, int] = {}
    previous, rank = None, 0
    for position, (key, score) in enumerate(sorted(scores.items(), key=lambda item: -item[1]), start=1):
        if score <= 0:
            break
        if score != previous:
            previous, rank = score, position
        ranked[key] = rank
    return ranked


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
