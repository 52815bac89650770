"""Statements with their place and the sentences before them, for everything that compares statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from trigpoint.reading.counts import read_counts
from trigpoint.reading.cues import SECTIONS
from trigpoint.reading.documents import Document, Source
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.statements import Statement
from trigpoint.reading.vocabulary import Topic
from trigpoint.text.plausible import has_odd_codes

if TYPE_CHECKING:  # facts are read with a profile, and a profile is read from what is said
    from trigpoint.reading.facts import Fact

_REQUIRES = Lexicon({"requires": "requires require required requirement requirements standard_is standards minimum_of"})
_TOPIC_OF_UNIT: dict[str, Topic] = {
    "cycle space": "cycle_parking.total",
    "cycle stand": "cycle_parking.total",
    "cycle rack": "cycle_parking.total",
    "shower": "cycle_parking.facilities",
    "car space": "car_parking",
    "charging point": "car_parking",
    "m2": "development.size",
    "dwelling": "development.size",
    "pupil": "development.size",
    "employee": "development.size",
    "job": "development.size",
    "bed": "development.size",
    "bedroom": "development.size",
    "pound": "offsite.contribution",
    "trip": "trips.forecast",
    "vehicle": "traffic.volume",
}


@dataclass(frozen=True)
class Said:
    """A statement with its document, the facts read from it, and the sentence before it in its paragraph."""

    statement: Statement
    document: Document
    facts: tuple[Fact, ...] = ()
    previous: Said | None = None

    @property
    def text(self) -> str:
        return self.statement.text

    @cached_property
    def source(self) -> Source:
        return self.statement.source(self.document)

    @cached_property
    def counts(self) -> tuple[Quantity, ...]:
        return read_counts(self.statement.text)

    @cached_property
    def topic(self) -> Topic | None:
        """The subject: that of the first fact, or else what the figures are counted in; None if neither says it."""
        if self.facts:
            return self.facts[0].topic
        return next((_TOPIC_OF_UNIT[one.unit] for one in self.counts if one.unit in _TOPIC_OF_UNIT), None)

    @cached_property
    def is_elsewhere(self) -> bool:
        """Whether the section is on earlier applications or other schemes."""
        return any(SECTIONS.tag_text(heading).keys() & {"history", "others"} for heading in self.statement.headings)

    @cached_property
    def is_requirement(self) -> bool:
        """Whether a statement says what is asked for and not what is provided."""
        asked = any(fact.status in ("policy", "requested") for fact in self.facts)
        return asked or bool(_REQUIRES.tag_text(self.text))


def read_said(statements: Sequence[Statement], documents: Sequence[Document], facts: Sequence[Fact]) -> Iterator[Said]:
    """Yield each statement with its document, its facts and the sentence before it, in order."""
    by_id = {document.id: document for document in documents}
    by_statement: dict[tuple[str, int], list[Fact]] = {}
    for fact in facts:
        by_statement.setdefault((fact.source.document_id, fact.source.statement), []).append(fact)
    last: Said | None = None
    for statement in statements:
        if has_odd_codes(statement.text):  # a font without a character map: whatever figures it has are not printed so
            continue
        previous = last if last is not None and _follows(last.statement, statement) else None
        read = tuple(by_statement.get((statement.document_id, statement.index), ()))
        last = Said(statement, by_id[statement.document_id], read, previous)
        yield last


def _follows(one: Statement, other: Statement) -> bool:
    """Return whether a sentence comes right after another in one paragraph."""
    in_prose = one.kind == other.kind == "sentence" and (one.number, one.headings) == (other.number, other.headings)
    in_one_item = one.kind == other.kind == "bullet" and other.start - one.end <= 2
    return (one.document_id, one.index + 1) == (other.document_id, other.index) and (in_prose or in_one_item)
