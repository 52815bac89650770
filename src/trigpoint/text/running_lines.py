"""Headers, footers and page numbers: lines that repeat from page to page and belong to no passage."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from trigpoint.text.pages import Page

_ZONE = 4  # lines at the top and at the bottom of a page where running lines stand
_FEWEST_PAGES = 3
_FEWEST_IN_A_ROW = 5
_LEAST_LEFT = 0.5
_HEADING = re.compile(r"(figure|fig|table|policy|chapter|annex|appendix|section|para|paragraph)\b", re.IGNORECASE)
_PAGE_NUMBER = re.compile(
    r"(?:[-–—|]\s*)?(?:page\s+)?([0-9]{1,4})(?:\s*(?:of|/)\s*[0-9]{1,4})?(?:\s*[-–—|])?", re.IGNORECASE
)
_NUMBER = re.compile(r"[0-9]+")


def strip_running_lines(pages: Sequence[Page]) -> tuple[Page, ...]:
    """The pages without lines that repeat at their top or bottom. A printed page number becomes the page's label if it has none.

    Every page stays, with its number; text is only ever taken away, by whole lines. Where that would be most of the
    text, as on forms and one-line pages, those lines are the text, and all of it stays.
    """
    pages = tuple(pages)
    if len(pages) < _FEWEST_PAGES:
        return pages
    split = [page.text.splitlines(keepends=True) for page in pages]
    printed = _printed_numbers(pages, split)
    running = _running(pages, split)
    stripped = tuple(
        _stripped(page, lines, running[index] | printed[index].keys(), printed[index])
        for index, (page, lines) in enumerate(zip(pages, split, strict=True))
    )
    return stripped if _characters(stripped) >= _LEAST_LEFT * _characters(pages) else pages


def _characters(pages: Iterable[Page]) -> int:
    return sum(len(page.text.strip()) for page in pages)


def _stripped(page: Page, lines: list[str], drop: set[int], printed: dict[int, str]) -> Page:
    if not drop:
        return page
    text = "".join(line for number, line in enumerate(lines) if number not in drop)
    return replace(page, text=text, label=page.label or next(iter(printed.values()), None))


def _zones(lines: list[str]) -> tuple[list[int], list[int]]:
    """Indices of the lines at the top and at the bottom that are not blank; short pages have each line in one of them only."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    half = min(_ZONE, (len(filled) + 1) // 2)
    return filled[:half], filled[half:][-_ZONE:]


def _printed_numbers(pages: Sequence[Page], split: list[list[str]]) -> list[dict[int, str]]:
    """Page numbers: numbers alone on a line that keep their distance to the physical number (half of it on double pages)."""
    seen: list[dict[int, int]] = []
    for lines in split:
        top, bottom = _zones(lines)
        alone = {index: _PAGE_NUMBER.fullmatch(lines[index].strip()) for index in (*top, *bottom)}
        seen.append({index: int(match[1]) for index, match in alone.items() if match})
    printed: list[dict[int, str]] = [{} for _ in pages]
    for step in (1, 2):
        distances = Counter(
            value - step * page.number
            for page, numbers in zip(pages, seen, strict=True)
            for value in set(numbers.values())
        )
        for distance, count in distances.most_common(step):
            if count < max(_FEWEST_PAGES, 0.4 * len(pages)):
                continue
            for page, numbers, found in zip(pages, seen, printed, strict=True):
                found.update({i: str(value) for i, value in numbers.items() if value == step * page.number + distance})
        if any(printed):
            return printed
    return printed


def _running(pages: Sequence[Page], split: list[list[str]]) -> list[set[int]]:
    """Lines that stand in the same zone of many pages, or of five in a row; there the first one stays."""
    where: dict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    for page, lines in enumerate(split):
        for zone, indices in enumerate(_zones(lines)):
            for index in indices:
                for key in _keys(lines[index], pages[page].number):
                    where[zone, key].append((page, index))
    running: list[set[int]] = [set() for _ in split]
    many = max(_FEWEST_PAGES, 0.25 * len(split) if len(split) >= 12 else 0.5 * len(split))
    for places in where.values():
        on_pages = [page for page, _ in places]
        chosen = places if len(set(on_pages)) >= many else _in_a_row(places)
        for page, index in chosen:
            running[page].add(index)
    return running


def _keys(line: str, page: int) -> Iterable[str]:
    """The line as it is; and, where a number in it may be the page's, the line with that number's distance to the page."""
    text = " ".join(line.split()).lower()
    if len(text) < 2 or not any(c.isalpha() for c in text):
        return
    yield text
    if _HEADING.match(text):
        return
    for match in _NUMBER.finditer(text):
        if len(match[0]) <= 4:
            yield f"{text[: match.start()]}\0{int(match[0]) - page}\0{text[match.end() :]}"


def _in_a_row(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Runs of five pages or more, next to each other or every other page, less the first of each run."""
    chosen: list[tuple[int, int]] = []
    run: list[tuple[int, int]] = []
    for place in [*places, (1 << 30, 0)]:
        if run and place[0] - run[-1][0] > 2:
            chosen += run[1:] if len({page for page, _ in run}) >= _FEWEST_IN_A_ROW else []
            run = []
        run.append(place)
    return chosen
