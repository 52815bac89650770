"""A document as lines that know where they stand: what headings, contents and running lines are found on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trigpoint.text.chunk import PAGE_BREAK, PageText

_LONGEST_TITLE = 110
_SENTENCE_END = (".", ";", ":", ",")
_SENTENCE_WORD = re.compile(r"\b(should|must|shall|will|is|are|was|were|has|have)\b")
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
    after_blank: bool  # a blank line, or the top of a page, stands before it

    @property
    def ends_sentence(self) -> bool:
        return self.text.endswith((*_SENTENCE_END, "?", "!", "; or", "; and"))


def read_lines(pages: Sequence[PageText]) -> list[Line]:
    """The lines of all pages, offsets as in `document_text`."""
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
            yield Line(offset + len(raw) - len(raw.lstrip()), stripped, page, after_blank)
        after_blank = not stripped
        offset += len(raw)


def title_at(lines: Sequence[Line], index: int, first: str) -> str | None:
    """The title that begins with `first` on this line, wrapped or not; None where the text is a sentence."""
    parts = [first]
    for following in lines[index + 1 : index + 4]:
        if following.after_blank or following.page != lines[index].page or _NUMBER_START.match(following.text):
            break
        if (
            len(parts[-1]) <= 70
            and not parts[-1].endswith((",", "-", "–", " and", " of", " the", "&"))
            and following.text[0].isupper()
        ):
            break
        parts.append(following.text)
    title = " ".join(" ".join(parts).split())
    if len(title) > _LONGEST_TITLE or title.endswith(_SENTENCE_END) or _SENTENCE_WORD.search(title):
        return None
    return title if title[:1].isupper() or title[:1].isdigit() or title[:1] in "‘“\"'(" else None


def contents_pages(lines: Sequence[Line]) -> frozenset[int]:
    """Pages that list what is on other pages: headed so, or made of entries that end in a page number."""
    by_page: dict[int, list[Line]] = {}
    for line in lines:
        by_page.setdefault(line.page, []).append(line)
    found: set[int] = set()
    for page, on_page in sorted(by_page.items()):
        leaders = sum(bool(_LEADER.search(line.text)) for line in on_page)
        entries = sum(bool(_ENTRY_END.search(line.text)) for line in on_page)
        headed = any(_CONTENTS.fullmatch(line.text) for line in on_page[:6])
        continued = page - 1 in found
        if leaders >= 5 or (headed and entries >= 4) or (continued and entries >= 5 and entries >= 0.25 * len(on_page)):
            found.add(page)
    return frozenset(found)


def letters(text: str) -> str:
    """For comparing titles: lower case, letters only."""
    return "".join(c for c in text.lower() if c.isalpha())
