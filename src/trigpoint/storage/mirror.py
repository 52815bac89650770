"""Mirror: a collection's vectors and filter columns in memory, for exact search by the process that owns it.

Readers take a snapshot and score it without a lock; writers replace arrays instead of changing what a reader may hold.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from trigpoint.errors import StoreError

Vector = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Where = Mapping[str, Any]

_DIMENSIONS = 384
_MOST_REMEMBERED = 32  # filters a snapshot


def rounded_cosines(matrix: Vector, vector: Vector) -> npt.NDArray[np.float64]:
    """Relevance of unit vectors (P15): the cosine, never below 0, to 4 places (D9)."""
    return _rounded(matrix @ vector)


def best(
    ids: Sequence[str], places: npt.NDArray[np.intp], scores: npt.NDArray[np.float64], k: int
) -> list[tuple[str, float]]:
    """The k best (id, score) pairs, best first, equal scores in order of id. `scores` are those of `ids` at `places`."""
    if len(scores) > k:
        cut = np.partition(scores, len(scores) - k)[len(scores) - k]
        keep = np.flatnonzero(scores >= cut)
    else:
        keep = np.arange(len(scores))
    pairs = [(ids[places[i]], float(scores[i])) for i in keep.tolist()]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]


def _rounded(cosines: Vector) -> npt.NDArray[np.float64]:
    return cosines.astype(np.float64).clip(0.0, 1.0).round(4)


def _near(cosines: Vector, k: int) -> npt.NDArray[np.intp]:
    """The rows that may be among the k best once scores are rounded, so that the others need not be."""
    if len(cosines) > k:
        cut = np.partition(cosines, len(cosines) - k)[len(cosines) - k] - 1e-4
        if cut > 0:
            return np.flatnonzero(cosines >= cut)
    return np.arange(len(cosines))


@dataclass(frozen=True)
class _Rows:
    """What a reader sees: the first `count` rows of the arrays. Never changed, only replaced."""

    ids: list[str]
    matrix: Vector
    metadatas: list[Mapping[str, Any]]
    columns: dict[str, npt.NDArray[Any]]
    remembered: dict[str, npt.NDArray[np.intp]] = field(default_factory=dict)

    def column(self, key: str) -> npt.NDArray[Any]:
        if key not in self.columns:
            self.columns[key] = np.array([m.get(key) for m in self.metadatas], dtype=object)
            values = self.columns[key]
            if len(values) and all(type(v) is int for v in values):
                self.columns[key] = values.astype(np.int64)
        return self.columns[key]

    def mask(self, where: Where) -> Mask:
        """The rows that a where-clause lets through: equality, $in, $gte, $lte, $and."""
        result: Mask = np.ones(len(self.ids), dtype=np.bool_)
        for key, condition in where.items():
            if key == "$and":
                for clause in condition:
                    result &= self.mask(clause)
                continue
            operations = condition if isinstance(condition, Mapping) else {"$eq": condition}
            for operation, operand in operations.items():
                result &= _compare(self.column(key), operation, operand)
        return result

    def places(self, where: Where | None) -> npt.NDArray[np.intp]:
        """The rows that the filter lets through, in order; remembered, since the same filters come again and again."""
        if where is None:
            return np.arange(len(self.ids))
        key = repr(where)
        found = self.remembered.get(key)
        if found is None:
            found = np.flatnonzero(self.mask(where))
            if len(self.remembered) >= _MOST_REMEMBERED:
                self.remembered.clear()
            self.remembered[key] = found
        return found

    def cosines(self, places: npt.NDArray[np.intp], vector: Vector) -> Vector:
        """Of these rows. Where they are many, scoring all and choosing then is cheaper than copying their vectors."""
        if 3 * len(places) > len(self.ids):
            every: Vector = self.matrix[: len(self.ids)] @ vector
            return every if len(places) == len(every) else every[places]
        some: Vector = self.matrix[places] @ vector
        return some


class Mirror:
    """The rows of one collection."""

    def __init__(self, ids: list[str], vectors: Sequence[Vector], metadatas: Sequence[Mapping[str, Any]]) -> None:
        matrix = np.stack(vectors) if vectors else np.empty((0, _DIMENSIONS), dtype=np.float32)
        self._rows = _Rows(list(ids), matrix, list(metadatas), {})
        self._place = {passage: row for row, passage in enumerate(ids)}
        self._writing = threading.Lock()

    def nearest(self, vector: Vector, k: int, where: Where | None) -> list[tuple[str, float]]:
        rows = self._rows
        places = rows.places(where)
        cosines = rows.cosines(places, vector)
        near = _near(cosines, k)
        return best(rows.ids, places[near], _rounded(cosines[near]), k)

    def scores(self, vector: Vector, where: Where | None) -> dict[str, float]:
        rows = self._rows
        places = rows.places(where)
        scores = _rounded(rows.cosines(places, vector))
        return dict(zip((rows.ids[i] for i in places.tolist()), scores.tolist(), strict=True))

    def score_of(self, vector: Vector, ids: Sequence[str], where: Where | None = None) -> dict[str, float]:
        with self._writing:
            rows = self._rows
            known = [(i, self._place[i]) for i in ids if i in self._place]
        if where is not None:
            allowed = set(np.intersect1d(rows.places(where), [row for _, row in known], assume_unique=True).tolist())
            known = [(i, row) for i, row in known if row in allowed]
        matrix = rows.matrix[[row for _, row in known]]
        return dict(zip((i for i, _ in known), rounded_cosines(matrix, vector).tolist(), strict=True))

    def ids_where(self, where: Where | None) -> Sequence[str]:
        rows = self._rows
        return rows.ids if where is None else [rows.ids[i] for i in np.flatnonzero(rows.mask(where))]

    def upsert(self, ids: Sequence[str], vectors: Vector, metadatas: Sequence[Mapping[str, Any]]) -> None:
        with self._writing:
            if any(i in self._place for i in ids):
                self._delete(ids)
            old = self._rows
            count = len(old.ids)
            matrix = old.matrix
            if count + len(ids) > len(matrix):  # grow by half, so that many small writes stay cheap
                matrix = np.empty((max(count + len(ids), count * 3 // 2), _DIMENSIONS), dtype=np.float32)
                matrix[:count] = old.matrix[:count]
            matrix[count : count + len(ids)] = vectors
            for row, passage in enumerate(ids, start=count):
                self._place[passage] = row
            self._rows = _Rows([*old.ids, *ids], matrix, [*old.metadatas, *metadatas], {})

    def update(self, ids: Sequence[str], metadatas: Sequence[Mapping[str, Any]]) -> None:
        with self._writing:
            rows = list(self._rows.metadatas)
            for passage, metadata in zip(ids, metadatas, strict=True):
                if passage in self._place:
                    rows[self._place[passage]] = {**rows[self._place[passage]], **metadata}
            self._rows = _Rows(self._rows.ids, self._rows.matrix, rows, {})

    def delete(self, ids: Sequence[str]) -> None:
        with self._writing:
            self._delete(ids)

    def _delete(self, ids: Sequence[str]) -> None:
        gone = {self._place[i] for i in ids if i in self._place}
        if not gone:
            return
        old = self._rows
        keep = [row for row in range(len(old.ids)) if row not in gone]
        kept_ids = [old.ids[row] for row in keep]
        self._rows = _Rows(kept_ids, old.matrix[keep], [old.metadatas[row] for row in keep], {})
        self._place = {passage: row for row, passage in enumerate(kept_ids)}


def _compare(column: npt.NDArray[Any], operation: str, operand: Any) -> Mask:
    if operation == "$eq":
        return np.asarray(column == operand, dtype=np.bool_)
    if operation == "$in":
        wanted = set(operand)
        return np.fromiter((value in wanted for value in column), dtype=np.bool_, count=len(column))
    if operation == "$gte":
        return np.asarray(column >= operand, dtype=np.bool_)
    if operation == "$lte":
        return np.asarray(column <= operand, dtype=np.bool_)
    raise StoreError(f"Unknown filter operation {operation}: use equality, $in, $gte, $lte or $and")
