"""What stands around a passage: its neighbours in the same section, by whose words it is found too.

Questions use the words of a passage's surroundings. The library and the policies index their passages with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

NEIGHBOURS = 2  # on each side


def surroundings(passages: Sequence[tuple[Hashable, str]]) -> Iterator[str]:
    """For each (section, text) of a document, in its order: the texts of its neighbours, as far as they are of its section."""
    for place, (section, _) in enumerate(passages):
        near = [*passages[max(0, place - NEIGHBOURS) : place], *passages[place + 1 : place + 1 + NEIGHBOURS]]
        yield "\n".join(text for other, text in near if other == section)
