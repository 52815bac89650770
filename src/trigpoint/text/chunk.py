"""Cuts pages into passages of 800 characters with 200 of overlap, at pauses of the text, with exact offsets and pages.

langchain's RecursiveCharacterTextSplitter decides where a passage begins and ends; offsets are carried through it,
never searched for, so that repeated text is placed right. Sections are found in `sections.py`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Protocol

CHUNK_SIZE = 800
OVERLAP = 200
PAGE_BREAK = "\n\n"
SEPARATORS = ("\n\n", "\n", ". ", "! ", "? ", "; ", ", ", " ", "")

TokenCounter = Callable[[str], int]
Span = tuple[int, int]


class PageText(Protocol):
    """A page as chunking needs it."""

    @property
    def number(self) -> int: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True)
class Chunk:
    """A passage: `document_text(pages)[start:end]` is its text and, if it reaches over a page's edge, the running lines there."""

    index: int
    text: str
    start: int
    end: int
    pages: tuple[int, ...] = ()


class TextChunker:
    """Splits text. With `count_tokens`, no chunk is longer than the embedding model's window either."""

    def __init__(
        self,
        chunk_size: int = CHUNK_SIZE,
        overlap: int = OVERLAP,
        *,
        count_tokens: TokenCounter | None = None,
        max_tokens: int = 256,
    ) -> None:
        if chunk_size < 2 or not 0 <= overlap < chunk_size:
            raise ValueError(
                f"chunk_size={chunk_size}, overlap={overlap}: expected a size of 2 or more and a smaller overlap"
            )
        self.chunk_size = chunk_size
        self.overlap = overlap
        self._count_tokens = count_tokens
        self._max_tokens = max_tokens

    def chunk_text(self, text: str) -> list[Chunk]:
        """Return the chunks of one text, in order; blank text has none."""
        return [Chunk(index, text[start:end], start, end) for index, (start, end) in enumerate(self.spans(text))]

    def chunk_pages(self, pages: Iterable[PageText]) -> list[Chunk]:
        """Return the chunks of a document; offsets are into `document_text(pages)`."""
        pages = list(pages)
        text = document_text(pages)
        at = PageMap(pages)
        return [
            Chunk(index, text[start:end], start, end, at.pages(start, end))
            for index, (start, end) in enumerate(self.spans(text))
        ]

    def spans(self, text: str) -> list[Span]:
        """Return the start and end of each chunk. Both only ever grow from one to the next."""
        spans = _split_spans(text, self.chunk_size, self.overlap)
        if self._count_tokens is not None:
            spans = [part for span in spans for part in self._within_window(text, span)]
        return _without_contained(spans)

    def _within_window(self, text: str, span: Span) -> list[Span]:
        """Return the span itself, or smaller ones if it has too many tokens, as dense figures and bad OCR do."""
        assert self._count_tokens is not None
        start, end = span
        tokens = self._count_tokens(text[start:end])
        if tokens <= self._max_tokens or end - start <= 2:
            return [span]
        size = max(2, int((end - start) * self._max_tokens / tokens * 0.9))
        parts = _split_spans(text[start:end], size, min(self.overlap, size // 4))
        return [fit for a, b in parts for fit in self._within_window(text, (start + a, start + b))]


class PageMap:
    """Character position to page number."""

    def __init__(self, pages: Sequence[PageText]) -> None:
        self._numbers = [page.number for page in pages]
        lengths = [len(page.text) for page in pages]
        self._starts = (
            list(accumulate((length + len(PAGE_BREAK) for length in lengths[:-1]), initial=0)) if lengths else []
        )
        self._ends = [start + length for start, length in zip(self._starts, lengths, strict=True)]

    def pages(self, start: int, end: int) -> tuple[int, ...]:
        """Return the pages that contain at least one character of the span."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        return tuple(self._numbers[i] for i in range(first, last) if self._starts[i] < self._ends[i])

    def page_at(self, position: int) -> int | None:
        """Return the page of one character; None in the gap between two."""
        touched = self.pages(position, position + 1)
        return touched[0] if touched else None


def document_text(pages: Iterable[PageText]) -> str:
    """Return the text that offsets refer to: the pages with a blank line between them."""
    return PAGE_BREAK.join(page.text for page in pages)


def _without_contained(spans: list[Span]) -> list[Span]:
    """Return the spans in order, without those inside another, such as a last chunk that is overlap and blanks only."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda s: (s[0], -s[1])):
        if not kept or span[1] > kept[-1][1]:
            kept.append(span)
    return kept


def _split_spans(text: str, size: int, overlap: int) -> list[Span]:
    splitter = _splitter_class()(size, overlap)
    splitter.split_text(text)
    return splitter.spans


class _Splitter(Protocol):
    spans: list[Span]

    def split_text(self, text: str) -> list[str]: ...


class _Piece(str):
    """A piece of the text that knows its place in it."""

    __slots__ = ("start",)
    start: int


@cache
def _splitter_class() -> Callable[[int, int], _Splitter]:
    """Return langchain's splitter, imported on first use since that takes half a second.

    The separators go to the `end` of a piece, see docs/text.md.
    """
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    class SpanSplitter(RecursiveCharacterTextSplitter):
        """Records the span of each chunk. The pieces that reach `_merge_splits` are, call after call, the whole text in order."""

        def __init__(self, size: int, overlap: int) -> None:
            super().__init__(
                separators=list(SEPARATORS),
                chunk_size=size,
                chunk_overlap=overlap,
                keep_separator="end",
                strip_whitespace=True,
            )
            self.spans: list[Span] = []
            self._position = 0

        def _merge_splits(self, splits: Iterable[str], separator: str) -> list[str]:
            return super()._merge_splits([self._place(piece) for piece in splits], separator)

        def _place(self, text: str) -> _Piece:
            piece = _Piece(text)
            piece.start = self._position
            self._position += len(text)
            return piece

        def _join_docs(self, docs: list[str], separator: str) -> str | None:
            joined = "".join(docs)
            text = joined.strip()
            if text and isinstance(docs[0], _Piece):
                start = docs[0].start + len(joined) - len(joined.lstrip())
                self.spans.append((start, start + len(text)))
            return text or None

    return SpanSplitter
