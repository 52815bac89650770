"""A document as it is read: its text, the start of each page, its kind and its author."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from trigpoint.reading.vocabulary import SourceKind


class Frozen(BaseModel):
    """A value of the reading: immutable, comparable, and JSON by `model_dump_json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PageSpan(Frozen):
    """Where a page lies in its document's text. The words of a page that was read by OCR may be misread."""

    number: int
    start: int
    end: int
    by_ocr: bool = False


class Document(Frozen):
    """One document of an application. Without `pages`, form feeds in the text separate them.

    `superseded` is set if the register lists the document among those that others have replaced.
    """

    id: str
    name: str
    text: str
    document_type: str = "other"
    source_kind: SourceKind = "applicant"
    pages: tuple[PageSpan, ...] = ()
    superseded: bool = False


class Source(Frozen):
    """Where something is said: document, page, offsets in the document's text, and the words of the whole statement."""

    document_id: str
    document: str
    page: int | None = None
    start: int
    end: int
    statement: int
    quote: str


def pages_by_form_feed(text: str) -> tuple[PageSpan, ...]:
    """Return the pages of a text in which form feeds separate them; none if there is no form feed."""
    if "\f" not in text:
        return ()
    spans, start = [], 0
    for number, page in enumerate(text.split("\f"), 1):
        spans.append(PageSpan(number=number, start=start, end=start + len(page)))
        start += len(page) + 1
    return tuple(spans)


def page_at(pages: Sequence[PageSpan], offset: int) -> int | None:
    """Return the number of the page that holds an offset, None if the document has no pages."""
    index = bisect_right([page.start for page in pages], offset) - 1
    return pages[index].number if index >= 0 else None
