"""How a check finds what it looks for in a sentence: patterns, quantities at a pattern's `<q>`, recitals of policy that
are no proposal, and citations of what was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from trigpoint.review.aspects import Aspect, compile_pattern
from trigpoint.review.evidence import Evidence, Statement
from trigpoint.review.findings import Citation, Outcome, PolicyCitation
from trigpoint.review.quantities import Quantity, parse_quantities

LONGEST_QUOTE = 420

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
_HEADING = re.compile(r"(?:Table |Figure )?\d+(?:[.-]\d+)*:? [A-Z][\w ,&'’/-]{0,70}")
_SHOULD = re.compile(r"\bshould\b|\bare (?:generally )?expected to (?:provide|include|contribute)\b", re.IGNORECASE)
_COMMITS = re.compile(r"\bwill\b|\bapplicant\b|\b(?:is|are) proposed\b", re.IGNORECASE)
_DEFERRED = re.compile(
    r"\bto be (?:agreed|confirmed|determined|considered)\b|\bat (?:the )?(?:reserved matters|detailed design)\b"
    r"|\bsubject to (?:detailed design|further|agreement|funding)\b|\b(?:could|may|might) be (?:provided|considered|delivered)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:no|not|without|nor|neither|never|cannot|none)\b[^,;.]{0,60}$", re.IGNORECASE)


def speaks_of(text: str, about: Iterable[str], not_about: Iterable[str]) -> bool:
    """Whether a sentence is about the point, and is the applicant's own rather than a recital of policy."""
    if _HEADING.fullmatch(text) or not all(compile_pattern(pattern).search(text) for pattern in about):
        return False
    return not any(compile_pattern(pattern).search(text) for pattern in not_about) and not is_recital(text)


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


def affirmed(patterns: Iterable[str], text: str) -> bool | None:
    """True where a pattern is affirmed, False where it is denied ("no … is proposed"), None where it is not there."""
    for pattern in patterns:
        match = compile_pattern(pattern).search(text)
        if match is not None:
            return _NEGATION.search(text[: match.start()]) is None
    return None


def quantities_at(text: str, unit: str, find: Sequence[str]) -> list[Quantity]:
    """The quantities of a unit that stand at the `<q>` of a pattern. Lengths come in metres, stands as spaces."""
    quantities = [_in_unit(quantity, unit) for quantity in parse_quantities(text)]
    masked = _masked(text, quantities)
    found: dict[int, Quantity] = {}
    for pattern in find:
        for match in compile_pattern(pattern).finditer(masked):
            for index in match.groups():
                if index is not None and quantities[int(index)].unit == unit:
                    found[int(index)] = quantities[int(index)]
    return [found[index] for index in sorted(found)]


def first_match(patterns: Iterable[str], text: str) -> str | None:
    """What the first pattern that matches has matched, in lower case."""
    for pattern in patterns:
        match = compile_pattern(pattern).search(text)
        if match is not None:
            return match[0].lower()
    return None


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
    """A quantity as findings write it. A rate stands as the document gives it; no digit that counts is rounded away."""
    if quantity.per is not None:
        return quantity.text
    exact = template if round(quantity.value, 1) == quantity.value else _ROUNDED.sub("{value:g}", template)
    return exact.format(value=quantity.value)


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
