"""A rate, the number that it applies to, and what they make."""

from __future__ import annotations

import math
from collections.abc import Iterator

from trigpoint.reading.discrepancies import Discrepancy, Input, figures
from trigpoint.reading.documents import Source
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.vocabulary import Topic

CYCLES_EACH = {"cycle stand": 2.0, "stand": 2.0, "sheffield stand": 2.0}


def wrong_rate(
    topic: Topic, rate: Quantity, number: Quantity, result: Quantity, text: str, source: Source
) -> Iterator[Discrepancy]:
    """Yield a finding if a rate times a number is not the result, however it is rounded."""
    exact = round(rate.rate * number.value, 6)
    holds = CYCLES_EACH.get(rate.unit, 1.0)  # a rate of stands may be answered in spaces
    if any(math.floor(exact * each) <= result.value <= math.ceil(exact * each) + 1 for each in (1.0, holds)):
        return
    yield Discrepancy(
        kind="rate",
        topic=topic,
        summary=f"{rate} for {figures(number.value)} makes {figures(exact)}, not {figures(result.value)}.",
        calculation=f"{figures(number.value)} × {rate.rate:g} = {figures(exact)}; stated: {figures(result.value)}",
        stated=result.value,
        computed=exact,
        inputs=tuple(
            Input(value=one.value, unit=one.unit, words=text[one.start : one.end], source=source)
            for one in (rate, number, result)
        ),
    )
