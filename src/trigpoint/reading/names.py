"""Proper names in an application's documents, which show that two statements are about the same thing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = r"(?:[A-Z][a-z’'-]+[A-Za-z’'-]*|[A-Z]{1,3}\d{1,4}(?:\(M\))?)"
_SEQUENCE = re.compile(rf"\b{_WORD}(?:[ ]{_WORD})*")
_ROAD_NUMBER = r"([ABM]\d{1,4})"
_NAME_THEN_NUMBER = rf"\b((?:[A-Z][a-z’'-]+ ){{1,3}})\((?:the )?{_ROAD_NUMBER}\)"
_NUMBER_THEN_NAME = rf"\b{_ROAD_NUMBER} \(?((?:[A-Z][a-z’'-]+ ?){{1,3}})\)?"
_WITH_NUMBER = re.compile(f"{_NAME_THEN_NUMBER}|{_NUMBER_THEN_NAME}")
_POSSESSIVE = re.compile(r"['’]s$")
_COMMON = frozenset(
    "the a an this that these those our its it in on at to of for from by and or if as with along via near between where when "
    "there here all both each every no none not policy policies paragraph section table figure appendix chapter part phase "
    "planning statement design access transport assessment travel plan framework local development note technical addendum report "
    "committee council borough county district city authority highway highways application applicant proposal proposals proposed "
    "existing scheme site sites area development class grade use uses national government january february march april may june "
    "july august september october november december monday tuesday wednesday thursday friday saturday sunday saturdays sundays "
    "north south east west northern southern eastern western new old number drawing rev revision stage level levels year years "
    "unit units block store phase total condition conditions act order regulation regulations spd nppf ltn trics dft adopted draft "
    "parking cycle cycling car cars bus walking residential office offices vehicle vehicles traffic road roads street streets "
    "under following however although while whilst since because before after should would will could one two three four five six "
    "seven eight nine ten twenty thirty forty fifty sixty seventy eighty ninety some most many several such other another further "
    "company limited ltd llp plc mr mrs ms dr cllr prepared issue sheffield toucan zebra puffin ministry department england"
    .split()
)  # fmt: skip
_LEAST_SEEN = 2  # times that a word at the beginning of a sentence must be a name elsewhere, to be one there


@dataclass(frozen=True)
class Name:
    """A proper name as it is written in a statement, with the name by which it is known everywhere."""

    known: str
    start: int
    end: int


class Gazetteer:
    """The names of an application. A word that opens a sentence is a name only if it is one within others.

    `own` are the names that the titles of several documents share: those of the scheme and its site.
    """

    def __init__(self, texts: Iterable[str], titles: Iterable[str] = ()) -> None:
        self.seen: Counter[str] = Counter()
        own = Counter(name.lower() for title in titles for name in {name for _, name in _sequences(title)})
        self.own = frozenset(name for name, count in own.items() if count >= _LEAST_SEEN)
        self.same: dict[str, str] = {}
        for text in texts:
            if text.isupper():
                continue
            for start, name in _sequences(text):
                if start > 0 and text[start - 2 : start] not in (". ", "? ", "! "):
                    self.seen[name.lower()] += 1
            self._learn_numbers(text)

    def _learn_numbers(self, text: str) -> None:
        """Learn that "Portway (B3081)" and "the A511 Ashby Road" are two names of one road."""
        for match in _WITH_NUMBER.finditer(text):
            name, number = (match[1], match[2]) if match[2] else (match[4], match[3])
            trimmed = _trimmed(name.strip())
            if trimmed and number.lower() not in self.same:
                self.same[number.lower()] = trimmed[1].lower()

    def is_usual(self, name: str) -> bool:
        """Return whether a name is used again and again."""
        return self.seen[name] >= _LEAST_SEEN

    def names(self, text: str) -> tuple[Name, ...]:
        """Return the names in a text, in order."""
        if text.isupper():
            return ()
        mentions = []
        for start, name in _sequences(text):
            low = name.lower()
            opens = start == 0 or text[start - 2 : start] in (". ", "? ", "! ")
            if not opens or " " in name or self.seen[low] >= _LEAST_SEEN:
                mentions.append(Name(self.same.get(low, low), start, start + len(name)))
        return tuple(mentions)


def _sequences(text: str) -> Iterable[tuple[int, str]]:
    for match in _SEQUENCE.finditer(text):
        trimmed = _trimmed(match.group())
        if trimmed is not None:
            yield match.start() + trimmed[0], trimmed[1]


def _trimmed(sequence: str) -> tuple[int, str] | None:
    """Return a run of capitalised words without common words at its ends, and how far in it begins."""
    words = sequence.split(" ")
    first = 0
    while (
        words and words[0].lower() in _COMMON and not (len(words) > 1 and words[0] in ("Old", "New", "North", "South"))
    ):
        first += len(words.pop(0)) + 1
    while words and words[-1].lower() in _COMMON and words[-1] not in ("Road", "Street", "Way"):
        words.pop()
    if not words or all(word.lower() in _COMMON for word in words):
        return None
    name = _POSSESSIVE.sub("", " ".join(words))
    return (first, name) if len(name) > 2 else None
