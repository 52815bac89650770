"""Text that a reader of the page does not see: invisible, in the colour of the paper, tiny, or off the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from trigpoint.text.account import LeftOut, LeftOutKind
from trigpoint.text.images import Box, overlap
from trigpoint.text.pages import HiddenText, clean_text

_TINY = 2.0  # points
_FAINT = 0xC8  # of 255, in each of red, green and blue
_MOSTLY = 0.5

_FAINT_COLOUR = re.compile(rb"color:#(?:c[89a-f]|[def][0-9a-f]){3}")  # begins with a literal, so that it is quick
_TINY_SIZES = (b"font-size:0.", b"font-size:1.")

_WHY: dict[LeftOutKind, str] = {
    "hidden_text": "it is drawn so that it cannot be seen",
    "white_text": "it cannot be told from its background",
    "tiny_text": f"it is smaller than {_TINY:g} points",
    "off_page_text": "it lies outside the page",
}


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A run of text in one style. `block` and `line` say which line of the page it is part of."""

    box: Box
    text: str
    colour: int
    opacity: int
    size: float
    is_drawn: bool
    block: int
    line: int

    @property
    def is_faint(self) -> bool:
        """Whether its colour is near that of white paper, or hardly covers it."""
        return self.opacity < 40 or _is_faint(self.colour)


def has_unusual_style(html: bytes) -> bool:
    """Return whether a text, as MuPDF writes it in HTML, has a style that a reader of the page may not see."""
    if any(size in html for size in _TINY_SIZES):
        return True
    spans = html.count(b"<span")
    if html.count(b"color:#000000") == spans:
        return False
    return html.count(b"color:#") < spans or _FAINT_COLOUR.search(html) is not None


def off_page_lines(words: Iterable[tuple[Any, ...]], page: Box) -> list[HiddenText]:
    """Return the lines of PyMuPDF's words, or those parts of them, that do not touch the page."""
    outside = [word for word in words if not _touch(word[:4], page)]
    lines = (" ".join(word[4] for word in line) for _, line in groupby(outside, key=lambda word: word[5:7]))
    return [HiddenText("off_page_text", text) for line in lines if (text := clean_text(line).strip())]


def _touch(box: Sequence[float], page: Box) -> bool:
    return box[0] < page[2] and box[2] > page[0] and box[1] < page[3] and box[3] > page[1]


def _is_faint(colour: int) -> bool:
    return all((colour >> shift & 255) >= _FAINT for shift in (16, 8, 0))


def unseen(
    spans: Sequence[TextSpan],
    pictures: Sequence[Box],
    drawn_over: Sequence[Box],
    stands_out: Callable[[Box], bool],
) -> dict[TextSpan, LeftOutKind]:
    """Return the spans that a reader does not see.

    `drawn_over` are boxes of text over which something is drawn; `stands_out` says whether a box of the page has contrast.
    """
    doubtful = {span: kind for span in spans if span.text.strip() and (kind := _doubt(span, drawn_over)) is not None}
    certain = [span.box for span in spans if span not in doubtful]
    return {span: kind for span, kind in doubtful.items() if not _is_seen(span, kind, pictures, certain, stands_out)}


def _doubt(span: TextSpan, drawn_over: Sequence[Box]) -> LeftOutKind | None:
    if not span.is_drawn or span.opacity == 0:
        return "hidden_text"
    if any(overlap(span.box, box) > _MOSTLY for box in drawn_over):
        return "hidden_text"
    if span.size < _TINY:
        return "tiny_text"
    return "white_text" if span.is_faint else None


def _is_seen(
    span: TextSpan,
    kind: LeftOutKind,
    pictures: Sequence[Box],
    certain: Sequence[Box],
    stands_out: Callable[[Box], bool],
) -> bool:
    """Return whether a reader sees the text.

    Invisible text on a picture is the text layer of a scan; pale text is seen on a dark ground.
    """
    if kind == "tiny_text" or any(overlap(span.box, box) > _MOSTLY for box in certain):
        return False
    if not span.is_drawn and not any(overlap(span.box, box) > _MOSTLY for box in pictures):
        return False
    x0, y0, x1, y1 = span.box
    return stands_out((x0, y0, max(x1, x0 + y1 - y0), y1))  # fonts with lost widths have letters on top of each other


def kept_apart(hidden: Iterable[HiddenText]) -> tuple[LeftOut, ...]:
    """Return the account of hidden text: one entry for each kind."""
    counts: dict[LeftOutKind, int] = {}
    for part in hidden:
        counts[part.kind] = counts.get(part.kind, 0) + len(part.text)
    return tuple(LeftOut(kind, _WHY.get(kind, "it is not readable text"), count) for kind, count in counts.items())
