"""Gaps between a report and its own conditions: what is said to be secured and is not, and drawings in two revisions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trigpoint.reading.discrepancies import Discrepancy, Input
from trigpoint.reading.facts import Fact
from trigpoint.reading.vocabulary import Topic

_ENOUGH_CONDITIONS = 10  # statements of conditions from which on a report is taken to list them all

_BY_CONDITION = re.compile(r"(?:secured|required) (?:by|through|via) (?:a )?(?:planning )?conditions?\b")
_NUMBER = r"[A-Z0-9]+(?:-[A-Z0-9]+){3,}"
_REVISION = r"(?:Rev(?:ision)?\.? )?(?P<revision>[A-Z]\d{0,2})"
_DRAWING = re.compile(rf"\b(?P<number>{_NUMBER})[ ,]+{_REVISION}\b")
_PROMISED: dict[Topic, str] = {"travel_plan.exists": "travel plan", "cycle_parking.total": "cycle parking"}


def find_condition_gaps(facts: Sequence[Fact]) -> Iterator[Discrepancy]:
    """Yield what a document promises by condition without one, and drawings its conditions cite in two revisions."""
    for document_id in dict.fromkeys(fact.source.document_id for fact in facts):
        own = [fact for fact in facts if fact.source.document_id == document_id]
        conditions = [fact for fact in own if fact.speaker == "condition"]
        if len({fact.source.statement for fact in conditions}) >= _ENOUGH_CONDITIONS:
            yield from _unsecured(own, conditions)
            yield from _two_revisions(conditions)


def _unsecured(facts: Sequence[Fact], conditions: Sequence[Fact]) -> Iterator[Discrepancy]:
    for topic, words in _PROMISED.items():
        promises = [fact for fact in facts if fact.topic == topic and _promises(fact, words)]
        if promises and not any(words in fact.source.quote.lower() for fact in conditions):
            yield Discrepancy(
                kind="promise_without_condition",
                topic=topic,
                summary=f"The {words} is said to be secured by condition; no condition names it.",
                inputs=(Input(words=promises[0].source.quote, source=promises[0].source),),
            )


def _promises(fact: Fact, words: str) -> bool:
    """Return whether a sentence says that this very thing is secured by condition, and not merely that it can be."""
    text = fact.source.quote.lower()
    found = _BY_CONDITION.search(text)
    return (
        found is not None
        and fact.speaker == "officer"
        and 0 <= text.find(words) < found.start()
        and " can " not in text
    )


def _two_revisions(conditions: Sequence[Fact]) -> Iterator[Discrepancy]:
    cited: dict[str, dict[str, Fact]] = {}
    for fact in conditions:
        for match in _DRAWING.finditer(fact.source.quote):
            cited.setdefault(match["number"], {}).setdefault(match["revision"], fact)
    for number, revisions in cited.items():
        if len(revisions) > 1:
            said = " and ".join(f"{revision} (page {fact.source.page})" for revision, fact in revisions.items())
            yield Discrepancy(
                kind="revisions_differ",
                topic=next(iter(revisions.values())).topic,
                summary=f"The conditions cite drawing {number} as {said}.",
                inputs=tuple(Input(words=fact.source.quote, source=fact.source) for fact in revisions.values()),
            )
