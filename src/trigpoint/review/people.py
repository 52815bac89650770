"""Other people's data: who members of the public are, and how to reach anybody, does not enter a review.

What is taken out is masked by as many signs as it had, so that pages and offsets stay right. Roles stay: that it is an
objection, an applicant, an agent.
"""

from __future__ import annotations

import re
from pathlib import PurePath

MASK = "■"
_FORMS = ("application_form",)

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"(?<![\w/.-])(?:\+44[ ]?(?:\(0\))?|\(?0)\d(?:[ \d()-]{7,12})\d(?![\w/])")
_TITLED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Cllr|Rev|Sir|Dame)\.?(?: and (?:Mr|Mrs|Ms)\.?)?(?: [A-Z][\w'’.-]*){1,3}"
)
_LABELLED = re.compile(
    r"^(?P<label>[ \t|]*(?:(?:first|last|full|your|applicant|agent|contact)(?:'s)?[ ])*(?:names?|surname|forename|title"
    r"|address(?:[ ]line)?(?:[ ]\d)?|house[ ](?:name|number)|town(?:/city)?|county|post[ ]?code"
    r"|tele?phone(?:[ ]number)?|mobile|fax|e-?mail(?:[ ]address)?|comment(?:er)?[ ]?(?:submitted[ ])?by|from"
    r"|submitted[ ]by|objector)[ \t]*[:|][ \t]*)(?P<value>[^\n]+)",
    re.IGNORECASE | re.MULTILINE,
)
_SIGNED = re.compile(
    r"(?:yours (?:sincerely|faithfully|truly)|(?:kind |best |warm )?regards|many thanks),?[ \t]*\n(?:[ \t]*\n)*(?P<value>[^\n]{2,60})",
    re.IGNORECASE,
)
_NAMED_SELF = re.compile(r"\b(?:[Mm]y name is|I am|[Tt]his is)(?P<value>(?: [A-Z][a-z'’-]+){2,3})\b")
_STREET = re.compile(
    r"\b(?:Flat \d+\w?,? )?\d{1,4}[A-Za-z]?,? (?:[A-Z][\w'’.-]+ ){1,3}(?:Road|Street|Lane|Avenue|Drive|Close|Way|Court|Gardens"
    r"|Place|Terrace|Crescent|Square|Hill|Row|Mews|Grove|Park|Rd|St|Ave)\b"
)
_POSTCODE = re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b")


def without_people(text: str, source_kind: str, document_type: str) -> str:
    """Return a text in which people cannot be recognised or reached, if it is a comment of the public or a form.

    Other documents are returned as they are: consultees, officers and consultants sign in their office.
    """
    if source_kind == "public":
        patterns = [_EMAIL, _PHONE, _LABELLED, _SIGNED, _NAMED_SELF, _TITLED, _STREET, _POSTCODE]
    elif document_type in _FORMS:
        patterns = [_EMAIL, _PHONE, _TITLED]
    else:
        return text
    for pattern in patterns:
        text = pattern.sub(_masked, text)
    return text


def name_without_people(name: str, source_kind: str, document_id: str) -> str:
    """Return a document's name, unless it is a comment of the public, which is often named after its author."""
    if source_kind != "public":
        return name
    return f"Public comment {document_id.rpartition('_')[2]}{PurePath(name).suffix}"


def _masked(match: re.Match[str]) -> str:
    whole, names = match[0], match.re.groupindex
    if "value" not in names:
        return _mask(whole)
    start, end = match.start("value") - match.start(), match.end("value") - match.start()
    return whole[:start] + _mask(whole[start:end]) + whole[end:]


def _mask(text: str) -> str:
    return "".join(c if c.isspace() or c == "|" else MASK for c in text)
