"""A quantity: a number or range with its unit, limit and basis, and how it is printed."""

from __future__ import annotations

from typing import Literal

from trigpoint.reading.documents import Frozen
from trigpoint.reading.units import MEASURES

Limit = Literal["exactly", "about", "at least", "at most", "more than", "less than", "reduces to"]

_SAID: dict[Limit, str] = {"exactly": "", "at most": "up to ", "about": "approximately "}


class Quantity(Frozen):
    """A number with what it counts. "One space per five dwellings" is 1 `space` per 5 `dwelling`.

    `high` is the upper end of a range. `of` holds the document's words for what is counted ("long-stay cycle
    parking") or, for a share, the whole ("the requirement"). `start` and `end` are offsets in the statement's text.
    """

    value: float
    unit: str
    high: float | None = None
    limit: Limit = "exactly"
    per: str | None = None
    per_count: float = 1.0
    of: str = ""
    start: int = 0
    end: int = 0

    @property
    def rate(self) -> float:
        """The value for one of what it is counted per."""
        return self.value / self.per_count

    def __str__(self) -> str:
        """Return the quantity in words that the grammar reads as the same quantity."""
        return f"{_SAID.get(self.limit, self.limit + ' ')}{self._number()}{self._basis()}"

    def _number(self) -> str:
        if self.unit == "pound":
            return f"£{_as_figures(self.value)}" + ("" if self.high is None else f" to £{_as_figures(self.high)}")
        if self.unit in ("gradient", "ratio"):
            return f"{'a gradient of ' if self.unit == 'gradient' else ''}1{':'}{_as_figures(self.per_count)}"
        figures = _as_figures(self.value) + ("" if self.high is None else f" to {_as_figures(self.high)}")
        described = f" {self.of}" if self.of and self.unit not in MEASURES.values() else ""
        share = f" of {self.of}" if self.unit == "%" and self.of else ""
        noun = self.unit.removeprefix("cycle ").removeprefix("car ") if described else self.unit
        return f"{figures}{described} {noun}{share}"

    def _basis(self) -> str:
        if self.per is None or self.unit in ("gradient", "ratio"):
            return ""
        count = "" if self.per_count == 1 else f"{_as_figures(self.per_count)} "
        return f" per {count}{self.per}"


def _as_figures(value: float) -> str:
    return f"{value:,.6f}".rstrip("0").rstrip(".")
