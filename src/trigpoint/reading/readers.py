"""The trained readers of the reading, as one value: those that ship with the package, or others to be measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from trigpoint.reading.linear import LinearReader, load_reader
from trigpoint.reading.vocabulary import ASPECTS, PLACED_TOPICS, READ_STATUSES


@dataclass(frozen=True)
class Readers:
    """A reader of aspects, one of topics and one of statuses."""

    aspects: LinearReader
    topics: LinearReader
    statuses: LinearReader


@cache
def shipped_readers() -> Readers:
    """Return the readers that ship with the package."""
    return Readers(
        aspects=load_reader("aspects", len(ASPECTS)),
        topics=load_reader("topics", len(PLACED_TOPICS)),
        statuses=load_reader("statuses", len(READ_STATUSES)),
    )
