"""A page as its blocks: text, pictures and drawn shapes, each with its place, as a reader of the page sees them.

Every page of every document passes through here, so blocks stay the plain tuples that PyMuPDF gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from trigpoint.text.images import Box, covered_ratio, overlap
from trigpoint.text.pages import MarginLine, clean_text
from trigpoint.text.rulings import MOST_LINES
from trigpoint.text.running_lines import MARGIN

_APART = 1.25  # line heights
_MOSTLY = 0.5
_LETTER = 8.0  # points: smaller shapes hide no text

Turn = Callable[[Box], Box]
Block = tuple[float, float, float, float, str, int, int]  # box, text, number, kind: 0 text, 1 picture, else shape


@dataclass(frozen=True, slots=True)
class PageLayout:
    """The blocks of a page in the order in which they are drawn, and its text.

    `drawn` are the shapes before any turn; `is_dirty` says that the blocks have controls, which the text has not.
    """

    size: tuple[float, float]
    text: str
    blocks: Sequence[Block]
    pictures: Sequence[Block]
    shapes: Sequence[Block]
    drawn: Sequence[Block]
    is_dirty: bool = False

    @classmethod
    def of(cls, blocks: Sequence[Block], size: tuple[float, float], turn: Turn | None) -> PageLayout:
        """Return the layout of PyMuPDF's blocks; `turn` maps a box of the sheet to the page as it is shown."""
        texts = [block for block in blocks if block[6] == 0]
        text = "".join([block[4] for block in texts])
        clean = clean_text(text)
        dirty = clean is not text
        pictures, drawn = [], []
        if len(texts) < len(blocks):
            pictures = [block for block in blocks if block[6] == 1]
            drawn = [block for block in blocks if block[6] > 1]
        if turn is None:
            return cls(size, clean, texts, pictures, drawn, drawn, dirty)
        texts, pictures, shapes = ([_turned(block, turn) for block in some] for some in (texts, pictures, drawn))
        return cls(size, clean, texts, pictures, shapes, drawn, dirty)

    def lines_drawn(self) -> list[Box]:
        """Return where shapes are drawn on the sheet as it lies: one more than a table can have is enough."""
        return [block[:4] for block in self.drawn[: MOST_LINES + 1]]

    @property
    def has_only_text(self) -> bool:
        """Whether there are neither pictures nor shapes."""
        return not (self.pictures or self.shapes)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing on the page."""
        return not (self.blocks or self.pictures or self.shapes)

    def drawn_over(self) -> list[Box]:
        """Return the boxes of text over most of which a filled shape or a picture is drawn later."""
        covers = [block for block in self.shapes[:MOST_LINES] if "<vector filled" in block[4] and _is_large(block[:4])]
        covers += self.pictures
        return [
            text[:4]
            for text in self.blocks
            if any(cover[5] > text[5] and overlap(text[:4], cover[:4]) > _MOSTLY for cover in covers)
        ]

    def image_ratio(self) -> float:
        """Return the share of the page that is under pictures."""
        if not self.pictures:
            return 0.0
        return covered_ratio([block[:4] for block in self.pictures], (0.0, 0.0, *self.size))

    def margins(self) -> tuple[MarginLine, ...]:
        """Return the lines of blocks that lie wholly in the top or the bottom margin."""
        placed, offset = [], 0
        for block in self.blocks:
            text = clean_text(block[4]) if self.is_dirty else block[4]
            placed.append((offset, block[:4], text))
            offset += len(text)
        return margin_lines(placed, self.size[1])


def _is_large(box: Box) -> bool:
    return box[2] - box[0] >= _LETTER and box[3] - box[1] >= _LETTER


def _turned(block: Block, turn: Turn) -> Block:
    return (*turn(block[:4]), block[4], block[5], block[6])


def margin_lines(blocks: Sequence[tuple[int, Box, str]], height: float) -> tuple[MarginLine, ...]:
    """Return the lines of blocks that lie wholly in the top or the bottom margin of a page of this height.

    Blocks are given with their offsets in the page's text, -1 if those are not known.
    """
    top, bottom = MARGIN * height, (1 - MARGIN) * height
    body = [box for _, box, _ in blocks if box[3] > top and box[1] < bottom]
    first = min([box[1] for box in body], default=height)
    last = max([box[3] for box in body], default=0.0)
    lines: list[MarginLine] = []
    for start, box, text in blocks:
        if box[3] <= top or box[1] >= bottom:
            lines += _lines_of_block(start, box, text, height, first - box[3] if box[3] <= top else box[1] - last)
    return tuple(lines)


def _lines_of_block(start: int, box: Box, text: str, height: float, distance: float) -> Iterator[MarginLine]:
    """Yield the lines of a block, evenly spaced in it; `distance` is that from the block to the body of the page."""
    texts = text.splitlines(keepends=True)
    spacing = (box[3] - box[1]) / max(1, len(texts))
    for index, line in enumerate(texts):
        if line.strip():
            place = round((box[1] + spacing * (index + 0.5)) / height, 4)
            yield MarginLine(start, line, place, distance >= _APART * spacing)
        start += len(line) if start >= 0 else 0
