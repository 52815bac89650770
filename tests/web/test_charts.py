"""Figures against their standard, as bars on one scale."""

from __future__ import annotations

import math

import pytest

from trigpoint.api.web.charts import WIDTH, draw_comparison
from trigpoint.review.findings import Comparison, Measure


def measures(*values: float) -> tuple[Measure, ...]:
    return tuple(
        Measure(label=f"Page {number}", value=value, shown=f"{value:g} m") for number, value in enumerate(values)
    )


def test_bars_and_bound_share_a_scale() -> None:
    chart = draw_comparison(Comparison(measures=measures(1.5, 3.0), wanted="at least", bound=3.0, bound_shown="3.0 m"))
    assert chart is not None
    assert chart.bound is not None
    assert chart.bars[1].width == chart.bound == pytest.approx(2 * chart.bars[0].width, abs=0.2)
    assert max(bar.width for bar in chart.bars) < WIDTH
    assert [bar.good for bar in chart.bars] == [False, True]
    assert chart.bound_words == "at least 3.0 m"


def test_a_maximum_is_kept_below() -> None:
    chart = draw_comparison(Comparison(measures=measures(350, 1100), wanted="at most", bound=400, bound_shown="400 m"))
    assert chart is not None
    assert [bar.good for bar in chart.bars] == [True, False]


def test_two_figures_without_a_standard_are_neither_good_nor_bad() -> None:
    chart = draw_comparison(Comparison(measures=measures(2.5, 3)))
    assert chart is not None
    assert chart.bound is None
    assert {bar.good for bar in chart.bars} == {None}


@pytest.mark.parametrize(
    "comparison",
    [
        None,
        Comparison(measures=()),
        Comparison(measures=measures(3)),
        Comparison(measures=measures(0, 0)),
        Comparison(measures=measures(-1, 2)),
        Comparison(measures=measures(math.inf, 2)),
        Comparison(measures=measures(math.nan, 2)),
    ],
)
def test_what_cannot_be_drawn_is_not_drawn(comparison: Comparison | None) -> None:
    assert draw_comparison(comparison) is None
