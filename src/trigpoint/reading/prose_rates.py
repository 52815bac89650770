"""Products and quotients in sentences and rows: a rate times a number, one number of another, a rise in per cent, a journey's time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from trigpoint.reading.discrepancies import Discrepancy, Input, figures
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.prose_sums import ends_of_change
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.said import Said
from trigpoint.reading.tokens import tokenise
from trigpoint.reading.units import DISTANCES, METRES
from trigpoint.reading.vocabulary import Topic

_CUES = Lexicon(
    {
        "gives": "or giving gives equates equating equal equals equivalent making makes so therefore hence ie i_._e results result "
        "generates generating totalling total amounts amounting is are",
        "goes_on": "applied applying this that these at_that on_that multiplied",
        "share": "rate share proportion representing equivalent equal or which_is being that_is just only response",
        "rise": "rise rises rising rose increase increases increased increasing uplift growth grow grows more",
        "fall": "fall falls fell reduction reduce reduces reduced reducing cut decrease drop drops dropped fewer less",
        "apart": "and while whereas but against compared each respectively",
    }
)
_SPEEDS = {"km/h": 1.0, "mph": 1.609}
_TIMES = frozenset(("hour", "day", "week", "month", "year", "annum", "average"))
_UNTOLD = ("unit", "person", "one")  # words that may stand for anything
_SAME = {"bedroom": ("bedroom", "bed", "room"), "dwelling": ("dwelling", "unit")}
_POINTS_OFF = 1.5  # percentage points by which a share may miss its figures
_TIME_OFF = 0.25
_MOST_TIMES_OFF = 2.5  # a product further from the figure is of something else
_ROUNDED = 0.02
_LONGEST_JOINT = 60  # characters between two figures and their share

KnownNumbers = Mapping[str, Counter[float]]
"""How often the documents give each number of a unit."""


def numbers_known(said: Sequence[Said]) -> dict[str, Counter[float]]:
    """Return the numbers of things that the documents count, by unit."""
    known: dict[str, Counter[float]] = {}
    for one in said:
        for count in one.counts:
            if count.unit and count.per is None and count.high is None:
                known.setdefault(count.unit, Counter())[count.value] += 1
    return known


def check_rates(said: Sequence[Said], known: KnownNumbers) -> Iterator[Discrepancy]:
    """Yield the products, shares and times that do not fit the figures they are made from."""
    following = [*said[1:], None]
    for one, after in zip(said, following, strict=False):
        if one.topic is not None:
            yield from _check_product(one, after, one.topic, known)
            yield from _check_share(one, one.topic)
            yield from _check_rise(one, one.topic)
            yield from _check_time(one, one.topic)


def _check_product(said: Said, after: Said | None, topic: Topic, known: KnownNumbers) -> Iterator[Discrepancy]:
    """Check "0.08 vehicles per bedroom, or 17 vehicles" against every number of bedrooms that the documents give."""
    rates = [one for one in said.counts if one.per is not None and one.per not in _TIMES and _is_plain(one)]
    if len(rates) != 1 or rates[0].unit in ("", "gradient", "ratio") or rates[0].per in _UNTOLD or said.is_requirement:
        return
    rate = rates[0]
    found = _product_said(said, after, rate)
    counts = _counted(known, rate)
    if found is None or not counts:
        return
    place, result = found
    made = {number: rate.rate * number for number in counts}
    if any(_is_rounded(value, result.value) for value in made.values()):
        return
    number = max(counts, key=lambda one: (counts[one], one))
    if max(made[number], result.value) <= _MOST_TIMES_OFF * min(made[number], result.value):
        yield _product(topic, said, rate, number, place, result)


def _product_said(said: Said, after: Said | None, rate: Quantity) -> tuple[Said, Quantity] | None:
    """Return what the rate is said to make: in the same sentence or row, or in the next sentence if that continues it."""
    same = [one for one in said.counts if one is not rate and _is_result(one, rate)]
    others = [one for one in said.counts if one is not rate and one not in same]
    if len(same) == 1 and not others and same[0].start > rate.end:
        joint = said.text[rate.end : same[0].start]
        return (said, same[0]) if "|" in joint or "gives" in _CUES.tag_text(joint) else None
    if same or others or after is None or after.previous is not said:
        return None
    opening = _CUES.tag_text(" ".join(after.text.split()[:2]))
    fitting = [one for one in after.counts if _is_result(one, rate)]
    return (after, fitting[0]) if len(after.counts) == len(fitting) == 1 and "goes_on" in opening else None


def _is_result(one: Quantity, rate: Quantity) -> bool:
    return one.unit == rate.unit and (one.per is None or one.per in _TIMES) and _is_plain(one)


def _is_plain(one: Quantity) -> bool:
    return one.high is None and one.limit in ("exactly", "about") and one.value > 0


def _counted(known: KnownNumbers, rate: Quantity) -> Counter[float]:
    units = _SAME.get(rate.per or "", (rate.per or "",))
    return sum((known.get(unit, Counter()) for unit in units), Counter())


def _is_rounded(exact: float, stated: float) -> bool:
    return math.floor(exact) <= stated <= math.ceil(exact) + 1 or abs(exact - stated) <= _ROUNDED * stated


def _product(topic: Topic, said: Said, rate: Quantity, number: float, place: Said, result: Quantity) -> Discrepancy:
    computed = round(rate.rate * number, 6)
    return Discrepancy(
        kind="rate",
        topic=topic,
        summary=f"{rate} for {figures(number)} makes {figures(computed)}, not {figures(result.value)}.",
        calculation=f"{figures(number)} × {rate.rate:g} = {figures(computed)}; stated: {figures(result.value)}",
        stated=result.value,
        computed=computed,
        inputs=(_input(said, rate), _input(place, result)),
    )


def _check_share(said: Said, topic: Topic) -> Iterator[Discrepancy]:
    """Check "412 replies from a staff of 5,150, a response rate of 18%"."""
    counts = said.counts
    if len(counts) != 3 or said.statement.kind == "row" or not all(one.per is None for one in counts):
        return
    part, whole, share = counts
    if share.unit != "%" or "%" in (part.unit, whole.unit) or not all(_is_plain(one) for one in counts):
        return
    between = [token.text for token in tokenise(said.text[part.end : whole.start])]
    joint = said.text[whole.end : share.start]
    of_one = bool({"of", "from"} & set(between)) and len(between) <= _LONGEST_JOINT // 10
    told = "share" in _CUES.tag_text(joint) or joint.rstrip().endswith("(")
    units = {one.unit for one in (part, whole) if one.unit}
    if not of_one or not told or len(joint) > _LONGEST_JOINT or part.value >= whole.value or len(units) > 1:
        return
    yield from _wrong_share(topic, said, part, whole, share, 100 * part.value / whole.value)


def _wrong_share(
    topic: Topic, said: Said, part: Quantity, whole: Quantity, share: Quantity, computed: float
) -> Iterator[Discrepancy]:
    if abs(computed - share.value) > _POINTS_OFF:
        yield Discrepancy(
            kind="percentage",
            topic=topic,
            summary=f"{figures(part.value)} of {figures(whole.value)} is {computed:.1f}%, not {figures(share.value)}%.",
            calculation=f"{figures(part.value)} / {figures(whole.value)} = {computed:.1f}%; stated: {figures(share.value)}%",
            stated=share.value,
            computed=round(computed, 1),
            inputs=tuple(_input(said, one) for one in (share, part, whole)),
        )


def _check_rise(said: Said, topic: Topic) -> Iterator[Discrepancy]:
    """Check "rises from 38 to 46, an uplift of 28 per cent"."""
    ends = ends_of_change(tokenise(said.text), said.counts)
    shares = [one for one in said.counts if one.unit == "%" and one.per is None and one.high is None]
    if (
        ends is None
        or len(shares) != 1
        or len(said.counts) > 3
        or shares[0] in ends
        or "%" in (ends[0].unit, ends[1].unit)
    ):
        return
    before, after, cues = ends[0].value, ends[1].value, _CUES.tag_text(said.text)
    told = "rise" in cues if after > before else "fall" in cues
    if not told or not before or shares[0].start < said.counts[0].start or not _is_plain(shares[0]):
        return
    computed = 100 * abs(after - before) / before
    if abs(computed - shares[0].value) > _POINTS_OFF:
        yield Discrepancy(
            kind="percentage",
            topic=topic,
            summary=f"From {figures(before)} to {figures(after)} is a change of {computed:.1f}%, "
            f"not {figures(shares[0].value)}%.",
            calculation=f"({figures(after)} - {figures(before)}) / {figures(before)} = {computed:.1f}%; "
            f"stated: {figures(shares[0].value)}%",
            stated=shares[0].value,
            computed=round(computed, 1),
            inputs=tuple(_input(said, one) for one in (shares[0], *ends)),
        )


def _check_time(said: Said, topic: Topic) -> Iterator[Discrepancy]:
    """Check "4.1 km away; at 16 km/h it can be cycled in ten minutes"."""
    ways = [one for one in said.counts if one.unit in DISTANCES and one.per is None]
    speeds = [one for one in said.counts if one.unit in _SPEEDS]
    times = [one for one in said.counts if one.unit == "minute" and one.per is None]
    if not (len(ways) == len(speeds) == len(times) == 1) or not all(_is_plain(one) for one in (*ways, *speeds, *times)):
        return
    computed = 60 * ways[0].value * METRES[ways[0].unit] / 1000 / (speeds[0].value * _SPEEDS[speeds[0].unit])
    if abs(computed - times[0].value) > _TIME_OFF * computed:
        yield Discrepancy(
            kind="rate",
            topic=topic,
            summary=f"{ways[0]} at {speeds[0]} takes {computed:.0f} minutes, not {figures(times[0].value)}.",
            calculation=f"{ways[0]} / {speeds[0]} = {computed:.1f} minutes; stated: {figures(times[0].value)}",
            stated=times[0].value,
            computed=round(computed),
            inputs=tuple(_input(said, one) for one in (times[0], ways[0], speeds[0])),
        )


def _input(said: Said, one: Quantity) -> Input:
    return Input(value=one.value, unit=one.unit, words=said.text[one.start : one.end], source=said.source)
