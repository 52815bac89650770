"""Quotations: finds the words of a quote in a text, whatever hyphenation, ligatures and line breaks did to them."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from trigpoint.library.chunks import page_span
from trigpoint.passages.model import Passage

_DROPPED = frozenset("-‐‑‒–—−\u00ad\u200b\u200c\u200d\u2060\ufeff")
_LONGEST_DOCUMENT = 50_000_000
_LONGEST_BLANK = 200  # characters between chunks: our own ingest leaves out blanks only, about a hundred at most
_UNKNOWN_WORDS = "\0"  # no quotation has it, so none is found across words that were not stored
_BLOCK = 256
_MOST_KNOWN = 4096  # characters
_FOLDED = {"‘": "'", "’": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "…": "..."}


@dataclass(frozen=True)
class PlacedChunk:
    """A chunk and its place in its document's text."""

    start: int
    end: int
    chunk: Passage


@dataclass(frozen=True)
class AssembledDocument:
    """A document put together from its chunks. `pages` are (offset, page) in rising order; empty if not known."""

    doc_id: str
    text: str
    placed: tuple[PlacedChunk, ...]
    pages: tuple[tuple[int, int], ...]

    def pages_of(self, start: int, end: int) -> tuple[int | None, int | None]:
        """Return the pages on which a span begins and ends; if page starts are not known, those of its chunks."""
        if self.pages:
            return self._page_at(start), self._page_at(end - 1)
        spans = [span for chunk in self.chunks_touching(start, end) if (span := _page_span(chunk))]
        return (spans[0][0], spans[-1][1]) if spans else (None, None)

    def chunks_touching(self, start: int, end: int) -> list[Passage]:
        return [p.chunk for p in self.placed if p.start < end and p.end > start]

    def _page_at(self, offset: int) -> int | None:
        place = bisect_right(self.pages, (offset, 1 << 30)) - 1
        return self.pages[place][1] if place >= 0 else None


def find_in(text: str, quote: str, limit: int = 20) -> list[tuple[int, int]]:
    """Return the spans of the text that say the quote, in order, regardless of spaces, hyphens, accents and case."""
    return find_and_count(text, quote, limit)[0]


def find_and_count(text: str, quote: str, limit: int) -> tuple[list[tuple[int, int]], int]:
    """Return the first spans of the text that say the quote, and how many there are in all."""
    folded = _Folded(text)
    wanted = quote.translate(_FOLDING)
    places: list[tuple[int, int]] = []
    at = folded.text.find(wanted) if wanted else -1
    while at >= 0 and len(places) < limit:
        places.append((at, at + len(wanted) - 1))
        at = folded.text.find(wanted, at + 1)
    more = folded.text.count(wanted, at) if at >= 0 else 0
    return [(folded.origin(first), folded.origin(last) + 1) for first, last in places], len(places) + more


class _Folded:
    """A text as it is compared, and the origin of its characters.

    Only lengths of blocks are kept: a book has millions of characters. A block of plain ASCII, as most are, is folded many
    times as fast as one with accents or ligatures.
    """

    def __init__(self, text: str) -> None:
        self._origin = text
        blocks = [text[at : at + _BLOCK].translate(_FOLDING) for at in range(0, len(text), _BLOCK)]
        self._starts = list(accumulate(map(len, blocks), initial=0))
        self.text = "".join(blocks)

    def origin(self, place: int) -> int:
        """Return the offset in the text that a character of the folded text comes from."""
        block = bisect_right(self._starts, place) - 1
        passed = self._starts[block]
        for at in range(block * _BLOCK, len(self._origin)):
            passed += len(self._origin[at].translate(_FOLDING))
            if passed > place:
                return at
        raise ValueError(f"{place} is beyond the end of the text")


class _Folding(dict[int, str | None]):
    """The table of `str.translate` for comparing: none for spaces and hyphens, a ligature's letters, an accent's base."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        folded = _FOLDED.get(character) or unicodedata.normalize("NFKD", character).casefold()
        kept = (c for c in folded if not (c.isspace() or c in _DROPPED or unicodedata.combining(c)))
        letters = "".join(kept) or None
        if len(self) < _MOST_KNOWN:
            self[code] = letters
        return letters


_FOLDING = _Folding()


def put_together(doc_id: str, chunks: Sequence[Passage]) -> AssembledDocument:
    """Return the document's text by the chunks' offsets; what no chunk covers is blank, or unknown if it is long."""
    placed = _place_chunks(chunks)
    parts: list[str] = []
    pages: set[tuple[int, int]] = set()
    reached = 0
    for p in placed:
        parts.append(_between(p.start - reached))
        parts.append(p.chunk.text[max(0, reached - p.start) :])
        reached = max(reached, p.end)
        pages.update(_page_starts(p.chunk))
    return AssembledDocument(doc_id, "".join(parts), tuple(placed), tuple(sorted(pages)))


def _between(length: int) -> str:
    """Return what stands for a stretch of a document that no chunk covers."""
    return " " * length if length <= _LONGEST_BLANK else _UNKNOWN_WORDS.ljust(length)


def _place_chunks(chunks: Sequence[Passage]) -> list[PlacedChunk]:
    """Place chunks by their offsets; chunks of another writer, without offsets, follow one another."""
    offsets = [_offsets(chunk) for chunk in chunks]
    if any(offsets):
        placed = [PlacedChunk(*span, chunk) for span, chunk in zip(offsets, chunks, strict=True) if span is not None]
        return sorted(placed, key=lambda p: (p.start, p.end))
    starts = accumulate((len(chunk.text) + 1 for chunk in chunks), initial=0)
    return [PlacedChunk(start, start + len(chunk.text), chunk) for start, chunk in zip(starts, chunks, strict=False)]


def _offsets(chunk: Passage) -> tuple[int, int] | None:
    doc = chunk.metadata.get("doc")
    if not isinstance(doc, Mapping):
        return None
    start, end = doc.get("start"), doc.get("end")
    if type(start) is int and type(end) is int and 0 <= start < _LONGEST_DOCUMENT and end - start == len(chunk.text):
        return start, end
    return None


def _page_starts(chunk: Passage) -> list[tuple[int, int]]:
    doc: Any = chunk.metadata.get("doc")
    starts = doc.get("page_starts") if isinstance(doc, Mapping) else None
    if not isinstance(starts, list):
        return []
    return [(s[1], s[0]) for s in starts if isinstance(s, list) and len(s) == 2 and all(type(v) is int for v in s)]


def _page_span(chunk: Passage) -> list[int] | None:
    doc = chunk.metadata.get("doc")
    return page_span(doc) if isinstance(doc, Mapping) else None
