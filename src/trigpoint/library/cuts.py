"""Passages of a source: within one section each, sized in the model's own tokens, with exact offsets and pages."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from trigpoint.library.kinds import REFERENCE_LIST
from trigpoint.library.pdf_headings import SourceHeading
from trigpoint.library.reference_lists import lists_references
from trigpoint.library.sources import SourceText
from trigpoint.text.chunk import TextChunker, TokenCounter

CHUNK_SIZE = 1000
OVERLAP = 150
_MOST_TOKENS = 256


@dataclass(frozen=True)
class Cut:
    """`source.text[start:end] == text`. `pages` are (page, offset) of those it touches, if any."""

    text: str
    start: int
    end: int
    section: str | None
    section_path: tuple[str, ...]
    pages: tuple[tuple[int, int], ...]
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def page_span(self) -> list[int] | None:
        return [self.pages[0][0], self.pages[-1][0]] if self.pages else None

    def chunk_id(self, project_id: str, doc_id: str) -> str:
        """Return a hash of project, document, span and text: the same passage always has the same id."""
        parts = (project_id, doc_id, str(self.start), str(self.end), self.text)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def cut(source: SourceText, count_tokens: TokenCounter) -> Iterator[Cut]:
    """Yield passages in reading order. Overlap never crosses the start of a section."""
    chunker = TextChunker(CHUNK_SIZE, OVERLAP, count_tokens=count_tokens, max_tokens=_MOST_TOKENS)
    page_offsets = [offset for _, offset in source.pages]
    for start, end, path in _stretches_between_headings(source):
        for first, last in chunker.spans(source.text[start:end]):
            span = (start + first, start + last)
            yield Cut(
                text=source.text[span[0] : span[1]],
                start=span[0],
                end=span[1],
                section=path[-1] if path else None,
                section_path=path,
                pages=_page_spans(source, page_offsets, *span),
                extra={"part": REFERENCE_LIST} if lists_references(path) else {},
            )


def _stretches_between_headings(source: SourceText) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield (start, end, titles from the highest heading down) of each stretch between two headings.

    A heading with nothing below it but the next, deeper one goes with that one.
    """
    open_headings: list[SourceHeading] = []
    starts = [h.start for h in source.headings] + [len(source.text)]
    if starts[0] > 0:
        yield 0, starts[0], ()
    begin: int | None = None
    for heading, following, end in zip_longest(source.headings, source.headings[1:], starts[1:]):
        open_headings = [h for h in open_headings if h.level < heading.level] + [heading]
        begin = heading.start if begin is None else begin
        if following is not None and following.level > heading.level and _is_bare(source.text[heading.start : end]):
            continue
        yield begin, end, tuple(h.title for h in open_headings)
        begin = None


def _is_bare(section: str) -> bool:
    return "\n" not in section.strip()


def _page_spans(source: SourceText, offsets: list[int], start: int, end: int) -> tuple[tuple[int, int], ...]:
    if not offsets:
        return ()
    first, last = bisect_right(offsets, start) - 1, bisect_right(offsets, end - 1)
    return tuple(source.pages[first:last])
