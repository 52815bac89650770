"""The ink on a page: how much of it a text layer covers, which regions are left, and at what angle they lie.

Works on grey pictures as arrays, rows from the top, and knows nothing of PDFs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trigpoint.text.images import Box

Grey = np.ndarray[tuple[int, int], np.dtype[np.uint8]]
Cells = npt.NDArray[np.bool_]

_CELL = 4  # pixels
_EDGE = 32  # difference in brightness between neighbours
_PAD = 3.0  # points around text: letters reach beyond their boxes
_THIN = 3.0  # points: rules and frames are not to be read
_REACH = 2  # cells: ink this close belongs together
_FEWEST_CELLS = 10

_NEAR_PAPER = 24
_CLEARLY_INK = 60
_LEAST_PAPER = 0.5
_INK_OF_TEXT = (0.004, 0.45)

_MOST_SKEW = 12.0
_DISTINCT = 1.08


@dataclass(frozen=True)
class Ink:
    """The inked cells of a page, and the size of a cell in points."""

    cells: Cells
    cell: float

    @classmethod
    def of(cls, picture: Grey, scale: float) -> Ink:
        """Return where there is detail in the picture; `scale` is its pixels per point. Even areas are not ink."""
        levels = picture.astype(np.int16)
        edges = np.zeros(picture.shape, dtype=bool)
        edges[:, 1:] |= np.abs(np.diff(levels, axis=1)) > _EDGE
        edges[1:, :] |= np.abs(np.diff(levels, axis=0)) > _EDGE
        height, width = picture.shape
        by_row = np.logical_or.reduceat(edges, np.arange(0, height, _CELL), axis=0)
        return cls(np.logical_or.reduceat(by_row, np.arange(0, width, _CELL), axis=1), _CELL / scale)

    def without_rules(self, shapes: Iterable[Box]) -> Ink:
        """Return the ink without ruled lines and the frames of boxes."""
        cells = self.cells.copy()
        for box in shapes:
            for part in _outline(box):
                cells[self._window(part, 0.0)] = False
        return Ink(cells, self.cell)

    def covered(self, boxes: Iterable[Box]) -> float:
        """Return the share of the inked cells that lie under these boxes; 1 if there is no ink."""
        inked = int(self.cells.sum())
        return 1.0 - int((self.cells & ~self._under(boxes)).sum()) / inked if inked else 1.0

    def regions(self, boxes: Iterable[Box]) -> list[Box]:
        """Return the areas of ink, in points, that these boxes leave uncovered; specks are ignored."""
        left = self.cells & ~self._under(boxes)
        spread = left.copy()
        for axis in (0, 1):
            for step in range(1, _REACH + 1):
                spread |= np.roll(left, step, axis) | np.roll(left, -step, axis)
        return _join_overlapping(list(self._components(spread, left)))

    def _under(self, boxes: Iterable[Box]) -> Cells:
        mask = np.zeros(self.cells.shape, dtype=bool)
        for box in boxes:
            mask[self._window(box, _PAD)] = True
        return mask

    def _window(self, box: Box, pad: float) -> tuple[slice, slice]:
        x0, y0, x1, y1 = (edge / self.cell for edge in (box[0] - pad, box[1] - pad, box[2] + pad, box[3] + pad))
        return slice(max(0, int(y0)), max(0, int(y1) + 1)), slice(max(0, int(x0)), max(0, int(x1) + 1))

    def _components(self, spread: Cells, left: Cells) -> Iterable[Box]:
        """Yield the connected parts of `spread` that hold enough of `left`."""
        unseen = spread.copy()
        for start in zip(*np.nonzero(spread), strict=True):
            if not unseen[start]:
                continue
            cells = _connected(unseen, start)
            ys, xs = np.array(cells).T
            inked = left[ys, xs]
            if int(inked.sum()) < _FEWEST_CELLS:
                continue
            ys, xs = ys[inked], xs[inked]
            edges = (xs.min(), ys.min(), xs.max() + 1, ys.max() + 1)
            x0, y0, x1, y1 = (float(edge) * self.cell for edge in edges)
            yield x0, y0, x1, y1


def _outline(box: Box) -> list[Box]:
    x0, y0, x1, y1 = box
    if x1 - x0 <= _THIN or y1 - y0 <= _THIN:
        return [box]
    return [(x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1)]


def _connected(unseen: Cells, start: Any) -> list[tuple[int, int]]:
    """Return the cells connected with `start`, and take them from the unseen ones."""
    rows, columns = unseen.shape
    boxes: list[tuple[int, int]] = []
    waiting = deque([(int(start[0]), int(start[1]))])
    unseen[start] = False
    while waiting:
        y, x = waiting.popleft()
        boxes.append((y, x))
        for near_y, near_x in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
            if 0 <= near_y < rows and 0 <= near_x < columns and unseen[near_y, near_x]:
                unseen[near_y, near_x] = False
                waiting.append((near_y, near_x))
    return boxes


def _join_overlapping(boxes: list[Box]) -> list[Box]:
    """Return the boxes with overlapping ones joined."""
    merged: list[Box] = []
    for box in boxes:
        while other := next((one for one in merged if _overlap(one, box)), None):
            merged.remove(other)
            box = (min(box[0], other[0]), min(box[1], other[1]), max(box[2], other[2]), max(box[3], other[3]))
        merged.append(box)
    return sorted(merged, key=lambda box: (box[1], box[0]))


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def may_be_text(picture: Grey) -> bool:
    """Return whether a picture can be print: mostly one colour of paper, with some ink on it. Photographs are not."""
    if not picture.size:
        return False
    levels = np.bincount(picture.ravel(), minlength=256)
    paper = int(np.convolve(levels, np.ones(9), mode="same").argmax())
    distance = np.abs(np.arange(256) - paper)
    even = float(levels[distance <= _NEAR_PAPER].sum()) / picture.size
    inked = float(levels[distance >= _CLEARLY_INK].sum()) / picture.size
    return even >= _LEAST_PAPER and _INK_OF_TEXT[0] <= inked <= _INK_OF_TEXT[1]


def is_inked(picture: Grey, contrast: int) -> bool:
    """Return whether anything in the picture stands out against the rest by at least this much."""
    return bool(picture.size) and int(picture.max()) - int(picture.min()) >= contrast


def skew(picture: Grey) -> float:
    """Return the angle in degrees by which lines of print climb to the right; 0 if none stands out."""
    paper = int(np.median(picture))
    ys, xs = np.nonzero(np.abs(picture.astype(np.int16) - paper) > _CLEARLY_INK)
    if len(ys) < 200:
        return 0.0
    if len(ys) > 40_000:
        chosen = np.random.default_rng(0).choice(len(ys), 40_000, replace=False)
        ys, xs = ys[chosen], xs[chosen]
    flat = _sharpness(xs, ys, 0.0)
    coarse = max(np.arange(-_MOST_SKEW, _MOST_SKEW + 0.1, 0.5), key=lambda angle: _sharpness(xs, ys, float(angle)))
    fine = max(np.arange(coarse - 0.5, coarse + 0.51, 0.1), key=lambda angle: _sharpness(xs, ys, float(angle)))
    return round(float(fine), 1) if _sharpness(xs, ys, float(fine)) > _DISTINCT * flat else 0.0


def _sharpness(xs: npt.NDArray[Any], ys: npt.NDArray[Any], angle: float) -> float:
    """Return how clearly the ink falls into rows when the picture is turned back by this angle."""
    rows = np.rint(ys * np.cos(np.radians(angle)) + xs * np.sin(np.radians(angle))).astype(np.int64)
    counts = np.bincount(rows - rows.min())
    return float(np.square(counts, dtype=np.float64).sum())
