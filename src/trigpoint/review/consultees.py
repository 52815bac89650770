"""What those who were consulted recommend, in their own words: found in their letters, quoted, and never judged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from trigpoint.reading.documents import Document
from trigpoint.reading.statements import document_statements
from trigpoint.review.evidence import Evidence, collapse
from trigpoint.review.findings import Stored

Position = Literal["against", "for", "undecided"]

LONGEST = 400  # characters of a recommendation that are quoted
_FIRST = 60  # statements of a letter among which it says what it recommends

_AGAINST = re.compile(
    r"\bnot (?:currently )?(?:in a position|able) to support|\b(?:holding |formal )?objection\b(?! is raised by)|\bobjects?\b(?! to be)|"
    r"\brefusal\b|\brecommend\w*(?: that)?[^.]{0,60}\b(?:refus\w+|be refused)|\bdeferral\b|\bcannot support\b|\bdoes not support\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\bunable to (?:provide|give|support|reach|advise)|\bfurther information is (?:required|needed|sought)",
    re.IGNORECASE,
)
_FOR = re.compile(
    r"\b(?:no|not?) (?:formal )?objections?\b|\bdoes not object\b|\bdo not object\b|\bhas no objection|\bwithdraws? (?:its|the) objection",
    re.IGNORECASE,
)
_HEADING = 90  # characters: "Response: no objection subject to conditions"
_ON_THE_WHOLE = re.compile(
    r"\b(?:application|planning permission|proposals?|proposed development|permission)\b", re.IGNORECASE
)
_OTHERS = re.compile(r"\b(?:residents?|neighbours?|parish|local people|objectors?|letters? of)\b", re.IGNORECASE)

_NAMES_A_BODY = re.compile(
    r"\b(?:council|authority|england|agency|highways|police|constabulary|network rail|transport for london|board|trust|water)\b",
    re.IGNORECASE,
)


class Recommendation(Stored):
    """The position of a consultee, quoted from its letter."""

    body: str = Field(description="Who recommends it, as the letterhead says; empty if it does not.")
    position: Position
    quote: str
    document: str
    document_id: str
    page: int | None = None


def recommendations(evidence: Evidence) -> tuple[Recommendation, ...]:
    """Return one recommendation of each consultee whose letter plainly states one, those against first."""
    found = [one for document in evidence.documents if document.source_kind == "consultee" for one in _stated(document)]
    return tuple(sorted(found, key=lambda one: one.position != "against"))


def _stated(document: Document) -> Iterator[Recommendation]:
    statements = document_statements(document)[:_FIRST]
    for statement in statements:
        text = collapse(statement.text).replace("*", "")
        position = _position(text)
        if position is not None and len(text) <= LONGEST and not _OTHERS.search(text):
            yield Recommendation(
                body=_body(document),
                position=position,
                quote=re.sub(r"^(?:Response|Recommendation)\s*:\s*", "", text),
                document=document.name,
                document_id=document.id,
                page=statement.page,
            )
            return


def _position(text: str) -> Position | None:
    if len(text) > _HEADING and not _ON_THE_WHOLE.search(text):
        return None
    if _FOR.search(text):
        return "for"
    if _AGAINST.search(text):
        return "against"
    return "undecided" if _OPEN.search(text) else None


def _body(document: Document) -> str:
    """Return the line of the letterhead that names a body; nothing if none does."""
    lines = [line.strip(" #*\t") for line in document.text[:400].splitlines()]
    named = next((line for line in lines if _NAMES_A_BODY.search(line) and len(line) <= 80), "")
    return re.split(r"[:–-]\s", named)[0].strip() if named else ""
