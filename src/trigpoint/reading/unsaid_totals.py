"""Tables without a total, added up and compared with the total that a sentence gives for what they list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trigpoint.reading.discrepancies import Discrepancy
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.parts import Part, wrong_sum
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.said import Said
from trigpoint.reading.scopes import groups_of, is_part
from trigpoint.reading.statements import Statement
from trigpoint.reading.tables import Table, cell_value, is_subtotal, is_within
from trigpoint.reading.vocabulary import NOT_OFFERED, Topic

_MOST_APART = 0.15  # a sum further from a figure than this share of it is of something else
_LEAST_ROWS = 3
_AROUND = 15  # characters around a figure in which a word makes it a part
_COLUMNS = Lexicon(
    {
        "spaces": "space spaces number no provided proposed provision total",
        "staff": "staff employees fte jobs",
        "area": "gia gea nia floorspace floor_area m_2 m² sqm sq_m",
        "not": "existing required requirement standard maximum minimum rate per demand occupied previous superseded cost",
    }
)
_PEOPLE = re.compile(r"\s*(?:members of staff|full-time)\b")


@dataclass(frozen=True)
class _ListedColumn:
    """The things that a table's column lists, and the units in which a sentence gives its total."""

    topic: Topic
    units: tuple[str, ...]
    rows: tuple[Statement, ...]
    values: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.values)


def check_unsaid_totals(said: Sequence[Said], tables: Sequence[Table]) -> Iterator[Discrepancy]:
    """Yield the tables whose figures do not make the total that a sentence gives, each with the sentence nearest to it."""
    rows = {(one.statement.document_id, one.statement.index): one for one in said}
    for table in tables:
        first = table.rows[0]
        for listed in _columns_without_total(table) if (first.document_id, first.index) in rows else ():
            found = [pair for one in said for pair in _possible_totals(one, listed)]
            right = {place.document.id for place, quantity in found if quantity.value == listed.total}
            stated = [pair for pair in found if not right or (pair[0].document.id == first.document_id not in right)]
            if stated:
                place, quantity = min(stated, key=lambda pair: abs(pair[1].value - listed.total))
                words = place.text[quantity.start : quantity.end]
                total = Part(quantity.value, quantity.unit, None, words, place.source)
                parts = [
                    Part(value, "", None, row.text, rows[row.document_id, row.index].source)
                    for row, value in zip(listed.rows, listed.values, strict=True)
                ]
                yield wrong_sum(listed.topic, total, parts, listed.total)


def _columns_without_total(table: Table) -> Iterator[_ListedColumn]:
    """Yield the columns of a table without a total whose every row has a figure."""
    if (
        len(table.rows) < _LEAST_ROWS
        or table.is_by_mode
        or any(is_subtotal(row) or is_within(row) for row in table.rows)
    ):
        return
    for column in range(1, len(table.columns)):
        values = [cell_value(row, column) for row in table.rows]
        kind = _topic_and_units(table, table.columns[column])
        if kind is not None and None not in values:
            yield _ListedColumn(*kind, table.rows, tuple(value or 0.0 for value in values))


def _topic_and_units(table: Table, heading: str) -> tuple[Topic, tuple[str, ...]] | None:
    cues = _COLUMNS.tag_text(heading)
    if "not" in cues or "standard" in table.caption.lower():
        return None
    if "staff" in cues:
        return "development.size", ("employee", "job")
    if "area" in cues:
        return "development.size", ("m2",)
    if "spaces" in cues and table.titled("cycle_parking") != table.titled("car_parking"):
        on_cycles = table.titled("cycle_parking")
        return ("cycle_parking.total", ("cycle space",)) if on_cycles else ("car_parking", ("car space",))
    return None


def _possible_totals(said: Said, listed: _ListedColumn) -> Iterator[tuple[Said, Quantity]]:
    """Yield the figures of a sentence that may be the total of what is listed."""
    if (
        said.statement.kind == "row"
        or said.is_elsewhere
        or said.is_requirement
        or any(fact.status in NOT_OFFERED for fact in said.facts)
    ):
        return
    for one in said.counts:
        near = said.text[max(0, one.start - _AROUND) : one.end + _AROUND]
        unit = "employee" if one.unit == "" and _PEOPLE.match(said.text, one.end) else one.unit
        plain = one.per is None and one.high is None and one.limit in ("exactly", "about")
        of_all = not is_part(near) and not groups_of(one.of, one.unit)
        close = abs(one.value - listed.total) <= _MOST_APART * one.value and one.value > max(listed.values)
        if unit in listed.units and plain and of_all and close:
            yield said, one
