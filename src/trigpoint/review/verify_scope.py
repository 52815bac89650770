"""Check that a claim says no more than the words it quotes: of a whole, without a hedge, or as a fact what is a view.

Words alone do not tell what is meant, so these are reasons to put a claim in other words once, and never to drop it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trigpoint.reading.cues import CUES
from trigpoint.reading.numerals import NUMBER_WORDS
from trigpoint.reading.sources import SPEAKER_OF, genre_of
from trigpoint.reading.tokens import tokenise
from trigpoint.review.findings import Finding
from trigpoint.review.locating import FoundWords
from trigpoint.review.submitted import DraftFinding
from trigpoint.review.verify_status import QuotedWords

_WHOLE = frozenset(
    "all every entire entirely whole wholly fully throughout always completely everyone everywhere".split()
)
_TELLS_A_WHOLE = _WHOLE | frozenset("each per both total any complete full 100".split())
_ONLY = frozenset("only solely exclusively alone".split())
_NONE = frozenset("no none never nothing nobody nowhere neither".split())
_TELLS_NONE = _NONE | frozenset("not nor without cannot".split())
_COMPARES = frozenset("more less fewer later longer earlier wider narrower higher lower greater steeper doubt".split())
_HEDGES = ("where_hedge", "indicative", "deferred", "potential", "may")
_TOLD_HEDGES = (*_HEDGES, "if", "condition", "approval", "phased", "assumption", "likely", "secured")
_NO_HEDGE = frozenset(("can",))
_HEDGED_WORDS = frozenset(
    "depends depend depending dependent later subject yet agreed offered intended aims hopes".split()
)
_VIEWS = ("reports", "asks", "authority", "objector", "inspector")
_TELLS_VIEW = frozenset(
    "says say said according view opinion response letter consultee objector council officer asks".split()
)
_TELLS_QUOTED = frozenset(
    "quotes quoted quoting quote cites cited gives given according states says said refers sets reports reported".split()
)
_LONGEST_SHOWN = 60


def scope_reasons(
    given: DraftFinding, finding: Finding, quotes: Sequence[FoundWords], telling: Sequence[list[QuotedWords]]
) -> list[str]:
    """Return what a claim adds to the words it quotes; nothing of a contradiction, whose sides are told as they are."""
    if given.outcome == "contradicted" or not quotes:
        return []
    statements = [place.document.text[place.start : place.end] for place in quotes]
    return [
        *_whole_reasons(finding, statements),
        *_hedge_reasons(finding, statements),
        *_view_reasons(finding, quotes, telling),
        *_standard_reasons(finding),
    ]


def strong_words(finding: Finding, statements: Iterable[str] = ()) -> list[str]:
    """Return words of a claim that speak of all, of only one or of none, and for which nothing quoted has such a word."""
    said = _said(finding, statements)
    claim = [token.text for token in tokenise(finding.text)]
    none = [one for one, after in zip(claim, [*claim[1:], ""], strict=True) if one in _NONE and after not in _COMPARES]
    pairs = [
        (_wholes(finding.text), _TELLS_A_WHOLE),
        ([one for one in claim if one in _ONLY], _ONLY),
        (none, _TELLS_NONE),
    ]
    return list(dict.fromkeys(word for words, telling in pairs if not said & telling for word in words))


def _said(finding: Finding, statements: Iterable[str]) -> set[str]:
    """Return the words of everything that is cited for a claim."""
    texts = [*statements, *(one.quote for one in finding.evidence), *(one.quote for one in finding.policy)]
    return {token.text for text in texts for token in tokenise(text)}


def _wholes(text: str) -> list[str]:
    """Return the words of a text that speak of a whole. What is counted ("all seven", "all 488") is proved by its figure."""
    tokens = tokenise(text)
    found = []
    for at, token in enumerate(tokens):
        after, before = tokens[at + 1 : at + 3], tokens[at - 1].text if at else ""
        counted = any(one.kind == "number" or one.text in NUMBER_WORDS for one in after)
        if token.text in _WHOLE and before != "at" and not counted:
            found.append(token.text)
    return found


def _whole_reasons(finding: Finding, statements: Sequence[str]) -> list[str]:
    if finding.calculations or _said(finding, statements) & _TELLS_A_WHOLE:
        return []
    named = ", ".join(dict.fromkeys(f"“{word}”" for word in _wholes(finding.text)))
    if not named:
        return []
    return [f"{named}: nothing you quote speaks of the whole. Say what it does speak of, or quote the words that do"]


def _hedge_reasons(finding: Finding, statements: Sequence[str]) -> list[str]:
    """Return the hedge of a quoted statement that the claim leaves out."""
    claim = CUES.tag_text(finding.text)
    told = {token.text for token in tokenise(finding.text)} & _HEDGED_WORDS
    if told or any(tag in claim for tag in _TOLD_HEDGES) or (finding.outcome != "met" and "denial" in claim):
        return []
    hedges = [hedge for statement in statements if (hedge := _hedge(statement))]
    return (
        [f"The statement you quote says “{hedges[0]}”: tell that too, with the outcome that it leaves"]
        if hedges
        else []
    )


def _hedge(statement: str) -> str:
    """Return the words of a statement from its first hedge on; nothing if it has none."""
    tokens, tags = tokenise(statement), CUES.tag_text(statement)
    places = sorted(at for tag in _HEDGES for at in tags.get(tag, ()) if tokens[at].text not in _NO_HEDGE)
    return " ".join(statement[tokens[places[0]].start :][:_LONGEST_SHOWN].split()) if places else ""


def _view_reasons(finding: Finding, quotes: Sequence[FoundWords], telling: Sequence[list[QuotedWords]]) -> list[str]:
    """Return that a claim rests on the words of consultees or objectors alone and does not tell them as theirs."""
    speakers = {
        speaker
        for place, known in zip(quotes, telling, strict=True)
        for speaker in ([one.speaker for one in known] or [SPEAKER_OF[genre_of(place.document)]])
    }
    others = speakers <= {"consultee", "objector"}
    words = {token.text for token in tokenise(finding.text)}
    if not others or words & _TELLS_VIEW or any(tag in CUES.tag_text(finding.text) for tag in _VIEWS):
        return []
    return ["The words you quote are those of somebody who was consulted: say whose view it is"]


def _standard_reasons(finding: Finding) -> list[str]:
    """Return that a claim measures by a standard that a document quotes, and does not tell it as quoted."""
    words = {token.text for token in tokenise(finding.text)}
    if finding.standard is None or words & _TELLS_QUOTED:
        return []
    return [
        "The standard is known only from a document that quotes it: say so (“the standard that the Transport Statement quotes”)"
    ]
