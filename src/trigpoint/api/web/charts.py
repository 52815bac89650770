"""A comparison of figures as bars on one scale, with the bound that policy sets: plain numbers for a template."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trigpoint.review.findings import Comparison

WIDTH = 200.0
_ROOM = 1.12  # the longest bar leaves room, so that a bound at its end is seen


@dataclass(frozen=True)
class ChartBar:
    label: str
    shown: str
    width: float
    good: bool | None


@dataclass(frozen=True)
class Chart:
    """Bars of at most `WIDTH`, and the place of the bound. `good` None: there is nothing to compare the figure with."""

    bars: tuple[ChartBar, ...]
    bound: float | None
    bound_words: str
    said: str


def draw_comparison(comparison: Comparison | None) -> Chart | None:
    """Return the chart, or None if there is nothing to draw: no figures, negative ones, or one alone."""
    if comparison is None:
        return None
    values = [measure.value for measure in comparison.measures]
    bound = comparison.bound
    known = [*values, *([] if bound is None else [bound])]
    if (
        len(known) < 2
        or not values
        or not all(math.isfinite(value) and value >= 0 for value in known)
        or not max(known)
    ):
        return None
    scale = WIDTH / (max(known) * _ROOM)
    bars = tuple(
        ChartBar(one.label, one.shown, round(one.value * scale, 1), _good(one.value, comparison))
        for one in comparison.measures
    )
    words = f"{comparison.wanted or ''} {comparison.bound_shown}".strip() if bound is not None else ""
    said = "; ".join(
        [f"{one.label}: {one.shown}" for one in comparison.measures] + ([f"standard: {words}"] * bool(words))
    )
    return Chart(bars, None if bound is None else round(bound * scale, 1), words, said)


def _good(value: float, comparison: Comparison) -> bool | None:
    if comparison.bound is None or comparison.wanted is None:
        return None
    return value >= comparison.bound if comparison.wanted == "at least" else value <= comparison.bound
