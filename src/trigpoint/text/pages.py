"""What a file becomes: pages of text, and what was seen of the document. Values only; `extract.py` makes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Method = Literal["text_layer", "ocr", "mixed"]

LOW_CONFIDENCE = 70.0
MIN_TEXT_CHARS = 10

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Page:
    """One physical page. `confidence` is Tesseract's mean over words, 0 to 100; `label` the printed number."""

    number: int
    text: str
    method: Method
    confidence: float | None = None
    label: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """A document's text, page by page. `warnings` says what a reader of the result must know: losses, repairs."""

    pages: tuple[Page, ...]
    method: Method
    page_count: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentLook:
    """What a document is, before it is read: FR-005's image rule, rendering names, drawings."""

    image_ratio: float
    total_pages: int
    is_image_based: bool
    is_rendering: bool
    contains_drawings: bool


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of a PDF's own outline. Level 1 is the highest; `page` is physical."""

    level: int
    title: str
    page: int


@dataclass(frozen=True, slots=True)
class Outline:
    """What a PDF says of itself: its title, and its bookmarks in their order."""

    number: int
    title: str | None
    bookmarks: tuple[Bookmark, ...]


def clean_text(text: str) -> str:
    """The text without what no store or JSON can hold: NULs and other controls go, lone surrogates are replaced."""
    if not _UNPRINTABLE.search(text):
        return text
    return _UNPRINTABLE.sub(_replacement, text)


def _replacement(match: re.Match[str]) -> str:
    character = match.group()
    if character in "\x0b\x0c\r":
        return "\n"
    return "\N{REPLACEMENT CHARACTER}" if character >= "\ud800" else ""


def has_text(text: str) -> bool:
    """Whether a page has a text layer worth the name (FR-005: 10 characters)."""
    return len(text.strip()) >= MIN_TEXT_CHARS
