"""Where the sections of a PDF begin: by its own bookmarks where it has them, else by the headings in its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trigpoint.library.quotes import find_in
from trigpoint.text.pages import Outline, Page
from trigpoint.text.sections import find_sections

_KINDS = frozenset("Part Chapter Section Annex Appendix Policy".split())
_FEWEST_BOOKMARKS = 2  # one alone names the cover or the file


@dataclass(frozen=True)
class Heading:
    """Where a section begins. Level 1 is the highest."""

    start: int
    level: int
    title: str


def headings_of(pages: Sequence[Page], outline: Outline, starts: Mapping[int, int]) -> tuple[Heading, ...]:
    """In the order of the text. `starts` is each page's offset into the document's text."""
    if len(outline.bookmarks) >= _FEWEST_BOOKMARKS:
        return tuple(_by_bookmarks(pages, outline, starts))
    return tuple(
        Heading(mark.start, _level(mark.ref), " ".join(f"{mark.ref} {mark.title or ''}".split()))
        for mark in find_sections(pages)
        if mark.ref.split()[0] in _KINDS
    )


def _by_bookmarks(pages: Sequence[Page], outline: Outline, starts: Mapping[int, int]) -> list[Heading]:
    """Each bookmark at the line of its page that says it, else at the page's top; never before the one before it."""
    texts = {page.number: page.text for page in pages}
    headings: list[Heading] = []
    last = 0
    for bookmark in sorted((b for b in outline.bookmarks if b.page in texts), key=lambda b: b.page):
        top = starts[bookmark.page]
        lines = [top + place for place in _lines_saying(texts[bookmark.page], bookmark.title) if top + place >= last]
        last = max(last, lines[0] if lines else top)
        headings.append(Heading(last, bookmark.level, bookmark.title))
    return headings


def _lines_saying(text: str, title: str) -> list[int]:
    """Where the title stands at the start of a line; failing that, where it stands at all."""
    places = [start for start, _ in find_in(text, title)]
    return [p for p in places if not text[text.rfind("\n", 0, p) + 1 : p].strip()] or places


def _level(ref: str) -> int:
    """Parts, chapters, annexes are first; "Section 4.2" is second, "Section 4.2.1" third."""
    kind, _, number = ref.partition(" ")
    return 1 + number.count(".") if kind == "Section" else 2 if kind == "Policy" else 1
