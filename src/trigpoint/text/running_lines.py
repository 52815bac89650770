"""Running headers, running footers and page numbers: found by where they are printed and by their repetition.

They stay in the text of their pages and are only marked there (`Page.running`). Passages leave them out: `Body` is
the text to cut passages from, and knows where each of its characters is in the document's text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import median
from typing import TypeVar

from trigpoint.text.chunk import PAGE_BREAK, Chunk
from trigpoint.text.pages import MarginLine, Page, Span

MARGIN = 0.1  # share of the page's height, at the top and at the bottom, in which running lines are printed

_FEWEST_PAGES = 3
_FEWEST_IN_A_ROW = 5
_SAME_PLACE = 0.012  # of the page's height
_MOST_ELSEWHERE = 0.2
_HEADING = re.compile(r"(figure|fig|table|policy|chapter|annex|appendix|section|para|paragraph)\b", re.IGNORECASE)
_OF_ALL = r"(?:\s*(?:of|/)\s*[0-9]{1,4})?"
_PAGE_NUMBER = re.compile(rf"(?:[-–—|]\s*)?(?:page\s+)?([0-9]{{1,4}}){_OF_ALL}(?:\s*[-–—|])?", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+")
_SENTENCE = re.compile(r"(\S+\s+){3,}\S+[.!?]$")

AnyChunk = TypeVar("AnyChunk", bound=Chunk)
_Place = tuple[int, MarginLine]  # index of the page, and the line


@dataclass(frozen=True)
class Body:
    """A document without its running lines. `pages` have their numbers; offsets are into `document_text(pages)`."""

    pages: tuple[Page, ...]
    _kept_from: tuple[int, ...]  # the start of each kept stretch: in the body,
    _kept_at: tuple[int, ...]  # and in the document

    @classmethod
    def of(cls, pages: Iterable[Page]) -> Body:
        """Return the body of a document. A document without running lines is its own body."""
        pages = tuple(pages)
        kept = list(_kept_stretches(pages))
        lengths = accumulate((end - start for start, end in kept), initial=0)
        starts = [begin for begin, _ in zip(lengths, kept, strict=False)]
        return cls(tuple(_without_running(page) for page in pages), tuple(starts), tuple(start for start, _ in kept))

    def in_document(self, start: int, end: int) -> Span:
        """Return where a span of the body is in the document's text; running lines may lie within it."""
        return self._offset(start), self._offset(end - 1) + 1 if end > start else self._offset(start)

    def placed(self, chunks: Iterable[AnyChunk]) -> list[AnyChunk]:
        """Return chunks of the body with their offsets in the document's text."""
        spans = ((chunk, self.in_document(chunk.start, chunk.end)) for chunk in chunks)
        return [replace(chunk, start=start, end=end) for chunk, (start, end) in spans]

    def _offset(self, position: int) -> int:
        stretch = bisect_right(self._kept_from, position) - 1
        return position if stretch < 0 else self._kept_at[stretch] + position - self._kept_from[stretch]


def mark_running_lines(pages: Sequence[Page], margins: Mapping[int, Sequence[MarginLine]]) -> tuple[Page, ...]:
    """Return the pages with their running lines marked; a printed page number becomes the label of a page without one.

    `margins` are, by page number, the lines printed in the top and bottom margins. Only they can be running lines.
    """
    if len(pages) < _FEWEST_PAGES:
        return tuple(pages)
    places = [(index, line) for index, page in enumerate(pages) for line in margins.get(page.number, ())]
    printed = _printed_numbers(pages, places)
    running = [*_repeated(pages, places), *((index, line) for index, line, _ in printed)]
    spans: dict[int, set[Span]] = defaultdict(set)
    for index, line in running:
        span = line.span(pages[index].text)
        if span is not None:
            spans[index].add(span)
    labels = {index: label for index, _, label in printed}
    return tuple(
        replace(page, running=tuple(sorted(spans[index])), label=page.label or labels.get(index))
        if index in spans
        else page
        for index, page in enumerate(pages)
    )


def _kept_stretches(pages: Sequence[Page]) -> Iterator[Span]:
    """Yield the stretches of the document's text that are not running lines. Page breaks are kept."""
    offset = begin = 0
    for page in pages:
        for start, end in page.running:
            yield begin, offset + start
            begin = offset + end
        offset += len(page.text) + len(PAGE_BREAK)
    yield begin, max(begin, offset - len(PAGE_BREAK))


def _without_running(page: Page) -> Page:
    if not page.running:
        return page
    starts = [0, *(end for _, end in page.running)]
    ends = [*(start for start, _ in page.running), len(page.text)]
    text = "".join(page.text[start:end] for start, end in zip(starts, ends, strict=True))
    return replace(page, text=text, running=())


def _printed_numbers(pages: Sequence[Page], places: Sequence[_Place]) -> list[tuple[int, MarginLine, str]]:
    """Return page numbers: alone on a line, and at a constant distance from the physical number.

    On spreads, the distance is from the double of that number.
    """
    alone = [(index, line, _PAGE_NUMBER.fullmatch(_one_line(line))) for index, line in places]
    numbers = [(index, line, int(match[1])) for index, line, match in alone if match]
    for step in (1, 2):
        distances = Counter({(index, value - step * pages[index].number) for index, _, value in numbers})
        counts = Counter(distance for _, distance in distances)
        chosen = {d for d, n in counts.most_common(step) if n >= max(_FEWEST_PAGES, 0.4 * len(pages))}
        printed = [
            (index, line, str(value)) for index, line, value in numbers if value - step * pages[index].number in chosen
        ]
        if printed:
            return printed
    return []


def _repeated(pages: Sequence[Page], places: Sequence[_Place]) -> Iterator[_Place]:
    """Yield lines that many pages, or five in a row, have at the same place, and that are not common elsewhere."""
    where: dict[tuple[bool, str], list[_Place]] = defaultdict(list)
    for index, line in places:
        if not line.is_apart:
            continue
        for key in _keys(_one_line(line), pages[index].number):
            where[line.place < 0.5, key].append((index, line))
    many = max(_FEWEST_PAGES, 0.25 * len(pages) if len(pages) >= 12 else 0.5 * len(pages))
    for (_, key), places_of_line in where.items():
        aligned = _at_one_place(places_of_line)
        chosen = aligned if len({index for index, _ in aligned}) >= many else _in_a_row(aligned)
        if chosen and not _is_body_line(key, pages, chosen):
            yield from chosen


def _one_line(line: MarginLine) -> str:
    return " ".join(line.text.split())


def _keys(text: str, page: int) -> Iterator[str]:
    """Yield the line as it is; if a number in it may be the page's, also with its distance to the page instead."""
    text = text.lower()
    if len(text) < 2 or not any(c.isalpha() for c in text) or _SENTENCE.match(text):
        return
    yield text
    if _HEADING.match(text):
        return
    for match in _NUMBER.finditer(text):
        if len(match[0]) <= 4:
            yield f"{text[: match.start()]}\0{int(match[0]) - page}\0{text[match.end() :]}"


def _at_one_place(places: list[_Place]) -> list[_Place]:
    middle = median(line.place for _, line in places)
    return [(index, line) for index, line in places if abs(line.place - middle) <= _SAME_PLACE]


def _in_a_row(places: list[_Place]) -> list[_Place]:
    """Return the lines of at least five pages that are adjacent, or every other page."""
    chosen: list[_Place] = []
    run: list[_Place] = []
    for place in [*places, None]:
        if run and (place is None or place[0] - run[-1][0] > 2):
            chosen += run if len({index for index, _ in run}) >= _FEWEST_IN_A_ROW else []
            run = []
        if place is not None:
            run.append(place)
    return chosen


def _is_body_line(key: str, pages: Sequence[Page], chosen: Sequence[_Place]) -> bool:
    """Return whether the line is as common in the middle of pages, as ratings, table headings and refrains are."""
    if "\0" in key:
        return False
    margins: dict[int, int] = Counter(index for index, _ in chosen)
    elsewhere = 0
    for index, page in enumerate(pages):
        if page.text.lower().find(key.split()[0]) >= 0:
            lines = sum(" ".join(line.split()).lower() == key for line in page.text.splitlines())
            elsewhere += max(0, lines - margins.get(index, 0))
    return elsewhere > _MOST_ELSEWHERE * len(chosen)
