"""Absence: how it is told, and how a claim of it is recognised. It is an open point, never a finding."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trigpoint.reading.cues import CUES
from trigpoint.reading.statements import split_sentences
from trigpoint.review.aspects import Check
from trigpoint.review.drafted import told_text
from trigpoint.review.evidence import Evidence, fold
from trigpoint.review.findings import Citation, NotAssessed, Place, PolicyCitation
from trigpoint.review.locating import FoundWords
from trigpoint.review.submitted import DraftFinding
from trigpoint.review.wording import any_of, within_sentence

UNSETTLED = "From that alone we could not tell whether it is met."
_TO_RECONCILE = "The two accounts should be reconciled."
_NONE = (
    r"\bno (?:evidence|detail|information|mention|reference|assessment|figure|statement|indication|proposal|provision|cycle|"
    r"commitment|target|measure|drawing|plan|audit|survey|data|justification)\w*\b"
)
_NOT = (
    r"\b(?:do|does|did|has|have|is|are) not (?:show|state|mention|provide|give|include|identif|set out|specif|address|"
    r"explain|demonstrat|commit|propose|assess|consider|secur|been (?:shown|provided|assessed|given))\w*"
    r"|\b(?:silent on|fails? to|without any|nothing (?:is|in)|nowhere|omits?|absent|missing)\b"
)
_COMPARED = r"(?:more|less|fewer|later|longer|wider|narrower|higher|lower|greater)"
_DENIED = re.compile(rf"\b(?:no|none|nothing|nowhere|neither)\b(?! {_COMPARED}\b)", re.IGNORECASE)
_ABSENCE = re.compile(f"{_NONE}|{_NOT}", re.IGNORECASE)
_CLAIM = re.compile(_NOT, re.IGNORECASE)
_SEARCHED = any_of(
    r"(?:we|i) (?:did|could|can|have|do) ?not (?:yet )?(?:find|found|see|seen|locate|located|read)",
    r"(?:did|could) not find",
    r"(?:we|i) (?:have )?(?:found|saw|read) (?:no|nothing|neither|none|only)",
    r"(?:no|none|nothing|not)\b.{0,80}\bfound",
    r"looked for\b.{0,120}\bfound (?:no|none|nothing|neither)",
)


def not_shown_point(
    evidence: Evidence,
    asked: Check | None,
    given: DraftFinding,
    *,
    places: tuple[Place, ...] = (),
    quotes: Sequence[FoundWords] = (),
    proved: bool = True,
    read: int = 0,
    policies: Sequence[PolicyCitation] = (),
) -> NotAssessed:
    """Return an open point: in the judge's words if they tell what was looked for and not found, and otherwise in ours.

    Ours name what was looked for and what the quoted pages do say, and keep the judge's sentences that claim no absence, so
    that the point is not lost. `proved` says whether the judge's figures have their source, `read` how many pages were
    read whole.
    """
    subject = _subject(asked, given)
    own = proved and bool(given.looked_for) and tells_what_was_found(given.statement, [one.words for one in quotes])
    kept = _without_absence(given.statement) if proved else ""
    ours = " ".join(part for part in (_in_our_words(evidence, subject, given, places, quotes, read), kept) if part)
    return NotAssessed(
        check=asked.id if asked else "other",
        requirement=asked.requirement if asked else (given.requirement or given.statement),
        essential=bool(asked and asked.essential),
        reason=" ".join(given.statement.split()) if own else ours,
        places=places,
        evidence=_citations(quotes),
        request=_request(asked, given),
        policy=tuple(
            dict.fromkeys(one.ref for one in (*policies, *(evidence.cite(asked.provisions) if asked else ())))
        ),
    )


def unsettled_point(
    evidence: Evidence,
    asked: Check | None,
    given: DraftFinding,
    *,
    places: tuple[Place, ...],
    quotes: Sequence[FoundWords],
) -> NotAssessed:
    """Return an open point of a statement that is proved and does not settle what is asked for."""
    sentences = [f"{told_text(given).rstrip('.')}."]
    if given.outcome == "contradicted":
        sentences.append(_TO_RECONCILE)
    elif given.outcome != "noted" and not given.lacking:
        sentences.append(UNSETTLED)
    return NotAssessed(
        check=asked.id if asked else "other",
        requirement=asked.requirement if asked else (given.requirement or given.statement),
        essential=bool(asked and asked.essential),
        reason=" ".join(sentences),
        places=places,
        evidence=_citations(quotes),
        request=_request(asked, given) if given.outcome == "not_shown" else _recommended(given),
        noted=given.outcome != "not_shown",
        policy=tuple(policy.ref for policy in evidence.cite(asked.provisions)) if asked else (),
    )


def _subject(asked: Check | None, given: DraftFinding) -> str:
    return asked.words.subject if asked else within_sentence(given.requirement or "it")


def _request(asked: Check | None, given: DraftFinding) -> str | None:
    """Return what to ask for: what the judge recommends, or to show the point."""
    if recommended := _recommended(given):
        return recommended
    return f"Show {_subject(asked, given)}" if asked is None or asked.essential or asked.show else None


def _recommended(given: DraftFinding) -> str | None:
    return " ".join(given.recommendation.split()).rstrip(".") if given.recommendation else None


def _citations(quotes: Sequence[FoundWords]) -> tuple[Citation, ...]:
    return tuple(dict.fromkeys(one.citation("not_found") for one in quotes))


def tells_what_was_found(statement: str, quoted: Sequence[str] = ()) -> bool:
    """Return whether a statement of an absence is worded as a search that found nothing, in each of its sentences.

    An absence that somebody else claims in the quoted words is told as theirs, and is none of ours.
    """
    sentences = [statement[start:end] for start, end in split_sentences(statement)]
    searched = [bool(_SEARCHED.search(one)) for one in sentences]
    return any(searched) and not any(
        _claimed(_CLAIM if told else _ABSENCE, one, quoted) for told, one in zip(searched, sentences, strict=True)
    )


def wording_reasons(given: DraftFinding, quotes: Sequence[FoundWords]) -> list[str]:
    """Return that an absence is told as a fact, and not as what was looked for or as the view of whoever claims it."""
    if not given.looked_for or tells_what_was_found(given.statement, [one.words for one in quotes]):
        return []
    return [
        'Tell each absence as your search ("We did not find …"), or in the words of whoever claims it, which you quote; '
        "if something is told and refused, and not absent, the outcome is `noted`"
    ]


def claims_absence(text: str, quoted: Sequence[str] = ()) -> bool:
    """Return whether a text says that something was not found or is not there, in words that nothing quoted has."""
    return bool(_SEARCHED.search(text)) or any(_claimed(one, text, quoted) for one in (_ABSENCE, _DENIED))


def in_searched_words(looked_for: Sequence[str], where: str) -> str:
    """Return a lack as a search that found nothing: what was looked for, and where."""
    *others, last = [" ".join(one.split()) for one in looked_for]
    sought = f"{', '.join(others)} and {last}" if others else last
    return f"We looked for {sought} in {where or 'the documents'} and did not find it."


def _claimed(pattern: re.Pattern[str], text: str, quoted: Sequence[str]) -> bool:
    said = [fold(one) for one in quoted]
    claimed = [re.compile(rf"\b{re.escape(fold(match.group()))}\b") for match in pattern.finditer(text)]
    return any(not any(words.search(one) for one in said) for words in claimed)


def _without_absence(statement: str) -> str:
    """Return the sentences that do not claim that something is absent."""
    sentences = [" ".join(statement[start:end].split()) for start, end in split_sentences(statement)]
    return " ".join(
        one for one in sentences if not (_ABSENCE.search(one) or _SEARCHED.search(one) or "looked for" in one)
    )


def _in_our_words(
    evidence: Evidence,
    subject: str,
    given: DraftFinding,
    places: tuple[Place, ...],
    quotes: Sequence[FoundWords],
    read: int,
) -> str:
    pages = _looked_at(evidence.pages_read, read)
    *others, last = [" ".join(one.split()) for one in given.looked_for] or [""]
    sought = f"{', '.join(others)} and {last}" if others else last
    words = [
        f"We looked for {sought} and found nothing that settles it in {pages}."
        if sought
        else f"We found no statement of {subject} that settles it in {pages}."
    ]
    words += [f"{one.citation('partly').place} says “{one.words}”." for one in quotes[:2]]
    if places and not quotes:
        words.append("The pages named here touch on it.")
    return " ".join(words)


def _looked_at(pages: int, read: int) -> str:
    if pages == 1:
        return "the one page we could read"
    if read >= pages:
        return f"the {pages} pages, all of which were read"
    if not read:
        return f"the {pages} pages, which were searched by their words"
    return f"the {pages} pages, which were read whole or searched by their words"


def absence_reasons(given: DraftFinding, quotes: Sequence[FoundWords]) -> list[str]:
    """Return why a claim of absence cannot count as a finding: nothing quoted says so."""
    claimed = _ABSENCE.search(given.statement)
    if claimed is None or any("denial" in CUES.tag_text(place.words) for place in quotes):
        return []
    return [
        f"“{claimed.group()}” claims an absence, and nothing you quote says so. State what the documents do say and why it "
        f"falls short, or use not_shown with what you searched for"
    ]
