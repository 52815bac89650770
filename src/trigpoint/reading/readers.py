"""The trained readers as one value: those that ship with the package, or others to be measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from trigpoint.reading.linear import LinearReader, load_reader
from trigpoint.reading.vocabulary import ASPECTS, PLACED_TOPICS, READ_STATUSES, Aspect, Status, Topic


@dataclass(frozen=True)
class Readers:
    """A reader of aspects, one of topics and one of statuses."""

    aspects: LinearReader[Aspect]
    topics: LinearReader[Topic]
    statuses: LinearReader[Status]


@cache
def shipped_readers() -> Readers:
    """Return the readers that ship with the package."""
    return Readers(
        aspects=load_reader("aspects", ASPECTS),
        topics=load_reader("topics", PLACED_TOPICS),
        statuses=load_reader("statuses", READ_STATUSES),
    )
