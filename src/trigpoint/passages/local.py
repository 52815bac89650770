"""The two halves of a search on this machine: vectors and fields in memory, words in an index of ours.

The search by meaning is exact: it scores every passage that the filter lets through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from trigpoint.passages.lexical import LexicalIndex
from trigpoint.passages.memory import Snapshot
from trigpoint.passages.model import Vector, Where

_MOST_GROUPS = 2000  # documents to which a search by words is narrowed; with more, its answer is filtered
_ROUNDING = _PLACE = 1e-4  # scores that differ by less may be equal once they are rounded
_DOUBT = 0.05  # of a place: far more than single precision errs by

EVERYTHING = Where()


class LocalCandidates:
    """See `Candidates`. One snapshot and one filter for a whole search."""

    def __init__(self, memory: Snapshot, lexical: LexicalIndex, where: Where = EVERYTHING) -> None:
        self._memory = memory
        self._lexical = lexical
        self._where = _needed(where, memory)

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        memory = self._memory
        if not memory.matrix.shape[1]:
            return []
        rows = memory.rows(self._where)
        if 3 * len(rows) > len(memory.ids):  # then scoring all is cheaper than copying the vectors of these
            scores: Vector = memory.matrix[: len(memory.ids)] @ vector
            scores = scores if len(rows) == len(scores) else scores[rows]
        else:
            scores = memory.matrix[rows] @ vector
        if len(scores) > k:
            cut = np.partition(scores, len(scores) - k)[len(scores) - k] - _ROUNDING
            near = np.flatnonzero(scores >= cut) if cut > 0 else slice(None)
            rows, scores = rows[near], scores[near]
        pairs = zip((memory.ids[row] for row in rows.tolist()), self._relevance(rows, scores, vector), strict=True)
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]

    def matching(self, words: str, k: int) -> Mapping[str, float]:
        scores = dict(self._lexical.search(words, k, self._groups()))
        return {i: scores[i] for i in self._let_through(scores)}

    def cosines(self, vector: Vector, ids: Sequence[str]) -> Mapping[str, float]:
        memory = self._memory
        if not memory.matrix.shape[1]:
            return {}
        rows = np.array([memory.places[i] for i in ids], dtype=np.intp)
        return dict(zip(ids, self._relevance(rows, memory.matrix[rows] @ vector, vector), strict=True))

    def _relevance(self, rows: npt.NDArray[np.intp], scores: Vector, vector: Vector) -> list[float]:
        """Return the relevance of unit vectors: the cosine, never below 0, to 4 places.

        Products in single precision depend on how many passages are multiplied at once. Those that this could round to
        another place are calculated again in double precision, so that a passage has the same score in every store.
        """
        products = scores.astype(np.float64)
        part = products / _PLACE % 1
        doubtful = np.flatnonzero(np.abs(part - 0.5) < _DOUBT)
        vectors = self._memory.matrix[rows[doubtful]].astype(np.float64)
        products[doubtful] = vectors @ vector.astype(np.float64)
        cosines: list[float] = products.clip(0.0, 1.0).round(4).tolist()
        return cosines

    def _groups(self) -> list[str] | None:
        """Return the documents that the filter lets through; None if those are all, or too many to be named."""
        if not self._where:
            return None
        documents = self._memory.documents(self._where)
        every = len(documents) == len(self._memory.members)
        return None if every or len(documents) > _MOST_GROUPS else sorted(documents)

    def _let_through(self, ids: Iterable[str]) -> list[str]:
        """Return those of these passages that are in memory and that the filter lets through."""
        known = [i for i in ids if i in self._memory.places]
        if not self._where:
            return known
        allowed = self._memory.rows(self._where)
        if not len(allowed):
            return []
        rows = np.array([self._memory.places[i] for i in known], dtype=np.intp)
        at = np.searchsorted(allowed, rows).clip(max=len(allowed) - 1)
        return [i for i, here in zip(known, (allowed[at] == rows).tolist(), strict=True) if here]


def _needed(where: Where, memory: Snapshot) -> Where:
    """Return the filter without what excludes nothing here: many questions are about all that there is."""
    if where.without:
        columns = memory.columns
        excluding = (c for c in where.without if c.field in columns and columns[c.field].has(c.accepts))
        where = replace(where, without=tuple(excluding))
    if where.documents is not None and memory.members.keys() <= where.documents:
        where = replace(where, documents=None)
    return where
