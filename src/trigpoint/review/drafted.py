"""The finding that is made of one that somebody handed in, with the citations that were found for it."""

from __future__ import annotations

from collections.abc import Sequence

from trigpoint.review.aspects import Check
from trigpoint.review.evidence import collapse
from trigpoint.review.findings import Calculation, Citation, Finding, Outcome, PolicyCitation
from trigpoint.review.locating import FoundWords
from trigpoint.review.lookup import stems
from trigpoint.review.submitted import DraftFinding
from trigpoint.review.verify_status import QuotedWords

MOST_REPEATED = 1  # words of its own that a lack may have and still repeat the statement


def with_fitting_outcome(given: DraftFinding) -> DraftFinding:
    """Return a finding as it is meant: what names a lack is not met, and an open point tells it in its statement."""
    if not given.lacking:
        return given
    if given.outcome == "met":
        return given.model_copy(update={"outcome": "partly"})
    if given.outcome == "not_shown":
        told = f"{given.statement.rstrip('. ')}. {given.lacking}"
        return given.model_copy(update={"statement": told, "lacking": None})
    return given.model_copy(update={"lacking": None}) if given.outcome == "contradicted" else given


def finding_of(
    given: DraftFinding,
    asked: Check | None,
    cited: tuple[Citation, ...],
    policies: tuple[PolicyCitation, ...],
    calculations: tuple[Calculation, ...],
    standard: Sequence[FoundWords] = (),
) -> Finding:
    """Return a finding with the citations that were found for it."""
    assert given.outcome != "not_shown"
    outcome: Outcome = given.outcome
    wanting = outcome != "met"
    measure = standard[0].citation(outcome).model_copy(update={"status": "policy"}) if standard else None
    quoted = {one.passage_id for one in cited}
    return Finding(
        check=f"{given.aspect}-{given.question or 'other'}",
        requirement=asked.requirement if asked else collapse(given.requirement or given.aspect),
        outcome=outcome,
        text=told_text(given),
        lacking=_sentence(given.lacking) if given.lacking else None,
        essential=bool(asked and asked.essential),
        short=asked.short if asked else None,
        evidence=cited if measure is None or measure.passage_id in quoted else (*cited, measure),
        standard=measure,
        policy=policies,
        calculations=calculations,
        recommendation=_plain_or_none(given.recommendation) if wanting else None,
        condition=_plain_or_none(given.condition) if wanting else None,
    )


def cited_as(place: FoundWords, outcome: Outcome, telling: Sequence[QuotedWords]) -> Citation:
    """Return a quotation with what its words are and who says them, as far as it is certain."""
    citation = place.citation(outcome)
    if not telling:
        return citation
    return citation.model_copy(update={"status": telling[0].status, "speaker": telling[0].speaker})


def told_text(given: DraftFinding) -> str:
    """Return the text of a finding: what is provided, and then what is lacking, unless that has been told already."""
    if not given.lacking:
        return collapse(given.statement)
    is_new = len(set(stems(given.lacking)) - set(stems(given.statement))) > MOST_REPEATED
    return f"{_sentence(given.statement)} {_sentence(given.lacking)}" if is_new else _sentence(given.statement)


def _sentence(text: str) -> str:
    return f"{collapse(text).rstrip('.')}."


def _plain_or_none(text: str | None) -> str | None:
    return collapse(text).rstrip(".") if text and text.strip() else None
