"""A document as lines that know their place: the material in which headings, contents and running lines are found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trigpoint.text.chunk import PAGE_BREAK, PageText

_LONGEST_TITLE = 150
_LONGEST_UNMARKED = 85
_MANY_ENTRIES = 12
_LONGEST_PAGE_NUMBER = 12
_SENTENCE_END = (".", ";", ":", ",")
_SENTENCE_WORD = re.compile(r"\b(should|must|shall|will|is|are|was|were|has|have|can|may|been)\b|https?:")
_BULLETS = "•▪◦-–"
_MARKDOWN = re.compile(r"#{1,6}\s+|\*\*")
_NUMBER_START = re.compile(r"[0-9]{1,3}(\.[0-9]+)*\.?(\s|$)")
_LEADER = re.compile(r"(\.{4,}|…{2,}|\t)\s*[0-9]{1,3}\s*$")
_ENTRY_END = re.compile(r"([.…\t]|\s)\s*[0-9]{1,3}$|^[0-9]{1,3}$")
_CONTENTS = re.compile(r"(table of |list of )?(contents|tables|figures|policies)( page)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank. `start` is the offset of its first visible character in the document's text."""

    start: int
    text: str
    page: int  # index, not number
    after_blank: bool  # it follows a blank line, or the top of a page

    @property
    def ends_statement(self) -> bool:
        return self.text.endswith((".", "?", "!"))

    @property
    def is_table_row(self) -> bool:
        return self.text.startswith("|")

    @property
    def ends_sentence(self) -> bool:
        return self.text.endswith((*_SENTENCE_END, "?", "!", "; or", "; and"))


def read_lines(pages: Sequence[PageText]) -> list[Line]:
    """Return the lines of all pages, offsets as in `document_text`."""
    lines: list[Line] = []
    offset = 0
    for index, page in enumerate(pages):
        lines.extend(_page_lines(page.text, offset, index))
        offset += len(page.text) + len(PAGE_BREAK)
    return lines


def _page_lines(text: str, offset: int, page: int) -> Iterator[Line]:
    after_blank = True
    for raw in text.splitlines(keepends=True):
        stripped = raw.strip()
        if stripped:
            yield Line(offset + len(raw) - len(raw.lstrip()), _without_marks(stripped), page, after_blank)
        after_blank = not stripped
        offset += len(raw)


def _without_marks(text: str) -> str:
    """Return a Markdown heading or bold line without its marks."""
    return _MARKDOWN.sub("", text).strip("* ") or text if text[0] in "#*" else text


def title_at(lines: Sequence[Line], index: int, first: str, *, marked: bool = False) -> str | None:
    """Return the title that begins with `first` on this line, wrapped or not; None if the text is a sentence.

    A title that is `marked`, by a word or a code and a colon before it, may have a verb.
    """
    parts = [first]
    for following in lines[index + 1 : index + 4]:
        if following.page != lines[index].page and len(first) > 60:
            return None  # a sentence that continues on the next page
        if following.after_blank or _NUMBER_START.match(following.text) or following.text[0] in _BULLETS:
            break
        if _is_new_text(parts[-1], following.text):
            break
        parts.append(following.text)
    title = " ".join(" ".join(parts).split())
    if len(title) > _LONGEST_TITLE or title.endswith(_SENTENCE_END):
        return None
    if not marked and (len(title) > _LONGEST_UNMARKED or is_sentence(title)):
        return None
    return title if title[:1].isupper() or title[:1].isdigit() or title[:1] in "‘“\"'(" else None


def follows_pause(lines: Sequence[Line], index: int) -> bool:
    """Return whether no sentence can run on into this line: it follows a blank line or the end of a statement."""
    return lines[index].after_blank or (index > 0 and lines[index - 1].ends_statement)


def is_sentence(text: str) -> bool:
    """Return whether the words are those of a sentence, and not of a title."""
    return _SENTENCE_WORD.search(text) is not None


def _is_new_text(line: str, following: str) -> bool:
    """Return whether the line after a short line is not its continuation."""
    if line.isupper() and not following.isupper():
        return True
    return len(line) <= 70 and following[0].isupper() and not line.endswith((",", "-", "–", " and", " of", " the", "&"))


def contents_pages(lines: Sequence[Line]) -> frozenset[int]:
    """Return the pages that list what is on other pages: by their heading, or by entries that end in a page number."""
    by_page: dict[int, list[Line]] = {}
    for line in lines:
        by_page.setdefault(line.page, []).append(line)
    pages: set[int] = set()
    for page, on_page in sorted(by_page.items()):
        leaders = sum(bool(_LEADER.search(line.text)) for line in on_page)
        entries = sum(bool(_ENTRY_END.search(line.text)) for line in on_page)
        headed = any(_CONTENTS.fullmatch(line.text) for line in on_page[:6])
        continued = page - 1 in pages and entries >= 5 and entries >= 0.25 * len(on_page)
        if leaders >= 5 or (headed and entries >= 4) or continued or _counts_pages(on_page):
            pages.add(page)
    return frozenset(pages)


def contents_spans(lines: Sequence[Line], length: int) -> list[tuple[int, int]]:
    """Return where lists of contents are in the text: from their heading, or from the top of their page, to its end."""
    contents = contents_pages(lines)
    tops: dict[int, int] = {}
    headings: dict[int, int] = {}
    for line in lines:
        tops.setdefault(line.page, line.start)
        if line.page in contents and _CONTENTS.fullmatch(line.text):
            headings.setdefault(line.page, line.start)
    ends = {page: tops[following] for page, following in pairwise(tops)}
    starts = {page: tops[page] if page - 1 in contents else headings.get(page, tops[page]) for page in contents}
    return [(starts[page], ends.get(page, length)) for page in tops if page in contents]


def is_page_number(text: str) -> bool:
    """Return whether a text is so short, and without letters, that it can only be a page number, a rule or a bullet."""
    return len(text.strip()) <= _LONGEST_PAGE_NUMBER and not any(character.isalpha() for character in text)


def _counts_pages(lines: Sequence[Line]) -> bool:
    """Return whether a page has many numbers alone on their lines, in rising order."""
    numbers = [
        int(line.text) for line in lines[3:] if line.text.isascii() and line.text.isdigit() and len(line.text) <= 3
    ]
    if len(numbers) < _MANY_ENTRIES:
        return False
    rising = sum(a <= b for a, b in pairwise(numbers))
    return rising >= 0.85 * (len(numbers) - 1) and len(set(numbers)) > len(numbers) / 2


def letters(text: str) -> str:
    """Return a title for comparing: lower case, letters only."""
    return "".join(c for c in text.lower() if c.isalpha())


def listed(title: str, contents: frozenset[str]) -> bool:
    """Return whether the contents have this title, whole or as far as their line goes."""
    key = letters(title)
    return len(key) >= 4 and any(
        key == entry or (len(entry) >= 12 and (key.startswith(entry) or entry.startswith(key))) for entry in contents
    )
