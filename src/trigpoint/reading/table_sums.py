"""Checks tables: totals of columns and rows, shares that should make 100 per cent, rates times numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from trigpoint.reading.discrepancies import Discrepancy
from trigpoint.reading.documents import Source
from trigpoint.reading.parts import Part, is_near, source_like, wrong_change, wrong_sum, wrong_whole
from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.rates import wrong_rate
from trigpoint.reading.said import Said
from trigpoint.reading.statements import Statement
from trigpoint.reading.tables import (
    Table,
    cell_value,
    is_mode,
    is_subtotal,
    is_total,
    is_within,
    parts_above,
    result_column,
    rounding_of,
    share_value,
    sums_of,
)
from trigpoint.reading.tokens import tokenise
from trigpoint.reading.vocabulary import Topic

_LIKELY_WHOLE = (85.0, 115.0)  # shares that add up to something else are not all shares of one whole


def check_table(table: Table, topic: Topic, source: Source) -> Iterator[Discrepancy]:
    """Yield what does not add up in a table. `source` is any place in the table's document."""
    for row in table.rows:
        yield from _check_rate(table, row, topic, source)
    if table.may_not_add_up:
        return
    if not table.is_by_mode:
        yield from _check_columns(table, topic, source)
    yield from _check_rows(table, topic, source)
    yield from _check_modes(table, topic, source)


def _part_of_row(row: Statement, value: float, source: Source, unit: str = "") -> Part:
    return Part(value, unit, None, row.text, source_like(source, row))


def _check_columns(table: Table, topic: Topic, source: Source) -> Iterator[Discrepancy]:
    """Compare each column's figures with the last row's total. One column that adds up shows that the rows are parts."""
    rows = parts_above(table)
    if rows is None:
        return
    wrong: list[Discrepancy] = []
    right = 0
    for column in range(1, len(table.columns)):
        stated = cell_value(table.rows[-1], column)
        summed = sums_of(rows, column)
        if stated is None or summed is None:
            continue
        parts, possible = summed
        if any(_is_same(one, stated) for one in possible):
            right += 1
        elif len(possible) == 1 and is_near(possible[0], stated):
            counted = [_part_of_row(row, cell_value(row, column) or 0.0, source) for row in parts]
            wrong.append(wrong_sum(topic, _part_of_row(table.rows[-1], stated, source), counted, possible[0]))
    if right or len(wrong) == 1:
        yield from wrong


def _is_same(computed: float, stated: float) -> bool:
    """Return whether a sum is the total; among thousands one more or less is rounding."""
    return math.isclose(computed, stated, rel_tol=0.001, abs_tol=0.5)


def _check_rows(table: Table, topic: Topic, source: Source) -> Iterator[Discrepancy]:
    """Compare each row's figures with its last column, if that is their total in other rows."""
    last = len(table.columns) - 1
    if not table.column_is(last, "whole") or last < 3:
        return
    wrong: list[Discrepancy] = []
    right = 0
    for row in table.rows:
        values = [cell_value(row, column) for column in range(1, last + 1)]
        if any(value is None for value in values):
            continue
        *parts, stated = [value or 0.0 for value in values]
        if _is_same(sum(parts), stated):
            right += 1
        elif is_near(sum(parts), stated):
            counted = [_part_of_row(row, value, source) for value in parts]
            wrong.append(wrong_sum(topic, _part_of_row(row, stated, source), counted, sum(parts)))
    if right > len(wrong):
        yield from wrong


def _check_modes(table: Table, topic: Topic, source: Source) -> Iterator[Discrepancy]:
    """Compare the shares of all modes with 100 per cent, in each column or, if the columns are modes, in each row."""
    if table.is_by_mode:
        yield from _check_mode_columns(table, topic, source)
        return
    modes = [index for index, column in enumerate(table.columns) if is_mode(column)]
    if len(modes) < 3:
        return
    has_other = any(_is_other(table.columns[index]) for index in modes)
    for row in table.rows:
        given = [share for column in modes if (share := share_value(row, column)) is not None]
        parts = [_part_of_row(row, share, source, "%") for share in given]
        if len(given) == len(modes):
            yield from _check_whole(topic, parts, has_other=has_other)


def _check_mode_columns(table: Table, topic: Topic, source: Source) -> Iterator[Discrepancy]:
    rows = [row for row in table.rows if not is_total(row)]
    if any(is_within(row) or is_subtotal(row) for row in rows):
        return
    has_other = any(_is_other(row.cells[0]) for row in rows)
    for column in range(1, len(table.columns)):
        shares = [share for row in rows if (share := share_value(row, column)) is not None]
        in_per_cent = any("%" in row.cells[column] for row in rows if column < len(row.cells))
        if len(shares) == len(rows) and (in_per_cent or table.titled("per_cent")):
            parts = [_part_of_row(row, share, source, "%") for row, share in zip(rows, shares, strict=True)]
            yield from _check_whole(topic, parts, has_other=has_other)


def check_change_of_share(table: Table, said: Said) -> Iterator[Discrepancy]:
    """Compare "a reduction of 10 percentage points in car driver trips" with the first and last share of a table's row.

    A difference between any two columns of the row is right: a target may be counted from any year.
    """
    points = [one for one in said.counts if one.unit == "%" and "point" in said.text[one.start : one.end]]
    rows = [row for row in table.rows if is_mode(row.cells[0]) and row.cells[0].lower() in said.text.lower()]
    if len(points) != 1 or len(said.counts) > 2 or len(rows) != 1 or not table.is_by_mode or len(table.columns) < 3:
        return
    row = rows[0]
    shares = [share for column in range(1, len(table.columns)) if (share := share_value(row, column)) is not None]
    changes = {round(abs(one - other), 6) for one in shares for other in shares}
    if len(shares) >= 2 and not any(abs(change - points[0].value) <= 0.5 for change in changes):
        before, after = (_part_of_row(row, share, said.source, "%") for share in (shares[0], shares[-1]))
        stated = Part(points[0].value, "%", None, said.text[points[0].start : points[0].end], said.source)
        yield wrong_change("travel_plan.target", before, after, stated)


def _is_other(label: str) -> bool:
    return "other" in label.lower()


def _check_whole(topic: Topic, parts: Sequence[Part], *, has_other: bool) -> Iterator[Discrepancy]:
    """Report shares that do not make 100 per cent; less than that only if other modes are among them."""
    values = [part.value for part in parts]
    computed = round(sum(values), 6)
    likely = _LIKELY_WHOLE[0] <= computed <= _LIKELY_WHOLE[1] and (has_other or computed > 100)
    if likely and abs(computed - 100) > rounding_of(values):
        yield wrong_whole(topic, parts, computed)


def _check_rate(table: Table, row: Statement, topic: Topic, source: Source) -> Iterator[Discrepancy]:
    """Check a row with a rate, a number and a result: "Houses (152) | 2 per dwelling | 304"."""
    rates = [one for cell in row.cells for one in read_quantities(cell) if one.per is not None and one.unit != "pound"]
    column = result_column(table)
    result = cell_value(row, column) if column is not None else None
    number = _number_of(row, column) if len(rates) == 1 and column is not None else None
    if number is None or result is None:
        return
    counted = Quantity(value=number, unit=rates[0].per or "", end=len(row.text))
    given = Quantity(value=result, unit=rates[0].unit, end=len(row.text))
    yield from wrong_rate(topic, rates[0], counted, given, row.text, source_like(source, row))


def _number_of(row: Statement, result: int) -> float | None:
    """Return the number that a rate applies to: in brackets after the row's label, or the one column between."""
    label = [token for token in tokenise(row.cells[0]) if token.kind == "number"]
    if len(label) == 1 and f"({label[0].text})" in row.cells[0]:
        return float(label[0].text.replace(",", ""))
    between = [
        value
        for column in range(1, result)
        if (value := cell_value(row, column)) is not None and not read_quantities(row.cells[column])
    ]
    return between[0] if len(between) == 1 else None
