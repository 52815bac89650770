"""The lines of a document with their page, without the running headers and footers that interrupt its sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from trigpoint.reading.documents import PageSpan, pages_by_form_feed

_MARGIN_LINES = 5  # lines at the top and bottom of a page among which running lines are looked for
_MIN_REPEATS = 3

_DIGITS = re.compile(r"\d+")
_COLON_DASH = re.compile(r":\s?[-–—]$")  # "including:-" introduces a list as "including:" does
_PAGE_NUMBER = re.compile(r"(?:page\s*)?[\divxl]{1,5}(?:\s*(?:of|/|\|)\s*\d{1,4})?|-\s*\d{1,4}\s*-", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """A line that carries text. `blank_before` counts empty lines above it; `new_page` marks the first of its page."""

    text: str
    start: int
    end: int
    page: int | None
    blank_before: int = 0
    new_page: bool = False


def read_lines(text: str, pages: Sequence[PageSpan] = ()) -> tuple[Line, ...]:
    """Return the lines of a text in order, running lines left out."""
    spans = tuple(pages) or pages_by_form_feed(text) or (PageSpan(number=0, start=0, end=len(text)),)
    by_page = [_page_lines(text, span, numbered=span.number > 0) for span in spans]
    running = _running_lines(by_page)
    return tuple(line for lines in by_page for line in _without_running(lines, running))


def _page_lines(text: str, span: PageSpan, *, numbered: bool) -> list[Line]:
    lines: list[Line] = []
    offset, blank = span.start, 0
    for raw in text[span.start : span.end].split("\n"):
        stripped = _COLON_DASH.sub(":", raw.strip())
        if stripped:
            start = offset + raw.index(stripped[0])
            page = span.number if numbered else None
            lines.append(Line(stripped, start, start + len(stripped), page, blank, not lines and numbered))
        blank = 0 if stripped else blank + 1
        offset += len(raw) + 1
    return lines


def _running_lines(by_page: Sequence[list[Line]]) -> frozenset[str]:
    """Return the lines, digits aside, that recur in the margins of at least three pages."""
    counted: Counter[str] = Counter()
    for lines in by_page:
        counted.update({_repeat_key(line) for line in _margins(lines)})
    return frozenset(key for key, count in counted.items() if count >= _MIN_REPEATS)


def _margins(lines: Sequence[Line]) -> list[Line]:
    return [*lines[:_MARGIN_LINES], *lines[_MARGIN_LINES:][-_MARGIN_LINES:]]


def _repeat_key(line: Line) -> str:
    return _DIGITS.sub("#", line.text.lower())


def _without_running(lines: Sequence[Line], running: frozenset[str]) -> Iterator[Line]:
    """Drop running lines at both ends of a page: from its edges inwards, and never beyond the margin."""
    first, last = 0, len(lines)
    while first < min(_MARGIN_LINES, last) and _is_running(lines[first], running):
        first += 1
    while last > max(first, len(lines) - _MARGIN_LINES) and _is_running(lines[last - 1], running):
        last -= 1
    for index, line in enumerate(lines[first:last]):
        yield line if index else replace(line, new_page=lines[0].new_page)


def _is_running(line: Line, running: frozenset[str]) -> bool:
    if line.page is None or line.text.startswith("|"):
        return False
    return (_repeat_key(line) in running and any(map(str.isalpha, line.text))) or _PAGE_NUMBER.fullmatch(
        line.text
    ) is not None
