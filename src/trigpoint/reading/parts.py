"""Parts, totals and shares as figures that were read, and the discrepancies that they can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trigpoint.reading.discrepancies import Discrepancy, Input, figures
from trigpoint.reading.documents import Source
from trigpoint.reading.statements import Statement
from trigpoint.reading.vocabulary import Topic

_MOST_APART = 1 / 3  # parts that miss their total by more than this share of it are not its parts, or not all of them


@dataclass(frozen=True)
class Part:
    """A figure that is a total or a part of one. `share` is the percentage that is given for it in brackets."""

    value: float
    unit: str
    share: float | None
    words: str
    source: Source


def source_like(source: Source, statement: Statement) -> Source:
    """Return the place of another statement of the same document."""
    return Source(
        document_id=source.document_id,
        document=source.document,
        page=statement.page,
        start=statement.start,
        end=statement.end,
        statement=statement.index,
        quote=statement.text,
    )


def is_near(computed: float, stated: float) -> bool:
    """Return whether a sum is near enough to a total to be that total with a mistake in it."""
    return abs(computed - stated) <= _MOST_APART * max(computed, stated)


def wrong_sum(topic: Topic, total: Part, parts: Sequence[Part], computed: float) -> Discrepancy:
    """Return the finding that parts do not make their total."""
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


def wrong_whole(topic: Topic, parts: Sequence[Part], computed: float) -> Discrepancy:
    """Return the finding that shares which should make 100 per cent do not."""
    shown = " + ".join(figures(part.value) for part in parts)
    return Discrepancy(
        kind="sum",
        topic=topic,
        summary=f"The shares of all modes make {figures(computed)}%, not 100%.",
        calculation=f"{shown} = {figures(computed)}; the whole is 100",
        stated=100.0,
        computed=computed,
        inputs=tuple(_input(part) for part in parts),
    )


def wrong_share(topic: Topic, total: Part, part: Part) -> Discrepancy:
    """Return the finding that a percentage does not fit its figures."""
    computed = 100 * part.value / total.value
    stated = figures(part.share or 0)
    return Discrepancy(
        kind="percentage",
        topic=topic,
        summary=f"{figures(part.value)} of {figures(total.value)} is {computed:.1f}%, not {stated}%.",
        calculation=f"{figures(part.value)} / {figures(total.value)} = {computed:.1f}%; stated: {stated}%",
        stated=part.share,
        computed=round(computed, 1),
        inputs=(_input(total), _input(part)),
    )


def wrong_change(topic: Topic, before: Part, after: Part, change: Part) -> Discrepancy:
    """Return the finding that a change is not the difference of the two figures that are given for it."""
    more, less = max(before.value, after.value), min(before.value, after.value)
    computed = round(more - less, 6)
    return Discrepancy(
        kind="sum",
        topic=topic,
        summary=f"From {figures(before.value)} to {figures(after.value)} is a change of {figures(computed)}, "
        f"not {figures(change.value)}.",
        calculation=f"{figures(more)} - {figures(less)} = {figures(computed)}; stated: {figures(change.value)}",
        stated=change.value,
        computed=computed,
        inputs=tuple(_input(part) for part in (change, before, after)),
    )


def _input(part: Part) -> Input:
    return Input(value=part.value, unit=part.unit, words=part.words, source=part.source)
