"""Measures masking on documents in which the personal items, and what must stay, are marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

FOLDER = Path(__file__).with_name("masking")
_MARKED = re.compile(r"‹([^›]*)›|«([^»]*)»")
_WORD = re.compile(r"[^\W_]+")
_KINDS = {
    "public comment": ("public", False),
    "application form": ("applicant", True),
    "consultation response": ("consultee", False),
}


class Mask(Protocol):
    """A function that takes the people out of a text."""

    def __call__(self, text: str, source_kind: str, *, form: bool) -> str: ...


@dataclass(frozen=True)
class Marked:
    """A document: its text, the items that must go, and what must stay."""

    title: str
    source_kind: str
    form: bool
    text: str
    personal: tuple[str, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """How many personal items went and how much stayed; `missed` and `lost` name the others with their document."""

    personal: int
    kept: int
    missed: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def recall(self) -> float:
        return 1 - len(self.missed) / self.personal

    @property
    def over_masked(self) -> float:
        return len(self.lost) / self.kept


def documents(half: str) -> Iterator[Marked]:
    """Yield the documents of `first` or `second`."""
    for part in (FOLDER / f"{half}.txt").read_text(encoding="utf-8").split("=== ")[1:]:
        heading, _, body = part.partition("\n")
        kind, _, title = heading.partition(" | ")
        found = list(_MARKED.finditer(body))
        yield Marked(
            title,
            *_KINDS[kind],
            text=_MARKED.sub(lambda match: match[1] or match[2], body),
            personal=tuple(match[1] for match in found if match[1]),
            kept=tuple(match[2] for match in found if match[2]),
        )


def score(half: str, mask: Mask) -> Score:
    """Return how a function masks one half. An item is missed if any word of it is left that had to go."""
    personal = kept = 0
    missed: list[str] = []
    lost: list[str] = []
    for one in documents(half):
        masked = mask(one.text, one.source_kind, form=one.form)
        personal += len(one.personal)
        kept += len(one.kept)
        left = _words(masked) - _allowed(one)
        missed += [f"{one.title}: {item}" for item in one.personal if any(left[word] > 0 for word in _words(item))]
        there = _flat(masked)
        stay = Counter(_flat(item) for item in one.kept)
        lost += [f"{one.title}: {item}" for item, times in stay.items() if there.count(item) < times]
    return Score(personal, kept, tuple(missed), tuple(lost))


def _allowed(one: Marked) -> Counter[str]:
    """Return the words that may be there: all of the text's but those of personal items."""
    words = _words(one.text)
    for item in one.personal:
        words.subtract(_words(item))
    return Counter({word: max(0, times) for word, times in words.items()})


def _words(text: str) -> Counter[str]:
    return Counter(
        word for word in _WORD.findall(text) if len(word) > 1 and word not in ("Mr", "Mrs", "Ms", "Dr", "and")
    )


def _flat(text: str) -> str:
    return " ".join(text.split())
