"""Figures of a model's findings next to their standard, or next to each other, so that they can be drawn.

Only what the finding itself sets side by side is compared: figures of one unit that a single sentence of it names, each
found in the words that it cites. A comparison that does not agree with the outcome is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from trigpoint.reading.quantities import Quantity, read_quantities
from trigpoint.reading.statements import split_sentences
from trigpoint.review.aspects import Check, Figure, aspect
from trigpoint.review.citing import document_place
from trigpoint.review.findings import Calculation, Citation, Comparison, Finding, Measure
from trigpoint.review.result import AspectReview, Judgement
from trigpoint.review.verify import figures_of
from trigpoint.review.wording import any_of, as_written

Wanted = Literal["at least", "at most"]
_WANTED: dict[str, Wanted] = {
    "at least": "at least",
    "more than": "at least",
    "at most": "at most",
    "less than": "at most",
}
_LONGEST_LABEL = 40
_FARTHEST = 10.0  # times a bound: a figure farther from it measures something else, such as a length beside a width
_NOT_OF_SCHEME = ("policy", "requested", "rejected", "other_scheme")
_DENIES = any_of("not", "never", "neither")  # whoever says that there will not be 30 mph does not give 30 mph
_BARE = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True)
class _Figure:
    """A figure with the words that state it, and the place where they are."""

    quantity: Quantity
    words: str
    place: str

    @property
    def unit(self) -> tuple[str, str | None, float]:
        return self.quantity.unit, self.quantity.per, self.quantity.per_count

    def measure(self) -> Measure:
        return Measure(label=self.place, value=self.quantity.value, shown=self.words)


def with_comparisons(judgement: Judgement) -> Judgement:
    """Return the judgement with a comparison for each finding that has none and whose figures allow one."""
    aspects = tuple(
        one.model_copy(update={"findings": tuple(_compared(finding, one) for finding in one.findings)})
        for one in judgement.aspects
    )
    general = tuple(_compared(finding, None) for finding in judgement.contradictions)
    return judgement.model_copy(update={"aspects": aspects, "contradictions": general})


def _compared(finding: Finding, area: AspectReview | None) -> Finding:
    if finding.comparison is not None:
        return finding
    found = comparison_of(finding, _check(finding, area))
    return finding if found is None else finding.model_copy(update={"comparison": found})


def _check(finding: Finding, area: AspectReview | None) -> Check | None:
    """Return the question that a finding answers: the finding `cycle_routes-width-f3` answers `width`."""
    named = finding.check.split("-")
    return aspect(area.id).check(named[1]) if area is not None and area.id and len(named) > 1 else None


def comparison_of(finding: Finding, check: Check | None = None) -> Comparison | None:
    """Return what a finding compares, or None if that is not certain."""
    stated = [figure for one in _said_of_scheme(finding) for figure in _figures_in(one.quote, document_place(one))]
    asked = [figure for one in finding.policy for figure in _figures_in(one.quote, "")]
    if summed := _stated_and_worked_out(finding):
        return summed
    for start, end in split_sentences(finding.text):
        for found in _candidates(finding.text[start:end], finding, check, stated, asked):
            if _agrees(found, finding):
                return found
    return None


def _said_of_scheme(finding: Finding) -> list[Citation]:
    """Return the quotations that give a figure of the scheme: no standard, no request, and in a contradiction no denial."""
    denials = finding.outcome == "contradicted"
    return [
        one
        for one in finding.evidence
        if one.status not in _NOT_OF_SCHEME and not (denials and _DENIES.search(one.quote))
    ]


def _candidates(
    sentence: str, finding: Finding, check: Check | None, stated: Sequence[_Figure], asked: Sequence[_Figure]
) -> Iterator[Comparison]:
    named = figures_of(sentence)
    told = [one for one in (*stated, *_cells(sentence, finding.evidence)) if one.quantity.value in named]
    known = [*told, *_worked_out(sentence, finding.calculations)]
    if check is not None and check.figure is not None:
        yield from _against_figure(known, check.figure)
    yield from _against_policy(known, [one for one in asked if one.quantity.value in named], finding)
    if finding.outcome == "contradicted":
        yield from _differing(told)


def _against_figure(known: Sequence[_Figure], figure: Figure) -> Iterator[Comparison]:
    low, high = figure.plausible
    fitting = [one for one in known if one.unit[:2] == (figure.unit, figure.per) and low <= one.quantity.rate <= high]
    if fitting:
        wanted: Wanted = "at least" if figure.compare == "minimum" else "at most"
        yield _comparison(fitting, wanted, figure.desirable, figure.shown(figure.desirable))


def _against_policy(known: Sequence[_Figure], asked: Sequence[_Figure], finding: Finding) -> Iterator[Comparison]:
    """Yield the figures next to the one bound in their unit. Two bounds, or a figure equal to it, are not clear."""
    for unit in dict.fromkeys(one.unit for one in asked):
        bounds = {one.quantity.value: one for one in asked if one.unit == unit}
        figures = [one for one in known if one.unit == unit]
        if len(bounds) != 1 or not figures or any(one.quantity.value in bounds for one in figures):
            continue
        (value, bound), *_ = bounds.items()
        if any(not value / _FARTHEST <= one.quantity.value <= value * _FARTHEST for one in figures):
            continue
        wanted = _direction(bound.quantity, figures, finding)
        if wanted is not None:
            yield _comparison(figures, wanted, value, bound.words)


def _direction(bound: Quantity, figures: Sequence[_Figure], finding: Finding) -> Wanted | None:
    """Return which side of the bound is right: as policy words it, or else as the outcome shows."""
    if bound.limit in _WANTED:
        return _WANTED[bound.limit]
    below = {one.quantity.value < bound.value for one in figures}
    if len(below) > 1 or finding.outcome == "contradicted":
        return None
    return "at most" if below.pop() == (finding.outcome == "met") else "at least"


def _differing(known: Sequence[_Figure]) -> Iterator[Comparison]:
    """Yield figures of one unit that differ between places. Two units that differ are not clear."""
    by_unit = [[one for one in known if one.unit == unit] for unit in dict.fromkeys(one.unit for one in known)]
    differing = [figures for figures in by_unit if _differ_by_place(figures)]
    if len(differing) == 1:
        yield _comparison(differing[0])


def _differ_by_place(figures: Sequence[_Figure]) -> bool:
    """Return whether each place gives one figure, and not all give the same."""
    given = {(one.place, one.quantity.value) for one in figures}
    return len(given) == len({place for place, _ in given}) and len({value for _, value in given}) > 1


def _comparison(
    figures: Sequence[_Figure], wanted: Wanted | None = None, bound: float | None = None, shown: str = ""
) -> Comparison:
    measures = {(one.place, one.quantity.value): one.measure() for one in figures}
    return Comparison(measures=tuple(measures.values()), wanted=wanted, bound=bound, bound_shown=shown)


def _agrees(comparison: Comparison, finding: Finding) -> bool:
    """Return whether the figures show what the outcome says. Those of a contradiction differ, or miss the bound."""
    if finding.outcome == "contradicted" and len({one.value for one in comparison.measures}) > 1:
        return True
    if comparison.bound is None or comparison.wanted is None:
        return finding.outcome != "contradicted"
    least = comparison.wanted == "at least"
    good = [one.value >= comparison.bound if least else one.value <= comparison.bound for one in comparison.measures]
    return all(good) if finding.outcome == "met" else not all(good)


def _stated_and_worked_out(finding: Finding) -> Comparison | None:
    """Return a stated figure next to the sum that it should be, if the finding takes the difference of the two.

    If the sum is stated as well, which of the two is wrong is not clear.
    """
    if finding.outcome != "contradicted":
        return None
    stated = set().union(*(figures_of(one.quote) for one in finding.evidence))
    earlier: set[float] = set()
    for one in finding.calculations:
        pair = sorted(one.inputs, key=lambda value: value in earlier)
        if len(pair) == 2 and "-" in one.expression and pair[0] in stated - earlier and pair[1] in earlier - stated:
            labels = zip(("Stated", "Worked out"), pair, strict=True)
            return Comparison(
                measures=tuple(Measure(label=label, value=value, shown=as_written(value)) for label, value in labels)
            )
        earlier.add(one.result)
    return None


def _worked_out(sentence: str, calculations: Sequence[Calculation]) -> list[_Figure]:
    """Return the results that a sentence names. A difference is left out: it tells how far off a figure is, not how much there is."""
    results = {one.result for one in calculations if "-" not in one.expression}
    return [one for one in _figures_in(sentence, "Worked out") if one.quantity.value in results]


def _figures_in(text: str, place: str) -> list[_Figure]:
    plain = [one for one in read_quantities(text) if one.unit and one.high is None]
    return [_Figure(one, _shown(one, text), place) for one in plain]


def _cells(sentence: str, evidence: Sequence[Citation]) -> list[_Figure]:
    """Return the figures of quoted table rows that have no unit there, with the unit that the sentence gives them."""
    named = {one.quantity.value: one for one in _figures_in(sentence, "")}
    return [
        replace(known, place=document_place(one))
        for one in evidence
        if "|" in one.quote
        for cell in one.quote.split("|")
        if _BARE.fullmatch(cell.strip(" *")) and (known := named.get(float(cell.strip(" *").replace(",", ""))))
    ]


def _shown(quantity: Quantity, text: str) -> str:
    """Return a figure as it is written, without the limit in front of it."""
    if quantity.unit == "service" and quantity.per == "hour":
        return f"{quantity.value:g} an hour"
    written = re.search(r"[£0-9].*", text[quantity.start : quantity.end], re.DOTALL)
    words = " ".join(written.group().split()) if written else str(quantity)
    return words if len(words) <= _LONGEST_LABEL else str(quantity.model_copy(update={"of": "", "limit": "exactly"}))
