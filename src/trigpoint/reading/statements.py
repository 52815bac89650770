"""Statements: every sentence, bullet and table row of a document, whole and in reading order."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from trigpoint.reading.blocks import Block, read_blocks
from trigpoint.reading.documents import Document, Frozen, PageSpan, Source
from trigpoint.reading.lines import read_lines

StatementKind = Literal["sentence", "bullet", "row", "label", "heading"]

_LONGEST_CELL = 200  # characters: a longer cell with several sentences is prose, set as a table

_END = re.compile(r"[.!?][\"')\]’”]*(?:\d{1,2})?\s+(?=[\"'(\[‘“A-Z0-9£•])")
_WORD = re.compile(r"\S+")
_ABBREVIATED = re.compile(r"(?:^|[\s(\[])(?:[A-Z]|(?:[a-z]\.)+[a-z]|[A-Za-z]{1,7})\.$")
_INITIAL = re.compile(r"(?:^|\s)(?:Mr|Mrs|Ms|Dr|Prof|Cllr|[A-Z]\.)\s?[A-Z]\.$|^[A-Z]\.$")
_ABBREVIATIONS = frozenset(
    "e.g i.e approx para paras no nos st fig figs rd ave ltd plc co cf vs c mr mrs ms dr prof etc ref inc incl "
    "max min est viz al dept jan feb mar apr jun jul aug sep sept oct nov dec".split()
)


class Statement(Frozen):
    """A sentence, bullet, table row, label or heading, with its place.

    `lead` is the sentence that introduces a list ("The site benefits from:") for each of its bullets. `columns` and
    `cells` belong to table rows. `start` and `end` are offsets in the document's text; `page` is the page of its start.
    """

    document_id: str
    index: int
    kind: StatementKind
    text: str
    start: int
    end: int
    page: int | None = None
    last_page: int | None = None
    headings: tuple[str, ...] = ()
    number: str = ""
    lead: str = ""
    columns: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()

    def source(self, document: Document) -> Source:
        """Return the place of this statement as facts and findings cite it."""
        return Source(
            document_id=document.id,
            document=document.name,
            page=self.page,
            start=self.start,
            end=self.end,
            statement=self.index,
            quote=self.text,
        )


def read_statements(
    document_text: str, *, document_id: str = "", pages: Sequence[PageSpan] = ()
) -> tuple[Statement, ...]:
    """Return every statement of a document's text, in order. Without `pages`, form feeds separate pages."""
    return _read_pages(document_text, document_id, tuple(pages))


@lru_cache(maxsize=8)  # statements, profile and facts of an application read the same documents
def _read_pages(text: str, document_id: str, pages: tuple[PageSpan, ...]) -> tuple[Statement, ...]:
    return tuple(_Statements(document_id).read(read_blocks(read_lines(text, pages))))


def document_statements(document: Document) -> tuple[Statement, ...]:
    """Return every statement of a document."""
    return read_statements(document.text, document_id=document.id, pages=document.pages)


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each sentence of a paragraph."""
    spans, start = [], 0
    for match in _END.finditer(text):
        if not _is_abbreviation(text[start : match.start() + 1]):
            spans.append((start, match.end()))
            start = match.end()
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def _is_abbreviation(text: str) -> bool:
    match = _ABBREVIATED.search(text)
    if match is None:
        return False
    word = match.group().strip(" ([").rstrip(".")
    if len(word) == 1 and word.isupper():
        return _INITIAL.search(text) is not None
    return word.lower() in _ABBREVIATIONS


class _Statements:
    """Walks the blocks of a document and keeps what is in force: headings, a list's lead, a table's columns."""

    def __init__(self, document_id: str) -> None:
        self.document_id = document_id
        self.count = 0
        self.path: list[Block] = []
        self.lead = ""
        self.unfinished = False  # whether the last bullet ended as if another followed
        self.columns: tuple[str, ...] = ()

    def read(self, blocks: Sequence[Block]) -> Iterator[Statement]:
        for index, block in enumerate(blocks):
            if block.kind == "row":
                yield from self._row(block, heads=_next_is_separator(blocks, index))
                continue
            if block.kind == "header":
                continue
            self.columns = ()
            if block.kind == "heading":
                yield self._heading(block)
            else:
                yield from self._prose(block)

    def _heading(self, block: Block) -> Statement:
        while self.path and self.path[-1].level >= block.level:
            self.path.pop()
        statement = self._statement("heading", block.text, _Places(block).whole, block)
        self.path.append(block)
        self.lead, self.unfinished = "", False
        return statement

    def _row(self, block: Block, *, heads: bool) -> Iterator[Statement]:
        if heads:
            self.columns = block.cells
            return
        if any(_is_prose(cell) for cell in block.cells):
            yield from self._sentences_of_row(block)
            return
        text = " | ".join(cell for cell in block.cells if cell)
        yield self._statement("row", text, _Places(block).whole, block)

    def _sentences_of_row(self, block: Block) -> Iterator[Statement]:
        """Yield the sentences of a row whose cells hold paragraphs, each under the heading of its column."""
        line, place = block.lines[0].text, 0
        for index, cell in enumerate(block.cells):
            column = self.columns[index : index + 1]
            for start, end in split_sentences(cell):
                text = cell[start:end].strip()
                place = max(place, line.find(text, place))
                begins = block.lines[0].start + place
                at = _Place(begins, begins + len(text), block.lines[0].page, block.lines[0].page)
                yield self._statement("sentence", text, at, block).model_copy(update={"cells": (), "columns": column})

    def _prose(self, block: Block) -> Iterator[Statement]:
        self._leave_sections(block.number)
        text, places = block.text, _Places(block)
        sentences = split_sentences(text)
        for start, end in sentences:
            yield self._statement(_KINDS[block.kind], text[start:end].strip(), places.of(start, end), block)
        if block.kind == "bullet":
            self.unfinished = text.endswith((";", ",", "and", "or"))
        elif text.endswith(":") or not self.unfinished:  # a caption may interrupt a list that has not ended
            self.lead = text[sentences[-1][0] :].strip() if text.endswith(":") else ""
            self.unfinished = False

    def _leave_sections(self, number: str) -> None:
        """Close numbered sections that a paragraph's own number shows to have ended: 14.3.1 is not within 14.2."""
        for index, heading in enumerate(self.path):
            if "." in number and heading.number and not _is_within(number, heading.number):
                del self.path[index:]
                return

    def _statement(self, kind: StatementKind, text: str, place: _Place, block: Block) -> Statement:
        self.count += 1
        return Statement(
            document_id=self.document_id,
            index=self.count - 1,
            kind=kind,
            text=text,
            start=place.start,
            end=place.end,
            page=place.page,
            last_page=place.last_page,
            headings=tuple(heading.text.rstrip(":") for heading in self.path),
            number=block.number,
            lead=self.lead if kind == "bullet" else "",
            cells=block.cells,
            columns=self.columns if block.cells else (),
        )


_KINDS: dict[str, StatementKind] = {"paragraph": "sentence", "bullet": "bullet", "label": "label"}


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    page: int | None
    last_page: int | None


class _Places:
    """Finds the offsets and pages of a part of a block's text, in which runs of spaces became one."""

    def __init__(self, block: Block) -> None:
        self.lines = block.lines
        self.stops: list[int] = []
        length = 0
        for line in block.lines:
            length += len(" ".join(line.text.split())) + 1
            self.stops.append(length)

    @property
    def whole(self) -> _Place:
        first, last = self.lines[0], self.lines[-1]
        return _Place(first.start, last.end, first.page, last.page)

    def of(self, start: int, end: int) -> _Place:
        first, last = bisect_right(self.stops, start), bisect_left(self.stops, end)
        last = min(last, len(self.lines) - 1)
        return _Place(
            self._offset(first, start), self._offset(last, end), self.lines[first].page, self.lines[last].page
        )

    def _offset(self, index: int, position: int) -> int:
        """Return the offset in the document of a position in the block's text that lies in a line of it."""
        line = self.lines[index]
        within = position - (self.stops[index - 1] if index else 0)
        for match in _WORD.finditer(line.text):
            if within <= len(match.group()):
                return line.start + match.start() + max(within, 0)
            within -= len(match.group()) + 1
        return line.end


def _is_prose(cell: str) -> bool:
    return len(cell) > _LONGEST_CELL and len(split_sentences(cell)) > 1


def _is_within(number: str, heading: str) -> bool:
    """Return whether a paragraph's number belongs under a heading's: 14.2.7 under 14, and next to 14.2.6."""
    around = heading.rpartition(".")[0] or heading
    return number == heading or number.startswith(f"{around}.")


def _next_is_separator(blocks: Sequence[Block], index: int) -> bool:
    return index + 1 < len(blocks) and blocks[index + 1].kind == "header"
