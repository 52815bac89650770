"""A file as pages of text, with an account of how each was read. Values only; `extract.py` makes them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from trigpoint.text.account import DocumentAccount, LeftOutKind, Region
from trigpoint.text.tables import Table

if TYPE_CHECKING:
    from trigpoint.text.survey import Survey

Method = Literal["text_layer", "ocr", "mixed"]
Span = tuple[int, int]

MIN_TEXT_CHARS = 10

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class HiddenText:
    """Text that a reader of the page does not see. It is never evidence, and is kept apart from the page's text."""

    kind: LeftOutKind
    text: str
    region: Region | None = None


class MarginLine(NamedTuple):
    """A line in the top or bottom margin of a page, where running lines are printed.

    `start` is its offset in the page's text layer, -1 if that is not known; `text` has its newline; `place` is how far down the page it is, 0 to
    1; `is_apart` says that it keeps more than a paragraph's distance from the body of the page.
    """

    start: int
    text: str
    place: float
    is_apart: bool = True

    def span(self, page_text: str) -> Span | None:
        """Return where the line is in the page's text, which may have gained tables or a reading by OCR since."""
        start = self.start
        if start < 0 or not page_text.startswith(self.text, start):
            find = page_text.find if self.place < 0.5 else page_text.rfind
            start = find(f"\n{self.text}") + 1
            if not page_text.startswith(self.text, start):
                return None
        return start, start + len(self.text)


@dataclass(frozen=True, slots=True)
class Page:
    """One physical page with all of its visible text.

    `label` is the printed page number; `running` the spans of `text` that are running headers and footers; `tables`
    are in `text` too, as Markdown rows.
    """

    number: int
    text: str
    method: Method
    label: str | None = None
    running: tuple[Span, ...] = ()
    hidden: tuple[HiddenText, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """A document's text, page by page, and the account of how it was read: `account.pages` are in the same order."""

    pages: tuple[Page, ...]
    account: DocumentAccount

    @property
    def page_count(self) -> int:
        """Return the number of physical pages, read or not."""
        return len(self.pages)

    @property
    def method(self) -> Method:
        """Return the method of the pages that have text, or `mixed` if they differ."""
        methods = {page.method for page in self.pages if page.text.strip()}
        return methods.pop() if len(methods) == 1 else "mixed"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a reader of the text must know: losses, repairs, doubtful readings."""
        return self.account.warnings


@dataclass(frozen=True, slots=True)
class DocumentLook:
    """The kind of a document, before it is read: the contract's image rule, rendering names, drawings."""

    image_ratio: float
    total_pages: int
    is_image_based: bool
    is_rendering: bool
    contains_drawings: bool
    survey: Survey | None = field(default=None, compare=False, repr=False)  # all that was seen


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of a PDF's own outline. Level 1 is the highest; `page` is physical."""

    level: int
    title: str
    page: int


@dataclass(frozen=True, slots=True)
class Outline:
    """A PDF's title, and its bookmarks in their order, as it states them."""

    number: int
    title: str | None
    bookmarks: tuple[Bookmark, ...]


def clean_text(text: str) -> str:
    """Return the text without what no store or JSON can hold: controls are removed, lone surrogates replaced."""
    if not _UNPRINTABLE.search(text):
        return text
    return _UNPRINTABLE.sub(_replacement, text)


def _replacement(match: re.Match[str]) -> str:
    character = match.group()
    if character in "\x0b\x0c\r":
        return "\n"
    return "\N{REPLACEMENT CHARACTER}" if character >= "\ud800" else ""


def has_text(text: str) -> bool:
    """Return whether a page has a text layer worth the name (FR-005: 10 characters)."""
    return len(text.strip()) >= MIN_TEXT_CHARS
