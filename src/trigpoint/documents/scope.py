"""Warnings of a search whose filters name something that is not there, lest "no results" be taken for "the documents do not say"."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import get_args

from trigpoint.documents.models import RegisteredDocument
from trigpoint.errors import shorten
from trigpoint.text.classify import DocumentType

_NOTHING_INGESTED = "No document has been ingested"
_MOST_NAMED = 20
_DOCUMENT_TYPES: tuple[str, ...] = get_args(DocumentType)


def warnings_of(
    documents: Collection[RegisteredDocument], application_ref: str | None, document_types: Sequence[str]
) -> tuple[str, ...]:
    """Return a warning for each filter that names something unknown or absent, with the values that there are."""
    if not documents:
        return (_NOTHING_INGESTED,)
    searched = [row for row in documents if row.matches(application_ref, ())]
    if not searched:
        known = _listed(row.application_ref for row in documents)
        return (f"No document of application '{shorten(application_ref)}' has been ingested. Ingested are: {known}",)
    there = {row.document_type for row in searched}
    absent = [name for name in dict.fromkeys(document_types) if name not in there]
    return tuple(_absent_type(name, application_ref, there) for name in absent)


def _absent_type(name: str, application_ref: str | None, there: Collection[str]) -> str:
    if name not in _DOCUMENT_TYPES:
        return f"There is no document type '{shorten(name)}'. Known are: {', '.join(_DOCUMENT_TYPES)}"
    document = (
        "ingested document" if application_ref is None else f"document of application '{shorten(application_ref)}'"
    )
    return f"No {document} has the type '{name}'. There are: {_listed(there)}"


def _listed(names: Iterable[str]) -> str:
    every = sorted(set(names))
    more = len(every) - _MOST_NAMED
    return ", ".join(map(shorten, every[:_MOST_NAMED])) + (f" and {more} more" if more > 0 else "")
