"""Search the statements of the documents by words, without a server: for the judge, and to check an absence."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from trigpoint.reading.statements import Statement
from trigpoint.review.evidence import fold
from trigpoint.review.sheets import Sheets

MOST_HITS = 12
_TOKEN = re.compile(r"[a-z0-9]+(?:[./'-][a-z0-9]+)*")
_STOP = frozenset(
    "a an and any are as at be been being by for from has have how in into is it its no not of on or such that the their "
    "there this to was were what when where which will with would shall should can could does do did page pages".split()
)


@dataclass(frozen=True)
class StatementHit:
    """A statement that shares words with a query."""

    label: str
    document: str
    page: int | None
    text: str
    score: float
    start: int = 0
    end: int = 0

    @property
    def key(self) -> str:
        return f"{self.label}:{self.start}"

    @property
    def page_key(self) -> str:
        return f"{self.label}:{self.page or 0}"


class Lookup:
    """An index of all statements by their words."""

    def __init__(self, sheets: Sheets) -> None:
        self._statements: list[tuple[str, str, Statement, Counter[str]]] = []
        seen: Counter[str] = Counter()
        for label, document in sheets.labels.items():
            for statement in sheets.words_of(document).statements:
                words = Counter(stems(f"{statement.lead} {statement.text}"))
                heading = set(stems(" ".join(statement.headings[-1:])))
                seen.update(words.keys() | heading)
                self._statements.append((label, document.name, statement, words + Counter(heading)))
        total = len(self._statements)
        self._rarity = {word: math.log(1 + total / count) for word, count in seen.items()}

    def search(self, query: str, most: int = MOST_HITS) -> tuple[StatementHit, ...]:
        """Return the statements nearest in words, best first, each wording once."""
        wanted = set(stems(query))
        weight = sum(self._rarity.get(word, 0.0) for word in wanted) or 1.0
        scored = [
            (sum(self._rarity[word] for word in wanted & words.keys()) / weight, statement, label, name)
            for label, name, statement, words in self._statements
        ]
        best = sorted((one for one in scored if one[0] > 0), key=lambda one: (-round(one[0], 6), one[2], one[1].index))
        hits: dict[str, StatementHit] = {}
        for score, statement, label, name in best:
            hits.setdefault(fold(statement.text), _hit(label, name, statement, score))
            if len(hits) == most:
                break
        return tuple(hits.values())


def _hit(label: str, name: str, statement: Statement, score: float) -> StatementHit:
    return StatementHit(label, name, statement.page, statement.text, round(score, 3), statement.start, statement.end)


def stems(text: str) -> list[str]:
    """Return the words that carry meaning, without their endings."""
    return [_stem(word) for word in _TOKEN.findall(fold(text)) if word not in _STOP]


def _stem(word: str) -> str:
    for ending in ("ings", "ing", "ies", "ists", "ist", "es", "ed", "s", "e"):
        if len(word) - len(ending) >= 4 and word.endswith(ending):
            return word.removesuffix(ending)
    return word


def shared(one: str, other: Iterable[str]) -> set[str]:
    """Return the words of a text that others have too."""
    return set(stems(one)) & {stem for text in other for stem in stems(text)}
