"""Arithmetic over what is stated: parts and totals, shares, and rates times numbers, in sentences, lists and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from trigpoint.reading.discrepancies import Discrepancy, Input, distinct, figures
from trigpoint.reading.documents import Source
from trigpoint.reading.facts import Fact
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.statements import Statement
from trigpoint.reading.tokens import tokenise
from trigpoint.reading.vocabulary import Topic

SHARE_TOLERANCE = 1.0  # percentage points; rounding to whole per cent explains half of one
NEARLY_ALL = 0.85
WHOLE = (99.0, 101.0)  # shares that add up to this describe the whole

_JOINTS = Lexicon(
    {
        "gives": "gives equates equate equivalent generates requires requirement resulting results therefore total equal",
        "whole": "comprising comprises comprise consisting consists made_up_of broken_down split divided namely forming "
        "in_the_form_of being of_which_all totalling",
        "open": "including includes include such_as example of_which approximately around circa about up_to at_least "
        "minimum more_than over plus addition existing additional replac*",
    }
)
_CYCLES_EACH = {"cycle stand": 2.0, "stand": 2.0, "sheffield stand": 2.0}
_COUNTS = frozenset(
    ("cycle space", "cycle stand", "cycle rack", "car space", "space", "stand", "dwelling", "locker", "unit", "")
)


@dataclass(frozen=True)
class _Part:
    value: float
    unit: str
    share: float | None
    words: str
    source: Source


def check_sums(facts: Sequence[Fact], statements: Sequence[Statement] = ()) -> tuple[Discrepancy, ...]:
    """Return the sums, shares and rates that do not add up. Lists and tables are checked if statements are given."""
    found: list[Discrepancy] = []
    by_statement = {(fact.source.document_id, fact.source.statement): fact for fact in reversed(facts)}
    for fact in sorted(by_statement.values(), key=lambda one: (one.source.document_id, one.source.start)):
        found.extend(_check_sentence(fact))
    for whole, bullets in _lists(statements, by_statement):
        found.extend(_check_list(whole, bullets))
    for rows in _tables(statements):
        found.extend(_check_table(rows, by_statement))
    return distinct(found)


def _check_sentence(fact: Fact) -> Iterator[Discrepancy]:
    """Check a sentence that gives a total and its parts: "144 spaces, of 127 (95%) two-tier and 7 (5%) stands"."""
    text = fact.source.quote
    counts = [] if " | " in text else _counted_with_shares(text, fact.source)
    yield from _check_stated_rate(fact)
    if len(counts) < 2 or counts[0].share is not None or not _same_things(counts):
        return
    total, parts = counts[0], counts[1:]
    if all(part.share is not None for part in parts):
        yield from _check_parts(fact.topic, total, parts, exhaustive=_shares_make_whole(parts))
    elif len(parts) > 1 and _says_whole(text, total):
        yield from _check_parts(fact.topic, total, parts, exhaustive=True)
    elif len(parts) > 1 and fact.topic.startswith("cycle_parking"):
        yield from _check_unexplained(fact.topic, total, parts)


def _check_unexplained(topic: Topic, total: _Part, parts: Sequence[_Part]) -> Iterator[Discrepancy]:
    """Report a few spaces that are left over when nearly all of them are described: "144, including 127 and 7"."""
    named = sum(part.value for part in parts)
    plain = all(part.unit in ("space", "cycle space") for part in (total, *parts))
    sums = _possible_sums(parts)
    if plain and NEARLY_ALL * total.value <= named < total.value and total.value not in sums:
        found = _wrong_sum(topic, total, parts, named)
        summary = (
            f"The parts that are named make {figures(named)}, not {figures(total.value)}; the rest is not explained."
        )
        yield found.model_copy(update={"summary": summary})


def _check_stated_rate(fact: Fact) -> Iterator[Discrepancy]:
    """Check a sentence with one rate, one number and one result: "1 per 75 sqm of 9,150 sqm gives 122 spaces"."""
    text = fact.source.quote
    given = [
        one for one in read_quantities(text) if one.limit == "exactly" and one.high is None and one.unit != "pound"
    ]
    rates = [one for one in given if one.per is not None and one.unit in _COUNTS]
    if len(rates) != 1 or " | " in text or "gives" not in _JOINTS.tag_text(text):
        return
    rate = rates[0]
    numbers = [one for one in given if one.per is None and one.unit == rate.per]
    results = [one for one in given if one.per is None and one.unit == rate.unit and one is not rate]
    if len(numbers) == len(results) == 1:
        yield from _wrong_rate(fact.topic, rate, numbers[0], results[0], text, fact.source)


def _wrong_rate(
    topic: Topic, rate: Quantity, number: Quantity, result: Quantity, text: str, source: Source
) -> Iterator[Discrepancy]:
    exact = round(rate.rate * number.value, 6)
    holds = _CYCLES_EACH.get(rate.unit, 1.0)  # a rate of stands may be answered in spaces
    if any(math.floor(exact * each) <= result.value <= math.ceil(exact * each) + 1 for each in (1.0, holds)):
        return
    yield Discrepancy(
        kind="rate",
        topic=topic,
        summary=f"{rate} for {figures(number.value)} makes {figures(exact)}, not {figures(result.value)}.",
        calculation=f"{figures(number.value)} × {rate.rate:g} = {figures(exact)}; stated: {figures(result.value)}",
        stated=result.value,
        computed=exact,
        inputs=tuple(
            Input(value=one.value, unit=one.unit, words=text[one.start : one.end], source=source)
            for one in (rate, number, result)
        ),
    )


def _counted_with_shares(text: str, source: Source) -> list[_Part]:
    """Return the counts of a sentence, each with the share that is given in brackets after it."""
    parts: list[_Part] = []
    for one in read_quantities(text):
        if one.unit == "%" and parts and parts[-1].share is None and one.of == "the total":
            last = parts[-1]
            parts[-1] = _Part(last.value, last.unit, one.value, last.words, source)
        elif _is_count(one):
            parts.append(_Part(one.value, one.unit, None, text[one.start : one.end], source))
    return parts


def _is_count(one: Quantity) -> bool:
    return one.unit in _COUNTS and one.per is None and one.high is None and one.limit == "exactly"


def _same_things(parts: Sequence[_Part]) -> bool:
    """Whether all counts are of one kind of thing: homes are not parts of spaces."""
    return len({_THING.get(part.unit, "parking") for part in parts if part.unit}) <= 1


def _shares_make_whole(parts: Sequence[_Part]) -> bool:
    return WHOLE[0] <= sum(part.share or 0.0 for part in parts) <= WHOLE[1]


def _says_whole(text: str, total: _Part) -> bool:
    after = text[text.find(total.words) + len(total.words) :]
    cues = _JOINTS.tag_text(after)
    return "whole" in cues and "open" not in _JOINTS.tag_text(text)


def _check_parts(topic: Topic, total: _Part, parts: Sequence[_Part], *, exhaustive: bool) -> Iterator[Discrepancy]:
    """Report parts that do not make the total, or else shares that do not fit their parts."""
    if any(part.value > total.value for part in parts):
        return  # what is larger than the total is no part of it
    sums = _possible_sums(parts)
    if exhaustive and not any(math.isclose(one, total.value) for one in sums):
        yield _wrong_sum(topic, total, parts, sums[0])
        return
    for part in parts:
        if (
            part.share is not None
            and total.value
            and abs(part.share - 100 * part.value / total.value) > SHARE_TOLERANCE
        ):
            yield _wrong_share(topic, total, part)


def _possible_sums(parts: Sequence[_Part]) -> tuple[float, ...]:
    """Return the sum of the parts, and the sum with two cycles to a stand."""
    plain = sum(part.value for part in parts)
    doubled = sum(part.value * _CYCLES_EACH.get(part.unit, 1.0) for part in parts)
    mixed = [plain + part.value for part in parts if part.unit in _CYCLES_EACH]
    return (plain, doubled, *mixed)


def _wrong_sum(topic: Topic, total: _Part, parts: Sequence[_Part], computed: float) -> Discrepancy:
    shown = " + ".join(figures(part.value) for part in parts)
    return Discrepancy(
        kind="sum",
        topic=topic,
        summary=f"The parts make {figures(computed)}, not the {figures(total.value)} that is stated.",
        calculation=f"{shown} = {figures(computed)}; stated: {figures(total.value)}",
        stated=total.value,
        computed=computed,
        inputs=tuple(_input(part) for part in (total, *parts)),
    )


def _wrong_share(topic: Topic, total: _Part, part: _Part) -> Discrepancy:
    computed = 100 * part.value / total.value
    return Discrepancy(
        kind="percentage",
        topic=topic,
        summary=f"{figures(part.value)} of {figures(total.value)} is {computed:.1f}%, not {figures(part.share or 0)}%.",
        calculation=f"{figures(part.value)} / {figures(total.value)} = {computed:.1f}%; stated: {figures(part.share or 0)}%",
        stated=part.share,
        computed=round(computed, 1),
        inputs=(_input(total), _input(part)),
    )


def _input(part: _Part) -> Input:
    return Input(value=part.value, unit=part.unit, words=part.words, source=part.source)


def _lists(
    statements: Sequence[Statement], facts: dict[tuple[str, int], Fact]
) -> Iterator[tuple[Fact, list[tuple[Statement, Source]]]]:
    """Yield each sentence that introduces a list with the list's items."""
    for lead, group in groupby(
        statements, key=lambda one: (one.document_id, one.lead) if one.kind == "bullet" else None
    ):
        items = list(group)
        first = items[0]
        if lead is None or not first.lead or first.index == 0:
            continue
        whole = next((facts[key] for back in range(1, 4) if (key := (first.document_id, first.index - back)) in facts
                      and facts[key].source.quote.rstrip().endswith(first.lead)), None)  # fmt: skip
        if whole is not None:
            yield whole, [(item, _source_like(whole.source, item)) for item in items]


def _source_like(source: Source, statement: Statement) -> Source:
    return Source(
        document_id=source.document_id,
        document=source.document,
        page=statement.page,
        start=statement.start,
        end=statement.end,
        statement=statement.index,
        quote=statement.text,
    )


def _check_list(whole: Fact, items: Sequence[tuple[Statement, Source]]) -> Iterator[Discrepancy]:
    """Check a list whose every item begins with a count against the total in the sentence above it."""
    totals = _counted_with_shares(whole.source.quote, whole.source)
    parts = [part for item, source in items if (part := _item_count(item, source)) is not None]
    if not totals or len(parts) != len(items) or len(parts) < 2:
        return
    total = totals[0]
    shares = all(part.share is not None for part in parts)
    exhaustive = _shares_make_whole(parts) if shares else _says_whole(whole.source.quote, total)
    if exhaustive or shares:
        yield from _check_parts(whole.topic, total, parts, exhaustive=exhaustive)


def _item_count(item: Statement, source: Source) -> _Part | None:
    """Return the one count of a list's item: "1,280 spaces in … (80%)" or "Sheffield stands: 9 (15%)"."""
    tokens = [token for token in tokenise(item.text) if token.kind == "number"]
    shares = [one for one in read_quantities(item.text) if one.unit == "%"]
    numbers = [token for token in tokens if not any(one.start <= token.start < one.end for one in shares)]
    if len(numbers) != 1 or len(shares) > 1:
        return None
    value = float(numbers[0].text.replace(",", ""))
    counted = [one for one in read_quantities(item.text) if one.unit != "%" and _is_count(one)]
    unit = counted[0].unit if counted else ("cycle stand" if "stand" in item.text.lower() else "")
    return _Part(value, unit, shares[0].value if shares else None, item.text.rstrip(" ;."), source)


def _tables(statements: Sequence[Statement]) -> Iterator[list[Statement]]:
    """Yield the rows of each table that has column headings."""
    for key, group in groupby(
        statements, key=lambda one: (one.document_id, one.columns) if one.kind == "row" else None
    ):
        rows = list(group)
        if key is not None and rows[0].columns and len(rows) >= 2:
            yield rows


def _check_table(rows: Sequence[Statement], facts: dict[tuple[str, int], Fact]) -> Iterator[Discrepancy]:
    fact = next((facts[key] for row in rows if (key := (row.document_id, row.index)) in facts), None)
    if fact is None:
        return
    for row in rows:
        yield from _check_rate(row, fact)
    if _is_total(rows[-1]) and not any(_is_total(row) for row in rows[:-1]):
        yield from _check_columns(rows, fact)


def _is_total(row: Statement) -> bool:
    return "total" in row.cells[0].lower()


def _check_columns(rows: Sequence[Statement], fact: Fact) -> Iterator[Discrepancy]:
    """Compare each column's figures with the last row's total. One column that adds up shows that the rows are parts."""
    wrong: list[Discrepancy] = []
    right = 0
    for column in range(1, len(rows[0].columns)):
        cells = [_cell_value(row, column) for row in rows]
        if any(cell is None for cell in cells):
            continue
        parts = [
            _Part(cell or 0.0, "", None, row.text, _source_like(fact.source, row))
            for cell, row in zip(cells, rows, strict=True)
        ]
        total = parts.pop()
        computed = sum(part.value for part in parts)
        if math.isclose(computed, total.value, abs_tol=0.5):
            right += 1
        else:
            wrong.append(_wrong_sum(fact.topic, total, parts, computed))
    if right or len(wrong) == 1:
        yield from wrong


def _cell_value(row: Statement, column: int) -> float | None:
    """Return the figure of a cell that holds one and nothing else but a unit."""
    if column >= len(row.cells):
        return None
    numbers = [token for token in tokenise(row.cells[column]) if token.kind == "number"]
    if len(numbers) != 1 or "%" in row.cells[column] or numbers[0].start > 1:
        return None
    return float(numbers[0].text.replace(",", ""))


def _check_rate(row: Statement, fact: Fact) -> Iterator[Discrepancy]:
    """Check a row with a rate, a number and a result: "Houses (152) | 2 per dwelling | 304"."""
    rates = [one for cell in row.cells for one in read_quantities(cell) if one.per is not None and one.unit != "pound"]
    result = _cell_value(row, len(row.cells) - 1)
    number = _number_of(row, rates[0]) if len(rates) == 1 else None
    if number is None or result is None or not _is_result(row.columns[-1]):
        return
    source = _source_like(fact.source, row)
    counted = Quantity(value=number, unit=rates[0].per or "", end=len(row.text))
    given = Quantity(value=result, unit=rates[0].unit, end=len(row.text))
    yield from _wrong_rate(fact.topic, rates[0], counted, given, row.text, source)


def _number_of(row: Statement, rate: Quantity) -> float | None:
    """Return the number that a rate applies to: in brackets after the row's label, or the one column between."""
    label = [token for token in tokenise(row.cells[0]) if token.kind == "number"]
    if len(label) == 1 and f"({label[0].text})" in row.cells[0]:
        return float(label[0].text.replace(",", ""))
    between = [value for column in range(1, len(row.cells) - 1) if (value := _cell_value(row, column)) is not None
               and not read_quantities(row.cells[column])]  # fmt: skip
    return between[0] if len(between) == 1 else None


def _is_result(heading: str) -> bool:
    return any(
        word in heading.lower() for word in ("space", "required", "requirement", "provision", "provided", "total")
    )


_THING = {"dwelling": "homes", "unit": "homes", "car space": "cars"}
