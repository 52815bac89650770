"""Sums in sentences: parts and a total, a change between two figures, and stands with the spaces that they make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trigpoint.reading.counts import read_counts
from trigpoint.reading.discrepancies import Discrepancy, Input, figures
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.parts import Part, is_near, wrong_change, wrong_sum
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.rates import CYCLES_EACH
from trigpoint.reading.said import Said
from trigpoint.reading.tokens import Token, tokenise
from trigpoint.reading.vocabulary import Topic

_CUES = Lexicon(
    {
        "after": "in_total in_all altogether overall total",
        "before": "total_of totalling totals total_is total_is_therefore making giving to_give adding_up_to amounting_to "
        "amount_to makes gives total_: together_provide grand_total",
        "opens": "comprising comprises consisting made_up_of broken_down split divided namely in_the_form_of being :",
        "sums_up": "the_total in_total together this_makes this_gives altogether the_sum in_all",
        "unlike": "including includes include such_as of_which each per additional further existing plus rather_than instead "
        "compared against from between times x up_to at_least minimum maximum more_than fewer_than replac* excluding "
        "or respectively remainder remaining rest",
        "change": "going_from more_than_at longer lengthen* shorten* widen* divert* reduction reduce reduces reduced reducing increase increases increased increasing fall falls fell rise rises "
        "drop drops cut cuts decrease decreases shift change improvement points",
        "holds": "give gives giving provide provides providing hold holds holding accommodate accommodates accommodating make "
        "makes making for equating equates equal",
        "two_tier": "two_-_tier two_tier double_-_stack* double_stack* semi_-_vertical vertical three",
    }
)
_COUNTED = {
    "cycle space": "cycles",
    "cycle stand": "cycles",
    "cycle rack": "cycles",
    "car space": "cars",
    "charging point": "charging points",
    "dwelling": "homes",
    "m2": "area",
    "pound": "money",
    "trip": "trips",
    "vehicle": "trips",
    "employee": "jobs",
    "job": "jobs",
    "pupil": "pupils",
    "locker": "lockers",
    "shower": "showers",
    "space": "spaces",
    "stand": "cycles",
    "bay": "cars",
    "unit": "units",
    "room": "rooms",
    "bed": "beds",
    "bedroom": "bedrooms",
    "tree": "trees",
}
_PLAIN_LIMITS = ("exactly", "about")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_NEXT_TO = 3  # tokens between a figure and the word that makes it a total


def check_prose(said: Said, topic: Topic) -> Iterator[Discrepancy]:
    """Yield sums that do not add up in a sentence, or in it and the sentence before."""
    yield from _check_total(said, topic)
    yield from _check_summing_up(said, topic)
    yield from _check_change(said, topic)
    yield from _check_stands(said, topic)


def _check_total(said: Said, topic: Topic) -> Iterator[Discrepancy]:
    """Check "74 standard bays, 5 accessible and 3 for minibuses, 82 in total" and "82 bays: 74 standard and 5 …"."""
    text, counts = said.text, said.counts
    if len(counts) < 3 or "unlike" in _CUES.tag_text(text):
        return
    called = [one for one in counts if _is_called_total(text, one)]
    if len(called) == 1 and called[0] is counts[-1]:
        yield from _compare_with_parts(topic, (said, called[0]), said, counts[:-1])
    elif not called and _opens_a_list(text, counts[0], counts[1]):
        yield from _compare_with_parts(topic, (said, counts[0]), said, counts[1:])


def _check_summing_up(said: Said, topic: Topic) -> Iterator[Discrepancy]:
    """Check "… 640 m² and 690 m². The total is therefore 1,330 m²." against the figures of the sentence before."""
    opening = _CUES.tag_text(said.text).get("sums_up", ())
    if said.previous is None or len(said.counts) != 1 or not opening or min(opening) > 0:
        return
    total, parts = said.counts[0], said.previous.counts
    same = [part for part in parts if part.unit == total.unit]
    open_list = "unlike" in _CUES.tag_text(said.previous.text) or any(part.unit == "" for part in parts)
    if len(same) >= 2 and total.unit in _COUNTED and not open_list:
        yield from _compare_with_parts(topic, (said, total), said.previous, same)


def _compare_with_parts(
    topic: Topic, stated: tuple[Said, Quantity], said: Said, parts: Sequence[Quantity]
) -> Iterator[Discrepancy]:
    total = stated[1]
    kind = _kind_of(total, parts)
    if kind is None or not all(_is_plain(one) for one in (total, *parts)) or _multiplies(said.text):
        return
    plain = sum(part.value for part in parts)
    doubled = sum(part.value * CYCLES_EACH.get(part.unit, 1.0) for part in parts)
    largest = max(part.value for part in parts)
    if any(part.unit == "" and plain - part.value == total.value for part in parts):
        return  # a number without a noun is not a part if the total is right without it: "at three for four, 234 spaces …"
    if total.value in (plain, doubled) or largest >= total.value or not is_near(plain, total.value):
        return
    if abs(plain - total.value) < 1 and kind == "area":
        return
    if total.value - plain in _numbers(said.text):
        return  # a number that was not read as a count is the part that was left out: "… in years 7 to 11 and 150 in the sixth form"
    yield wrong_sum(topic, _part_of_sentence(total, stated[0]), [_part_of_sentence(one, said) for one in parts], plain)


def _numbers(text: str) -> set[float]:
    return {float(number.replace(",", "")) for number in _NUMBER.findall(text)}


def _kind_of(total: Quantity, parts: Sequence[Quantity]) -> str | None:
    """Return what is counted, if all figures count one thing; a figure without a noun counts what the others do."""
    kinds = {_COUNTED.get(one.unit) for one in (total, *parts) if one.unit}
    return next(iter(kinds)) if len(kinds) == 1 else None


def _is_plain(one: Quantity) -> bool:
    return one.per is None and one.high is None and one.limit in _PLAIN_LIMITS and one.value > 0


def _multiplies(text: str) -> bool:
    """Return whether a number is a number of groups: "twelve clusters of six"."""
    tokens = tokenise(text)
    starts = {one.start for one in read_counts(text)}
    return any(
        token.text == "of" and 2 <= at < len(tokens) - 1 and tokens[at + 1].start in starts
        and any(before.start in starts for before in tokens[at - 2 : at])
        for at, token in enumerate(tokens)
    )  # fmt: skip


def _is_called_total(text: str, one: Quantity) -> bool:
    after = _CUES.tag_text(text[one.end :]).get("after", ())
    before = _CUES.tag_text(text[: one.start]).get("before", ())
    length = len(tokenise(text[: one.start]))
    return any(at <= 1 for at in after) or any(length - at <= _NEXT_TO for at in before)


def _opens_a_list(text: str, total: Quantity, first: Quantity) -> bool:
    return "opens" in _CUES.tag_text(text[total.end : first.start])


def _check_change(said: Said, topic: Topic) -> Iterator[Discrepancy]:
    """Check "a reduction of 10 percentage points, from 71 to 64 per cent"."""
    text, counts = said.text, said.counts
    tokens = tokenise(text)
    change = [one for one in counts if one.high is None and _is_change(text, one)]
    ends = ends_of_change(tokens, counts)
    if (
        ends is None
        or len(change) != 1
        or change[0] in ends
        or change[0].limit not in _PLAIN_LIMITS
        or "change" not in _CUES.tag_text(text)
        or _is_of_another_clause(text, change[0], ends[0])
    ):
        return
    before, after = ends
    if change[0].unit == "%" and "%" not in (before.unit, after.unit):
        return  # a rise from 40 to 50 by 25 per cent: a quotient, not a difference
    units = {one.unit for one in (before, after, change[0]) if one.unit}
    difference = abs(before.value - after.value)
    if (
        len(units) == 1
        and len(counts) == (2 if before.start == after.start else 3)
        and abs(difference - change[0].value) > 0.5
    ):
        yield wrong_change(topic, *(_part_of_sentence(one, said) for one in (before, after, change[0])))


def _is_of_another_clause(text: str, change: Quantity, before: Quantity) -> bool:
    """Return whether a second change begins between the two: "to cut driving by ten points, and to raise cycling from 4% …"."""
    between = [token.text for token in tokenise(text[change.end : before.start])]
    return "and" in between


def _is_change(text: str, one: Quantity) -> bool:
    """Return whether a figure is that of a change: "a fall of 7", "7 percentage points", "by 7 per cent"."""
    opened = text[: one.start].rstrip().lower()
    words = opened.split()
    named = len(words) > 1 and words[-1] in ("of", "by") and "change" in _CUES.tag_text(" ".join(words[-4:-1]))
    by = bool(words) and words[-1] == "by"
    after = text[one.end :].lower().split()[:2]
    more = bool(after) and after[0] in ("more", "longer", "less", "fewer", "shorter", "further", "wider")
    return named or by or more or text[one.start :].lower()[: one.end - one.start + 20].find("percentage point") >= 0


def ends_of_change(tokens: Sequence[Token], counts: Sequence[Quantity]) -> tuple[Quantity, Quantity] | None:
    """Return the figures of "from A … to B", if there is one such pair."""
    starts = {one.start: one for one in counts}
    pairs = []
    for at, token in enumerate(tokens[:-1]):
        before = starts.get(token.start) or starts.get(tokens[at + 1].start)
        if token.text != "from" or before is None:
            continue
        if before.high is not None:
            pairs.append((before, before.model_copy(update={"value": before.high, "high": None})))
            continue
        onward = [n for n in range(at + 2, len(tokens) - 1) if tokens[n].text == "to" and tokens[n + 1].start in starts]
        if onward:
            pairs.append((before, starts[tokens[onward[0] + 1].start]))
    return pairs[0] if len(pairs) == 1 else None


def _check_stands(said: Said, topic: Topic) -> Iterator[Discrepancy]:
    """Check "30 Sheffield stands give 75 spaces": a stand holds two cycles."""
    text, counts = said.text, said.counts
    cues = _CUES.tag_text(text)
    stands = [one for one in counts if one.unit in CYCLES_EACH]
    spaces = [one for one in counts if one.unit in ("cycle space", "space")]
    others = [one for one in counts if one.unit not in (*CYCLES_EACH, "cycle space", "space", "m", "mm", "")]
    if len(stands) != 1 or len(spaces) != 1 or others or "two_tier" in cues or "sheffield" not in text.lower():
        return
    if not all(_is_plain(one) for one in (*stands, *spaces)) or not _are_joined(text, stands[0], spaces[0]):
        return
    held = 2 * stands[0].value
    if spaces[0].value in (held, stands[0].value):
        return
    yield Discrepancy(
        kind="rate",
        topic=topic,
        summary=f"{figures(stands[0].value)} stands hold {figures(held)} cycles at two to a stand, "
        f"not {figures(spaces[0].value)}.",
        calculation=f"{figures(stands[0].value)} × 2 = {figures(held)}; stated: {figures(spaces[0].value)}",
        stated=spaces[0].value,
        computed=held,
        inputs=tuple(
            Input(value=one.value, unit=one.unit, words=text[one.start : one.end], source=said.source)
            for one in (stands[0], spaces[0])
        ),
    )


def _are_joined(text: str, stands: Quantity, spaces: Quantity) -> bool:
    """Return whether a word between the two figures says that the one makes the other."""
    first, last = sorted((stands, spaces), key=lambda one: one.start)
    between = text[first.end : last.start]
    return "holds" in _CUES.tag_text(between) or between.strip() in ("(", "=", "-", "–")


def _part_of_sentence(one: Quantity, said: Said) -> Part:
    return Part(one.value, one.unit, None, said.text[one.start : one.end], said.source)
