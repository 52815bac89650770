"""A page as its blocks: text, pictures and drawn shapes, each with its place, as a reader of the page sees them.

Knows nothing of PyMuPDF but the order of the fields in its block tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from trigpoint.text.images import Box, covered_ratio
from trigpoint.text.pages import MarginLine, clean_text
from trigpoint.text.rulings import MOST_LINES
from trigpoint.text.running_lines import MARGIN

_APART = 1.25  # line heights

Turn = Callable[[Box], Box]
Block = tuple[float, float, float, float, str, int, int]  # as PyMuPDF gives it: box, text, number, kind


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A paragraph, a cell or a line of text. Every line ends with a newline."""

    box: Box
    text: str


@dataclass(frozen=True, slots=True)
class Shape:
    """A drawn path."""

    box: Box
    is_filled: bool
    is_rectangle: bool


@dataclass(frozen=True, slots=True)
class PageLayout:
    """The blocks of a page in the order in which they are drawn."""

    size: tuple[float, float]
    blocks: tuple[TextBlock, ...]
    pictures: tuple[Box, ...]
    shapes: tuple[Shape, ...]
    drawn: tuple[Box, ...] = ()  # the shapes' boxes on the sheet as it lies, before the page is turned

    @classmethod
    def of(cls, blocks: Iterable[Block], size: tuple[float, float], turn: Turn | None) -> PageLayout:
        """Return the layout of PyMuPDF's blocks; `turn` maps a box of the sheet to the page as it is shown."""
        by_kind: tuple[list[Block], ...] = ([], [], [])
        for block in blocks:
            by_kind[min(block[6], 2)].append(block)

        def box(block: Block) -> Box:
            return turn(block[:4]) if turn else block[:4]

        texts, pictures, shapes = by_kind
        return cls(
            size,
            tuple(TextBlock(box(block), clean_text(block[4])) for block in texts),
            tuple(box(block) for block in pictures),
            tuple(Shape(box(block), "<vector filled" in block[4], "is-rect: true" in block[4]) for block in shapes),
            tuple(block[:4] for block in shapes),
        )

    @property
    def text(self) -> str:
        """Return all of the page's text."""
        return "".join(block.text for block in self.blocks)

    def lines_drawn(self) -> Sequence[Box]:
        """Return where shapes are drawn on the sheet as it lies: one more than a table can have is enough."""
        return self.drawn[: MOST_LINES + 1]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing on the page."""
        return not (self.blocks or self.pictures or self.shapes)

    def image_ratio(self) -> float:
        """Return the share of the page that is under pictures."""
        return covered_ratio(self.pictures, (0.0, 0.0, *self.size))

    def margins(self) -> tuple[MarginLine, ...]:
        """Return the lines of blocks that lie wholly in the top or the bottom margin."""
        height = self.size[1]
        top, bottom = MARGIN * height, (1 - MARGIN) * height
        body = [block.box for block in self.blocks if block.box[3] > top and block.box[1] < bottom]
        first, last = min((box[1] for box in body), default=height), max((box[3] for box in body), default=0.0)
        lines: list[MarginLine] = []
        offset = 0
        for block in self.blocks:
            _, y0, _, y1 = block.box
            if y1 <= top or y0 >= bottom:
                distance = first - y1 if y1 <= top else y0 - last
                lines += _lines(block, offset, height, distance)
            offset += len(block.text)
        return tuple(lines)


def _lines(block: TextBlock, offset: int, height: float, distance: float) -> Iterable[MarginLine]:
    """The lines of a block, evenly spaced in it; `distance` is that from the block to the body of the page."""
    _, y0, _, y1 = block.box
    texts = block.text.splitlines(keepends=True)
    spacing = (y1 - y0) / max(1, len(texts))
    for index, text in enumerate(texts):
        if text.strip():
            place = round((y0 + spacing * (index + 0.5)) / height, 4)
            yield MarginLine(offset, text, place, distance >= _APART * spacing)
        offset += len(text)
