"""How a check finds what it looks for in a sentence: patterns, quantities at a pattern's `<q>`, recitals of policy that
are no proposal, and citations of what was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from trigpoint.review.aspects import Agreement, Aspect, Check, QuantityRule, compile_pattern
from trigpoint.review.denials import is_said
from trigpoint.review.evidence import Evidence, Statement
from trigpoint.review.findings import Citation, Outcome, PolicyCitation
from trigpoint.review.headings import is_heading
from trigpoint.review.quantities import Limit, Quantity, parse_quantities

LONGEST_QUOTE = 420
MOST_MATCHES = 20  # no sentence that was written to be read has more

_POLICY = re.compile(
    r"\b(?:LTN 1/20|guidance|framework|NPPF|local plan|polic(?:y|ies)|standards?|recommended minimum|minimum rate|Manual for Streets)\b",
    re.IGNORECASE,
)
_RECITES = re.compile(
    r"\b(?:requires?|asks?|recommends?|states?|sets?|seeks?|says|advises|should|is|are)\b", re.IGNORECASE
)
_PROPOSES = re.compile(
    r"\b(?:will|provided|provides|proposed|proposes|scores?|audited|meets?|met|shown|secure[sd]?|delivers?|applicant|below|used|carried out|open|offered)\b",
    re.IGNORECASE,
)
_ROUNDED = re.compile(r"\{value:[^}]*f\}")
_LIMITS: dict[Limit | None, str] = {
    "at most": "up to ",
    "below": "less than ",
    "at least": "at least ",
    "above": "more than ",
    None: "",
}
_SHOULD = re.compile(r"\bshould\b|\bare (?:generally )?expected to (?:provide|include|contribute)\b", re.IGNORECASE)
_COMMITS = re.compile(r"\bwill\b|\bapplicant\b|\b(?:is|are) proposed\b", re.IGNORECASE)
_DEFERRED = re.compile(
    r"\bto be (?:agreed|confirmed|determined|considered)\b|\bat (?:the )?(?:reserved matters|detailed design)\b"
    r"|\bsubject to (?:detailed design|further|agreement|funding)\b|\b(?:could|may|might) be (?:provided|considered|delivered)\b"
    r"|\bonly if\b|\bif (?:requested|required|needed|necessary|funding)\b",
    re.IGNORECASE,
)


def speaks_of(statement: Statement, point: Check | Agreement) -> bool:
    """Whether a sentence is about the point, and is the applicant's own rather than a recital of policy."""
    text = statement.text
    if is_heading(text) or not all(compile_pattern(pattern).search(text) for pattern in point.about):
        return False
    if point.under and not any_matches([point.under], f"{statement.heading}\n{text}"):
        return False
    return not any_matches(point.not_about, text) and not is_recital(text)


def is_recital(text: str) -> bool:
    """A sentence that says what policy asks for: "Its minimum rate … is one space per bedroom"."""
    if _SHOULD.search(text) and not _COMMITS.search(text):
        return True
    return bool(_POLICY.search(text) and _RECITES.search(text) and not _PROPOSES.search(text))


def is_deferred(text: str) -> bool:
    """Something that is put off or left open, and so is no commitment."""
    return _DEFERRED.search(text) is not None


def any_matches(patterns: Iterable[str], text: str) -> bool:
    return any(compile_pattern(pattern).search(text) for pattern in patterns)


def said(patterns: Iterable[str], text: str) -> bool | None:
    """True where a sentence says what a pattern matches, False where it denies it ("… is not proposed"), None where it
    says neither, or one thing here and the other there."""
    matches = (match for pattern in patterns for match in compile_pattern(pattern).finditer(text))
    answers = {is_said(text, *match.span()) for match in islice(matches, MOST_MATCHES)} - {None}
    return answers.pop() if len(answers) == 1 else None


def quantities_at(text: str, rule: QuantityRule | Agreement) -> list[Quantity]:
    """The quantities of a rule's unit that stand at the `<q>` of a pattern. Lengths come in metres, stands as spaces."""
    quantities = [_in_unit(quantity, rule.unit) for quantity in parse_quantities(text)]
    masked = _masked(text, quantities)
    found = _at(rule.find, masked) - _at(rule.not_find, masked)
    return [
        quantities[index]
        for index in sorted(found)
        if quantities[index].unit == rule.unit
        and not (rule.not_of and compile_pattern(rule.not_of).search(quantities[index].text))
    ]


def in_terms_of(rule: QuantityRule, quantity: Quantity) -> Quantity:
    """A rate for homes of a stated size is one for each bedroom, where the rule has bounds for that."""
    return quantity.per_bedroom() if "bedroom" in rule.bounds else quantity


def nearest(pattern: str, text: str, quantity: Quantity) -> str | None:
    """What a pattern matches nearest to a quantity, in lower case: in its own words, else before it, else after it."""
    matches = list(compile_pattern(pattern).finditer(text))
    within = [match for match in matches if quantity.start <= match.start() < quantity.end]
    before = [match for match in matches if match.start() < quantity.start]
    chosen = within or before[-1:] or matches
    return chosen[0][0].lower() if chosen else None


def cite(statement: Statement, speaks: Outcome) -> Citation:
    passage = statement.passage
    return Citation(
        passage_id=passage.id,
        document_id=passage.document_id,
        document=passage.document,
        pages=statement.pages,
        quote=_short(statement.text),
        speaks=speaks,
    )


def policies_of(evidence: Evidence, aspect: Aspect, names: Iterable[str]) -> tuple[PolicyCitation, ...]:
    """The sections that a check rests on, in the revision in force; what does not resolve is left out."""
    cited = (evidence.cite(aspect.policies[name]) for name in names)
    return tuple(citation for citation in cited if citation is not None)


def show(template: str, quantity: Quantity) -> str:
    """A quantity as findings write it. A rate, a range and what had to be converted stand as the document gives them;
    no digit that counts is rounded away."""
    if quantity.per is not None or quantity.high is not None or quantity.restated:
        return _LIMITS[quantity.limit] + quantity.text
    exact = template if round(quantity.value, 1) == quantity.value else _ROUNDED.sub("{value:g}", template)
    return _LIMITS[quantity.limit] + exact.format(value=quantity.value)


def _at(patterns: Iterable[str], masked: str) -> set[int]:
    """The numbers of the quantities that stand at the `<q>` of a pattern."""
    matches = (match for pattern in patterns for match in compile_pattern(pattern).finditer(masked))
    return {int(index) for match in matches for index in match.groups() if index is not None}


def _in_unit(quantity: Quantity, unit: str) -> Quantity:
    if unit == "m":
        return quantity.in_metres()
    return quantity.in_spaces() if unit == "space" else quantity


def _masked(text: str, quantities: Sequence[Quantity]) -> str:
    pieces, position = [], 0
    for index, quantity in enumerate(quantities):
        if quantity.start < position:
            continue
        pieces += [text[position : quantity.start], f"\u27e6{index}\u27e7"]
        position = quantity.end
    return "".join([*pieces, text[position:]])


def _short(text: str) -> str:
    """A quotation that is not longer than it need be, cut between words; what is left is still word for word."""
    if len(text) <= LONGEST_QUOTE:
        return text
    return text[:LONGEST_QUOTE].rsplit(" ", 1)[0]
