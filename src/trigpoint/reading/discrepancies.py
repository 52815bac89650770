"""Sums that do not add up and statements that contradict each other, with the figures that show it."""

from __future__ import annotations

from typing import Literal

from trigpoint.reading.documents import Frozen, Source
from trigpoint.reading.vocabulary import Topic

DiscrepancyKind = Literal[
    "sum",
    "percentage",
    "rate",
    "figures_differ",
    "claim_against_shortfall",
    "promise_without_condition",
    "revisions_differ",
    "words_differ",
]


class Input(Frozen):
    """A stated figure, or a claim without one, on which a discrepancy rests. `words` are the document's own."""

    value: float | None = None
    unit: str = ""
    words: str
    source: Source


class Discrepancy(Frozen):
    """Something stated that other figures or statements contradict. `calculation` shows the arithmetic in full."""

    kind: DiscrepancyKind
    topic: Topic
    summary: str
    calculation: str = ""
    stated: float | None = None
    computed: float | None = None
    inputs: tuple[Input, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """The key by which two discrepancies are one: the same thing is wrong with the same figures."""
        inputs = tuple(sorted(str(one.value if one.value is not None else one.words) for one in self.inputs))
        return self.kind, self.topic, self.stated, self.computed, inputs


def distinct(discrepancies: list[Discrepancy]) -> tuple[Discrepancy, ...]:
    """Return each discrepancy once, the first place where it is found."""
    return tuple({one.key: one for one in reversed(discrepancies)}.values())[::-1]


def figures(value: float) -> str:
    """Return a number as a reader writes it: 1,600 or 13.8."""
    return f"{value:,.1f}".removesuffix(".0")
