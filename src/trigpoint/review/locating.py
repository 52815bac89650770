"""Find quoted words in the documents: in which document, on which page, in which statement."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from trigpoint.reading.documents import Document, page_at
from trigpoint.reading.statements import Statement, document_statements
from trigpoint.review.evidence import fold
from trigpoint.review.findings import Citation, Outcome

_WORD = re.compile(r"\S+")
_LEFT_OUT = re.compile(r"\s*(?:\[?(?:\.\.\.|…)\]?)\s*")
_MARKS = " \t\n.,;:'\"“”‘’•·*-–|()[]"
SHORTEST_PART = 8  # characters: a shorter piece between two dots proves nothing


@dataclass(frozen=True)
class FoundWords:
    """Words found in a document: offsets of the statements in which they are, and the pages of the words themselves."""

    document: Document
    start: int
    end: int
    pages: tuple[int, ...]
    words: str

    def citation(self, speaks: Outcome) -> Citation:
        return Citation(
            passage_id=f"{self.document.id}:{self.start}-{self.end}",
            document_id=self.document.id,
            document=self.document.name,
            pages=self.pages,
            quote=self.words,
            speaks=speaks,
        )


class DocumentWords:
    """The words of one document with their offsets, to look quotations up in."""

    def __init__(self, document: Document) -> None:
        self.document = document

    @cached_property
    def statements(self) -> Sequence[Statement]:
        return document_statements(self.document)

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return [match.span() for match in _WORD.finditer(self.document.text) if match.group().strip("|")]

    @cached_property
    def _folded(self) -> tuple[str, list[int]]:
        """Return the words in one line, and where each of them begins in it."""
        text, begins, length = [], [], 0
        for start, end in self._spans:
            word = fold(self.document.text[start:end]).strip("|")
            begins.append(length)
            text.append(word)
            length += len(word) + 1
        return " ".join(text), begins

    def find(self, quote: str, page: int | None = None) -> FoundWords | None:
        """Return the place of the words, on the given page if they are there and otherwise the first one."""
        wanted = fold(quote.replace("|", " ")).strip(_MARKS)
        if not wanted:
            return None
        places = [self._found(at, wanted) for at in self._places(wanted)]
        found = next((one for one in places if page in one.pages), places[0] if places else None)
        return found or self._over_a_page(wanted)

    def _over_a_page(self, wanted: str) -> FoundWords | None:
        """Return a sentence that runs over the end of a page, with running lines between its words."""
        for one in self.statements:
            if one.page != one.last_page and wanted in fold(one.text):
                pages = tuple(page for page in (one.page, one.last_page) if page is not None)
                return FoundWords(self.document, one.start, one.end, pages, one.text)
        return None

    def _places(self, wanted: str) -> list[int]:
        text, _ = self._folded
        places, at = [], text.find(wanted)
        while at >= 0:
            if _is_whole(text, at, at + len(wanted)):
                places.append(at)
            at = text.find(wanted, at + 1)
        return places

    def _found(self, at: int, wanted: str) -> FoundWords:
        _, begins = self._folded
        first, last = bisect_right(begins, at) - 1, bisect_left(begins, at + len(wanted)) - 1
        start, end = self._spans[first][0], self._spans[last][1]
        pages = _pages(self.document, start, end)
        around = [one for one in self.statements if one.start < end and start < one.end]
        words = " ".join(self.document.text[start:end].split()).rstrip(",;:")
        return FoundWords(
            self.document,
            min([start, *(one.start for one in around)]),
            max([end, *(one.end for one in around)]),
            pages,
            words,
        )


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether a piece of text begins and ends with whole words: "2.5 m" is not quoted from "12.5 m"."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() and text[start].isalnum()) and not (after.isalnum() and text[end - 1].isalnum())


def _pages(document: Document, start: int, end: int) -> tuple[int, ...]:
    if not document.pages:
        return ()
    first, last = page_at(document.pages, start), page_at(document.pages, max(start, end - 1))
    return tuple(dict.fromkeys(page for page in (first, last) if page is not None))


def parts_of(quote: str) -> list[str]:
    """Return the parts of a quotation from which words were left out by dots."""
    parts = [part for part in _LEFT_OUT.split(quote) if len(part.strip()) >= SHORTEST_PART]
    return parts or [quote]
