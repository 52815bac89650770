"""Arithmetic over what is stated: parts and totals, shares, and rates times numbers, in sentences, lists and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from trigpoint.reading.discrepancies import Discrepancy, distinct, figures
from trigpoint.reading.documents import Document, Source
from trigpoint.reading.facts import Fact
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.parts import Part, source_like, wrong_share, wrong_sum
from trigpoint.reading.prose_sums import check_prose
from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.rates import CYCLES_EACH, wrong_rate
from trigpoint.reading.said import read_said
from trigpoint.reading.statements import Statement
from trigpoint.reading.table_sums import check_change_of_share, check_table
from trigpoint.reading.tables import Table, read_tables, topic_of
from trigpoint.reading.tokens import tokenise
from trigpoint.reading.vocabulary import Topic

_SHARE_TOLERANCE = 1.0  # percentage points; rounding to whole per cent explains half of one
_NEARLY_ALL = 0.85
_WHOLE = (99.0, 101.0)  # shares that add up to this describe the whole

_JOINTS = Lexicon(
    {
        "gives": "gives equates equate equivalent generates requires requirement resulting results therefore total equal",
        "whole": "comprising comprises comprise consisting consists made_up_of broken_down split divided namely forming "
        "in_the_form_of being of_which_all totalling",
        "open": "including includes include such_as example of_which approximately around circa about up_to at_least "
        "minimum more_than over plus addition existing additional replac*",
    }
)
_COUNTS = frozenset(
    ("cycle space", "cycle stand", "cycle rack", "car space", "space", "stand", "dwelling", "locker", "unit", "")
)


def check_sums(
    facts: Sequence[Fact], statements: Sequence[Statement] = (), documents: Sequence[Document] = ()
) -> tuple[Discrepancy, ...]:
    """Return the sums, shares and rates that do not add up, in sentences, lists and tables."""
    discrepancies: list[Discrepancy] = []
    by_statement = {(fact.source.document_id, fact.source.statement): fact for fact in reversed(facts)}
    for fact in sorted(by_statement.values(), key=lambda one: (one.source.document_id, one.source.start)):
        discrepancies.extend(_check_sentence(fact))
    for whole, bullets in _lists(statements, by_statement):
        discrepancies.extend(_check_list(whole, bullets))
    tables = tuple(read_tables(statements))
    for said in read_said(statements, documents, facts):
        if said.statement.kind != "row" and said.topic is not None:
            discrepancies.extend(check_prose(said, said.topic))
        if "percentage point" in said.text:
            for table in tables:
                if table.rows[0].document_id == said.document.id:
                    discrepancies.extend(check_change_of_share(table, said))
    for table in tables:
        discrepancies.extend(_check_table(table, by_statement, documents))
    return _without_repeats(discrepancies)


def _check_table(
    table: Table, facts: dict[tuple[str, int], Fact], documents: Sequence[Document]
) -> Iterator[Discrepancy]:
    first = table.rows[0]
    fact = next((facts[key] for row in table.rows if (key := (row.document_id, row.index)) in facts), None)
    topic = topic_of(table) or (fact.topic if fact is not None else None)
    document = next(one for one in documents if one.id == first.document_id)
    if topic is not None and len(table.rows) >= 1:
        yield from check_table(table, topic, first.source(document))


def _without_repeats(discrepancies: list[Discrepancy]) -> tuple[Discrepancy, ...]:
    """Return each discrepancy once, and of two rules that report one sum in one sentence the first."""
    kept: dict[tuple[object, ...], Discrepancy] = {}
    for one in distinct(discrepancies):
        kept.setdefault((one.inputs[0].source.document_id, one.inputs[0].source.start, one.stated, one.computed), one)
    return tuple(kept.values())


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


def _check_unexplained(topic: Topic, total: Part, parts: Sequence[Part]) -> Iterator[Discrepancy]:
    """Report a few spaces that are left over when nearly all of them are described: "144, including 127 and 7"."""
    named = sum(part.value for part in parts)
    plain = all(part.unit in ("space", "cycle space") for part in (total, *parts))
    sums = _possible_sums(parts)
    if plain and _NEARLY_ALL * total.value <= named < total.value and total.value not in sums:
        discrepancy = wrong_sum(topic, total, parts, named)
        summary = (
            f"The parts that are named make {figures(named)}, not {figures(total.value)}; the rest is not explained."
        )
        yield discrepancy.model_copy(update={"summary": summary})


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
        yield from wrong_rate(fact.topic, rate, numbers[0], results[0], text, fact.source)


def _counted_with_shares(text: str, source: Source) -> list[Part]:
    """Return the counts of a sentence, each with the share that is given in brackets after it."""
    parts: list[Part] = []
    for one in read_quantities(text):
        if one.unit == "%" and parts and parts[-1].share is None and one.of == "the total":
            last = parts[-1]
            parts[-1] = Part(last.value, last.unit, one.value, last.words, source)
        elif _is_count(one):
            parts.append(Part(one.value, one.unit, None, text[one.start : one.end], source))
    return parts


def _is_count(one: Quantity) -> bool:
    return one.unit in _COUNTS and one.per is None and one.high is None and one.limit == "exactly"


def _same_things(parts: Sequence[Part]) -> bool:
    """Return whether all counts are of one kind of thing: homes are not parts of spaces."""
    return len({_THING.get(part.unit, "parking") for part in parts if part.unit}) <= 1


def _shares_make_whole(parts: Sequence[Part]) -> bool:
    return _WHOLE[0] <= sum(part.share or 0.0 for part in parts) <= _WHOLE[1]


def _says_whole(text: str, total: Part) -> bool:
    after = text[text.find(total.words) + len(total.words) :]
    cues = _JOINTS.tag_text(after)
    return "whole" in cues and "open" not in _JOINTS.tag_text(text)


def _check_parts(topic: Topic, total: Part, parts: Sequence[Part], *, exhaustive: bool) -> Iterator[Discrepancy]:
    """Report parts that do not make the total, or else shares that do not fit their parts."""
    if any(part.value > total.value for part in parts):
        return  # a figure larger than the total cannot be part of it
    sums = _possible_sums(parts)
    if exhaustive and not any(math.isclose(one, total.value) for one in sums):
        yield wrong_sum(topic, total, parts, sums[0])
        return
    for part in parts:
        if (
            part.share is not None
            and total.value
            and abs(part.share - 100 * part.value / total.value) > _SHARE_TOLERANCE
        ):
            yield wrong_share(topic, total, part)


def _possible_sums(parts: Sequence[Part]) -> tuple[float, ...]:
    """Return the sum of the parts, and the sum with two cycles to a stand."""
    plain = sum(part.value for part in parts)
    doubled = sum(part.value * CYCLES_EACH.get(part.unit, 1.0) for part in parts)
    mixed = [plain + part.value for part in parts if part.unit in CYCLES_EACH]
    return (plain, doubled, *mixed)


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
            yield whole, [(item, source_like(whole.source, item)) for item in items]


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


def _item_count(item: Statement, source: Source) -> Part | None:
    """Return the one count of a list's item: "1,280 spaces in … (80%)" or "Sheffield stands: 9 (15%)"."""
    tokens = [token for token in tokenise(item.text) if token.kind == "number"]
    shares = [one for one in read_quantities(item.text) if one.unit == "%"]
    numbers = [token for token in tokens if not any(one.start <= token.start < one.end for one in shares)]
    if len(numbers) != 1 or len(shares) > 1:
        return None
    value = float(numbers[0].text.replace(",", ""))
    counted = [one for one in read_quantities(item.text) if one.unit != "%" and _is_count(one)]
    unit_if_unsaid = "cycle stand" if "stand" in item.text.lower() else ""
    unit = counted[0].unit if counted else unit_if_unsaid
    return Part(value, unit, shares[0].value if shares else None, item.text.rstrip(" ;."), source)


_THING = {"dwelling": "homes", "unit": "homes", "car space": "cars"}
