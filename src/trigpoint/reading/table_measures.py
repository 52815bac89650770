"""Figures that measure the scheme in tables: totals and groups of spaces, floor areas by use, mode share targets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.measured import Measured, MeasureKind
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.said import Said
from trigpoint.reading.scheme_measures import AREA, HOMES, PEOPLE, TARGET
from trigpoint.reading.scopes import groups_of, is_part, what_of
from trigpoint.reading.space_measures import CARS, CYCLES
from trigpoint.reading.statements import Statement
from trigpoint.reading.tables import Table, cell_value, is_mode, is_total, share_value
from trigpoint.reading.tokens import tokenise
from trigpoint.reading.uses import read_uses

_WORDS = Lexicon(
    {
        "cycling": "cycle cycling bicycle",
        "area": "gia gea nia floorspace floor_area m_2 m² sqm sq_m",
        "staff": "staff employees employee jobs",
        "pupils": "pupils roll",
        "label": "staff employees employee jobs fte full - time equivalent total number of pupils roll on ( )",
        "superseded": "superseded previous previously existing former old",
    }
)
_BEDROOMS = re.compile(r"\b(?:\d|one|two|three|four|five)[- ]?bed", re.IGNORECASE)
_NUMBER = re.compile(r"\(?\d[\d,]*(?:\s?(?:FTE|no\.?))?\)?")
_FILLERS = frozenset("total all both overall scheme spaces space parking cycle car for , ( ) - the".split())


def table_measures(table: Table, rows: dict[tuple[str, int], Said]) -> Iterator[Measured]:
    """Yield the measures of the scheme that a table gives."""
    for kind, measure, unit in (("cycle_parking", CYCLES, "cycle space"), ("car_parking", CARS, "car space")):
        if table.titled(kind):
            yield from _spaces(table, rows, measure, unit)
            break
    yield from _vehicles(table, rows)
    yield from _homes(table, rows)
    yield from _areas(table, rows)
    yield from _people_in_table(table, rows)
    yield from _targets(table, rows)


def _statement_of_row(row: Statement, rows: dict[tuple[str, int], Said]) -> Said:
    return rows[row.document_id, row.index]


def _spaces(table: Table, rows: dict[tuple[str, int], Said], measure: MeasureKind, unit: str) -> Iterator[Measured]:
    column = _provided_column(table)
    if column is None or "standard" in table.caption.lower():
        return
    for row in table.rows:
        value = cell_value(row, column)
        unit_name = _unit_of(table, row)
        label = _NUMBER.sub("", row.cells[0])
        groups = groups_of(f"{label} {table.caption} {table.columns[column]}", unit)
        own = groups_of(label, unit)
        whole = is_total(row) and row is table.rows[-1]
        known = whole or unit_name or (own and _is_only_a_group(label))
        if value is None or is_part(f"{table.caption} {label}") or not known:
            continue
        quantity = Quantity(value=value, unit=unit, end=len(row.text))
        what = what_of(unit, groups) + (f" at {unit_name.title()}" if unit_name else "")
        yield Measured(
            measure, (unit, unit_name, "planned", *groups), what, quantity, _statement_of_row(row, rows), whole=True
        )


def _unit_of(table: Table, row: Statement) -> str:
    """Return the unit of a row in a table by units: "1 (detailed)" under "Unit" is unit 1; several units are none."""
    match = re.match(r"(?:unit )?(\d+)\b(?! (?:and|to|&))", row.cells[0], re.IGNORECASE)
    return f"unit {match[1]}" if match and table.columns[0].lower().startswith("unit") else ""


def _vehicles(table: Table, rows: dict[tuple[str, int], Said]) -> Iterator[Measured]:
    """Yield the spaces in the application form's table of vehicle types: "Cars | 3 | 2 | -1" under "Total proposed"."""
    proposed = [index for index, column in enumerate(table.columns) if "total proposed" in column.lower()]
    if len(proposed) != 1 or "vehicle" not in table.columns[0].lower():
        return
    for row in table.rows:
        value, label = cell_value(row, proposed[0]), row.cells[0].lower()
        unit = next(
            (unit for word, unit in (("cycle space", "cycle space"), ("cars", "car space")) if word in label), None
        )
        if value is not None and unit is not None:
            measure = CARS if unit == "car space" else CYCLES
            quantity = Quantity(value=value, unit=unit, end=len(row.text))
            yield Measured(
                measure, (unit, "", "planned"), what_of(unit, ()), quantity, _statement_of_row(row, rows), whole=True
            )


def _homes(table: Table, rows: dict[tuple[str, int], Said]) -> Iterator[Measured]:
    """Yield the number of homes in an accommodation schedule, whose rows are homes by bedrooms."""
    by_bedrooms = [row for row in table.rows if _BEDROOMS.search(row.cells[0])]
    column = len(table.columns) - 1
    value = cell_value(table.rows[-1], column)
    parts = [cell_value(row, column) for row in by_bedrooms]
    counts_homes = None not in parts and value == sum(part or 0.0 for part in parts)
    if len(by_bedrooms) >= 2 and is_total(table.rows[-1]) and value is not None and counts_homes:
        quantity = Quantity(value=value, unit="dwelling", end=len(table.rows[-1].text))
        if not (table.titled("car_parking") or table.titled("cycle_parking")):
            yield Measured(
                HOMES, ("homes",), "the number of homes", quantity, _statement_of_row(table.rows[-1], rows), whole=True
            )


def _is_only_a_group(label: str) -> bool:
    """Return whether a row's label names a group of users and nothing else: "Pupils, both"; not "Pupils, Store A"."""
    words = [token.text for token in tokenise(label)]
    return all(word in _FILLERS or groups_of(word, "cycle space") for word in words)


def _provided_column(table: Table) -> int | None:
    """Return the column with what is provided: the one that says so, or the only one with figures."""
    said = [index for index in range(1, len(table.columns)) if table.column_is(index, "provided")]
    if said:
        return said[-1] if len(said) == 1 else None
    if any(table.column_is(index, "required") for index in range(1, len(table.columns))):
        return None
    figured = [
        index
        for index in range(1, len(table.columns))
        if "area" not in _WORDS.tag_text(table.columns[index])
        and sum(cell_value(row, index) is not None for row in table.rows) >= len(table.rows) - 1
    ]
    spaces = [index for index in figured if "space" in table.columns[index].lower()]
    totals = [index for index in figured if table.columns[index].lower().startswith("total")]
    return next((columns[0] for columns in (totals, spaces, figured) if len(columns) == 1), None)


def _areas(table: Table, rows: dict[tuple[str, int], Said]) -> Iterator[Measured]:
    """Yield the floor area of each use: "Offices | E(g)(i) | 18,240" under "GIA (sq m)", or "Office GIA | 17,960m²"."""
    for row in table.rows:
        uses = [use for use, size in read_uses(row.cells[0]) if size is None]
        for column in range(1, len(row.cells)):
            headed = column < len(table.columns) and "area" in _WORDS.tag_text(table.columns[column])
            in_cell = "area" in _WORDS.tag_text(row.cells[column]) and " per " not in row.cells[column]
            value = cell_value(row, column)
            superseded = column < len(table.columns) and "superseded" in _WORDS.tag_text(table.columns[column])
            if (
                len(uses) == 1
                and value is not None
                and (headed or in_cell)
                and not superseded
                and not is_part(row.cells[0])
            ):
                quantity = Quantity(value=value, unit="m2", end=len(row.text))
                use = uses[0].replace("_", " ")
                what = f"the floor area of the {use}"
                yield Measured(AREA, ("area", use), what, quantity, _statement_of_row(row, rows), whole=True)
                break


def _people_in_table(table: Table, rows: dict[tuple[str, int], Said]) -> Iterator[Measured]:
    """Yield the number of staff or pupils in a table of parameters: "Employees | 640"."""
    if len(table.columns) > 3 or table.titled("cycle_parking") or table.titled("car_parking") or table.is_by_mode:
        return
    for row in table.rows:
        words = [token.text for token in tokenise(row.cells[0])]
        cues = _WORDS.tag_text(row.cells[0])
        who = next((one for one in ("staff", "pupils") if one in cues), None)
        value = cell_value(row, 1)
        if who is not None and value is not None and len(_WORDS.tag_text(row.cells[0]).get("label", ())) >= len(words):
            quantity = Quantity(value=value, unit="employee", end=len(row.text))
            yield Measured(
                PEOPLE, ("people", who), f"the number of {who}", quantity, _statement_of_row(row, rows), whole=True
            )


def _targets(table: Table, rows: dict[tuple[str, int], Said]) -> Iterator[Measured]:
    """Yield the share of cycling in the last year of a table of targets."""
    years = [index for index, column in enumerate(table.columns) if re.search(r"\b[Yy]ear|[Tt]arget", column)]
    if not table.is_by_mode or not table.titled("target") or not years:
        return
    for row in table.rows:
        share = share_value(row, years[-1])
        if share is not None and is_mode(row.cells[0]) and "cycling" in _WORDS.tag_text(row.cells[0]):
            groups = groups_of(table.title, "share")
            quantity = Quantity(value=share, unit="%", end=len(row.text))
            what = "the share of cycling that is aimed at"
            yield Measured(
                TARGET, ("target", "cycling", *groups), what, quantity, _statement_of_row(row, rows), whole=True
            )
