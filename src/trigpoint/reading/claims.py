"""Claims of compliance next to an admitted shortfall, in one document or in two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trigpoint.reading.discrepancies import Discrepancy, Input
from trigpoint.reading.facts import Fact
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.said import Said
from trigpoint.reading.tables import Table, shortfalls

_NEAR = 12  # statements between a claim that does not name its subject and the shortfall next to it
_WORDS = Lexicon(
    {
        "claim": "accordance accords complies comply compliant compliance meets in_line_with conforms exceeds in_excess_of",
        "shortfall": "shortfall under_-_provision underprovision below_the fails_to_meet does_not_meet not_meet falls_short "
        "reduced_provision less_than_the falls_below_the below_the_standard",
        "standard": "requirement requirements standard standards london_plan local_plan policy development_plan appendix spd",
        "cycle": "cycle cycles bicycle bicycles",
        "parking": "parking spaces storage stores provision stands",
        "against": "against_a_requirement_of against_the_requirement_of where_the_policy_is against_a_standard_of",
    }
)
_OTHERS = ("policy", "requested", "other_scheme", "existing")


def find_false_claims(said: Sequence[Said], tables: Sequence[Table]) -> Iterator[Discrepancy]:
    """Yield a claim that cycle parking meets its standard, with the first statement that admits it does not."""
    ours = [one for one in said if one.document.source_kind == "applicant" and one.statement.kind != "heading"]
    rows = {
        (row.document_id, row.index)
        for table in tables
        if table.titled("cycle_parking")
        for row, *_ in shortfalls(table)
    }
    admitted = [one for one in ours if _admits(one) or (one.statement.document_id, one.statement.index) in rows]
    claims = [one for one in ours if _claims(one)]
    for shortfall in admitted:
        fitting = [claim for claim in claims if _contradicts(claim, shortfall)]
        if fitting:
            yield _discrepancy(min(fitting, key=lambda claim: _distance(claim, shortfall)), shortfall)
            return


def _admits(said: Said) -> bool:
    """Return whether the applicant says that less cycle parking than the standard is provided."""
    if not any(fact.topic.startswith("cycle_parking") and _is_own(fact) for fact in said.facts):
        return False
    cues = _WORDS.tag_text(said.text)
    partial = any(one.unit == "%" and one.value < 100 and "standard" in _WORDS.tag_text(one.of) for one in said.counts)
    return "shortfall" in cues or partial or _is_below(said)


def _is_below(said: Said) -> bool:
    """Return whether a sentence gives a number and a higher requirement: "30 spaces against a requirement of 46"."""
    if "against" not in _WORDS.tag_text(said.text):
        return False
    at = said.text.lower().find("against")
    given = [one.value for one in said.counts if one.end <= at and one.unit.endswith("space")]
    wanted = [one.value for one in said.counts if one.start > at]
    return bool(given and wanted) and given[-1] < wanted[0]


def _is_own(fact: Fact) -> bool:
    return fact.speaker == "applicant" and fact.status not in _OTHERS


def _claims(said: Said) -> bool:
    """Return whether the applicant claims that a standard is met."""
    cues = _WORDS.tag_text(said.text)
    own = not said.facts or any(_is_own(fact) for fact in said.facts)
    return own and "claim" in cues and "standard" in cues and "shortfall" not in cues and not said.counts


def _names_cycle_parking(said: Said) -> bool:
    cues = _WORDS.tag_text(said.text)
    return "cycle" in cues and "parking" in cues


def _contradicts(claim: Said, shortfall: Said) -> bool:
    """Return whether a claim is about the shortfall's subject: it names it, or is next to it in the same document."""
    if claim is shortfall:
        return False
    if _names_cycle_parking(claim):
        return True
    near = abs(claim.statement.index - shortfall.statement.index) <= _NEAR
    pages = abs((claim.statement.page or 0) - (shortfall.statement.page or 0)) <= 1
    return claim.document.id == shortfall.document.id and near and pages


def _distance(claim: Said, shortfall: Said) -> tuple[bool, int]:
    return claim.document.id != shortfall.document.id, abs(claim.statement.start - shortfall.statement.start)


def _discrepancy(claim: Said, shortfall: Said) -> Discrepancy:
    return Discrepancy(
        kind="claim_against_shortfall",
        topic="cycle_parking.total",
        summary="Compliance is claimed for cycle parking, and a shortfall is admitted.",
        inputs=tuple(Input(words=one.text, source=one.source) for one in (claim, shortfall)),
    )
