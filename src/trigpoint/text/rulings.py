"""The ruled lines of a page, and the grids that they form: the place of a table, and how it is divided.

Everything is in points, y downwards. Lines come from the boxes of vector drawings: a thin box is a line, a larger one
(a shaded or framed cell) contributes its four edges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from trigpoint.text.images import Box

_FEWEST_LINES = 3
MOST_LINES = 3_000  # a drawing, not a table
_THIN = 3.0
_SHORTEST = 5.0
_SAME = 2.0  # lines at this distance are one
_TOUCHING = 4.0
_NARROWEST = 7.0  # a column or row narrower than this holds no text: it is the space between two lines
_COVERED = 0.6  # of a cell's edge, for the edge to be ruled
_STACK_EDGES = 10.0
_STACK_STEP = 420.0


@dataclass(frozen=True, slots=True)
class Ruling:
    """A straight line: at `at` on one axis, from `start` to `end` on the other. One that is not `drawn` is the edge of
    a shaded area."""

    at: float
    start: float
    end: float
    drawn: bool = True


@dataclass(frozen=True)
class Grid:
    """The lines of one table. `columns` and `rows` are the edges of its cells.

    With `open_columns`, no vertical line divides it: the words and the ends of its lines tell its columns.
    """

    columns: tuple[float, ...]
    rows: tuple[float, ...]
    horizontal: tuple[Ruling, ...]
    vertical: tuple[Ruling, ...]
    open_columns: bool = False

    @property
    def box(self) -> Box:
        """Return the area inside the outermost lines."""
        return self.columns[0], self.rows[0], self.columns[-1], self.rows[-1]

    def divided_after_column(self, column: int, row: int) -> bool:
        """Return whether a line separates this cell from the one to its right."""
        edge = self.columns[column + 1]
        return _is_ruled(self.vertical, edge, self.rows[row], self.rows[row + 1])

    def divided_below_row(self, column: int, row: int) -> bool:
        """Return whether a line separates this cell from the one below."""
        edge = self.rows[row + 1]
        return _is_ruled(self.horizontal, edge, self.columns[column], self.columns[column + 1])


def may_have_table(boxes: Sequence[Box]) -> bool:
    """Return whether there are as many ruled lines as the smallest table has. Quick, as it is asked of every page."""
    if not _FEWEST_LINES <= len(boxes) <= MOST_LINES:
        return False
    wide = sum(x1 - x0 > 4 * _NARROWEST for x0, _, x1, _ in boxes)
    return wide >= _FEWEST_LINES


def is_thin(box: Box) -> bool:
    """Return whether a box is a horizontal line."""
    return box[3] - box[1] <= _THIN and box[2] - box[0] > _SHORTEST


def find_grids(boxes: Iterable[Box]) -> list[Grid]:
    """Return the grids of a page from top to bottom: lines that cross each other, or stacks of lines alike."""
    horizontal, vertical = _rulings_of(boxes)
    grids: list[Grid] = []
    left_over: list[Ruling] = []
    for across, down in _connected(_join_collinear(horizontal), _join_collinear(vertical)):
        grid = _grid(across, down)
        if grid is None:
            left_over += across
        else:
            grids.append(grid)
    grids += [grid for grid in _stacks(left_over, horizontal) if not any(_overlap(grid.box, g.box) for g in grids)]
    return sorted(_outermost_removed(grids), key=lambda grid: (grid.box[1], grid.box[0]))


def _rulings_of(boxes: Iterable[Box]) -> tuple[list[Ruling], list[Ruling]]:
    """Return the horizontal and the vertical lines."""
    horizontal: list[Ruling] = []
    vertical: list[Ruling] = []
    for x0, y0, x1, y1 in boxes:
        width, height = x1 - x0, y1 - y0
        if is_thin((x0, y0, x1, y1)):
            horizontal.append(Ruling((y0 + y1) / 2, x0, x1))
        elif width <= _THIN and height > _SHORTEST:
            vertical.append(Ruling((x0 + x1) / 2, y0, y1))
        elif width > 2 * _SHORTEST and height > _SHORTEST:
            horizontal += [Ruling(y0, x0, x1, drawn=False), Ruling(y1, x0, x1, drawn=False)]
            vertical += [Ruling(x0, y0, y1, drawn=False), Ruling(x1, y0, y1, drawn=False)]
    return horizontal, vertical


def _join_collinear(lines: Iterable[Ruling]) -> list[Ruling]:
    """Return lines with their collinear neighbours joined, so that a row of cell borders is one line."""
    merged: list[Ruling] = []
    for at, members in _clusters(lines, lambda line: line.at):
        joined: list[Ruling] = []
        for line in sorted(members, key=lambda member: member.start):
            if joined and line.start - joined[-1].end <= _TOUCHING:
                last = joined[-1]
                joined[-1] = Ruling(at, last.start, max(last.end, line.end), last.drawn or line.drawn)
            else:
                joined.append(Ruling(at, line.start, line.end, line.drawn))
        merged += joined
    return merged


def _clusters(
    lines: Iterable[Ruling], place: Callable[[Ruling], float], distance: float = _SAME
) -> list[tuple[float, list[Ruling]]]:
    """Return groups of lines whose places are close to each other, with the mean of these."""
    clusters: list[list[Ruling]] = []
    for line in sorted(lines, key=place):
        if clusters and place(line) - place(clusters[-1][-1]) <= distance:
            clusters[-1].append(line)
        else:
            clusters.append([line])
    return [(sum(map(place, members)) / len(members), members) for members in clusters]


def _connected(horizontal: list[Ruling], vertical: list[Ruling]) -> list[tuple[list[Ruling], list[Ruling]]]:
    """Return groups of lines that are connected by crossing or touching each other."""
    group = list(range(len(horizontal) + len(vertical)))

    def root(index: int) -> int:
        while group[index] != index:
            group[index] = group[group[index]]
            index = group[index]
        return index

    for row, across in enumerate(horizontal):
        for column, down in enumerate(vertical, start=len(horizontal)):
            if _cross(across, down):
                group[root(column)] = root(row)
    parts: dict[int, tuple[list[Ruling], list[Ruling]]] = {}
    for row, across in enumerate(horizontal):
        parts.setdefault(root(row), ([], []))[0].append(across)
    for column, down in enumerate(vertical, start=len(horizontal)):
        parts.setdefault(root(column), ([], []))[1].append(down)
    return list(parts.values())


def _cross(across: Ruling, down: Ruling) -> bool:
    return (
        across.start - _TOUCHING <= down.at <= across.end + _TOUCHING
        and down.start - _TOUCHING <= across.at <= down.end + _TOUCHING
    )


def _grid(across: list[Ruling], down: list[Ruling]) -> Grid | None:
    """Return the grid of connected lines; None if they do not divide an area into columns and rows."""
    if len(across) < 2 or not down:
        return None
    left, right = min(line.start for line in across), max(line.end for line in across)
    top, bottom = min(line.start for line in down), max(line.end for line in down)
    columns = _edges([left, *_dividing(down, bottom - top), right])
    rows = _edges([top, *_dividing(across, right - left), bottom])
    if len(columns) < 3 or len(rows) < 3:
        return None
    return Grid(columns, rows, tuple(across), tuple(down))


def _dividing(lines: Sequence[Ruling], extent: float) -> list[float]:
    """Return the places of lines that divide a table.

    The edges of shading do so only if they run through half of it and lie beyond all lines that are drawn: behind a
    text, shading divides nothing.
    """
    drawn = [line.at for line in lines if line.drawn]
    first, last = (min(drawn), max(drawn)) if len(drawn) >= _FEWEST_LINES else (float("inf"), float("inf"))
    shaded = [
        at
        for at, members in _clusters(lines, lambda line: line.at)
        if not first <= at <= last and sum(line.end - line.start for line in members) >= extent / 2
    ]
    return drawn + shaded


def _edges(places: Iterable[float]) -> tuple[float, ...]:
    """Return the edges of cells: places in order, those too close for text between them taken as one."""
    edges: list[float] = []
    for place in sorted(places):
        if not edges or place - edges[-1] >= _NARROWEST:
            edges.append(place)
    return tuple(edges)


def _stacks(lines: list[Ruling], segments: list[Ruling]) -> list[Grid]:
    """Return the tables with horizontal lines only: three or more, one below the other, of the same extent."""
    stacks: list[list[Ruling]] = []
    for line in sorted(lines, key=lambda ruling: ruling.at):
        for stack in stacks:
            last = stack[-1]
            alike = abs(last.start - line.start) <= _STACK_EDGES and abs(last.end - line.end) <= _STACK_EDGES
            if alike and line.at - last.at <= _STACK_STEP:
                stack.append(line)
                break
        else:
            stacks.append([line])
    return [grid for stack in stacks if (grid := _stacked(stack, segments)) is not None]


def _stacked(stack: list[Ruling], segments: list[Ruling]) -> Grid | None:
    rows = _edges(line.at for line in stack)
    if len(rows) < _FEWEST_LINES:
        return None
    left, right = min(line.start for line in stack), max(line.end for line in stack)
    parts = [
        s
        for s in segments
        if left - _SAME <= s.start and s.end <= right + _SAME and rows[0] - 1 <= s.at <= rows[-1] + 1
    ]
    columns = _edges([left, *_common_ends(parts, len(rows)), right])
    return Grid(columns, rows, tuple(stack), (), open_columns=True)


def _common_ends(segments: list[Ruling], rows: int) -> list[float]:
    """Return the places at which the segments of most lines begin: lines are often drawn cell by cell."""
    counted = Counter(round(place) for segment in segments for place in {segment.start})
    near = {place: counted[place - 1] + count + counted[place + 1] for place, count in counted.items()}
    return [float(place) for place, count in sorted(near.items()) if count >= 0.75 * rows]


def _outermost_removed(grids: list[Grid]) -> list[Grid]:
    """Return the grids without those that frame others: a panel around tables is not a table."""
    return [grid for grid in grids if not any(other is not grid and _contains(grid.box, other.box) for other in grids)]


def _contains(outer: Box, inner: Box) -> bool:
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _is_ruled(lines: Iterable[Ruling], edge: float, start: float, end: float) -> bool:
    """Return whether lines at this edge cover most of it between the two places."""
    near = sorted(
        (max(line.start, start), min(line.end, end))
        for line in lines
        if abs(line.at - edge) < _NARROWEST and line.start < end and line.end > start
    )
    covered, reached = 0.0, start
    for begin, finish in near:
        covered += max(0.0, finish - max(begin, reached))
        reached = max(reached, finish)
    return covered >= _COVERED * (end - start)


def gaps(intervals: Iterable[tuple[float, float]], narrowest: float) -> list[tuple[float, float]]:
    """Return the spaces between intervals that are at least so wide, from left to right."""
    reached: float | None = None
    gaps_so_far = []
    for start, end in [*sorted(intervals)]:
        if reached is not None and start - reached >= narrowest:
            gaps_so_far.append((reached, start))
        reached = end if reached is None else max(reached, end)
    return gaps_so_far
