"""The documents as a reader is shown them: pages in order, whole sentences, in windows of limited size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from trigpoint.reading.documents import Document, PageSpan
from trigpoint.reading.facts import Fact
from trigpoint.reading.statements import Statement
from trigpoint.reading.vocabulary import aspects_of
from trigpoint.review.citing import document_title
from trigpoint.review.evidence import Evidence, fold
from trigpoint.review.locating import DocumentWords
from trigpoint.text.account import name_pages

WINDOW = 24_000  # characters, about 6,000 tokens
LONGEST_WINDOW = 80_000
_UNDER_ONE_HEADING = 4  # pages
_TRANSPORT = re.compile(
    r"transport|travel[ _-]?plan|highway|cycl|parking|movement|access(?![ _-]*statement)|road safety", re.IGNORECASE
)
_BLANK_LINES = re.compile(r"\n\s*\n\s*")


@dataclass(frozen=True)
class Sheet:
    """One page of a document. A document without pages is one sheet with no number."""

    label: str
    page: int | None
    characters: int
    weight: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.label}:{self.page or 0}"


@dataclass(frozen=True)
class PageWindow:
    """Text of a document from one page to another. With `next_page` there is more; `next_offset` is within that page."""

    label: str
    document: str
    pages: tuple[int, ...]
    text: str
    next_page: int | None = None
    next_offset: int = 0


class Sheets:
    """The documents of a review under short labels (D1, D2 …), page by page."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self.labels: dict[str, Document] = {f"D{n}": document for n, document in enumerate(evidence.documents, 1)}
        self._label_of = {document.id: label for label, document in self.labels.items()}
        self._words = {document.id: DocumentWords(document) for document in evidence.documents}

    def label_of(self, document_id: str) -> str:
        return self._label_of[document_id]

    def words_of(self, document: Document) -> DocumentWords:
        return self._words[document.id]

    def document(self, name: str) -> Document | None:
        """Return the document of a label, an id or a file name; None if there is no such document in this review."""
        label = name.strip().strip("[]").upper()
        if label in self.labels:
            return self.labels[label]
        named = [one for one in self.labels.values() if fold(name) in (fold(one.name), fold(one.id))]
        return named[0] if len(named) == 1 else None

    def sheets(self, document: Document) -> tuple[Sheet, ...]:
        return tuple(one for one in self.all if one.label == self._label_of[document.id])

    @cached_property
    def all(self) -> tuple[Sheet, ...]:
        """Every page that has text, document by document."""
        weights = _weights(self._evidence.facts)
        return tuple(
            Sheet(label, page.number if document.pages else None, size, weights[document.id, page.number])
            for label, document in self.labels.items()
            for page in spans(document)
            if (size := len(document.text[page.start : page.end].strip()))
        )

    def named(self, keys: Iterable[str]) -> str:
        """Return pages as people name them: `Travel Plan, pages 3 to 9; Planning Statement, page 2`."""
        pages: dict[str, list[int]] = {}
        for key in keys:
            label, _, page = key.partition(":")
            pages.setdefault(label, []).append(int(page))
        return "; ".join(_named(document_title(self.labels[label].name), numbers) for label, numbers in pages.items())

    def titles(self, document: Document) -> dict[int, str]:
        """Return the heading that each page is under: the first one on it, or the last one on the few pages before it;
        otherwise its first words.
        """
        titles: dict[int, str] = {}
        before, since = "", 0
        by_page: dict[int, list[Statement]] = {}
        for statement in self._words[document.id].statements:
            by_page.setdefault(statement.page or 1, []).append(statement)
        for page, statements in sorted(by_page.items()):
            headings = [f"{one.number} {one.text}".strip() for one in statements if one.kind == "heading"]
            near = before if page - since <= _UNDER_ONE_HEADING else ""
            titles[page] = " ".join((headings[0] if headings else near or statements[0].text).split())
            before, since = (headings[-1], page) if headings else (before, since)
        return titles

    def is_transport(self, document: Document) -> bool:
        """Whether a document is about transport: it is read completely."""
        return document.document_type == "transport_assessment" or bool(_TRANSPORT.search(document.name))

    @cached_property
    def by_relevance(self) -> tuple[Sheet, ...]:
        """Every page that matters: transport documents whole and first, then others by what they state on the aspects."""
        whole = [one for one in self.all if self.is_transport(self.labels[one.label])]
        rest = [one for one in self.all if one not in whole and one.weight > 0]
        return (*whole, *sorted(rest, key=lambda one: -one.weight))

    def window(self, document: Document, page: int | None, *, to: int | None, offset: int, most: int) -> PageWindow:
        """Return the text from a page on: whole pages up to `to` while they fit, or as many sentences as fit."""
        pages = spans(document)
        wanted = [one for one in pages if page is None or page <= one.number <= (to if to is not None else page)]
        texts: list[str] = []
        shown: list[int] = []
        room = min(most, LONGEST_WINDOW)
        for one in wanted:
            start, end = self._bounds(document, one)
            start = min(start + (offset if one is wanted[0] else 0), end)
            cut = end
            if end - start > room:
                cut = start if texts else self._last_end(document, start, start + room)
            if cut > start or not texts:
                texts.append(self._heading(document, one) + _tidy(document.text[start:cut]))
                shown.append(one.number)
            if cut < end:
                first = self._bounds(document, one)[0]
                return self._window(document, shown, texts, one.number, max(0, cut - first))
            room -= cut - start
        return self._window(document, shown, texts, None, 0)

    def _window(
        self, document: Document, shown: Sequence[int], texts: Sequence[str], following: int | None, offset: int
    ) -> PageWindow:
        numbers = tuple(shown) if document.pages else ()
        return PageWindow(self._label_of[document.id], document.name, numbers, "\n\n".join(texts), following, offset)

    def _heading(self, document: Document, page: PageSpan) -> str:
        return f"[{self._label_of[document.id]} page {page.number}]\n" if document.pages else ""

    def _bounds(self, document: Document, page: PageSpan) -> tuple[int, int]:
        """Return where the sentences that begin on a page start and end: the last may run on to the next page."""
        statements = self._words[document.id].statements
        runs_in = [one.end for one in statements if one.start < page.start < one.end]
        begun = [one.end for one in statements if page.start <= one.start < page.end]
        start = max([page.start, *runs_in])
        return start, max([page.end if not runs_in else max(page.end, start), *begun])

    def _last_end(self, document: Document, start: int, limit: int) -> int:
        """Return the end of the last sentence before a limit, or the limit itself within a very long one."""
        ends = [one.end for one in self._words[document.id].statements if start < one.end <= limit]
        return max(ends, default=limit)


def _named(title: str, numbers: Sequence[int]) -> str:
    paged = sorted(number for number in numbers if number)
    return f"{title}, {name_pages(paged).lower()}" if paged else title


def spans(document: Document) -> tuple[PageSpan, ...]:
    """Return the pages of a document; one page for all of it if it has none."""
    return document.pages or (PageSpan(number=1, start=0, end=len(document.text)),)


def _weights(facts: Iterable[Fact]) -> Counter[tuple[str, int]]:
    """Count what each page states on the aspects of a review; figures count more."""
    weights: Counter[tuple[str, int]] = Counter()
    for fact in facts:
        if aspects_of(fact.topic):
            weights[fact.source.document_id, fact.source.page or 1] += 2 if fact.quantities else 1
    return weights


def _tidy(text: str) -> str:
    lines = (" ".join(line.split()) for line in _BLANK_LINES.sub("\n", text).splitlines())
    return "\n".join(line for line in lines if line)
