"""The share of an application's documents that was read, in figures and in one sentence, from their accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trigpoint.text.account import name_pages

_DOCUMENTS_NAMED = 6


@dataclass(frozen=True)
class ReadingCounts:
    """Pages of several documents. `not_read` are the pages of which nothing could be read, by document;
    `without_account` the documents ingested before accounts were kept."""

    documents: int = 0
    pages: int = 0
    pages_read: int = 0
    pages_by_ocr: int = 0
    not_read: tuple[tuple[str, tuple[int, ...]], ...] = ()
    without_account: tuple[str, ...] = ()

    @classmethod
    def of(cls, accounts: Iterable[tuple[str, Mapping[str, Any] | None]]) -> ReadingCounts:
        """Return the counts over documents, given their names and the `account` that the document store answers."""
        named = list(accounts)
        kept = [(name, account) for name, account in named if account]
        return cls(
            documents=len(named),
            pages=sum(account["page_count"] for _, account in kept),
            pages_read=sum(account["pages_read"] for _, account in kept),
            pages_by_ocr=sum(account["pages_by_ocr"] for _, account in kept),
            not_read=tuple((name, tuple(a["pages_not_read"])) for name, a in kept if a["pages_not_read"]),
            without_account=tuple(name for name, account in named if not account),
        )

    def sentence(self, of_documents: int | None = None) -> str:
        """Return "12 of 13 documents, 214 of 220 pages read; 4 by OCR, 6 not: Survey.pdf, pages 3 to 8."."""
        total = max(self.documents, of_documents or 0)
        read = f"{self.documents} of {total} documents, {self.pages_read} of {self.pages} pages read"
        unread = self.pages - self.pages_read
        more = [f"{self.pages_by_ocr} by OCR"] if self.pages_by_ocr else []
        if unread:
            more.append(f"{unread} not: {self._where()}")
        old = f" No account was kept of {', '.join(self.without_account)}." if self.without_account else ""
        return f"{read}{'; ' if more else ''}{', '.join(more)}.{old}"

    def _where(self) -> str:
        named = [f"{name}, {name_pages(pages).lower()}" for name, pages in self.not_read[:_DOCUMENTS_NAMED]]
        left = len(self.not_read) - _DOCUMENTS_NAMED
        return "; ".join(named) + (f"; and {left} more documents" if left > 0 else "")
