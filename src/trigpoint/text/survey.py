"""The readers' first look at a document, and how it becomes its pages and the account of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from trigpoint.text.account import Attachment, DocumentAccount, LeftOut, PageAccount, ReadBy
from trigpoint.text.doubts import NEEDS_OCR, Doubt
from trigpoint.text.hidden import kept_apart
from trigpoint.text.pages import MIN_TEXT_CHARS, Extraction, HiddenText, MarginLine, Method, Page, has_text
from trigpoint.text.readers import LostPage
from trigpoint.text.running_lines import mark_running_lines
from trigpoint.text.tables import Table, continue_headers

_LOOKS_AT_ONE_PICTURE = 2
_METHODS: Mapping[ReadBy, Method] = {"text": "text_layer", "ocr": "ocr", "both": "mixed", "none": "text_layer"}


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file after opening. `number` is 0: it is not a page."""

    number: int
    page_count: int
    notes: tuple[str, ...]
    attachments: tuple[Attachment, ...] = ()


class PageLook(NamedTuple):
    """A page's text layer, and what else is on the page. A tuple, since one is sent for every page."""

    number: int
    text: str
    margins: tuple[MarginLine, ...] = ()
    image_ratio: float = 0.0
    is_drawing: bool = False
    is_blank: bool = False
    label: str | None = None
    note: str | None = None
    unreadable: bool = False
    doubts: tuple[Doubt, ...] = ()
    pictures: tuple[str, ...] = ()  # signs of those that text does not cover
    hidden: tuple[HiddenText, ...] = ()  # what the first look can tell: text off the page
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class WordCount:
    """The number of words that a quick look found on a page that has no text layer."""

    number: int
    confident_words: int


@dataclass(frozen=True, slots=True)
class PageReading:
    """A page after the second look."""

    number: int
    text: str
    read_by: ReadBy
    covered: float | None = None
    confidence: float | None = None
    skew: float = 0.0
    turned: int = 0
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    hidden: tuple[HiddenText, ...] = ()
    margins: tuple[MarginLine, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True)
class Survey:
    """A document without OCR, pages in order; pages that no reader survived are in `lost`."""

    opened: OpenedFile
    pages: Mapping[int, PageLook]
    lost: Mapping[int, str]

    def image_ratio(self) -> float:
        """Return the average over all pages."""
        return sum(page.image_ratio for page in self.pages.values()) / max(1, len(self.pages))

    def has_text_layer(self) -> bool:
        """Return whether there are at least ten characters per page on average."""
        characters = sum(len(page.text.strip()) for page in self.pages.values())
        return characters >= MIN_TEXT_CHARS * max(1, len(self.pages))

    def without_text(self) -> list[int]:
        """Return the pages that have practically no text layer."""
        return [n for n, page in self.pages.items() if not (page.unreadable or page.is_blank or has_text(page.text))]

    def to_look_at(self, *, with_ocr: bool) -> list[int]:
        """Return the pages that need a second look.

        A picture on many pages, such as a logo, is looked at twice at most.
        """
        chosen = []
        seen: Counter[str] = Counter()
        for number, page in self.pages.items():
            doubts = set(page.doubts) if with_ocr else set(page.doubts) - NEEDS_OCR
            if doubts == {"pictures"} and all(seen[sign] >= _LOOKS_AT_ONE_PICTURE for sign in page.pictures):
                doubts.clear()
            seen.update(set(page.pictures))
            if doubts and not page.unreadable:
                chosen.append(number)
        return chosen


def assemble(survey: Survey, read: Mapping[int, PageReading | LostPage]) -> Extraction:
    """Return every page of the document, as the second look read it if there was one, with its account."""
    survey = replace(survey, pages=_with_continued_tables(survey.pages))
    told = [_page_and_account(number, survey, read.get(number)) for number in range(1, survey.opened.page_count + 1)]
    account = DocumentAccount(tuple(account for _, account in told), survey.opened.notes, survey.opened.attachments)
    return Extraction(mark_running_lines([page for page, _ in told], _margins(survey, read)), account)


def _margins(survey: Survey, read: Mapping[int, PageReading | LostPage]) -> dict[int, tuple[MarginLine, ...]]:
    """Return the lines in the margins of each page, as it was finally read."""
    looked = {number: page.margins for number, page in survey.pages.items()}
    return looked | {number: page.margins for number, page in read.items() if isinstance(page, PageReading)}


def _with_continued_tables(looks: Mapping[int, PageLook]) -> dict[int, PageLook]:
    """Return the pages; a table that continues from the page before gets its headings here too."""
    continued = dict(looks)
    tables_of = continue_headers([looks[number].tables for number in sorted(looks)])
    for number, tables in zip(sorted(looks), tables_of, strict=True):
        text = looks[number].text
        for before, after in zip(looks[number].tables, tables, strict=True):
            text = text.replace(before.markdown(), after.markdown(), 1)
        continued[number] = looks[number]._replace(text=text, tables=tables)
    return continued


def failed_pages(survey: Survey, read: Mapping[int, PageReading | LostPage]) -> dict[int, str]:
    """Return the pages that could not be read at all, and why."""
    failures = dict(survey.lost)
    failures |= {number: page.note or "" for number, page in survey.pages.items() if page.unreadable}
    failures |= {number: outcome.reason for number, outcome in read.items() if isinstance(outcome, LostPage)}
    return failures


def _page_and_account(number: int, survey: Survey, read: PageReading | LostPage | None) -> tuple[Page, PageAccount]:
    look = survey.pages.get(number)
    if look is None or look.unreadable:
        reason = survey.lost.get(number, "was not read") if look is None else look.note or "was not read"
        return Page(number, "", "text_layer"), PageAccount(number, "none", left_out=(LeftOut("page", reason),))
    if isinstance(read, PageReading):
        return _from_reading(look, read)
    return _from_layer(look, () if read is None else (LeftOut("page", f"{read.reason} (in OCR)"),))


def _from_layer(look: PageLook, left_out: tuple[LeftOut, ...]) -> tuple[Page, PageAccount]:
    account = PageAccount(
        look.number,
        "text" if look.text.strip() else "none",
        len(look.text),
        blank=look.is_blank,
        left_out=(*(left_out or _not_looked_at(look)), *kept_apart(look.hidden)),
        notes=_present(look.note),
    )
    return Page(look.number, look.text, "text_layer", look.label, hidden=look.hidden, tables=look.tables), account


def _not_looked_at(look: PageLook) -> tuple[LeftOut, ...]:
    """Return what a page has besides its text if it got no second look: OCR is off, or the picture is one of many."""
    if "outlines" in look.doubts or "no_text" in look.doubts:
        return (LeftOut("unread_region", "there is print without a text layer, and OCR was not used"),)
    return (LeftOut("picture", "a picture that was not read by OCR"),) if look.pictures else ()


def _from_reading(look: PageLook, read: PageReading) -> tuple[Page, PageAccount]:
    account = PageAccount(
        look.number,
        read.read_by,
        len(read.text),
        read.covered,
        read.confidence,
        read.skew,
        read.turned,
        left_out=read.left_out,
        notes=(*_present(look.note), *read.notes),
    )
    page = Page(look.number, read.text, _METHODS[read.read_by], look.label, hidden=read.hidden, tables=read.tables)
    return page, account


def _present(*notes: str | None) -> tuple[str, ...]:
    return tuple(note for note in notes if note)
