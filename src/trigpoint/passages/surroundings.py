"""The words around a passage: those of its neighbours in the same section, by which it is found too.

Questions use the words of a passage's surroundings. Policies, documents and the library index their passages with them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

NEIGHBOURS = 2  # on each side


class Surroundings(NamedTuple):
    """The texts of a passage's neighbours, and a number for its section, which they share."""

    text: str = ""
    section: int = 0


def surroundings(passages: Sequence[tuple[Hashable, str]]) -> Iterator[Surroundings]:
    """Yield the surroundings of each (section, text) of a document, given in reading order."""
    numbers: dict[Hashable, int] = {}
    for place, (section, _) in enumerate(passages):
        near = [*passages[max(0, place - NEIGHBOURS) : place], *passages[place + 1 : place + 1 + NEIGHBOURS]]
        text = "\n".join(text for other, text in near if other == section)
        yield Surroundings(text, numbers.setdefault(section, len(numbers)))
