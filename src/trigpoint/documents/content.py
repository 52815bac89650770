"""A document as it was read: all of its text, the place of each page in it, and the account of the pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trigpoint.text.account import DocumentAccount
from trigpoint.text.chunk import PAGE_BREAK, document_text
from trigpoint.text.pages import Extraction


@dataclass(frozen=True, slots=True)
class PageSpan:
    """The place of a physical page's text: `text[start:end]` of the document."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DocumentContent:
    """The whole text, running headers and footers included; passages are cut from it without them."""

    text: str
    pages: tuple[PageSpan, ...]
    account: DocumentAccount

    @classmethod
    def of(cls, extraction: Extraction) -> DocumentContent:
        """Return what an extraction is stored as."""
        spans, offset = [], 0
        for page in extraction.pages:
            spans.append(PageSpan(page.number, offset, offset + len(page.text)))
            offset += len(page.text) + len(PAGE_BREAK)
        return cls(document_text(extraction.pages), tuple(spans), extraction.account)

    def to_json(self) -> dict[str, Any]:
        """Return the content as JSON."""
        pages = [[page.number, page.start, page.end] for page in self.pages]
        return {"text": self.text, "pages": pages, "account": self.account.to_json()}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> DocumentContent:
        """Return the value that `to_json` wrote."""
        pages = tuple(PageSpan(int(number), int(start), int(end)) for number, start, end in record["pages"])
        return cls(str(record["text"]), pages, DocumentAccount.of(record["account"]))
