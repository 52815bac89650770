"""The writer of a document, by the register's category and its title: applicant, consultee, public or council."""

from __future__ import annotations

import re
from typing import Literal

from trigpoint.registers.filters import OWN_REPLY, RULES, category_and_title
from trigpoint.registers.models import RegisterDocument

SourceKind = Literal["applicant", "consultee", "public", "council"]
"""Who wrote a document: `public` are residents and parish councils, `council` is the planning authority."""

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
