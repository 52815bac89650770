"""Signs, cheap enough to be looked for on every page, that its text layer is not all that is printed on it."""

from __future__ import annotations

from typing import Literal

from trigpoint.text.images import Box, overlap
from trigpoint.text.layout import PageLayout
from trigpoint.text.pages import has_text
from trigpoint.text.plausible import is_plausible, looks_like_prose

Doubt = Literal["no_text", "garbled", "pictures", "outlines", "hidden", "form", "comments"]
NEEDS_OCR: frozenset[Doubt] = frozenset({"no_text", "pictures", "outlines"})

_LEAST_PICTURE = 0.01  # of the page
_COVERED = 0.5
_LONG_BLOCK = 80
_FEWEST_OUTLINES = 20
_MOST_OUTLINES_TRIED = 3_000
_LETTER_HEIGHTS = (3.0, 40.0)


def doubts_of(layout: PageLayout, *, may_hide_text: bool, has_fields: bool, has_comments: bool) -> tuple[Doubt, ...]:
    """Return the reasons to doubt that the text layer is all of the page's text; usually there are none."""
    doubts: list[Doubt] = []
    if not has_text(layout.text):
        doubts.append("no_text")
    elif layout.is_dirty or (not looks_like_prose(layout.text) and not _is_all_plausible(layout)):
        doubts.append("garbled")
    if open_pictures(layout):
        doubts.append("pictures")
    if _has_outlined_text(layout):
        doubts.append("outlines")
    if may_hide_text or (not layout.has_only_text and layout.drawn_over()):
        doubts.append("hidden")
    if has_fields:
        doubts.append("form")
    if has_comments:
        doubts.append("comments")
    return tuple(doubts)


def open_pictures(layout: PageLayout) -> tuple[str, ...]:
    """Return a sign for each picture of some size that text does not cover: the same picture on another page has the same."""
    page = layout.size[0] * layout.size[1]
    return tuple(
        f"{block[4].strip()} {round(block[2] - block[0])}x{round(block[3] - block[1])}"
        for block in layout.pictures
        if _area(block[:4]) >= _LEAST_PICTURE * page and _covered(block[:4], layout) < _COVERED
    )


def _is_all_plausible(layout: PageLayout) -> bool:
    long = [block[4] for block in layout.blocks if len(block[4]) >= _LONG_BLOCK]
    return is_plausible(layout.text) and all(map(is_plausible, long))


def _covered(box: Box, layout: PageLayout) -> float:
    return sum(overlap(box, block[:4]) for block in layout.blocks)


def _has_outlined_text(layout: PageLayout) -> bool:
    """Return whether many small shapes are filled, neither boxes nor next to letters: print drawn as outlines."""
    if len(layout.shapes) < _FEWEST_OUTLINES:
        return False
    low, high = _LETTER_HEIGHTS
    letters = [
        block[:4]
        for block in layout.shapes[:_MOST_OUTLINES_TRIED]
        if low <= block[3] - block[1] <= high and "<vector filled" in block[4] and "is-rect: false" in block[4]
    ]
    if len(letters) < _FEWEST_OUTLINES:
        return False
    return sum(_covered(box, layout) < _COVERED for box in letters) >= _FEWEST_OUTLINES


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
