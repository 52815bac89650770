"""Quantities with their units, read from the words of a planning document: "2 spaces per dwelling", "3.0m wide",
"1 Sheffield stand per 10 dwellings" (two spaces a stand), "144 spaces including 127 … and 7 …", rows of tables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

SPACES_PER_STAND = 2

_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100,
}  # fmt: skip
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_NUMBER = rf"(?:{_DIGITS}|(?:{'|'.join(_WORDS)})\b)"
_UNITS = {
    "m2": r"m²|m2\b|sq\.?\s?m\b|sqm\b|square metres?",
    "km": r"km\b|kilomet(?:re|er)s?",
    "mm": r"mm\b|millimet(?:re|er)s?",
    "mph": r"mph\b|miles per hour",
    "mile": r"miles?\b(?! per hour)",
    "m": r"m\b(?!²)|met(?:re|er)s?\b",
    "%": r"%|per ?cent\b",
    "minute": r"min(?:ute)?s?\b",
    "second": r"seconds?\b",
    "year": r"years?\b",
}
_NOUNS = {
    "space": r"spaces|space|bays?\b",
    "stand": r"stands|stand",
    "rack": r"racks|rack|lockers|locker",
    "cycle": r"bikes?|bicycles?|cycles(?!\w)",
    "dwelling": r"dwellings?|homes?|houses?|apartments?|flats?|residential units?|units?|properties|property|plots?",
    "bedroom": r"bedrooms?|bed(?=[ -]spaces?)",
    "trip": r"trips?|journeys?|movements",
    "vehicle": r"vehicles?|pcus?|cars?\b",
    "cyclist": r"cyclists?",
    "pupil": r"pupils?|students?",
    "employee": r"employees?|staff|workers",
    "storey": r"storeys?",
    "bus": r"buses|services",
    "resident": r"residents?",
}
_UNIT = "|".join(f"(?P<u_{i}>{pattern})" for i, pattern in enumerate(_UNITS.values()))
_NOUN = "|".join(f"(?P<n_{i}>{pattern})" for i, pattern in enumerate(_NOUNS.values()))
_UNIT_NAMES, _NOUN_NAMES = list(_UNITS), list(_NOUNS)
# between a number and what it counts: adjectives, never another number, a full stop or a verb
_BETWEEN = r"(?:(?!(?:is|are|was|were|will|to|per|for|of|from|within|and a|in|at|on|with|that|which)\b)[A-Za-z][A-Za-z/’'-]*,?\s+){0,6}?"
_MEASURE = re.compile(
    rf"(?<![\w£$.,/-])(?P<n>{_NUMBER})(?:\s?(?:-|–|to)\s?(?P<hi>{_DIGITS}))?[\s-]?(?:{_UNIT})", re.IGNORECASE
)
_COUNT = re.compile(
    rf"(?<![\w£$.,/-])(?P<n>{_NUMBER})(?:\s?(?:-|–|to)\s?(?P<hi>{_DIGITS}))?[\s-]+(?P<adj>{_BETWEEN})(?:{_NOUN})\b",
    re.IGNORECASE,
)
_BARE_RATE = re.compile(
    rf"(?<![\w£$.,/-])(?P<n>{_NUMBER})\s+(?=(?:per|for each|for every)\s+(?:{_DIGITS}\s?)?(?:\w+\s+)?(?:dwelling|home|house|flat|apartment|bedroom|unit|employee|staff|pupil|student|\d|m²|sqm))",
    re.IGNORECASE,
)
_DENOMINATOR = {
    "dwelling": r"dwellings?|homes?|houses?|apartments?|flats?|residential units?|units?|propert(?:y|ies)|plots?",
    "bedroom": r"bedrooms?",
    "m2": r"m²|m2|sq\.?\s?m|sqm|square metres?",
    "employee": r"employees?|staff|members? of staff",
    "pupil": r"pupils?|students?",
    "hour": r"hours?|hr",
    "day": r"days?",
}
_DEN = "|".join(f"(?P<d_{i}>{pattern})" for i, pattern in enumerate(_DENOMINATOR.values()))
_DEN_NAMES = list(_DENOMINATOR)
_PER = re.compile(
    rf"\s*\(?(?:per|for each|for every|an?(?=\s+hour|\s+day)|/|each(?=\s+hour))\s*(?:\d-bed(?:room)?(?:ed)?\s+|(?P<count>{_NUMBER})\s*)?(?:[a-z]+\s+(?!of\b)){{0,2}}?(?:{_DEN})\b",
    re.IGNORECASE,
)
_EACH = re.compile(
    rf"\b(?:each|every|all|per)\s+(?:(?:new|proposed|residential|individual|of the|family|\d-bed(?:room)?)\s+){{0,2}}(?:{_DEN})\b",
    re.IGNORECASE,
)
_INCLUDING = re.compile(
    r"\b(including|comprising|comprised of|made up of|consisting of|consists of|split (?:between|into)|being|of which)\b|:",
    re.IGNORECASE,
)
_EXHAUSTIVE = re.compile(r"compris|made up|consist|split|being|:", re.IGNORECASE)


@dataclass(frozen=True)
class Quantity:
    """A value with its unit. `per` and `per_count` make it a rate: 1 stand per 10 dwellings."""

    value: float
    unit: str
    start: int
    end: int
    text: str
    per: str | None = None
    per_count: float = 1.0
    high: float | None = None

    @property
    def rate(self) -> float:
        """The value for one of what it is counted per."""
        return self.value / self.per_count

    @property
    def lowest(self) -> float:
        return self.value

    @property
    def highest(self) -> float:
        return self.value if self.high is None else self.high

    def in_spaces(self) -> Quantity:
        """Stands as the spaces they give; bikes and racks as one space each."""
        factor = {"stand": SPACES_PER_STAND, "cycle": 1, "rack": 1, "space": 1}.get(self.unit)
        if factor is None:
            return self
        high = None if self.high is None else self.high * factor
        return Quantity(self.value * factor, "space", self.start, self.end, self.text, self.per, self.per_count, high)

    def in_metres(self) -> Quantity:
        """Lengths in metres; anything else unchanged."""
        factor = {"km": 1000.0, "mm": 0.001, "mile": 1609.344, "m": 1.0}.get(self.unit)
        if factor is None:
            return self
        high = None if self.high is None else self.high * factor
        return Quantity(
            round(self.value * factor, 6), "m", self.start, self.end, self.text, self.per, self.per_count, high
        )


@dataclass(frozen=True)
class Breakdown:
    """A total and the parts that are said to make it up."""

    total: Quantity
    parts: tuple[Quantity, ...]
    exhaustive: bool

    @property
    def difference(self) -> float:
        return self.total.value - sum(part.value for part in self.parts)

    @property
    def adds_up(self) -> bool:
        return abs(self.difference) < 1e-9


@dataclass(frozen=True)
class TableSum:
    """A table's total row that is not the sum of its rows."""

    label: str
    stated: float
    computed: float
    parts: tuple[float, ...]
    start: int
    end: int


def number(text: str) -> float:
    """A number as it is written: digits with or without commas, or a word."""
    word = text.lower().strip()
    return float(_WORDS[word]) if word in _WORDS else float(word.replace(",", ""))


def parse_quantities(text: str) -> list[Quantity]:
    """Every quantity of a sentence, in order. A number that belongs to none is not one."""
    found: list[Quantity] = []
    for match in _MEASURE.finditer(text):
        found.append(_quantity(text, match, _named(match, "u_", _UNIT_NAMES)))
    for match in _COUNT.finditer(text):
        if not any(q.start < match.end() and match.start() < q.end for q in found):
            found.append(_quantity(text, match, _named(match, "n_", _NOUN_NAMES)))
    for match in _BARE_RATE.finditer(text):
        if not any(q.start <= match.start() < q.end for q in found):
            found.append(_quantity(text, match, _implied_unit(text[: match.start()])))
    return sorted(found, key=lambda q: q.start)


def parse_breakdowns(text: str) -> list[Breakdown]:
    """Totals with their parts: "144 spaces including 127 residential spaces and 7 visitor spaces"."""
    quantities = [q for q in parse_quantities(text) if q.per is None]
    found = []
    for index, total in enumerate(quantities):
        rest = text[total.end :]
        link = _INCLUDING.search(rest[:60])
        if link is None or _sentence_break(rest[: link.start()]):
            continue
        parts = _parts(text, total, total.end + link.end(), quantities[index + 1 :])
        if len(parts) >= 2 or (len(parts) == 1 and _EXHAUSTIVE.search(link[0])):
            found.append(Breakdown(total, tuple(parts), bool(_EXHAUSTIVE.search(link[0]))))
    return found


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
    rf"^(?P<label>[A-Za-z][^\n]*?[A-Za-z)\]*])?\s*(?P<cells>(?:(?:^|\s)\s*(?:{_DIGITS}))+)\s*$", re.MULTILINE
)
_CELL = re.compile(_DIGITS)


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


def _named(match: re.Match[str], prefix: str, names: list[str]) -> str:
    return next(name for i, name in enumerate(names) if match.group(f"{prefix}{i}"))


def _quantity(text: str, match: re.Match[str], unit: str) -> Quantity:
    per = _PER.match(text, match.end())
    end = per.end() if per else match.end()
    name = _named(per, "d_", _DEN_NAMES) if per else None
    count = number(per["count"]) if per and per["count"] else 1.0
    if per is None and unit in ("space", "stand", "cycle", "rack"):
        name = _each_before(text, match.start()) or _each_after(text, match.end())
    high = match.groupdict().get("hi")
    return Quantity(
        number(match["n"]),
        unit,
        match.start(),
        end,
        text[match.start() : end],
        name,
        count,
        number(high) if high else None,
    )


def _each_before(text: str, start: int) -> str | None:
    before = text[max(0, start - 110) : start]
    found = [m for m in _EACH.finditer(before) if not _sentence_break(before[m.end() :])]
    return _named(found[-1], "d_", _DEN_NAMES) if found else None


def _each_after(text: str, end: int) -> str | None:
    """ "2 spaces will be provided for each dwelling": the denominator a few words later."""
    match = re.match(
        rf"[^.;:]{{0,60}}?\b(?:(?:for|to) (?:each|every)|per)\s+(?:[a-z]+\s+){{0,2}}?(?:{_DEN})\b",
        text[end:],
        re.IGNORECASE,
    )
    return _named(match, "d_", _DEN_NAMES) if match else None


def _implied_unit(before: str) -> str:
    return "stand" if re.search(r"stands?\b[^.]*$", before, re.IGNORECASE) else "space"


def _sentence_break(text: str) -> bool:
    return re.search(r"[.;](?:\s|$)", text) is not None


def _parts(text: str, total: Quantity, start: int, later: Sequence[Quantity]) -> list[Quantity]:
    """The quantities of the total's kind that follow, and bare numbers with a purpose ("127 for residents")."""
    stop = re.search(r"[.;](?:\s|$)", text[start:])
    end = start + stop.start() if stop else len(text)
    parts = [q for q in later if start <= q.start < end and q.unit == total.unit]
    covered = [(q.start, q.end) for q in later]
    for match in re.finditer(
        rf"(?<![\w£$.,/-])(?P<n>{_DIGITS})(?=\s+(?:for|within|in|at|as|to|allocated|visitor|residential|long|short|resident|staff|secure|non-standard|cargo|adapted|accessible)\b)",
        text[start:end],
    ):
        at = start + match.start()
        if not any(a <= at < b for a, b in covered):
            parts.append(Quantity(number(match["n"]), total.unit, at, at + len(match[0]), match[0]))
    return sorted(parts, key=lambda q: q.start)
