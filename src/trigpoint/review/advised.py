"""The advice in the words of an officers' recommendation: to approve, refuse or defer, and what an approval depends on."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from trigpoint.review.wording import any_of

Advice = Literal["approval", "refusal", "deferral"]
Agreement = Literal["section 106", "other"]

_AT_THE_START = 30  # characters before a decision that needs nothing else to show that it is one

_WORDS: dict[Advice, re.Pattern[str]] = {
    "approval": any_of(
        "grant(?:ed|ing)?",
        "approv(?:e|es|ed|al|ing)",
        "permit(?:ted)?",
        "conditional (?:permission|consent)",
        r"(?:permission|consent) is (?:\w+ ){0,2}recommended",
    ),
    "refusal": any_of("refus(?:e|es|ed|al|ing)", "reject(?:ed|ion)?"),
    "deferral": any_of("defer(?:red|ral|ring)?"),
}
_DECIDES_NOTHING = any_of(
    "prior approval",
    "approval of (?:the )?(?:reserved matters|details|conditions)",
    "reserved matters approval",
    r"approved (?:plans?|drawings?|documents?|details|schemes?|in writing|by)",
    "reasons? for (?:refusal|approval)",
    r"refuse (?:stor\w+|bins?|vehicles?|lorr(?:y|ies)|collections?|and recycling)",
    "grant (?:funding|aid)",
    "parking permits?",
    "permit holders?",
    r"defer(?:red)? (?:and|to|for) (?:be )?delegat\w+",  # means that officers decide once an agreement is signed
)
_SHOWS_A_DECISION = any_of(
    r"recommend\w*",
    "permission",
    "applications?",
    "consents?",
    "reserved matters",
    "prior approval",
    r"delegat\w+",
    r"authori[sz]\w+",
    "authority",
    r"resol\w+",
    "minded",
    "committee",
    "members",
)
_WHY = any_of("reasons?", "on (?:the )?grounds?", "because", "as it would")
_ONLY_IF = re.compile(
    r"(?:(?:and|that),? )*(?:if|in the event|should|unless|failing|otherwise|where|were|without)\b", re.IGNORECASE
)
_UNDONE = any_of(
    "if",
    "in the event",
    "failing",
    "unless",
    "should the",
    "not (?:be |been )?(?:completed|signed|secured|entered|agreed|received)",
    "no reasonable prospect",
)
_OR_ELSE = re.compile(
    r"\b(?:failing|otherwise|in the event|should the|or (?:to )?refuse if)\b|(?:[,;.(]|\band) ?if\b", re.IGNORECASE
)
_DENIED = any_of("not", "cannot", "neither", "contrary to", "against")
_OTHER_VERB = any_of("note", "noted", "whether", "was", "were", "had", "previously", "originally")
_SECTION_106 = re.compile(r"\bs(?:ection|ec|\.)?\s?106\b", re.IGNORECASE)
_AGREEMENT = any_of(
    "legal agreement",
    "planning agreement",
    "planning obligations?",
    "unilateral undertaking",
    "deed of variation",
    "completion of (?:an|the) agreement",
)
_CONDITIONS = any_of("conditions?", "conditional(?:ly)?")
_NEEDS_NO = any_of(r"(?:no|without)(?: any| a| the)?(?: further)? (?:conditions?|legal agreement|section 106|s106)")


class Advised(NamedTuple):
    """A recommendation without its words. Only an approval depends on conditions or an agreement."""

    advice: Advice
    conditions: bool = False
    agreement: Agreement | None = None


def advised(text: str) -> Advised | None:
    """Return what a recommendation advises; None if its words do not plainly decide, or decide only in a certain event."""
    if _ONLY_IF.match(text):
        return None
    reasoned = _WHY.search(text)
    told = text[: reasoned.start()] if reasoned else text
    kept = _before_alternative(_DECIDES_NOTHING.sub(_blank, told))
    decisions = _decisions(kept)
    if len({advice for _, advice in decisions}) != 1:
        return None
    at, advice = decisions[0]
    before = told[:at]
    if _DENIED.search(before) or _OTHER_VERB.search(before):
        return None
    if at > _AT_THE_START and not _SHOWS_A_DECISION.search(before):
        return None
    if advice == "refusal" and _UNDONE.search(told):
        return None
    return Advised(advice, *depends_on(kept)) if advice == "approval" else Advised(advice)


def depends_on(text: str) -> tuple[bool, Agreement | None]:
    """Return whether a text asks for conditions, and for which agreement."""
    text = _NEEDS_NO.sub("", text)
    agreement: Agreement | None = "other" if _AGREEMENT.search(text) else None
    return bool(_CONDITIONS.search(text)), "section 106" if _SECTION_106.search(text) else agreement


def _blank(match: re.Match[str]) -> str:
    """Return as many spaces as a match is long, so that places in the text stay the same."""
    return " " * len(match[0])


def _before_alternative(text: str) -> str:
    alternative = _OR_ELSE.search(text)
    return text[: alternative.start()] if alternative else text


def _decisions(text: str) -> list[tuple[int, Advice]]:
    return sorted((match.start(), advice) for advice, words in _WORDS.items() for match in words.finditer(text))
