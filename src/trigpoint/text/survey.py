"""What the readers saw of a document, and how that becomes the pages, the method and the warnings of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trigpoint.text.pages import MIN_TEXT_CHARS, Method, Page, has_text
from trigpoint.text.readers import Lost

PAGES_NAMED = 12


@dataclass(frozen=True, slots=True)
class Opened:
    """What opening a file shows. `number` is 0: it is no page."""

    number: int
    page_count: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageLook:
    """A page's text layer, and what lies on it beside text."""

    number: int
    text: str
    image_ratio: float = 0.0
    is_drawing: bool = False
    is_blank: bool = False
    label: str | None = None
    note: str | None = None
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class PageOcr:
    """A page read by Tesseract."""

    number: int
    text: str
    confidence: float | None = None
    confident_words: int = 0
    note: str | None = None


@dataclass(frozen=True)
class Survey:
    """A document without OCR, pages in order; pages that no reader survived are in `lost`."""

    opened: Opened
    pages: Mapping[int, PageLook]
    lost: Mapping[int, str]

    def image_ratio(self) -> float:
        """The average over all pages (D2)."""
        return sum(page.image_ratio for page in self.pages.values()) / max(1, len(self.pages))

    def has_text_layer(self) -> bool:
        """Ten characters a page or more on average (D2)."""
        characters = sum(len(page.text.strip()) for page in self.pages.values())
        return characters >= MIN_TEXT_CHARS * max(1, len(self.pages))

    def without_text(self) -> list[int]:
        """The pages that OCR is for."""
        return [n for n, page in self.pages.items() if not (page.unreadable or page.is_blank or has_text(page.text))]


def file_identity(path: Path) -> tuple[object, ...]:
    """What tells this very file from another one, or from itself before it was changed."""
    status = path.stat()
    return str(path), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def assemble(survey: Survey, read: Mapping[int, PageOcr | Lost]) -> tuple[Page, ...]:
    """Every page of the document: from its text layer, or from OCR where that found more."""
    return tuple(_page(number, survey, read.get(number)) for number in range(1, survey.opened.page_count + 1))


def failed_pages(survey: Survey, read: Mapping[int, PageOcr | Lost]) -> dict[int, str]:
    """The pages that could not be read at all, and why."""
    failures = dict(survey.lost)
    failures |= {number: page.note or "" for number, page in survey.pages.items() if page.unreadable}
    failures |= {number: found.reason for number, found in read.items() if isinstance(found, Lost)}
    return failures


def _page(number: int, survey: Survey, read: PageOcr | Lost | None) -> Page:
    look = survey.pages.get(number)
    if look is None:
        return Page(number, "", "text_layer", note=survey.lost.get(number, "was not read"))
    if isinstance(read, Lost):
        return Page(number, look.text, "text_layer", None, look.label, _joined(look.note, f"{read.reason} (in OCR)"))
    if read is None:
        return Page(number, look.text, "text_layer", None, look.label, look.note)
    note = _joined(look.note, read.note)
    if len(read.text.strip()) >= max(1, len(look.text.strip())):
        return Page(number, read.text, "ocr", read.confidence, look.label, note)
    return Page(number, look.text, "text_layer", None, look.label, note)


def _joined(*notes: str | None) -> str | None:
    return "; ".join(note for note in notes if note) or None


def method_of(pages: Sequence[Page]) -> Method:
    """The document's method: that of its pages with text, or `mixed`."""
    methods = {page.method for page in pages if page.text.strip()}
    return methods.pop() if len(methods) == 1 else "mixed"


def page_warnings(pages: Sequence[Page]) -> list[str]:
    """One warning for each thing that was noted, with the pages that it was noted on."""
    by_note: dict[str, list[int]] = {}
    for page in pages:
        if page.note:
            by_note.setdefault(page.note, []).append(page.number)
    return [f"{name_pages(numbers)}: {note}." for note, numbers in by_note.items()]


def name_pages(numbers: Sequence[int]) -> str:
    """`Page 7`, `Pages 3 to 9, 12`: runs together, and never a long list."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(first) if first == last else f"{first} to {last}" for first, last in runs[:PAGES_NAMED]]
    if len(runs) > PAGES_NAMED:
        shown.append(f"and others, {len(numbers)} in all")
    return f"Page{'s' if len(numbers) > 1 else ''} {', '.join(shown)}"
