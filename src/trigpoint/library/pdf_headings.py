"""The sections of a PDF: by its own bookmarks if it has them, else by the headings in its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trigpoint.library.quotes import find_in
from trigpoint.library.reference_lists import reference_list_starts
from trigpoint.text.chunk import PageText
from trigpoint.text.pages import Outline, Page
from trigpoint.text.sections import find_sections

_KINDS = frozenset("Part Chapter Section Annex Appendix Policy".split())
_FEWEST_BOOKMARKS = 2  # one alone names the cover or the file
_TOO_WIDE = 0.5  # share of a document under one bookmark, beyond which the bookmarks are too few
_FEW_PAGES = 5


@dataclass(frozen=True)
class SourceHeading:
    """The beginning of a section. Level 1 is the highest."""

    start: int
    level: int
    title: str


def headings_of(pages: Sequence[Page], outline: Outline, starts: Mapping[int, int]) -> tuple[SourceHeading, ...]:
    """Return the headings in the order of the text. `starts` is each page's offset into the document's text.

    A list of references always begins a new section, whether or not there is a bookmark for it.
    """
    marked = _by_bookmarks(pages, outline, starts) if len(outline.bookmarks) >= _FEWEST_BOOKMARKS else []
    end = starts[pages[-1].number] + len(pages[-1].text) if pages else 0
    if not marked:
        headings = _in_text(pages)
    elif (gap := _widest_gap(marked, end)) and gap[1] - gap[0].start > _TOO_WIDE * end and len(pages) > _FEW_PAGES:
        headings = _filled(marked, *gap, _in_text(pages))
    else:
        headings = marked
    return tuple(_with_reference_lists(headings, pages, starts))


def _in_text(pages: Sequence[PageText]) -> list[SourceHeading]:
    return [
        SourceHeading(mark.start, _level(mark.ref), " ".join(f"{mark.ref} {mark.title or ''}".split()))
        for mark in find_sections(pages)
        if mark.ref.partition(" ")[0] in _KINDS
    ]


def text_headings(pages: Sequence[PageText], starts: Mapping[int, int]) -> tuple[SourceHeading, ...]:
    """Return the headings that a text without an outline has in its own words."""
    return tuple(_with_reference_lists(_in_text(pages), pages, starts))


def _widest_gap(headings: Sequence[SourceHeading], end: int) -> tuple[SourceHeading, int]:
    """Return the heading that covers the longest stretch of text, and the end of that stretch."""
    ends = [*(heading.start for heading in headings[1:]), end]
    return max(zip(headings, ends, strict=True), key=lambda pair: pair[1] - pair[0].start)


def _filled(
    marked: list[SourceHeading], above: SourceHeading, end: int, in_text: list[SourceHeading]
) -> list[SourceHeading]:
    """Add the headings of the text if bookmarks leave most of a document under one of them."""
    inside = [h for h in in_text if above.start < h.start < end]
    highest = min((h.level for h in inside), default=1)
    deeper = [SourceHeading(h.start, above.level + 1 + h.level - highest, h.title) for h in inside]
    return sorted([*marked, *deeper], key=lambda heading: heading.start)


def _with_reference_lists(
    headings: Sequence[SourceHeading], pages: Sequence[PageText], starts: Mapping[int, int]
) -> list[SourceHeading]:
    """Add the lists of references; what comes after one, up to the next heading of the document, belongs to it."""
    known = {heading.start for heading in headings}
    lists = [
        SourceHeading(at, 1, "References")
        for page in pages
        for place in reference_list_starts(page.text)
        if (at := starts[page.number] + place) not in known
    ]
    return sorted([*headings, *lists], key=lambda heading: heading.start)


def _by_bookmarks(pages: Sequence[Page], outline: Outline, starts: Mapping[int, int]) -> list[SourceHeading]:
    """Return each bookmark at the line of its page that says it, else at the page's top; never before the last one."""
    texts = {page.number: page.text for page in pages}
    headings: list[SourceHeading] = []
    last = 0
    for bookmark in sorted((b for b in outline.bookmarks if b.page in texts), key=lambda b: b.page):
        top = starts[bookmark.page]
        lines = [top + place for place in _lines_saying(texts[bookmark.page], bookmark.title) if top + place >= last]
        last = max(last, lines[0] if lines else top)
        headings.append(SourceHeading(last, bookmark.level, bookmark.title))
    return headings


def _lines_saying(text: str, title: str) -> list[int]:
    """Return the places where a line begins with the title; failing that, all places that have it."""
    places = [start for start, _ in find_in(text, title)]
    return [p for p in places if not text[text.rfind("\n", 0, p) + 1 : p].strip()] or places


def _level(ref: str) -> int:
    """Return a heading's level: parts, chapters and annexes have 1, policies and "Section 4.2" have 2, "Section 4.2.1" has 3."""
    kind, _, number = ref.partition(" ")
    if kind == "Section":
        return 1 + number.count(".")
    return 2 if kind == "Policy" else 1
