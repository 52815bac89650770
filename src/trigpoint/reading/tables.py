"""Tables: their totals, their shares of a whole, and rates times numbers in their rows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.statements import Statement
from trigpoint.reading.tokens import tokenise
from trigpoint.reading.vocabulary import Topic

_WORDS = Lexicon(
    {
        "mode": "walk walking foot cycle cycling bicycle bus buses coach rail train tram tube underground car taxi motorcycle "
        "motorbike scooter van",
        "other": "other others",
        "whole": "total totals sum",
        "every": "all both",
        "sub": "subtotal sub_-_total sub_total both",
        "within": "of_which including incl includes within",
        "rounding": "rounding rounded exclud* does_not_include",
        "target": "target targets year interim",
        "per_cent": "% per_cent percent percentage share shares",
        "money": "£ contribution contributions obligation* heads_of_terms budget cost costs",
        "travel_plan": "travel_plan travel_plans",
        "area": "floorspace floor_area gia gea nia m_2 sqm sq_m m² area areas",
        "homes": "dwelling dwellings homes units bedroom bedrooms",
        "cycle_parking": "cycle_parking cycle_space* cycle_stand* bicycle_parking cycle_store* bicycles cycles_spaces cycle_provision",
        "car_parking": "car_parking car_space* parking_space* parking_bay* vehicle_parking",
        "required": "required requirement requires standard_requires minimum",
        "provided": "proposed provided provision now total_proposed",
        "gone": "superseded previous previously existing former was before",
        "result": "space spaces required requirement provision provided total proposed",
    }
)
_FILLERS = frozenset(
    "total totals all sum overall grand scheme site the of spaces space cycle car parking provision number units dwellings homes "
    "parts transport contributions contribution both subtotal sub - ( ) , : £ sqm m2 m² sq m gia".split()
)
_MARKS = re.compile(r"^\W+|\W+$")


@dataclass(frozen=True)
class Table:
    """The rows of a table under its column headings, with the line above it and the line below it."""

    rows: tuple[Statement, ...]
    caption: str = ""
    note: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return self.rows[0].columns

    @cached_property
    def title(self) -> str:
        """The words that say what the table is about: its caption and the heading that it is under."""
        return " ".join((self.caption, *self.rows[0].headings[-1:]))

    @cached_property
    def may_not_add_up(self) -> bool:
        """Whether the line above or below says that figures are rounded or left out."""
        return any("rounding" in _WORDS.tag_text(text) for text in (self.note, self.caption))

    @cached_property
    def is_by_mode(self) -> bool:
        """Whether the rows are modes of travel."""
        named = [row for row in self.rows if is_mode(row.cells[0])]
        return len(named) >= 3 and len(named) >= len(self.rows) - 2

    def column_is(self, column: int, cue: str) -> bool:
        """Return whether a column's heading has such a word."""
        return column < len(self.columns) and cue in _WORDS.tag_text(self.columns[column])

    def titled(self, cue: str) -> bool:
        """Return whether the caption, the heading above the table or a column's heading has such a word."""
        return cue in _WORDS.tag_text(" ; ".join((self.title, *self.columns)))


def read_tables(statements: Sequence[Statement]) -> Iterator[Table]:
    """Yield each table that has column headings, in order."""
    start = 0
    while start < len(statements):
        first = statements[start]
        if first.kind != "row" or not first.columns:
            start += 1
            continue
        end = start + 1
        while end < len(statements) and _same_table(first, statements[end]):
            end += 1
        yield Table(
            rows=tuple(_without_marks(row) for row in statements[start:end]),
            caption=_caption(statements, start - 1, first),
            note=_text_of(statements, end, first),
        )
        start = end


def _without_marks(row: Statement) -> Statement:
    """Return a row whose cells are free of the marks of bold and italic print."""
    plain = {name: tuple(cell.strip(" *_") for cell in getattr(row, name)) for name in ("cells", "columns")}
    return row.model_copy(update=plain)


def _same_table(first: Statement, other: Statement) -> bool:
    return (other.kind, other.document_id, other.columns) == ("row", first.document_id, first.columns)


def _caption(statements: Sequence[Statement], index: int, row: Statement) -> str:
    """Return the line above a table if it is a caption; a whole sentence is about more than the table."""
    text = _text_of(statements, index, row)
    is_sentence = bool(text) and statements[index].kind == "sentence" and statements[index].text.rstrip().endswith(".")
    return "" if is_sentence else text


def _text_of(statements: Sequence[Statement], index: int, row: Statement) -> str:
    if not 0 <= index < len(statements) or statements[index].document_id != row.document_id:
        return ""
    return "" if statements[index].kind == "row" else _MARKS.sub("", statements[index].text)


def is_mode(label: str) -> bool:
    """Return whether a row's or column's label is a mode of travel, or "other"."""
    cues = _WORDS.tag_text(label)
    return "mode" in cues or "other" in cues


def is_total(row: Statement) -> bool:
    """Return whether a row is the total of all rows above it: "Total", "All"; not "Total, transport items"."""
    tokens = [token.text for token in tokenise(row.cells[0])]
    cues = _WORDS.tag_text(row.cells[0])
    whole = "whole" in cues or (bool(tokens) and tokens[0] in ("all", "both"))
    return whole and all(token in _FILLERS for token in tokens)


def is_subtotal(row: Statement) -> bool:
    """Return whether a row's label says that it adds up rows above it, whichever they are."""
    cues = _WORDS.tag_text(row.cells[0])
    return any(cue in cues for cue in ("whole", "sub", "every"))


def is_within(row: Statement) -> bool:
    """Return whether a row only details the one above it: "of which accessible"."""
    return "within" in _WORDS.tag_text(row.cells[0])


def cell_value(row: Statement, column: int) -> float | None:
    """Return the figure of a cell that holds one and nothing else but a unit."""
    if column >= len(row.cells):
        return None
    numbers = [token for token in tokenise(row.cells[column]) if token.kind == "number"]
    if len(numbers) != 1 or "%" in row.cells[column] or numbers[0].start > 1:
        return None
    return float(numbers[0].text.replace(",", ""))


def share_value(row: Statement, column: int) -> float | None:
    """Return the percentage of a cell that holds one and nothing else, with or without its sign."""
    if column >= len(row.cells):
        return None
    text = row.cells[column].replace("%", "").strip()
    try:
        return float(text)
    except ValueError:
        return None


def parts_above(table: Table) -> list[Statement] | None:
    """Return the rows that the last row adds up; None if it is not a total or the rows are not clearly its parts."""
    if not is_total(table.rows[-1]) or len(table.rows) < 3:
        return None
    above = list(table.rows[:-1])
    return None if any(is_within(row) for row in above) else above


def sums_of(rows: Sequence[Statement], column: int) -> tuple[list[Statement], tuple[float, ...]] | None:
    """Return the rows that are parts in a column, and every sum that the last row may rightly state; None if unsure.

    A subtotal counts instead of its rows if they are blank; blank cells among the parts leave it open what is added.
    """
    values = [cell_value(row, column) for row in rows]
    if any(value is None and row.cells[column : column + 1] != ("",) for value, row in zip(values, rows, strict=True)):
        return None
    parts = [row for row in rows if not is_subtotal(row)]
    plain = sum(value or 0.0 for value, row in zip(values, rows, strict=True) if row in parts)
    if len(parts) == len(rows):
        return (parts, (plain,)) if None not in values else None
    everything = sum(value or 0.0 for value in values)
    subtotals = everything - plain
    last = max(index for index, row in enumerate(rows) if is_subtotal(row))
    after = sum(value or 0.0 for value in values[last + 1 :])
    blank = [value for value, row in zip(values, rows, strict=True) if row in parts and value is None]
    return None if blank else (parts, (plain, subtotals + after))


def topic_of(table: Table) -> Topic | None:
    """Return the subject of a table by its words; None if it is not one that we compare."""
    if table.is_by_mode or sum(is_mode(column) for column in table.columns) >= 3:
        return "travel_plan.target" if table.titled("target") else "trips.mode_share"
    if table.titled("money") or all("£" in row.cells[-1] for row in table.rows):
        return (
            "travel_plan.measures" if table.titled("travel_plan") or _in_travel_plan(table) else "offsite.contribution"
        )
    subjects: tuple[tuple[str, Topic], ...] = (
        ("cycle_parking", "cycle_parking.total"),
        ("car_parking", "car_parking"),
        ("area", "development.size"),
        ("homes", "development.size"),
    )
    return next((topic for cue, topic in subjects if table.titled(cue)), None)


def _in_travel_plan(table: Table) -> bool:
    return any("travel_plan" in _WORDS.tag_text(heading) for heading in table.rows[0].headings)


def result_column(table: Table) -> int | None:
    """Return the column that states what a rate makes: the required number, or the last if it is a number of spaces."""
    required = [index for index in range(1, len(table.columns)) if table.column_is(index, "required")]
    if len(required) == 1:
        return required[0]
    last = len(table.columns) - 1
    return last if not required and table.column_is(last, "result") else None


def shortfalls(table: Table) -> Iterator[tuple[Statement, float, float]]:
    """Yield each row whose provided number is below its required number, with both."""
    required = [index for index in range(1, len(table.columns)) if table.column_is(index, "required")]
    provided = [index for index in range(1, len(table.columns)) if table.column_is(index, "provided")]
    if len(required) != 1 or len(provided) != 1 or required == provided:
        return
    for row in table.rows:
        wanted, given = cell_value(row, required[0]), cell_value(row, provided[0])
        if wanted is not None and given is not None and given < wanted and not is_total(row):
            yield row, given, wanted


def rounding_of(values: Sequence[float]) -> float:
    """Return by how much rounded shares may miss 100: a little more with every share, a tenth with one decimal."""
    step = 1.0 if all(value == int(value) for value in values) else 0.1
    return max(step, step * 0.72 * math.sqrt(len(values)))
