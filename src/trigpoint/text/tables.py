"""Tables of a page: cells with the headings of their rows and columns, and how they appear in the page's text.

`rulings.py` finds the grid, `table_cells.py` its cells; here first rows become headings, and the words of the table's
area give way to Markdown rows in the page's text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from operator import itemgetter
from statistics import median
from typing import Any

from trigpoint.text.aligned import find_aligned_grids
from trigpoint.text.images import Box
from trigpoint.text.rulings import Grid, find_grids, is_thin
from trigpoint.text.table_cells import CAPTION, Cell, Word, cells_of, is_inside, with_columns

_LONGEST_REPEATED = 80  # characters; a longer text that spans rows is given once
_SAME_WIDTH = 12.0
_FOOT, _DEEPEST_FOOT = 0.3, 8.0  # how far below an underline its words may end
_MOST_HEADER_ROWS = 3
_LONGEST_HEADING = 120
_CAPTION_DISTANCE = 60.0
_NUMERIC = re.compile(r"[-–+(£$€~<>≤≥]*\s*[0-9][0-9,.\s]*(%|ha|sqm|m2|m²|m|km|p|k|bn)?\s*[)*†]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Table:
    """A table as data. `titles` are rows across its whole width above the header; `header` may have several rows.

    `turn` is the direction of its text, as in `Word`.
    """

    page: int
    box: Box
    header: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]
    titles: tuple[str, ...] = ()
    caption: str | None = None
    turn: int = 0

    @property
    def headings(self) -> tuple[str, ...]:
        """Return one heading for each column: what the header's rows say of it, from top to bottom."""
        columns = zip(*self.header, strict=True) if self.header else (() for _ in self.rows[0])
        return tuple(" ".join(dict.fromkeys(part for part in parts if part)) for parts in columns)

    def markdown(self) -> str:
        """Return the table as Markdown rows: titles, header, separator, rows."""
        separator = "|" + "---|" * len(self.headings)
        return "\n".join([*self.titles, _pipes(self.headings), separator, *map(_pipes, self.rows)])


def find_tables(page: int, words: Sequence[Word], boxes: Iterable[Box]) -> tuple[Table, ...]:
    """Return the tables among these words, given the boxes of the page's vector drawings."""
    boxes = list(boxes)
    tables: list[Table] = []
    for turn in sorted({word.turn for word in words}):
        upright = [Word(*_turned(word[:4], turn), *word[4:]) for word in words if word.turn == turn]
        lines = without_underlines([_turned(box, turn) for box in boxes], upright)
        found = (_table(page, grid, upright) for grid in find_grids(lines))
        tables += [replace(table, box=_turned(table.box, -turn % 4), turn=turn) for table in found if table is not None]
    return tuple(tables) + _aligned_tables(page, words, tables)


def _aligned_tables(page: int, words: Sequence[Word], ruled: Sequence[Table]) -> tuple[Table, ...]:
    """Return the tables without rules, outside those that have them. One without headings stays text."""
    free = [word for word in words if not any(is_inside(word, table.box) for table in ruled)]
    found = [_table(page, grid, free) for grid in find_aligned_grids(free)]
    return tuple(table for table in found if table is not None and table.header and not table.titles)


def continue_headers(pages: Sequence[Sequence[Table]]) -> list[tuple[Table, ...]]:
    """Return the tables of each page; one that continues from the page before, without a header, gets that table's header."""
    continued: list[tuple[Table, ...]] = []
    last: Table | None = None
    for tables in pages:
        if tables and last is not None and _goes_on(last, tables[0]):
            tables = [replace(tables[0], header=last.header), *tables[1:]]
        continued.append(tuple(tables))
        last = tables[-1] if tables else None
    return continued


def _goes_on(last: Table, first: Table) -> bool:
    """Return whether a table without a header has the columns of the last one on the page before."""
    return (
        bool(last.header)
        and not first.header
        and not first.titles
        and last.page + 1 == first.page
        and len(last.headings) == len(first.headings)
        and abs((last.box[2] - last.box[0]) - (first.box[2] - first.box[0])) <= _SAME_WIDTH
    )


def _turned(box: Sequence[float], turn: int) -> Box:
    """Return the box on the page turned so that text running in this direction is upright."""
    x0, y0, x1, y1 = box
    return {0: (x0, y0, x1, y1), 1: (y0, -x1, y1, -x0), 3: (-y1, x0, -y0, x1)}[turn]


def text_with_tables(lines: Sequence[str], words: Sequence[Word], tables: Sequence[Table]) -> str:
    """Return the text of a page, its lines in their order, with each table in the place of its first word."""
    by_line = {number: list(members) for number, members in groupby(words, key=lambda word: word.line)}
    pending = dict(enumerate(tables))
    text: list[str] = []
    for number, line in enumerate(lines):
        members = by_line.get(number, [])
        inside = [
            next((i for i, t in enumerate(tables) if word.turn == t.turn and is_inside(word, t.box)), None)
            for word in members
        ]
        for index in dict.fromkeys(i for i in inside if i is not None and i in pending):
            text.append(f"\n{pending.pop(index).markdown()}\n\n")
        outside = [word.text for word, index in zip(members, inside, strict=True) if index is None]
        if len(outside) == len(members):
            text.append(line)
        elif outside:
            text.append(" ".join(outside) + "\n")
    return "".join(text)


def _pipes(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '¦') for cell in cells)} |"


def _table(page: int, grid: Grid, words: Sequence[Word]) -> Table | None:
    """Return the table in this grid; None if there is none. Lines of print are taken for rows only below headings."""
    if not grid.open_columns:
        return _table_in(page, grid, words)
    by_line = _table_in(page, with_columns(grid, words, rows_by_line=True), words)
    if by_line is not None and by_line.header and not by_line.titles:
        return by_line
    return _table_in(page, with_columns(grid, words), words)


def _table_in(page: int, grid: Grid, words: Sequence[Word]) -> Table | None:
    """Return the table in a grid with its columns; None if its cells do not hold a table's text."""
    inside = [word for word in words if is_inside(word, grid.box)]
    cells = [cell for cell in cells_of(grid, inside) if cell.text]
    columns = _used_columns(cells)
    rows = [list(row) for _, row in groupby(cells, key=lambda cell: cell.row)]
    if len(rows) < 2 or len(columns) < 2:
        return None
    titles = [row[0].text for row in takewhile(lambda row: _is_title(row, columns), rows)]
    rows = rows[len(titles) :]
    depth = _header_depth(rows, columns)
    if not rows[depth:]:
        return None
    table = Table(
        page,
        grid.box,
        tuple(_header_row(cells, row[0].row, columns) for row in rows[:depth]),
        tuple(_body_row(cells, row[0].row, columns) for row in rows[depth:]),
        tuple(titles),
        _caption(grid.box, words),
    )
    return table if _has_all(table, inside) else None


def _has_all(table: Table, words: Sequence[Word]) -> bool:
    """Return whether each word is in a cell. A grid that would lose one is rejected."""
    told = Counter(" ".join([*table.titles, *(cell for row in (*table.header, *table.rows) for cell in row)]).split())
    return not Counter(part for word in words for part in word.text.split()) - told


def _header_row(cells: Sequence[Cell], row: int, columns: Sequence[int]) -> tuple[str, ...]:
    """Return the headings in this row; one that spans columns is the heading of each."""
    return tuple(cell.text if (cell := _cell_at(cells, row, column)) else "" for column in columns)


def _body_row(cells: Sequence[Cell], row: int, columns: Sequence[int]) -> tuple[str, ...]:
    """Return the texts in this row. A cell that spans rows is repeated in each; one that spans columns is not."""
    said: set[Cell] = set()
    texts = []
    for column in columns:
        cell = _cell_at(cells, row, column)
        tell = cell is not None and cell not in said and (cell.row == row or len(cell.text) <= _LONGEST_REPEATED)
        texts.append(cell.text if cell is not None and tell else "")
        if cell is not None:
            said.add(cell)
    return tuple(texts)


def _cell_at(cells: Sequence[Cell], row: int, column: int) -> Cell | None:
    for cell in cells:
        if cell.row <= row < cell.row + cell.rows and cell.column <= column < cell.column + cell.columns:
            return cell
    return None


def without_underlines(boxes: Iterable[Box], words: Iterable[tuple[Any, ...]]) -> list[Box]:
    """Return the boxes without thin ones that run through the feet of words: underlined text is not a table.

    Words are tuples that begin with their boxes.
    """
    by_foot = sorted([word[:4] for word in words], key=itemgetter(3))
    feet = [word[3] for word in by_foot]
    above: dict[float, list[tuple[float, float]]] = {}  # many lines are drawn word by word, at one height
    kept = []
    for box in boxes:
        if is_thin(box):
            at = (box[1] + box[3]) / 2
            if at not in above:
                near = by_foot[bisect_left(feet, at + _FOOT) : bisect_left(feet, at + _DEEPEST_FOOT)]
                above[at] = [(x0, x1) for x0, y0, x1, y1 in near if (y0 + y1) / 2 < at]
            if _is_underline(box[0], box[2], above[at]):
                continue
        kept.append(box)
    return kept


def _is_underline(left: float, right: float, words: Iterable[tuple[float, float]]) -> bool:
    """Return whether words cover half of a line from `left` to `right`."""
    covered = sum([min(x1, right) - max(x0, left) for x0, x1 in words if x0 < right and x1 > left])
    return covered >= (right - left) / 2


def _used_columns(cells: Sequence[Cell]) -> list[int]:
    """Return the columns that contain text: the others are the space between two lines."""
    alone = {cell.column for cell in cells if cell.columns == 1}
    wide = {cell.column: range(cell.column, cell.column + cell.columns) for cell in cells if cell.columns > 1}
    return sorted(alone | {first for first, span in wide.items() if not alone & set(span)})


# Headings


def _is_title(cells: Sequence[Cell], columns: Sequence[int]) -> bool:
    """Return whether a row is one text across the whole table."""
    return len(cells) == 1 and cells[0].column <= columns[0] and cells[0].column + cells[0].columns > columns[-1]


def _header_depth(rows: Sequence[Sequence[Cell]], columns: Sequence[int]) -> int:
    """Return how many of the first rows are headings."""
    if len(rows) < 2 or not _is_header(rows[0], [cell for row in rows[1:] for cell in row]):
        return 0
    first = rows[0]
    lines = [row[0].row for row in rows]
    last_row = max(cell.row + cell.rows for cell in first)
    depth = max(1, sum(line < last_row for line in lines))
    if depth == 1 and depth < len(rows) - 1 and _is_second_header(first, rows[depth], columns):
        depth += 1
    return depth if depth <= _MOST_HEADER_ROWS and depth < len(rows) else 0


def _is_header(first: Sequence[Cell], others: Sequence[Cell]) -> bool:
    """Return whether a row differs from those below: in bold, words above figures, or short words above long ones."""
    if any(len(cell.text) > _LONGEST_HEADING for cell in first) or len(first) < 2:
        return all(cell.bold for cell in first) and len(first[0].text) <= _LONGEST_HEADING
    beside = [cell for cell in others if cell.column > first[0].column] or list(others)
    if all(cell.bold for cell in first) and sum(cell.bold for cell in beside) <= 0.6 * len(beside):
        return True
    if any(_NUMERIC.fullmatch(cell.text) for cell in first if not cell.bold):
        return False
    figures = sum(bool(_NUMERIC.fullmatch(cell.text)) for cell in others)
    if figures >= 0.8 * len(others) or any(_words_above_figures(cell, others) for cell in first):
        return True
    return 2 * max(len(cell.text) for cell in first) < median(len(cell.text) for cell in beside)


def _words_above_figures(heading: Cell, others: Sequence[Cell]) -> bool:
    below = [cell for cell in others if cell.column == heading.column]
    with_digits = sum(any(c.isdigit() for c in cell.text) for cell in below)
    return len(below) > 1 and with_digits >= 0.6 * len(below) and not any(c.isdigit() for c in heading.text)


def _is_second_header(first: Sequence[Cell], second: Sequence[Cell], columns: Sequence[int]) -> bool:
    """Return whether the second row continues the headings of the first.

    It says nothing about the first column, and divides headings that span columns, or adds units in brackets.
    """
    if not second or second[0].column <= columns[0]:
        return False
    spanning = any(cell.columns > 1 for cell in first)
    return (spanning and len(second) >= len(first)) or all(cell.text.startswith("(") for cell in second)


def _caption(box: Box, words: Sequence[Word]) -> str | None:
    """Return the line above or below the table that begins with "Table 3" or the like."""
    lines: dict[int, list[Word]] = {}
    for word in words:
        if word.x1 >= box[0] and word.x0 <= box[2]:
            lines.setdefault(word.line, []).append(word)
    near = []
    for line in lines.values():
        above, below = box[1] - line[0].y1, line[0].y0 - box[3]
        distance = above if above > -2 else below
        if -2 < distance <= _CAPTION_DISTANCE and CAPTION.match(text := " ".join(word.text for word in line)):
            near.append((distance, text))
    return min(near)[1] if near else None
