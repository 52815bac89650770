"""Check the figures of a claim that somebody handed in: stated with that unit in what it cites, or worked out from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.units import MEASURES
from trigpoint.review.arithmetic import evaluate, holds
from trigpoint.review.evidence import Evidence, fold
from trigpoint.review.findings import Calculation
from trigpoint.review.verify import figures_of, numbers_of, unsupported

CONSTANTS = frozenset((2.0, 12.0, 60.0, 100.0, 365.0, 1000.0))
"""Numbers that a calculation may use without a source: conversions of units, and two cycles to a stand."""

_NAMED = re.compile(r"\b(?:[A-Z][\w'’-]*|[A-Z]{1,3})[ -]?(?:No\.? )?\d+[A-Za-z]?(?:[./-]\d+)*\b")
_SECTION = re.compile(
    r"\b(?:table|figure|section|chapter|para(?:graph)?s?\.?|policy|policies)\s+((?:[a-z]{1,4}\s?)?\d+(?:[.-]\d+)*)",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s?%")


def calculation_of(equation: str) -> Calculation:
    """Return a calculation written as `127 + 7 = 134`, or without its result. Raise ValueError if it is wrong."""
    sides = [side.strip() for side in equation.split("=")]
    value = evaluate(sides[0])
    written = equation.strip() if len(sides) > 1 else f"{sides[0]} = {_figures(value)}"
    made = Calculation(expression=written, inputs=_inputs(sides[0]), result=_result(written, value))
    if not holds(made):
        raise ValueError(f"{sides[0]} is {_figures(value)}, not {sides[-1]}")
    return made


def _inputs(text: str) -> tuple[float, ...]:
    return tuple(float(found.replace(",", "")) for found in re.findall(r"[0-9][0-9,]*(?:\.[0-9]+)?", text))


def _result(written: str, exact: float) -> float:
    right = written.rpartition("=")[2].strip()
    return float(found[0].replace(",", "")) if (found := re.findall(r"[0-9][0-9,]*(?:\.[0-9]+)?", right)) else exact


def _figures(value: float) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def figure_reasons(
    text: str, sources: Sequence[str], calculations: Sequence[Calculation], evidence: Evidence
) -> list[str]:
    """Return what is wrong with the figures and quoted words of a text; nothing if each has its source."""
    computed = {number for one in calculations for number in (*one.inputs, one.result, *figures_of(one.expression))}
    plain = without_names(text, evidence)
    wrong = unsupported(plain, sources, computed)
    reasons = (
        [f"{', '.join(wrong)}: not in the words you cite. Quote the place that says it, or leave it out"]
        if wrong
        else []
    )
    return [*reasons, *_section_reasons(text, evidence), *_unit_reasons(plain, sources, computed)]


def _section_reasons(text: str, evidence: Evidence) -> list[str]:
    """Return the sections that a text names although neither a policy of this review nor a page has them."""
    named = {match.group(): fold(match[1]) for match in _SECTION.finditer(text)}
    said = [fold(f"{one.section_ref} {one.text}") for one in evidence.policies.values()] if named else []
    said += [page for _, _, page in evidence.words_by_page] if named else []
    return [
        f"{name}: no policy that was looked up and no page has it. Look it up and cite it, or leave it out"
        for name, number in named.items()
        if not any(re.search(rf"(?<![\w.-]){re.escape(number)}(?![\w-]|\.\d)", one) for one in said)
    ]


def calculation_reasons(calculations: Sequence[Calculation], sources: Sequence[str]) -> list[str]:
    """Return which inputs of the calculations are neither stated in what is cited nor worked out before."""
    known = set(CONSTANTS)
    for source in sources:
        known |= numbers_of(fold(source))
    reasons = []
    for one in calculations:
        strange = [value for value in one.inputs if value not in known]
        if strange:
            named = ", ".join(f"{value:g}" for value in strange)
            reasons.append(f"{one.expression}: {named} is not in the words you cite")
        known |= {one.result}
    return reasons


def without_names(text: str, evidence: Evidence) -> str:
    """Return a text without names that contain a number, such as "Route 51", if a page or a policy has the name."""
    pages = [page for _, _, page in evidence.words_by_page]
    policies = [fold(passage.text) for passage in evidence.policies.values()]
    register = fold(f"{evidence.profile.proposal} {evidence.profile.site} {evidence.application_ref}")
    for name in dict.fromkeys(_NAMED.findall(text)):
        if any(fold(name) in said for said in (*pages, *policies, register)):
            text = text.replace(name, " ")
    return text.replace(evidence.application_ref, " ").replace(evidence.effective_date, " ")


def _unit_reasons(text: str, sources: Iterable[str], computed: Iterable[float]) -> list[str]:
    """Return figures that what is cited states in another unit only: 17 m for 17 minutes."""
    stated: dict[float, set[str]] = {}
    for source in sources:
        for quantity in read_quantities(source):
            stated.setdefault(quantity.value, set()).add(quantity.unit)
    free = set(computed)
    measures = set(MEASURES.values())
    return [
        f"{quantity.value:g} {quantity.unit}: what you cite says {quantity.value:g} {' or '.join(sorted(units))}"
        for quantity in read_quantities(text)
        if quantity.unit in measures
        and quantity.value not in free
        and (units := stated.get(quantity.value))
        and units <= measures - {quantity.unit}
    ]
