"""The cells of a grid: which words each of them holds, how many columns and rows it spans, and its text in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from trigpoint.text.images import Box
from trigpoint.text.rulings import Grid, gaps

CAPTION = re.compile(r"(table|figure|fig\.?|schedule)\s+[0-9A-Z]", re.IGNORECASE)

_COLUMN_GAP = 9.0
_FEW_LINES = 4  # above and below the header, at the end, above a total
_FEWEST_ROWS = 2
_MOST_LINES_BEGIN = 0.8
_HEADER_GAP = 9.0  # points between the lines of a header that has no line above it


class Word(NamedTuple):
    """A word and its place in print.

    `line` tells its line in the text layer, `turn` how that runs: 0 to the right, 1 downwards, 3 upwards.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    text: str
    line: int = 0
    bold: bool = False
    turn: int = 0


@dataclass(frozen=True)
class Cell:
    """A cell of the grid, possibly several of its fields in one."""

    row: int
    column: int
    rows: int
    columns: int
    text: str
    bold: bool


def is_inside(word: Word, box: Box) -> bool:
    """Return whether the middle of a word lies in the box."""
    x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def with_columns(grid: Grid, words: Sequence[Word], *, rows_by_line: bool = False) -> Grid:
    """Return a stack of lines with its header if that is above the first line, with its columns, and on request with a
    row for each line of print."""
    columns = grid.columns if len(grid.columns) > 2 else _columns_by_gaps(grid, words)
    header_top = _top_of_header(columns, grid.rows[0], words)
    rows = (header_top, *grid.rows) if header_top is not None else grid.rows
    if rows_by_line and len(grid.rows) <= _FEW_LINES:
        inside = [word for word in words if is_inside(word, (columns[0], rows[0], columns[-1], rows[-1]))]
        rows = tuple(sorted({*rows, *_rows_by_lines(columns, rows[1:], inside)}))
    return Grid(columns, rows, grid.horizontal, grid.vertical, open_columns=True)


def _rows_by_lines(columns: Sequence[float], rows: Sequence[float], words: Sequence[Word]) -> Iterator[float]:
    """Yield the edges between lines of print if they are rows: in many tables only the header and the end are ruled."""
    for top, bottom in pairwise(rows):
        lines = lines_of([word for word in words if top <= (word.y0 + word.y1) / 2 <= bottom])
        begins = [line for line in lines if _begins_row(line, columns)]
        if len(begins) >= max(_FEWEST_ROWS, _MOST_LINES_BEGIN * len(lines)) and begins[0] is lines[0]:
            for above, line in pairwise(lines):
                if line in begins:
                    yield (max(word.y1 for word in above) + min(word.y0 for word in line)) / 2


def _begins_row(line: Sequence[Word], columns: Sequence[float]) -> bool:
    """Return whether a line can be a separate row.

    It has words in the first column, which do not continue the line before, and in another column.
    """
    used = {_interval_at(columns, (word.x0 + word.x1) / 2) for word in line}
    first = min(line, key=lambda word: word.x0).text[0]
    return 0 in used and len(used) > 1 and not first.islower()


def lines_of(words: Iterable[Word]) -> list[list[Word]]:
    """Return words by the line of print that they are on, from top to bottom."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.y0 + word.y1):
        last = lines[-1][0] if lines else None
        if last is not None and (word.y0 + word.y1) - (last.y0 + last.y1) < last.y1 - last.y0:
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def _columns_by_gaps(grid: Grid, words: Sequence[Word]) -> tuple[float, ...]:
    """Return edges in the middle of the spaces that run through all rows."""
    inside = [(word.x0, word.x1) for word in words if is_inside(word, grid.box)]
    between = [(start + end) / 2 for start, end in gaps(inside, _COLUMN_GAP)]
    return grid.columns[0], *between, grid.columns[-1]


def _top_of_header(columns: Sequence[float], first_line: float, words: Sequence[Word]) -> float | None:
    """Return the top of a header that is printed above the first line; None if there is none."""
    above = sorted(
        (
            word
            for word in words
            if word.y1 <= first_line + 2 and columns[0] - 4 <= word.x0 and word.x1 <= columns[-1] + 4
        ),
        key=lambda word: -word.y1,
    )
    header: list[Word] = []
    reached = first_line
    for word in above:
        if reached - word.y1 > (_HEADER_GAP if header else 2 * _HEADER_GAP):
            break
        header.append(word)
        reached = min(reached, word.y0)
    if not header or CAPTION.match(" ".join(word.text for word in sorted(header, key=lambda w: (w.y0, w.x0)))):
        return None
    used = {_interval_at(columns, (word.x0 + word.x1) / 2) for word in header}
    return reached - 1 if len(used) > 1 and len(header) <= 12 * len(columns) else None


def cells_of(grid: Grid, words: Sequence[Word]) -> list[Cell]:
    """Return the grid's fields with their words; fields with no line between them are joined."""
    width, height = len(grid.columns) - 1, len(grid.rows) - 1
    field_of: dict[tuple[int, int], list[Word]] = {}
    across: set[tuple[int, int]] = set()
    for word in words:
        row = _interval_at(grid.rows, (word.y0 + word.y1) / 2)
        column = _interval_at(grid.columns, (word.x0 + word.x1) / 2)
        field_of.setdefault((row, column), []).append(word)
        if grid.open_columns:
            first, last = _interval_at(grid.columns, word.x0 + 1), _interval_at(grid.columns, word.x1 - 1)
            across.update((row, c) for c in range(first, last))
    if grid.open_columns:
        across |= _heading_across(grid, field_of)
    cells: list[Cell] = []
    taken: set[tuple[int, int]] = set()
    for row in range(height):
        for column in range(width):
            if (row, column) in taken:
                continue
            columns, rows = _extent(grid, row, column, across, taken)
            fields = [(r, c) for r in range(row, row + rows) for c in range(column, column + columns)]
            taken.update(fields)
            members = [word for field in fields for word in field_of.get(field, ())]
            bold = bool(members) and sum(word.bold for word in members) > len(members) / 2
            cells.append(Cell(row, column, rows, columns, _joined_words(members), bold))
    return cells


def _extent(
    grid: Grid, row: int, column: int, across: set[tuple[int, int]], taken: set[tuple[int, int]]
) -> tuple[int, int]:
    """Return how many columns and rows the cell that begins here has."""
    width, height = len(grid.columns) - 1, len(grid.rows) - 1
    columns = 1
    while column + columns < width and (row, column + columns) not in taken:
        edge = column + columns - 1
        divided = (row, edge) not in across if grid.open_columns else grid.divided_after_column(edge, row)
        if divided:
            break
        columns += 1
    rows = 1
    if grid.open_columns:
        return columns, rows
    while row + rows < height and not any(
        grid.divided_below_row(c, row + rows - 1) for c in range(column, column + columns)
    ):
        inner = range(column, column + columns - 1)
        if any(grid.divided_after_column(c, row + rows) for c in inner):
            break
        rows += 1
    return columns, rows


def _heading_across(grid: Grid, field_of: dict[tuple[int, int], list[Word]]) -> set[tuple[int, int]]:
    """Return the fields of a heading above all columns but the first: one text, with empty fields next to it."""
    last = len(grid.columns) - 2
    used = [column for column in range(1, last + 1) if (0, column) in field_of]
    is_one_text = bool(used) and used == list(range(used[0], used[-1] + 1)) and len(used) < last
    below_is_full = all((1, column) in field_of for column in range(1, last + 1))
    return {(0, column) for column in range(1, last)} if is_one_text and below_is_full else set()


def _interval_at(edges: Sequence[float], place: float) -> int:
    """Return the interval of the edges that holds this place; the first or last one if it lies outside."""
    return max(0, min(len(edges) - 2, sum(edge <= place for edge in edges) - 1))


def _joined_words(words: Sequence[Word]) -> str:
    """Return the words in reading order: line by line, left to right, within a line as the text layer has them."""
    if not words:
        return ""
    height = median(word.y1 - word.y0 for word in words)
    runs = [list(members) for _, members in groupby(words, key=lambda word: word.line)]
    lines: list[list[list[Word]]] = []
    for run in sorted(runs, key=_middle):
        if lines and _middle(run) - _middle(lines[-1][0]) < 0.6 * height:
            lines[-1].append(run)
        else:
            lines.append([run])
    ordered = (run for line in lines for run in sorted(line, key=lambda run: run[0].x0))
    return " ".join(word.text for run in ordered for word in run)


def _middle(words: Sequence[Word]) -> float:
    """Return the height at which a run of words is printed."""
    return median((word.y0 + word.y1) / 2 for word in words)
