"""Check whether quoted words can bear an outcome: who says them, and whether they propose, forecast or merely describe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trigpoint.reading.context import Context
from trigpoint.reading.facts import CERTAIN, Fact
from trigpoint.reading.sources import genre_of
from trigpoint.reading.status import read_status
from trigpoint.reading.vocabulary import PROVISION, Speaker, Status
from trigpoint.review.aspects import Check
from trigpoint.review.evidence import Evidence
from trigpoint.review.locating import FoundWords
from trigpoint.review.lookup import stems
from trigpoint.review.sheets import Sheets
from trigpoint.review.submitted import DraftFinding
from trigpoint.review.verdicts import SPEAKERS

_OTHERS: frozenset[Status] = frozenset(("policy", "other_scheme", "historic", "requested", "assumption"))
_OPEN: frozenset[Status] = frozenset(("conditional", "deferred", "indicative", "rejected", "existing"))
_SAYS_SO: dict[Status, frozenset[str]] = {
    "existing": frozenset(stems("existing exists already current currently today present")),
    "assumption": frozenset(
        stems("forecast forecasts estimate estimates assume assumption predict prediction expects modelled")
    ),
}
"""Words by which a statement tells what exists, or what somebody forecasts, as such."""
_PROMISES = frozenset("will shall propose proposes proposed provides provided new".split())
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class QuotedWords:
    """The status of quoted words and their speaker, as far as these are certain."""

    status: Status
    speaker: Speaker


def told(place: FoundWords, evidence: Evidence, sheets: Sheets) -> list[QuotedWords]:
    """Return what the quoted statements are: by the reader's own reading, or by rules that are certain."""
    facts = facts_at(place, evidence)
    read = [fact for fact in facts if fact.reader != "rules" and fact.status != "mentioned"]
    certain = read or [fact for fact in facts if fact.is_certain]
    if facts:
        return [QuotedWords(fact.status, fact.speaker) for fact in certain]
    return _told_by_statement(place, evidence, sheets)


def facts_at(place: FoundWords, evidence: Evidence) -> list[Fact]:
    """Return the facts of the statements in which words are."""
    return [
        fact
        for fact in evidence.facts
        if fact.source.document_id == place.document.id
        and fact.source.start < place.end
        and place.start < fact.source.end
    ]


def _told_by_statement(place: FoundWords, evidence: Evidence, sheets: Sheets) -> list[QuotedWords]:
    genre = genre_of(place.document)
    found = []
    for statement in sheets.words_of(place.document).statements:
        if statement.start < place.end and place.start < statement.end:
            context = Context(statement, genre, own_reference=evidence.application_ref)
            judged = read_status(context)
            if judged.certainty >= CERTAIN and judged.status != "mentioned":
                found.append(
                    QuotedWords(judged.status, "policy_text" if judged.status == "policy" else context.speaker)
                )
    return found


def status_reasons(given: DraftFinding, asked: Check | None, quotes: Sequence[list[QuotedWords]]) -> list[str]:
    """Return why the quoted words cannot bear the outcome: policy, another scheme's, a request, a mere possibility."""
    if any(not known or any(_bears(one, given, asked) for one in known) for known in quotes):
        return []
    kinds = sorted({_described(one) for known in quotes for one in known})
    return [
        f"The words you quote are {' and '.join(kinds)}: they do not show what this scheme provides. "
        f"Quote what it proposes, change the outcome, or use not_shown"
    ]


def is_provision(one: QuotedWords) -> bool:
    """Return whether words promise something of this scheme, said by somebody who can promise it."""
    return one.status in PROVISION and one.speaker in SPEAKERS


def _bears(one: QuotedWords, given: DraftFinding, asked: Check | None) -> bool:
    answering = PROVISION | set((*asked.statuses, *asked.answered_by) if asked else ())
    if given.outcome == "met":
        told_as_it_is = asked is None and _says_so(one, given.statement)
        return (one.status in answering or told_as_it_is) and one.speaker in SPEAKERS
    if one.status in answering or _says_so(one, given.statement):
        return True
    if given.outcome == "failed":
        dated = one.status == "historic" and _YEAR.search(given.statement) is not None
        return one.status not in _OTHERS or dated  # that a survey is of 2011 may be the very shortfall
    return one.status in _OPEN


def _says_so(one: QuotedWords, statement: str) -> bool:
    """Whether a statement tells as such what exists, or what is forecast, and claims no provision."""
    words = set(_WORD.findall(statement.casefold()))
    return bool(_SAYS_SO.get(one.status, frozenset()) & set(stems(statement))) and not words & _PROMISES


def _described(one: QuotedWords) -> str:
    if one.status == "policy":
        return "policy"
    return f"{one.status.replace('_', ' ')} (said by the {one.speaker})"
