"""Judge one check by certain facts alone. What is not certain is not judged, and the reason says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trigpoint.reading.documents import Source
from trigpoint.reading.facts import Fact
from trigpoint.reading.quantities import Quantity
from trigpoint.review.aspects import Check, Figure
from trigpoint.review.citing import document_title
from trigpoint.review.evidence import Evidence
from trigpoint.review.findings import Calculation, Comparison, Measure, Outcome

SPEAKERS = ("applicant", "officer", "condition")
"""Whose statements can decide: the applicant's, a condition's, and what the officer says the applicant proposes."""


@dataclass(frozen=True)
class CheckVerdict:
    """A judged check: its outcome, the facts that prove it, and the figures for its text."""

    outcome: Outcome
    facts: tuple[Fact, ...]
    value: str = ""
    standard: str = ""
    calculations: tuple[Calculation, ...] = ()
    comparison: Comparison | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Undecided:
    """A check that rules cannot judge, and why."""

    reason: str
    facts: tuple[Fact, ...] = ()


def deciding(check: Check, evidence: Evidence) -> list[Fact]:
    """Return the certain facts on the check's topics whose status and speaker can decide it."""
    return [
        fact
        for fact in evidence.facts
        if fact.topic in check.topics
        and fact.is_certain
        and fact.status in check.statuses
        and fact.polarity != "lacks"
        and fact.speaker in SPEAKERS
        and fact.place != "other site"
    ]


def ruled_out(check: Check, evidence: Evidence) -> list[Fact]:
    """Return the facts that certainly say that it will not be provided."""
    return [
        fact
        for fact in evidence.facts
        if fact.topic in check.topics and fact.is_certain and fact.status == "rejected" and fact.speaker in SPEAKERS
    ]


def by_statement(check: Check, evidence: Evidence) -> CheckVerdict | Undecided:
    """Judge by what is said: it is provided, or it is ruled out. Statements both ways are for a person."""
    provided = [fact for fact in deciding(check, evidence) if fact.polarity == "provides"]
    denied = ruled_out(check, evidence)
    if provided and denied:
        return Undecided("Some statements promise it and others rule it out", (*provided, *denied))
    if denied:
        return CheckVerdict("failed", tuple(denied))
    if provided:
        return CheckVerdict("met", tuple(provided), remarks=phased(provided))
    return Undecided("")


def by_figure(check: Check, evidence: Evidence) -> CheckVerdict | Undecided:
    """Judge by measures against bounds. A statement with several measures of the unit is not clear enough."""
    assert check.figure is not None
    measured = [(fact, one) for fact in deciding(check, evidence) if (one := _measure(check.figure, fact)) is not None]
    if not measured:
        return Undecided("")
    if check.figure.take == "best":
        pick = min if check.figure.compare == "maximum" else max
        best = pick(measured, key=lambda pair: pair[1].value)[1].value
        measured = [pair for pair in measured if pair[1].value == best]
    outcomes = [_held_against(quantity, check.figure) for _, quantity in measured]
    outcome = "partly" if len(set(outcomes)) > 1 else outcomes[0]
    values = sorted(
        {value for _, quantity in measured for value in (quantity.value, quantity.high) if value is not None}
    )
    shown = [check.figure.shown(value) for value in values]
    facts = tuple(dict.fromkeys(fact for fact, _ in measured))
    bound = check.figure.shown(check.figure.desirable)
    origin = (f"{bound} is from {check.figure.origin}.",) if check.figure.origin else ()
    return CheckVerdict(
        outcome,
        facts,
        value=_range(shown),
        comparison=_comparison(measured, check.figure),
        remarks=(*phased(facts), *origin),
    )


def _comparison(measured: Sequence[tuple[Fact, Quantity]], figure: Figure) -> Comparison:
    """Return each measure next to the bound. Of a range, the end that counts."""
    worse = {"minimum": lambda one: one.value, "maximum": lambda one: one.value if one.high is None else one.high}
    pairs = [(fact, worse[figure.compare](quantity)) for fact, quantity in measured]
    return Comparison(
        measures=tuple(dict.fromkeys(measure_of(fact.source, value, figure.shown(value)) for fact, value in pairs)),
        wanted="at least" if figure.compare == "minimum" else "at most",
        bound=figure.desirable,
        bound_shown=figure.shown(figure.desirable),
    )


def measure_of(source: Source, value: float, shown: str) -> Measure:
    """Return a stated figure with the place where it is stated."""
    page = "" if source.page is None else f", page {source.page}"
    return Measure(label=f"{document_title(source.document)}{page}", value=value, shown=shown)


def phased(facts: Sequence[Fact]) -> tuple[str, ...]:
    """Return the remark that provision comes in phases, if a fact says so."""
    return ("Part of it is to follow in a later phase.",) if any(fact.status == "phased" for fact in facts) else ()


def _measure(figure: Figure, fact: Fact) -> Quantity | None:
    if not figure.bounds(fact.source.quote):
        return None
    fitting = [
        one
        for one in fact.quantities
        if one.unit == figure.unit and one.per == figure.per and figure.plausible[0] <= one.rate <= figure.plausible[1]
    ]
    return fitting[0] if len(fitting) == 1 else None


def _held_against(quantity: Quantity, figure: Figure) -> Outcome:
    """Compare a measure with the bounds. The worse end of a range counts, and "up to" a minimum does not meet it."""
    low, high = quantity.value, quantity.high if quantity.high is not None else quantity.value
    if figure.compare == "minimum":
        enough = [low >= bound for bound in (figure.desirable, figure.absolute)]
        open_end = quantity.limit in ("at most", "less than", "reduces to")
    else:
        enough = [high <= bound for bound in (figure.desirable, figure.absolute)]
        open_end = quantity.limit in ("at least", "more than")
    if enough[0]:
        return "partly" if open_end else "met"
    return "partly" if enough[1] else "failed"


def _range(shown: Sequence[str]) -> str:
    return shown[0] if len(shown) == 1 else f"{shown[0]} to {shown[-1]}"


def open_facts(check: Check, evidence: Evidence) -> list[Fact]:
    """Return the facts that certainly leave the matter to a condition, an illustration or a later approval."""
    wanted = ("conditional", "deferred", "indicative")
    return [f for f in evidence.facts if f.topic in check.topics and f.is_certain and f.status in wanted]
