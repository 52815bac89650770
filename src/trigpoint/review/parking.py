"""Judge numbers and rates of cycle parking against the standard for the uses that are built.

A rate is compared with a rate in the same unit, or a total with what the standard asks for the known size. Anything
else (several rates, unknown sizes, another standard named in the documents) is left to a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trigpoint.policies.parking import Rate
from trigpoint.reading.facts import Fact
from trigpoint.reading.profile import Profile
from trigpoint.reading.quantities import Quantity
from trigpoint.review.aspects import Check
from trigpoint.review.evidence import Evidence, readable_ref
from trigpoint.review.findings import Calculation, Comparison, Outcome
from trigpoint.review.standards import Standard, standard_for
from trigpoint.review.verdicts import CheckVerdict, Undecided, deciding, measure_of, phased, ruled_out

_SPACE = "cycle space"
_BASES = {
    "dwelling": ("dwelling", "home", "house", "flat", "apartment", "unit", "household"),
    "bedroom": ("bedroom", "bed"),
    "m2": ("m2", "sqm"),
    "job": ("employee", "member of staff", "staff", "job", "worker", "person"),
    "pupil": ("pupil", "student", "child"),
}
_UNITS = {"bedroom": "bed"}  # the profile counts the rooms of homes for the old, hotels and students as beds
_CAN_FALL_SHORT = ("at most", "less than", "reduces to", "about")


@dataclass(frozen=True)
class _Figures:
    """The figures that the facts give: rates by basis, and totals."""

    rates: tuple[tuple[Fact, Quantity], ...]
    totals: tuple[tuple[Fact, Quantity], ...]

    @property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(dict.fromkeys(fact for fact, _ in (*self.rates, *self.totals)))


def standard_of(check: Check, evidence: Evidence) -> tuple[Standard, tuple[Rate, ...]] | None:
    """Return the standard of rates that a check holds this development against, local before national."""
    if check.standard is None:
        return None
    return standard_for(check.standard, evidence.profile, evidence.in_force, evidence.standards)


def by_standard(check: Check, evidence: Evidence) -> CheckVerdict | Undecided:
    """Judge cycle parking by the standard for the development's uses."""
    assert check.standard is not None
    denied = ruled_out(check, evidence)
    facts = deciding(check, evidence)
    chosen = standard_of(check, evidence)
    if chosen is None:
        return Undecided(_no_standard(evidence.profile), tuple(facts))
    if denied:
        return Undecided("A statement rules some of it out", (*denied, *facts))
    verdict = _compared(_figures(facts, check.topics[0]), *chosen, evidence.profile)
    if isinstance(verdict, CheckVerdict) and verdict.outcome != "failed" and (doubt := _doubt(check, evidence)):
        return Undecided(doubt, verdict.facts)
    return verdict


def _no_standard(profile: Profile) -> str:
    uses = sorted({size.use.replace("_", " ") for size in profile.uses})
    if not uses:
        return "We could not tell what is being built, and so not which rate applies"
    return f"No standard in force that was available gives a rate for {', '.join(uses)}"


def _doubt(check: Check, evidence: Evidence) -> str | None:
    """Return why a figure that reaches the national minimum may still fall short, or None."""
    on_topic = [fact for fact in evidence.facts if fact.topic in check.topics]
    if any(one.topic in check.topics for one in evidence.discrepancies):
        return "The figures given for it do not agree with each other"
    if any(fact.status in ("policy", "requested") and fact.quantities for fact in on_topic):
        return "The documents name another standard, which may ask for more"
    if any(fact.polarity == "lacks" for fact in on_topic):
        return "A statement on it may admit a shortfall"
    return None


def _figures(facts: Sequence[Fact], main_topic: str) -> _Figures:
    counted = [(f, q) for f in facts for q in f.quantities if q.unit in (_SPACE, "space") and q.value > 0]
    main = [pair for pair in counted if pair[0].topic == main_topic] or counted
    rates = tuple(pair for pair in main if pair[1].per is not None)
    totals = tuple(pair for pair in main if pair[1].per is None and pair[1].unit == _SPACE)
    return _Figures(rates, totals)


def _compared(
    figures: _Figures, standard: Standard, rates: Sequence[Rate], profile: Profile
) -> CheckVerdict | Undecided:
    if len({(q.rate, q.per) for _, q in figures.rates}) > 1:
        return Undecided("Several rates are given, for different parts of the development", figures.facts)
    if figures.rates:
        return _by_rate(figures, standard, rates, profile)
    if len({q.value for _, q in figures.totals}) > 1:
        return Undecided("Several numbers are given, and we cannot tell which is the whole", figures.facts)
    if figures.totals:
        return _by_total(figures, standard, rates, profile)
    return Undecided("")


def _by_rate(
    figures: _Figures, standard: Standard, rates: Sequence[Rate], profile: Profile
) -> CheckVerdict | Undecided:
    quantity = figures.rates[0][1]
    basis = next((name for name, words in _BASES.items() if quantity.per in words), None)
    same = [rate for rate in rates if rate.unit == basis]
    if len(same) == 1:
        wanted = same[0].count / same[0].of
        outcome: Outcome = "met" if quantity.rate >= wanted else "failed"
        compared = _comparison(figures.rates[0][0], quantity.rate, str(quantity), wanted, same[0].words)
        return _verdict(outcome, figures, standard, same[0].words, str(quantity), quantity, comparison=compared)
    per_bedroom = [rate for rate in rates if rate.unit == "bedroom" and rate.use == "dwellings"]
    if basis == "dwelling" and per_bedroom:
        return _per_dwelling(figures, standard, per_bedroom[0], profile, quantity)
    return Undecided("The rate is given on a basis that the standard does not use", figures.facts)


def _per_dwelling(
    figures: _Figures, standard: Standard, rate: Rate, profile: Profile, quantity: Quantity
) -> CheckVerdict | Undecided:
    """Compare spaces a home with bedrooms a home: the same figure can be enough for flats and too little for houses."""
    bedrooms = [size.bedrooms for size in profile.uses if size.use == "dwellings" and size.bedrooms]
    if quantity.rate < rate.count:  # every home has a bedroom
        return _verdict("failed", figures, standard, rate.words, str(quantity), quantity)
    if not bedrooms:
        return Undecided(
            "A rate for each home can be held against one for each bedroom only if the mix is known", figures.facts
        )
    enough = [quantity.rate >= rate.count * number for number in bedrooms]
    outcome: Outcome = "partly" if any(enough) else "failed"
    if all(enough):
        outcome = "met"
    short = sorted({number for number, reached in zip(bedrooms, enough, strict=True) if not reached})
    homes = f", too few for homes with {' or '.join(map(str, short))} bedrooms" if short else ""
    return _verdict(outcome, figures, standard, rate.words, f"{quantity}{homes}", quantity)


def _by_total(
    figures: _Figures, standard: Standard, rates: Sequence[Rate], profile: Profile
) -> CheckVerdict | Undecided:
    quantity = figures.totals[0][1]
    wanted = _wanted(rates, profile)
    if wanted is None:
        return Undecided("The size of each use is not known well enough to work out the number needed", figures.facts)
    words, calculation = wanted
    outcome: Outcome = "met" if quantity.value >= calculation.result else "failed"
    value = f"{quantity.value:,g} spaces, where {calculation.expression}"
    counted = f"{calculation.result:,.0f} spaces"
    compared = _comparison(
        figures.totals[0][0], quantity.value, f"{quantity.value:,g} spaces", calculation.result, counted
    )
    return _verdict(outcome, figures, standard, words, value, quantity, (calculation,), compared)


def _comparison(fact: Fact, value: float, shown: str, wanted: float, wanted_shown: str) -> Comparison:
    measure = measure_of(fact.source, value, shown)
    return Comparison(measures=(measure,), wanted="at least", bound=wanted, bound_shown=wanted_shown)


def _wanted(rates: Sequence[Rate], profile: Profile) -> tuple[str, Calculation] | None:
    """Return the rates in words and the number needed, if there is one use and its size is known in the rates' units.

    Rates in two units are added up: a school needs so many for its staff and so many for its pupils.
    """
    uses = {size.use for size in profile.uses}
    terms = _terms(uses.pop(), rates, profile) if len(uses) == 1 else [None]
    known = [term for term in terms if term is not None]
    if len(known) < len(terms):
        return None
    result = sum(rate.count * size / rate.of for rate, size in known)
    shown = " + ".join(_shown(rate, size) for rate, size in known)
    inputs = tuple(number for rate, size in known for number in (rate.count, size, rate.of))
    words = " and ".join(dict.fromkeys(rate.words for rate, _ in known))
    return words, Calculation(expression=f"{shown} = {result:,.0f}", inputs=inputs, result=result)


def _terms(use: str, rates: Sequence[Rate], profile: Profile) -> list[tuple[Rate, float] | None]:
    """Return each rate of a use with its size; a None for each unit in which the size is not known, or if it has no rate."""
    own = [rate for rate in rates if rate.use == use]
    terms: list[tuple[Rate, float] | None] = []
    for unit in dict.fromkeys(rate.unit for rate in own):
        sizes = {
            size.size for size in profile.uses if size.use == use and size.unit == _UNITS.get(unit, unit) and size.size
        }
        size = sizes.pop() if len(sizes) == 1 else None
        fitting = [rate for rate in own if rate.unit == unit and size is not None and rate.fits_size(size)]
        terms.append((fitting[0], size) if len(fitting) == 1 and size is not None else None)
    return terms or [None]


def _shown(rate: Rate, size: float) -> str:
    factor = "" if rate.count == 1 else f"{rate.count:g} × "
    divisor = "" if rate.of == 1 else f" / {rate.of:,g}"
    return f"{factor}{size:,g}{divisor}"


def _verdict(
    outcome: Outcome,
    figures: _Figures,
    standard: Standard,
    words: str,
    value: str,
    quantity: Quantity,
    calculations: tuple[Calculation, ...] = (),
    comparison: Comparison | None = None,
) -> CheckVerdict | Undecided:
    if outcome == "met" and quantity.limit in _CAN_FALL_SHORT:
        return Undecided(f"“{quantity.limit}” leaves open whether the standard is reached", figures.facts)
    return CheckVerdict(
        outcome,
        figures.facts,
        value=value,
        standard=f"{words} ({readable_ref(standard.source, standard.section)})",
        calculations=calculations,
        comparison=comparison,
        remarks=(*phased(figures.facts), *((standard.note,) if standard.note and outcome == "met" else ())),
    )
