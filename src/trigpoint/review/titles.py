"""The name that people give a document if its file's name does not say it: by what it calls itself, or by what it is."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trigpoint.reading.documents import Document
from trigpoint.reading.sources import genre_of
from trigpoint.review.citing import document_title
from trigpoint.review.evidence import collapse

_PLAIN_TITLES = (
    *"addend(?:um|a) attachments? documents? appendix appendices reports? statement letter correspondence scan file".split(),
    *"other revised amended".split(),
    "supporting (?:document|information|statement)s?",
    "(?:additional|further) information",
)
_NUMBERED = r"(?: (?:part|volume|no)?\.? ?\d+(?: of \d+)?)?"
_SAYS_NOTHING = re.compile(rf"(?:{'|'.join(_PLAIN_TITLES)}){_NUMBERED}", re.IGNORECASE)
_PART = re.compile(r" part \d+(?: of \d+)?$", re.IGNORECASE)
_KINDS = {
    "transportassessment": "Transport Assessment",
    "transportstatement": "Transport Statement",
    "frameworktravelplan": "Framework Travel Plan",
    "travelplan": "Travel Plan",
    "designandaccess": "Design and Access Statement",
    "planningstatement": "Planning Statement",
    "environmentalstatement": "Environmental Statement",
}
_HEAD = 400  # characters
_TITLE_LINES = 4
_LONGEST_TITLE = 60


def title_of(document: Document) -> str:
    """Return a document's title: as its file is named, unless that says nothing and the document says what it is."""
    named = document_title(document.name)
    if document.source_kind == "council" and genre_of(document) == "committee report" and not _is_told(named):
        return "Committee Report"
    if not _SAYS_NOTHING.fullmatch(named):
        return named
    said = re.sub(r"\s+", "", head_title(document)).casefold().replace("&", "and")
    kind = next((title for word, title in _KINDS.items() if word in said), "")
    addendum = " Addendum" if "addendum" in said else ""
    part = found[0] if (found := _PART.search(named)) else ""
    return f"{kind}{addendum}{part}" if kind else named


def _is_told(title: str) -> bool:
    return re.search(r"\b(?:report|note|update|minutes|decision)\b", title, re.IGNORECASE) is not None


def titles_of(documents: Iterable[Document]) -> dict[str, str]:
    """Return the titles that the names of the files do not say, by name; one that two documents would share is left out."""
    titles = {one.name: title_of(one) for one in documents}
    given = list(titles.values())
    return {name: title for name, title in titles.items() if title != document_title(name) and given.count(title) == 1}


def head_title(document: Document) -> str:
    """Return the short lines at the head of a document, in which it says what it is."""
    lines = [_closed_up(collapse(line)) for line in document.text[:_HEAD].splitlines() if line.strip()]
    return " ".join(line for line in lines[:_TITLE_LINES] if len(line) <= _LONGEST_TITLE)


def _closed_up(line: str) -> str:
    """Return a line without the spaces between letters that are set apart: D E S I G N."""
    return re.sub(r"(?<=\b[A-Z&]) (?=[A-Z&]\b)", "", line)
