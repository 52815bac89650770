"""A quantity of a planning document: a number or range with its unit, limit and basis ("up to 2 spaces per dwelling")."""

from __future__ import annotations

from typing import Literal

from trigpoint.reading.documents import Frozen

Limit = Literal["exactly", "about", "at least", "at most"]


class Quantity(Frozen):
    """A number with what it counts. "One space per five dwellings" is 1 `space` per 5 `dwelling`.

    `high` is the upper end of a range. `of` names what is counted or measured in the document's words
    ("long-stay", "of the requirement"). `start` and `end` are offsets in the statement's text.
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
