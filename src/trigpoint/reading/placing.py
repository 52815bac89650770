"""The trained reader of subjects: under which aspects of a review a statement is quoted, and on which topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trigpoint.reading.linear import LinearReader
from trigpoint.reading.vocabulary import Aspect, Topic, aspects_of

_QUOTED_FROM = 0.05
"""The chance from which on a statement is quoted: low, because leaving one out is worse than one too many."""
_SECOND_FROM = 0.3
"""The share of its best aspect's chance from which on a statement is also quoted under another."""


def read_aspects(
    reader: LinearReader[Aspect], features: Mapping[str, float], by_rule: Iterable[Topic]
) -> dict[Aspect, float]:
    """Return the aspects under which a statement with these features is quoted, with the chance of each.

    For an aspect that the reader was not trained on, the rules alone decide.
    """
    chances = [round(chance, 3) for chance in reader.chances(features).tolist()]
    least = max(_QUOTED_FROM, _SECOND_FROM * max(chances))
    untrained = {aspect for topic in by_rule for aspect in aspects_of(topic)}.difference(reader.heads)
    return {
        **{aspect: chance for aspect, chance in zip(reader.heads, chances, strict=True) if chance >= least},
        **dict.fromkeys(untrained, 1.0),
    }


def likeliest_topics(
    reader: LinearReader[Topic], aspects: Iterable[Aspect], features: Mapping[str, float]
) -> tuple[Topic, ...]:
    """Return for each aspect the one topic of it that is likeliest."""
    wanted = sorted(aspects)
    if not wanted:
        return ()
    logits = dict(zip(reader.heads, reader.logits(features).tolist(), strict=True))
    return tuple(
        max((topic for topic in reader.heads if aspects_of(topic)[0] == aspect), key=logits.__getitem__)
        for aspect in wanted
    )
