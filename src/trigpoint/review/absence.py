"""Absence: how it is told, and how a claim of it is recognised. It is an open point, never a finding."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trigpoint.reading.cues import CUES
from trigpoint.review.aspects import Check
from trigpoint.review.evidence import Evidence
from trigpoint.review.findings import NotAssessed, Place
from trigpoint.review.locating import Found
from trigpoint.review.submitted import DraftFinding

_ABSENCE = re.compile(
    r"\bno (?:evidence|detail|information|mention|reference|assessment|figure|statement|indication|proposal|provision|cycle|"
    r"commitment|target|measure|drawing|plan|audit|survey|data|justification)\w*\b"
    r"|\b(?:do|does|did|has|have|is|are) not (?:show|state|mention|provide|give|include|identif|set out|specif|address|"
    r"explain|demonstrat|commit|propose|assess|consider|secur|been (?:shown|provided|assessed|given))\w*"
    r"|\b(?:silent on|fails? to|without any|nothing (?:is|in)|nowhere|omits?|absent|missing)\b",
    re.IGNORECASE,
)


def not_shown_point(
    evidence: Evidence, asked: Check | None, given: DraftFinding, where: tuple[Place, ...]
) -> NotAssessed:
    """Return an open point, worded by what was done: never that the documents do not say something."""
    subject = asked.words.subject if asked else (given.requirement or "it")
    pages = "the one page" if evidence.pages_read == 1 else f"the {evidence.pages_read} pages"
    reason = f"We found no statement of {subject} that settles it in {pages} we could read."
    if where:
        reason += " The pages named here touch on it."
    ask = f"Show {subject}" if asked is None or asked.essential or asked.show else None
    return NotAssessed(
        check=asked.id if asked else "other",
        requirement=asked.requirement if asked else (given.requirement or given.statement),
        essential=bool(asked and asked.essential),
        reason=reason,
        places=where,
        request=ask,
        policy=tuple(policy.ref for policy in evidence.cite(asked.provisions)) if asked else (),
    )


def absence_reasons(given: DraftFinding, quotes: Sequence[Found]) -> list[str]:
    """Return why a claim of absence cannot count as a finding: nothing quoted says so."""
    claimed = _ABSENCE.search(given.statement)
    if claimed is None or any("denial" in CUES.tag_text(place.words) for place in quotes):
        return []
    return [
        f"“{claimed.group()}” claims an absence, and nothing you quote says so. State what the documents do say and why it "
        f"falls short, or use not_shown with what you searched for"
    ]
