"""Joins passages into one text again, without repeating what neighbours share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trigpoint.passages.model import Passage

_SHORTEST_OVERLAP = 20  # a shorter common end and beginning may be chance


def joined(passages: Sequence[Passage]) -> str:
    """Return the text of passages in their order. Overlaps are known from their places, or else found by comparing."""
    said, parts = 0, list[str]()
    for passage, start in zip(passages, _starts(passages), strict=True):
        parts.append(passage.text[max(0, said - start) :].lstrip())
        said = max(said, start + len(passage.text))
    return "\n\n".join(part for part in parts if part)


def _starts(passages: Sequence[Passage]) -> Iterator[int]:
    if all(p.start is not None and p.end is not None and p.end - p.start == len(p.text) for p in passages):
        yield from (p.start or 0 for p in passages)
        return
    position, before = 0, ""
    for passage in passages:
        start = position - _shared(before, passage.text)
        yield start
        position, before = start + len(passage.text), passage.text


def _shared(before: str, text: str) -> int:
    """Return how long the end of the one is that begins the other."""
    longest = min(len(before), len(text))
    return next((n for n in range(longest, _SHORTEST_OVERLAP - 1, -1) if before.endswith(text[:n])), 0)
