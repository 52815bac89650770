"""A collection in memory, for searches: vectors and fields, and the texts if the store wants it so.

Readers take a snapshot and search it without a lock. A change replaces the snapshot in one step, so that nobody sees a document half old and half new.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from trigpoint.passages.model import Vector, Where

Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

DIMENSIONS = 384
_MOST_REMEMBERED = 32  # filters a snapshot
_DOCUMENT = ""  # the column that names each row's document


class Column:
    """One field of all rows. Each value is kept once, a row has its number, and a filter looks at each value once. Rows that a reader holds never change: writers append, or make a new column."""

    def __init__(
        self, numbers: npt.NDArray[np.int32], values: list[Any], known: dict[tuple[type, Hashable], int]
    ) -> None:
        self._numbers = numbers
        self._values = values
        self._known = known

    @classmethod
    def empty(cls, rows: int = 0) -> Column:
        """Return a column in which no row has a value: all have number 0."""
        return cls(np.zeros(rows, dtype=np.int32), [None], {})

    def value(self, row: int) -> Any:
        return self._values[self._numbers[row]]

    def append(self, count: int, values: Sequence[Any]) -> Column:
        """Return the column with these values after the first `count` rows."""
        numbers = _grown(self._numbers, count, len(values))
        numbers[count : count + len(values)] = [self._number(value) for value in values]
        return Column(numbers, self._values, self._known)

    def keep(self, rows: Rows) -> Column:
        return Column(self._numbers[rows], self._values, self._known)

    def mask(self, count: int, accepts: Callable[[Any], bool]) -> Mask:
        """Return the rows whose value is accepted; a row without a value never is."""
        verdicts = np.fromiter(
            (value is not None and accepts(value) for value in self._values), dtype=np.bool_, count=len(self._values)
        )
        rows: Mask = verdicts[self._numbers[:count]]
        return rows

    def has(self, accepts: Callable[[Any], bool]) -> bool:
        """Return whether some row has, or had, a value that is accepted."""
        return any(value is not None and accepts(value) for value in self._values)

    def distinct(self, rows: Rows) -> set[Any]:
        return {self._values[number] for number in np.unique(self._numbers[rows]).tolist()}

    def _number(self, value: Any) -> int:
        if value is None:
            return 0
        key = (type(value), value)  # True is not 1, and 1 is not 1.0
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self._values)
            self._values.append(value)
        return number


@dataclass(frozen=True)
class Entry:
    """A passage as it goes into memory. `text` is empty if the store reads texts from its disk."""

    id: str
    document_id: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class Snapshot:
    """The first `len(ids)` rows of the arrays; never changed, only replaced."""

    ids: list[str]
    matrix: Vector
    columns: Mapping[str, Column]
    texts: list[str]
    places: dict[str, int]
    members: Mapping[str, tuple[str, ...]]  # a document's passages
    remembered: dict[Where, Rows] = field(default_factory=dict)

    def rows(self, where: Where) -> Rows:
        """Return the rows that match the filter, in order; remembered, since the same filters recur."""
        if not where:
            return np.arange(len(self.ids))
        known = self.remembered.get(where)
        if known is None:
            if len(self.remembered) >= _MOST_REMEMBERED:
                self.remembered.clear()
            known = self.remembered[where] = self._filtered(where)
        return known

    def _filtered(self, where: Where) -> Rows:
        count = len(self.ids)
        if where.documents is not None and len(where.documents) * 8 < len(self.members):
            members = (self.members.get(document_id, ()) for document_id in where.documents)
            rows: Rows = np.array(sorted(self.places[i] for ids in members for i in ids), dtype=np.intp)
            return rows if not (where.conditions or where.without) else rows[self._mask(where, count)[rows]]
        mask = self._mask(where, count)
        if where.documents is not None:
            mask &= self._column(_DOCUMENT).mask(count, where.documents.__contains__)
        return np.flatnonzero(mask)

    def _mask(self, where: Where, count: int) -> Mask:
        mask: Mask = np.ones(count, dtype=np.bool_)
        for condition in where.conditions:
            mask &= self._column(condition.field).mask(count, condition.accepts)
        for condition in where.without:
            mask &= ~self._column(condition.field).mask(count, condition.accepts)
        return mask

    def _column(self, name: str) -> Column:
        return self.columns[name] if name in self.columns else Column.empty(len(self.ids))

    def fields(self, row: int) -> dict[str, Any]:
        values = {name: column.value(row) for name, column in self.columns.items() if name != _DOCUMENT}
        return {name: value for name, value in values.items() if value is not None}

    def documents(self, where: Where) -> set[str]:
        """Return the documents of which the filter lets passages through."""
        if where.documents is not None and not (where.conditions or where.without):
            return {i for i in where.documents if i in self.members}
        return self._column(_DOCUMENT).distinct(self.rows(where))

    def document_of(self, row: int) -> str:
        return str(self.columns[_DOCUMENT].value(row))


class Memory:
    """The passages of one collection. `dimensions` None: its vectors are of a model that no question is asked with.

    `expected` passages, and half as many more, fit without the vectors being moved to a larger place, which takes twice
    their memory for a moment. Room that is not used takes none.
    """

    def __init__(self, dimensions: int | None = DIMENSIONS, expected: int = 0) -> None:
        self._writing = threading.Lock()
        room = np.zeros((expected * 3 // 2, dimensions or 0), dtype=np.float32)
        self.snapshot = Snapshot([], room, {}, [], {}, {})

    def fill(self, parts: Iterable[tuple[Sequence[Entry], Vector | None]]) -> None:
        """Put all these passages, each id once, into an empty memory: in one step, without a copy for each part."""
        with self._writing:
            matrix, ids, texts = self.snapshot.matrix, list[str](), list[str]()
            columns: Mapping[str, Column] = {}
            members: dict[str, list[str]] = {}
            for entries, vectors in parts:
                matrix = _with_vectors(matrix, len(ids), vectors)
                columns = _with_fields(columns, len(ids), entries)
                ids += [entry.id for entry in entries]
                texts += [entry.text for entry in entries]
                _group(entries, members)
            places = {passage_id: row for row, passage_id in enumerate(ids)}
            self.snapshot = Snapshot(ids, matrix, columns, texts, places, {i: tuple(m) for i, m in members.items()})

    def replace(self, documents: Iterable[str], entries: Sequence[Entry], vectors: Vector | None) -> None:
        """Replace everything that these documents had by these passages, in one step."""
        with self._writing:
            old = self.snapshot
            gone = {i for document_id in documents for i in old.members.get(document_id, ())}
            gone |= {entry.id for entry in entries if entry.id in old.places}
            self.snapshot = _appended(_without(old, gone) if gone else old, entries, vectors)


def _without(old: Snapshot, gone: set[str]) -> Snapshot:
    keep = np.array([row for row, passage_id in enumerate(old.ids) if passage_id not in gone], dtype=np.intp)
    ids = [old.ids[row] for row in keep.tolist()]
    members = dict(old.members)
    for document_id in {old.document_of(old.places[i]) for i in gone}:
        left = tuple(i for i in members.pop(document_id) if i not in gone)
        if left:
            members[document_id] = left
    return Snapshot(
        ids,
        old.matrix[keep],
        {name: column.keep(keep) for name, column in old.columns.items()},
        [old.texts[row] for row in keep.tolist()] if old.texts else [],
        {passage_id: row for row, passage_id in enumerate(ids)},
        members,
    )


def _appended(old: Snapshot, entries: Sequence[Entry], vectors: Vector | None) -> Snapshot:
    if not entries:
        return replace(old, remembered={})
    count = len(old.ids)
    added = _group(entries, {})
    return Snapshot(
        [*old.ids, *(entry.id for entry in entries)],
        _with_vectors(old.matrix, count, vectors),
        _with_fields(old.columns, count, entries),
        [*old.texts, *(entry.text for entry in entries)],
        {**old.places, **{entry.id: row for row, entry in enumerate(entries, start=count)}},
        {**old.members, **{i: (*old.members.get(i, ()), *ids) for i, ids in added.items()}},
    )


def _with_vectors(matrix: Vector, count: int, vectors: Vector | None) -> Vector:
    if vectors is None or not matrix.shape[1]:
        return matrix
    matrix = _grown(matrix, count, len(vectors))
    matrix[count : count + len(vectors)] = vectors
    return matrix


def _with_fields(columns: Mapping[str, Column], count: int, entries: Sequence[Entry]) -> dict[str, Column]:
    extended = dict(columns)
    for name in {name for entry in entries for name in entry.fields} | set(columns) - {_DOCUMENT}:
        column = columns.get(name) or Column.empty(count)
        extended[name] = column.append(count, [entry.fields.get(name) for entry in entries])
    documents = columns.get(_DOCUMENT) or Column.empty(count)
    extended[_DOCUMENT] = documents.append(count, [entry.document_id for entry in entries])
    return extended


def _group(entries: Sequence[Entry], members: dict[str, list[str]]) -> dict[str, list[str]]:
    """Add the ids of these passages to their documents."""
    for entry in entries:
        members.setdefault(entry.document_id, []).append(entry.id)
    return members


def _grown(array: npt.NDArray[Any], count: int, more: int) -> npt.NDArray[Any]:
    """Return the array with room for `more` rows after `count`: at least half as many again, so that many small writes stay cheap."""
    if count + more <= len(array):
        return array
    larger = np.zeros((max(count + more, count * 3 // 2), *array.shape[1:]), dtype=array.dtype)
    larger[:count] = array[:count]
    return larger
