"""Fields of passages in memory: each value is kept once, a row has its number, and a filter looks at each value once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


class Column:
    """One field of all rows. Rows that a reader holds never change: writers append, or make a new column."""

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
        numbers = grown(self._numbers, count, len(values))
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


def grown(array: npt.NDArray[Any], count: int, more: int) -> npt.NDArray[Any]:
    """Return the array with room for `more` rows after `count`: at least half as many again, so that many small writes stay cheap."""
    if count + more <= len(array):
        return array
    larger = np.zeros((max(count + more, count * 3 // 2), *array.shape[1:]), dtype=array.dtype)
    larger[:count] = array[:count]
    return larger
