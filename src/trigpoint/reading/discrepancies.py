"""Sums that do not add up and statements that contradict each other, with the figures that show it."""

from __future__ import annotations

from typing import Literal

from trigpoint.reading.documents import Frozen, Source
from trigpoint.reading.vocabulary import Topic

DiscrepancyKind = Literal["sum", "percentage", "rate", "phases", "figures_differ", "claim_against_shortfall"]


class Input(Frozen):
    """A stated figure on which a discrepancy rests."""

    value: float | None
    unit: str = ""
    words: str
    source: Source


class Discrepancy(Frozen):
    """Something stated that other statements contradict. `calculation` shows the arithmetic in full."""

    kind: DiscrepancyKind
    topic: Topic
    summary: str
    calculation: str = ""
    stated: float | None = None
    computed: float | None = None
    inputs: tuple[Input, ...]
