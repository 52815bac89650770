"""Quotations: where the words of a quote stand in a text, whatever hyphenation, ligatures and line breaks did to them."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trigpoint.library.store import StoredChunk

_DROPPED = frozenset("-‐‑‒–—−\u00ad\u200b\u200c\u200d\u2060\ufeff")
_FOLDED = {"‘": "'", "’": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "…": "..."}


@dataclass(frozen=True)
class PlainForm:
    """A text without what typesetting changes: no spaces, hyphens or cases; `origin` leads each character back."""

    text: str
    origin: Sequence[int]


@dataclass(frozen=True)
class Document:
    """A document put together from its chunks. `pages` are (offset, page) in rising order; empty if not known."""

    doc_id: str
    text: str
    chunks: tuple[StoredChunk, ...]
    pages: tuple[tuple[int, int], ...]

    def page_at(self, offset: int) -> int | None:
        place = bisect_right(self.pages, (offset, 1 << 30)) - 1
        return self.pages[place][1] if place >= 0 else None

    def chunks_touching(self, start: int, end: int) -> list[StoredChunk]:
        return [c for c in self.chunks if (o := _offsets(c)) is not None and o[0] < end and o[1] > start]


def plain_form(text: str) -> PlainForm:
    kept: list[str] = []
    origin: list[int] = []
    for place, character in enumerate(text):
        if character.isspace() or character in _DROPPED:
            continue
        folded = _FOLDED.get(character) or unicodedata.normalize("NFKC", character).casefold()
        for part in folded:
            if not part.isspace() and part not in _DROPPED:
                kept.append(part)
                origin.append(place)
    return PlainForm("".join(kept), origin)


def find_in(text: PlainForm, quote: str, limit: int = 20) -> list[tuple[int, int]]:
    """The spans of the original text that say the quote, in order."""
    wanted = plain_form(quote).text
    spans: list[tuple[int, int]] = []
    at = text.text.find(wanted) if wanted else -1
    while at >= 0 and len(spans) < limit:
        spans.append((text.origin[at], text.origin[at + len(wanted) - 1] + 1))
        at = text.text.find(wanted, at + 1)
    return spans


def put_together(doc_id: str, chunks: Sequence[StoredChunk]) -> Document:
    """The document's text by the chunks' offsets; what no chunk covers is blank."""
    ordered = sorted((c for c in chunks if _offsets(c) is not None), key=lambda c: _offsets(c) or (0, 0))
    if not ordered:  # chunks of another writer, without offsets: one after the other
        return Document(doc_id, "\n".join(c.text for c in chunks), (), ())
    length = max((_offsets(c) or (0, 0))[1] for c in ordered)
    text = [" "] * length
    pages: set[tuple[int, int]] = set()
    for chunk in ordered:
        start, end = _offsets(chunk) or (0, 0)
        text[start:end] = chunk.text
        pages.update(_page_starts(chunk))
    return Document(doc_id, "".join(text), tuple(ordered), tuple(sorted(pages)))


def _offsets(chunk: StoredChunk) -> tuple[int, int] | None:
    doc = chunk.payload.get("doc")
    if not isinstance(doc, Mapping):
        return None
    start, end = doc.get("start"), doc.get("end")
    if type(start) is int and type(end) is int and start >= 0 and end - start == len(chunk.text):
        return start, end
    return None


def _page_starts(chunk: StoredChunk) -> list[tuple[int, int]]:
    doc: Any = chunk.payload.get("doc")
    starts = doc.get("page_starts") if isinstance(doc, Mapping) else None
    if not isinstance(starts, list):
        return []
    return [(s[1], s[0]) for s in starts if isinstance(s, list) and len(s) == 2 and all(type(v) is int for v in s)]
