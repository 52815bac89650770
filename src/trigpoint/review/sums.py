"""Totals and what they are said to be made of, in a sentence ("144 spaces including 127 … and 7 …") and in tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trigpoint.review.numbers import DIGITS, NUMBER, number
from trigpoint.review.quantities import Quantity, parse_quantities, sentence_break

_LINK = re.compile(
    r"\b(including|comprising|comprised of|made up of|consisting of|consists of|split (?:between|into)|being|of which)\b|:",
    re.IGNORECASE,
)
_EXHAUSTIVE = re.compile(r"compris|made up|consist|split|being|:", re.IGNORECASE)
_BRACKETED = re.compile(r"\([^()]*\)")
_NUMBER = re.compile(rf"(?<![\w£$.,/-]){NUMBER}(?![\w-])", re.IGNORECASE)
_PURPOSE = re.compile(
    r"\s+(?:for|within|in|at|as|to|on|allocated|visitor|residential|resident|staff|long|short|secure|covered|non-standard|cargo"
    r"|adapted|accessible|larger|two-tier|double|stacked|semi-vertical|vertical|Sheffield|ground|standard)\b",
    re.IGNORECASE,
)
_HOLDS = re.compile(r"\b(?:on|in|of|at|with)\s+(?:\w+\s+)?$", re.IGNORECASE)
# kinds of which one or the other is every space: both together are the whole
_WHOLES = [
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE))
    for one, other in (
        (r"\bresiden|\blong[ -]stay|\bstaff\b|\bemployee", r"\bvisitor|\bshort[ -]stay"),
        (r"\bracks?\b|\btwo-tier|\bstacked", r"\bstands?\b|\bSheffield|\bground[ -]level"),
        (r"\bflats?\b|\bapartments?\b", r"\bhouses?\b"),
    )
]


@dataclass(frozen=True)
class Breakdown:
    """A total and the parts that are said to make it up. `whole` where they are said to be all of it, or plainly are."""

    total: Quantity
    parts: tuple[Quantity, ...]
    whole: bool

    @property
    def sum(self) -> float:
        return sum(part.value for part in self.parts)

    @property
    def adds_up(self) -> bool:
        """Parts that are only some of a total may be less than it, never more."""
        low, high = self.total.interval
        return self.sum <= high + 1e-9 and not (self.whole and self.sum < low - 1e-9)


@dataclass(frozen=True)
class TableSum:
    """A table's total row that is not the sum of its rows."""

    label: str
    stated: float
    computed: float
    parts: tuple[float, ...]
    start: int
    end: int


def parse_breakdowns(text: str) -> list[Breakdown]:
    """Totals with their parts. A list with a number that cannot be read as a part is left alone."""
    plain = _BRACKETED.sub(lambda match: " " * len(match[0]), text)
    quantities = parse_quantities(plain)
    found = []
    for total in quantities:
        link = _LINK.search(plain, total.end, total.end + 60)
        if total.per is not None or link is None or sentence_break(plain[total.end : link.start()]):
            continue
        stop = re.compile(r"[.;](?:\s|$)").search(plain, link.end())
        end = stop.start() if stop else len(plain)
        parts = _parts(plain, total, link.end(), end, quantities)
        if parts is not None and len(parts) > 1:
            whole = _EXHAUSTIVE.search(link[0]) is not None or _are_the_whole(plain[:end], total, parts)
            found.append(Breakdown(total, parts, whole))
    return found


def _parts(
    text: str, total: Quantity, start: int, end: int, quantities: Sequence[Quantity]
) -> tuple[Quantity, ...] | None:
    """The quantities of the total's kind that follow, and bare numbers with a purpose ("127 for residents"). None
    where another number stands among them."""
    within = [quantity for quantity in quantities if start <= quantity.start < end]
    if any(_is_other_part(text, total, quantity) for quantity in within):
        return None
    parts = [quantity for quantity in within if quantity.unit == total.unit and quantity.per is None]
    for match in _NUMBER.finditer(text, start, end):
        if any(quantity.start <= match.start() < quantity.end for quantity in within):
            continue
        if _PURPOSE.match(text, match.end()) is None:
            return None
        parts.append(Quantity(number(match[0]), total.unit, match.start(), match.end(), match[0]))
    return tuple(sorted(parts, key=lambda part: part.start))


def _is_other_part(text: str, total: Quantity, quantity: Quantity) -> bool:
    """A part in another measure: the stands of "144 spaces: 40 stands and 64 spaces in racks"."""
    same = quantity.unit == total.unit or total.unit != quantity.in_spaces().unit
    return not same and _HOLDS.search(text[: quantity.start]) is None


def _are_the_whole(text: str, total: Quantity, parts: Sequence[Quantity]) -> bool:
    """Parts of two kinds that leave no third (residents and visitors, racks and stands), and most of the total."""
    ends = [part.start for part in parts[1:]] + [len(text)]
    named = [text[part.start : end] for part, end in zip(parts, ends, strict=True)]
    both = any(any(map(one.search, named)) and any(map(other.search, named)) for one, other in _WHOLES)
    return both and sum(part.value for part in parts) * 2 > total.value


def check_table_sums(text: str) -> list[TableSum]:
    """Total rows that do not add up. Cells may stand on one line or on a line each."""
    found: list[TableSum] = []
    rows: list[_Row] = []
    for row in _rows(text):
        if row.label.lower().startswith(("total", "overall total", "grand total")):
            same = _rows_above(rows, len(row.cells))
            if len(same) >= 2:
                found.extend(_wrong_columns(row, same))
            rows = []
        else:
            rows.append(row)
    return found


@dataclass(frozen=True)
class _Row:
    label: str
    cells: tuple[float, ...]
    start: int
    end: int


_ROW = re.compile(
    rf"^(?P<label>[A-Za-z][^\n]*?[A-Za-z)\]*])?\s*(?P<cells>(?:(?:^|\s)\s*(?:{DIGITS}))+)\s*$", re.MULTILINE
)
_CELL = re.compile(DIGITS)


def _rows(text: str) -> list[_Row]:
    rows: list[_Row] = []
    label, label_start = "", 0
    cells: list[float] = []
    end = 0
    position = 0
    for line in text.split("\n"):
        start, position = position, position + len(line) + 1
        stripped = line.strip()
        match = _ROW.match(stripped) if stripped else None
        if match is None or (match["label"] and cells):
            if cells and label:
                rows.append(_Row(label, tuple(cells), label_start, end))
            cells = []
        if match is None:
            label, label_start = stripped, start
            continue
        if match["label"]:
            label, label_start = match["label"].strip(), start
        cells.extend(number(cell) for cell in _CELL.findall(match["cells"]))
        end = start + len(line)
    if cells and label:
        rows.append(_Row(label, tuple(cells), label_start, end))
    return rows


def _rows_above(rows: Sequence[_Row], width: int) -> list[_Row]:
    same: list[_Row] = []
    for row in reversed(rows):
        if len(row.cells) != width:
            break
        same.append(row)
    return same[::-1]


def _wrong_columns(total: _Row, rows: Sequence[_Row]) -> list[TableSum]:
    wrong = []
    for column, stated in enumerate(total.cells):
        parts = tuple(row.cells[column] for row in rows)
        if not _adds_up(parts, stated) and all(part <= stated for part in parts) and _are_labels(rows):
            wrong.append(TableSum(total.label, stated, sum(parts), parts, rows[0].start, total.end))
    return wrong


def _adds_up(parts: Sequence[float], stated: float) -> bool:
    """Whether the parts make the total, all of them or each second or third: cells of one column among others."""
    ways = [parts] + [parts[start::step] for step in (2, 3) for start in range(step)]
    return any(abs(sum(way) - stated) < 1e-9 for way in ways)


def _are_labels(rows: Sequence[_Row]) -> bool:
    """A label is words; "2 spaces per dwelling" is a cell of another column, and the table cannot be read safely."""
    return not any(re.match(r"\d[\d.,]*\s+\S+\s+per\b", row.label) for row in rows)
