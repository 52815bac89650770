"""Figures that measure one known thing, and the comparison of those that should be the same.

A figure is compared only with figures of the same key: what is measured, of which thing, existing or planned. A figure that
is plainly that of the whole thing (`whole`) is compared with every other such figure. One that may belong to a part counts
for its document only if no other there goes beyond it, and is compared across documents only if neither knows the other's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from trigpoint.reading.discrepancies import Discrepancy, Input, figures
from trigpoint.reading.documents import Document
from trigpoint.reading.numerals import number_in_words
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.said import Said
from trigpoint.reading.units import METRES
from trigpoint.reading.vocabulary import Topic

_MOST_FIGURES = 4
_TITLE = 200  # characters in which a document says what it is
_FORMER = re.compile(r"superseded|previous|original|former|before|earlier|\bTA\b|\bwas\b", re.IGNORECASE)


@dataclass(frozen=True)
class MeasureKind:
    """A kind of figure: its words for a reader, its subject, and how far two figures may differ and still be one.

    `beyond` says which of a document's figures represents it: the largest of several numbers of spaces, the nearest stop.
    """

    topic: Topic
    tolerance: float = 0.0
    beyond: Callable[[Sequence[float]], float] = max
    most_apart: float = 3.0  # times: figures further apart are of different things


@dataclass(frozen=True)
class Measured:
    """One figure for one thing. `what` names it for a reader, `key` distinguishes it from every other thing.

    If `names` are given, a figure is not compared with one whose names are all different.
    """

    measure: MeasureKind
    key: tuple[str, ...]
    what: str
    quantity: Quantity
    said: Said
    whole: bool = False
    names: frozenset[str] = frozenset()

    @property
    def value(self) -> float:
        """The figure in metres, or for one of what it is counted per."""
        return round(self.quantity.rate * METRES.get(self.quantity.unit, 1.0), 3)

    @property
    def document(self) -> str:
        return self.said.document.id


Numbers = dict[str, frozenset[tuple[float, str]]]
"""The figures of each document with their units; those in tables, whose unit is not known, have the unit "row"."""


def numbers_of(said: Iterable[Said]) -> Numbers:
    """Return the figures of each document."""
    by_document: dict[str, set[tuple[float, str]]] = {}
    for one in said:
        if one.is_requirement:
            by_document.setdefault(one.document.id, set())
            continue
        unit = _unit_of_row(one) if one.statement.kind == "row" else ""
        by_document.setdefault(one.document.id, set()).update(
            (count.value, count.unit or unit) for count in one.counts if count.per is None
        )
    return {document: frozenset(values) for document, values in by_document.items()}


def _unit_of_row(said: Said) -> str:
    """Return what a row's bare figures count, by its label; "row" if the label does not say."""
    label = said.statement.cells[0].lower()
    named = (("cycle", "cycle space"), ("car", "car space"), ("vehicle", "car space"))
    return next((unit for word, unit in named if word in label), "row")


def find_differences(measured: Sequence[Measured], numbers: Numbers) -> Iterator[Discrepancy]:
    """Yield each thing for which documents give different figures."""
    by_key: dict[tuple[object, ...], list[Measured]] = {}
    for one in measured:
        by_key.setdefault((one.measure.topic, *one.key), []).append(one)
    for group in by_key.values():
        differing = _differing(group, numbers)
        if len(differing) > 1:
            yield _difference(differing)


def _differing(group: Sequence[Measured], numbers: Numbers) -> list[Measured]:
    """Return the first statement of each figure that differs from another in the group, in the order of documents."""
    candidates = _first_of_each([*(one for one in group if one.whole), *_strongest(group)])
    pairs = [
        (one, other)
        for one in candidates
        for other in candidates
        if one is not other and _disagree(one, other, numbers)
    ]
    if all(_is_revision(one, other) for one, other in pairs):
        return []
    involved = {id(one) for pair in pairs for one in pair}
    return [one for one in candidates if id(one) in involved][:_MOST_FIGURES]


def _is_revision(one: Measured, other: Measured) -> bool:
    """Return whether one figure is in an addendum, which is there to change the other."""
    return _is_revised(one.said.document, other.said.document)


def _is_revised(one: Document, other: Document) -> bool:
    """Return whether one of two documents is an addendum to the other; the authority's report comes after both."""
    changed = is_addendum(one) != is_addendum(other)
    return changed and all(document.source_kind == "applicant" for document in (one, other))


def is_addendum(document: Document) -> bool:
    """Return whether a document says by its name or title that it changes what others say.

    A statement whose cover says that it was revised in August is not an addendum, nor is a technical note as such.
    """
    opening = document.text[:_TITLE].strip()
    title, heading = (
        f"{document.name} {words}".replace("_", " ").lower() for words in (opening, opening.partition("\n")[0])
    )
    return any(word in title for word in ("addendum", "errata")) or any(
        word in heading for word in ("amended", "revised", "supplementary")
    )


def _strongest(group: Sequence[Measured]) -> Iterator[Measured]:
    """Yield, for each document that gives no figure for the whole, the figure that goes beyond its others."""
    for document in dict.fromkeys(one.document for one in group):
        own = [one for one in group if one.document == document]
        if not any(one.whole for one in own):
            limit = own[0].measure.beyond([one.value for one in own])
            yield next(one for one in own if one.value == limit)


def _first_of_each(measured: Sequence[Measured]) -> list[Measured]:
    firsts: dict[tuple[str, float], Measured] = {}
    for one in measured:
        firsts.setdefault((one.document, one.value), one)
    return list(firsts.values())


def _disagree(one: Measured, other: Measured, numbers: Numbers) -> bool:
    low, high = sorted((one.value, other.value))
    loose = "about" in (one.quantity.limit, other.quantity.limit)
    tolerance = max(one.measure.tolerance, 0.05 if loose else 0.0)
    if high <= low * (1 + tolerance) or high > low * one.measure.most_apart:
        return False
    if _within_bound(one, other) or _within_bound(other, one):
        return False
    if one.names and other.names and one.names.isdisjoint(other.names):
        return False
    if one.said is other.said or _acknowledges(one, other) or _acknowledges(other, one):
        return False
    if one.whole and other.whole:
        return True
    known = _knows(numbers[one.document], other) or _knows(numbers[other.document], one)
    return one.document != other.document and not known


def _within_bound(one: Measured, other: Measured) -> bool:
    """Return whether a figure keeps within the limit that the other sets: "more than 120" is true of 130."""
    limit = one.quantity.limit
    return (limit in ("more than", "at least") and other.value >= one.value) or (
        limit == "at most" and other.value <= one.value
    )


def _acknowledges(one: Measured, other: Measured) -> bool:
    """Return whether a statement itself gives the other's figure, as one that it replaces or answers."""
    if one.said.statement.kind == "row" and not _FORMER.search(" ".join(one.said.statement.columns)):
        return False
    units = (other.quantity.unit, "space", "")
    return any(count.unit in units and other.quantity.value in (count.value, count.high) for count in one.said.counts)


def _knows(numbers: frozenset[tuple[float, str]], one: Measured) -> bool:
    unit = one.quantity.unit
    units = (unit, "space", "row") if unit.endswith("space") else (unit,)
    return any((one.quantity.value, each) in numbers for each in units)


def _difference(differing: Sequence[Measured]) -> Discrepancy:
    inputs = tuple(
        Input(value=one.quantity.value, unit=one.quantity.unit, words=one.said.text, source=one.said.source)
        for one in differing
    )
    said = [f"{_written(one)} ({one.said.document.name}{_page_note(one)})" for one in differing]
    return Discrepancy(
        kind="figures_differ",
        topic=differing[0].measure.topic,
        summary=f"The documents give different figures for {differing[0].what}: {', '.join(said[:-1])} and {said[-1]}.",
        inputs=inputs,
    )


def _page_note(one: Measured) -> str:
    return f", page {one.said.statement.page}" if one.said.statement.page is not None else ""


def _written(one: Measured) -> str:
    """Return a figure for a reader, in words if the document writes it in words."""
    quantity = one.quantity
    if quantity.unit == "pound":
        return f"£{figures(quantity.value)}"
    in_words = not any(char.isdigit() for char in one.said.text[quantity.start : quantity.end])
    whole = quantity.value == int(quantity.value)
    plain = f"{quantity.value:,g}" if quantity.value < 1e6 else figures(quantity.value)
    number = number_in_words(int(quantity.value)) if in_words and whole else plain
    if quantity.unit == "%":
        return f"{number}%" if number[-1].isdigit() else f"{number} per cent"
    return f"{number} {quantity.unit}" if quantity.unit in METRES else number
