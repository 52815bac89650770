"""The speaker of a document, if the register's category and its title tell: applicant, consultee, public or council."""

from __future__ import annotations

import re
from typing import Literal

from trigpoint.registers.filters import OWN_REPLY, RULES, category_and_title
from trigpoint.registers.models import RegisterDocument

SourceKind = Literal["applicant", "consultee", "public", "council"]

_KIND_OF_RULE: dict[str, SourceKind] = {
    "consultee category": "consultee",
    "consultation title": "consultee",
    "public category": "public",
    "public title": "public",
}
_COUNCIL_CATEGORY = re.compile(r"(?<!\w)(?:officer/committee|committee|decisions?|delegated)(?!\w)", re.IGNORECASE)
_COUNCIL_PAPERS = (
    "decision notices?",
    "(?:officer|committee|delegated)(?:['’]?s?)? reports?",
    "secretary of state referral",
    "committee minutes",
    "screening opinion",
    "scoping opinion",
)
_COUNCIL_TITLE = re.compile(rf"(?<!\w)(?:{'|'.join(_COUNCIL_PAPERS)})(?!\w)", re.IGNORECASE)


def is_superseded(document: RegisterDocument) -> bool:
    """Return whether the register or the title says that a later document has taken its place."""
    category, title = category_and_title(document)
    return RULES[0].matches(category, title)


def source_kind(document: RegisterDocument) -> SourceKind:
    """Return who wrote a document. The applicant's own reply to others is the applicant's."""
    category, title = category_and_title(document)
    for rule in RULES:
        if rule.name in _KIND_OF_RULE and rule.matches(category, title):
            own_reply = OWN_REPLY.search(title) is not None
            return "applicant" if own_reply else _KIND_OF_RULE[rule.name]
    if _COUNCIL_CATEGORY.search(category) or _COUNCIL_TITLE.search(title):
        return "council"
    return "applicant"
