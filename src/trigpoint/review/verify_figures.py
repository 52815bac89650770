"""Check the figures of a claim that somebody handed in: stated with that unit in what it cites, or worked out from it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from trigpoint.reading.numerals import NUMBER_WORDS
from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.units import MEASURES
from trigpoint.review.arithmetic import evaluate, holds
from trigpoint.review.evidence import Evidence, fold, short_name
from trigpoint.review.findings import Calculation
from trigpoint.review.stated import REFERENCES, Number, StatedNumbers, read_numbers, unstated
from trigpoint.review.verify import figures_of, misquoted

CONSTANTS = frozenset((2.0, 12.0, 60.0, 100.0, 365.0, 1000.0))
"""Numbers that a calculation may use without a source: conversions of units, and two cycles to a stand."""

_SECTIONS = frozenset(("table", "figure", "section", "chapter", "para", "paragraph", "appendix"))
_SECTION = re.compile(
    r"\b(?:table|figure|section|chapter|para(?:graph)?s?\.?|policy|policies)\s?((?-i:[A-Z]{1,4}\s?)?\d+(?:[.-]\d+)*)",
    re.IGNORECASE,
)
_NUMBER = rf"(?:\d+|{'|'.join(NUMBER_WORDS)})"
_NUMBERS = rf"{_NUMBER}(?:(?:, | and | or | to |, and ){_NUMBER})*"
_TIME_OF_DAY = r"\b\d{1,2}[:.]\d{2}\b(?:\s?[ap]m\b)?|\b\d{1,2}\s?[ap]m\b"
_DURATION = (
    rf"\b{_NUMBERS}[ -](?:working |calendar |consecutive )?"
    r"(?:minute|hour|day|week|month|year)s?\b"
)
_YEARS = rf"\byears? {_NUMBERS}\b"
_OWN_TIMES = re.compile(f"{_TIME_OF_DAY}|{_DURATION}|{_YEARS}", re.IGNORECASE)
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = re.compile(rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)? )?{_MONTH}(?: \d{{4}})?\b")


def calculation_of(equation: str) -> Calculation:
    """Return a calculation written as `127 + 7 = 134`, or without its result. Raise ValueError if it is wrong."""
    sides = [side.strip() for side in equation.split("=")]
    value = evaluate(sides[0])
    written = equation.strip() if len(sides) > 1 else f"{sides[0]} = {_written(value)}"
    made = Calculation(expression=written, inputs=_inputs(sides[0]), result=_result(written, value))
    if not holds(made):
        raise ValueError(f"{sides[0]} is {_written(value)}, not {sides[-1]}")
    return made


def _inputs(text: str) -> tuple[float, ...]:
    return tuple(float(found.replace(",", "")) for found in re.findall(r"[0-9][0-9,]*(?:\.[0-9]+)?", text))


def _result(written: str, exact: float) -> float:
    right = written.rpartition("=")[2].strip()
    return float(found[0].replace(",", "")) if (found := re.findall(r"[0-9][0-9,]*(?:\.[0-9]+)?", right)) else exact


def _written(value: float) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def figure_reasons(
    text: str, sources: Sequence[str], calculations: Sequence[Calculation], evidence: Evidence
) -> list[str]:
    """Return what is wrong with the figures and quoted words of a text; nothing if each has its source."""
    wrong = [*unstated_figures(text, sources, calculations, evidence), *misquoted(text, sources)]
    reasons = (
        [f"{', '.join(wrong)}: not in the words you cite. Quote the place that says it, or leave it out"]
        if wrong
        else []
    )
    return [*reasons, *_section_reasons(text, evidence), *_unit_reasons(text, sources, computed_by(calculations))]


def proposed_reasons(
    text: str, sources: Sequence[str], calculations: Sequence[Calculation], evidence: Evidence
) -> list[str]:
    """Return what is wrong with the figures of something that is asked for.

    Times and periods in it are its own to propose, and a number that was worked out may be asked for rounded up: of 6.48
    spaces seven are needed.
    """
    whole = [str(math.ceil(one.result)) for one in calculations if one.result > 1 and "%" not in one.expression]
    return figure_reasons(_OWN_TIMES.sub(" ", text), [*sources, *whole], calculations, evidence)


def used_in(text: str, equations: Sequence[str]) -> tuple[str, ...]:
    """Return the equations whose results a text tells, and those that they are worked out from."""
    told, kept = {one.value for one in read_numbers(text)}, list[str]()
    for equation in reversed(equations):
        try:
            made = calculation_of(equation)
        except ValueError:
            continue  # it proves nothing
        if told & {made.result, float(math.ceil(made.result))}:
            kept.append(equation)
            told |= set(made.inputs)
    return tuple(reversed(kept))


def computed_by(calculations: Iterable[Calculation]) -> set[float]:
    """Return every figure of some calculations."""
    return {number for one in calculations for number in (*one.inputs, one.result, *figures_of(one.expression))}


def unstated_figures(
    text: str, sources: Sequence[str], calculations: Iterable[Calculation], evidence: Evidence
) -> list[str]:
    """Return the figures of a text, as it writes them, that are neither stated in its sources nor worked out there."""
    plain = text.replace(evidence.application_ref, " ").replace(evidence.effective_date, " ")
    missing = unstated(read_numbers(plain), StatedNumbers(sources, computed_by(calculations)))
    if not missing:
        return []
    said = _everything_said(evidence)
    dates = [match.group() for match in _DATE.finditer(plain) if _is_on_a_page(match.group(), said)]
    for date in dates:
        plain = plain.replace(date, " ")
    left = unstated(read_numbers(plain), StatedNumbers(sources, computed_by(calculations))) if dates else missing
    return [one.shown for one in left if not (one.name and (_is_page(one, evidence) or _is_said(one.name, said)))]


def _is_on_a_page(date: str, said: Iterable[str]) -> bool:
    return any(fold(date) in one for one in said)


def _is_page(one: Number, evidence: Evidence) -> bool:
    """Return whether a number is that of a page that some document has."""
    longest = max((len(document.pages) for document in evidence.documents), default=0)
    return one.name.partition(" ")[0] in ("page", "pages") and 1 <= one.value <= longest


def _everything_said(evidence: Evidence) -> tuple[str, ...]:
    """Return the folded text of all pages, policies with their names, and remarks and of the register's entry, in which names
    may be."""
    register = fold(f"{evidence.profile.proposal} {evidence.profile.site} {evidence.application_ref}")
    policies = (fold(f"{short_name(one.source)} {one.section_ref} {one.text}") for one in evidence.policies.values())
    return (*(page for _, _, page in evidence.words_by_page), *policies, *map(fold, evidence.remarks), register)


def _is_said(name: str, said: Iterable[str]) -> bool:
    """Return whether a page or a policy has a name with a number. Of a section the number is enough: it heads the text."""
    word, _, number = name.rpartition(" ")
    wanted = number if word.rstrip("s") in _SECTIONS or word in REFERENCES else name
    spellings = {wanted, wanted.replace("s ", " ")}  # "routes 51 and 52"
    whole = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, spellings))})(?![\w/-]|\.\d)")
    return any(whole.search(one) for one in said)


def _section_reasons(text: str, evidence: Evidence) -> list[str]:
    """Return the sections that a text names although neither a policy of this review nor a page has them."""
    named = {match.group(): fold(match[1]) for match in _SECTION.finditer(text)}
    said = _everything_said(evidence) if named else ()
    return [
        f"{name}: no policy that was looked up and no page has it. Look it up and cite it, or leave it out"
        for name, number in named.items()
        if not _is_said(f"section {number}", said)
    ]


def calculation_reasons(calculations: Sequence[Calculation], sources: Sequence[str]) -> list[str]:
    """Return which inputs of the calculations are neither stated in what is cited nor worked out before."""
    known = inputs_stated(sources)
    reasons = []
    for one in calculations:
        strange = [value for value in one.inputs if value not in known]
        if strange:
            named = ", ".join(f"{value:g}" for value in strange)
            reasons.append(f"{one.expression}: {named} is not in the words you cite")
        known |= {one.result, float(math.ceil(one.result))}
    return reasons


def inputs_stated(sources: Sequence[str]) -> set[float]:
    """Return the figures that a calculation may use: stated ones, also per cent as a fraction and kilometres in metres, and conversions."""
    stated = StatedNumbers(sources)
    shares = {round(one.value / 100, 6) for one in stated.quantities if one.unit == "%"}
    shares |= {round(one.value / 100, 6) for one in stated.numbers if one.is_share}
    metres = {round(one.value * 1000, 3) for one in stated.quantities if one.unit == "km"}
    return {*CONSTANTS, *stated.values, *shares, *metres}


def attached(
    text: str,
    sources: Sequence[str],
    calculations: Sequence[Calculation],
    made: Iterable[Calculation],
    evidence: Evidence,
) -> tuple[Calculation, ...]:
    """Return the calculations that were made while judging and give a figure of a text that has no other source.

    One counts only if each of its inputs is stated in what is cited: so the figure carries its inputs.
    """
    missing = unstated_figures(text, sources, calculations, evidence)
    known = inputs_stated(sources)
    fitting = [
        one
        for one in made
        if set(one.inputs) <= known
        and not set(missing) <= set(unstated_figures(text, sources, [*calculations, one], evidence))
    ]
    return tuple({one.expression: one for one in fitting}.values())


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
