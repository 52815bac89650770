"""The two halves of a search on this machine: vectors and fields in memory, words in an index of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trigpoint.passages.lexical import LexicalIndex
from trigpoint.passages.memory import Snapshot
from trigpoint.passages.model import Vector, Where

_MOST_GROUPS = 2000  # documents to which a search by words is narrowed; with more, its answer is filtered


@dataclass(frozen=True)
class LocalCandidates:
    """See `Candidates`. One snapshot for a whole search."""

    memory: Snapshot
    lexical: LexicalIndex

    def nearest(self, vector: Vector, k: int, where: Where) -> list[tuple[str, float]]:
        return self.memory.nearest(vector, k, where)

    def cosines(self, vector: Vector, ids: Sequence[str], where: Where) -> Mapping[str, float]:
        return self.memory.cosines(vector, ids, where)

    def matching(self, words: str, k: int, where: Where) -> Mapping[str, float]:
        hits = self.lexical.search(words, k, self._groups(where))
        allowed = self.memory.allows((i for i, _ in hits), where)
        return {i: score for i, score in hits if i in allowed}

    def _groups(self, where: Where) -> list[str] | None:
        """Return the documents that the filter lets through; None if those are all, or too many to be named."""
        where = self.memory.needed(where)
        if not where:
            return None
        documents = self.memory.documents(where)
        every = len(documents) == len(self.memory.members)
        return None if every or len(documents) > _MOST_GROUPS else sorted(documents)
