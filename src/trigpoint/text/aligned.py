"""Tables without ruled lines: rows of figures that are aligned below their headings.

Only tables of figures are looked for. Columns of prose, lists and contents pages are aligned too, but are not tables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from operator import and_

from trigpoint.text.rulings import Grid, gaps
from trigpoint.text.table_cells import Word, lines_of

_FIGURE = re.compile(r"[-–(£$€+]*[0-9][0-9,.]*(%|m|ha|sqm|m2|km)?[)*†]*|[-–]|n/?a|nil", re.IGNORECASE)
_BEGINS_FIGURE = frozenset("0123456789-–(£$€")
_LONGEST_FIGURE = 14
_FEWEST_ROWS = 3
_FEWEST_COLUMNS = 3
_COLUMN_GAP = 9.0
_MOST_LEADING = 2.2  # line heights from one row to the next


def may_have_aligned_table(text: str) -> bool:
    """Return whether a page's text has as many figures after figures, each on a line, as the smallest table. Quick."""
    figures = [len(line) <= _LONGEST_FIGURE and line[:1] in _BEGINS_FIGURE for line in text.split("\n")]
    return sum(figures) >= 2 * _FEWEST_ROWS and sum(map(and_, figures, figures[1:])) >= _FEWEST_ROWS


def find_aligned_grids(words: Sequence[Word]) -> list[Grid]:
    """Return the grids of upright rows of figures, without their headings."""
    runs: list[list[list[Word]]] = []
    for line in lines_of(word for word in words if word.turn == 0):
        if not _is_row(line):
            continue
        if runs and _follows(runs[-1][-1], line):
            runs[-1].append(line)
        else:
            runs.append([line])
    return [grid for run in runs if len(run) >= _FEWEST_ROWS and (grid := _grid(run)) is not None]


def _is_row(line: Sequence[Word]) -> bool:
    """Return whether a line has words first, in one or two columns, and then at least two figures, set apart."""
    parts = _separate_texts(line)
    figures = len(list(takewhile(_FIGURE.fullmatch, reversed(parts))))
    return len(parts) >= _FEWEST_COLUMNS and max(2, len(parts) - 2) <= figures < len(parts)


def _separate_texts(line: Sequence[Word]) -> list[str]:
    """Return the texts of a line that are set apart from each other."""
    parts: list[str] = []
    reached = float("-inf")
    for word in sorted(line, key=lambda word: word.x0):
        if word.x0 - reached >= _COLUMN_GAP:
            parts.append(word.text)
        else:
            parts[-1] += f" {word.text}"
        reached = max(reached, word.x1)
    return parts


def _follows(above: Sequence[Word], line: Sequence[Word]) -> bool:
    return line[0].y0 - above[0].y0 <= _MOST_LEADING * (above[0].y1 - above[0].y0)


def _grid(rows: Sequence[Sequence[Word]]) -> Grid | None:
    """Return the grid of these rows; None if the spaces between their columns do not run through all of them."""
    words = [word for row in rows for word in row]
    between = [(start + end) / 2 for start, end in gaps([(word.x0, word.x1) for word in words], _COLUMN_GAP)]
    columns = (min(word.x0 for word in words) - 2, *between, max(word.x1 for word in words) + 2)
    if len(columns) <= _FEWEST_COLUMNS or any(len(_separate_texts(row)) > len(columns) - 1 for row in rows):
        return None
    tops = [min(word.y0 for word in row) for row in rows]
    return Grid(columns, (*tops, max(word.y1 for word in rows[-1]) + 1), (), (), open_columns=True)
