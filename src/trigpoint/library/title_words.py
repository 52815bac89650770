"""The words, numbers and designations of titles, in one form, so that two titles can be compared."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

FILLERS = frozenset("a an and at by for from in of on or the to its und der die das et le la les de des du".split())

_WORD = re.compile(r"[0-9]+(?:\.[0-9]+)+|\w+")
_ORDINAL = re.compile(r"([0-9]+)(?:st|nd|rd|th)", re.ASCII)
_ROMAN = {"ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
_LONE_ROMAN = {**_ROMAN, "i": "1", "v": "5", "x": "10"}  # numbers only after a word such as "volume"
_NUMBER_WORDS = {
    **dict(zip("one two three four five six seven eight nine ten".split(), map(str, range(1, 11)), strict=True)),
    **dict(zip("first second third fourth fifth sixth seventh eighth ninth tenth".split(), map(str, range(1, 11)), strict=True)),
}  # fmt: skip
_DESIGNATING = {
    "volume": "volume", "vol": "volume", "band": "volume", "tome": "volume", "part": "part", "pt": "part", "teil": "part",
    "edition": "edition", "ed": "edition", "edn": "edition", "appendix": "appendix", "annex": "annex", "phase": "phase",
    "chapter": "chapter", "schedule": "schedule", "stage": "stage", "option": "option", "zone": "zone", "book": "book",
}  # fmt: skip


@lru_cache(maxsize=20_000)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words without case, accents and punctuation; `1.2` stays one word."""
    folded = unicodedata.normalize("NFKD", re.sub(r"<[^>]{1,20}>", "", text)).casefold()
    plain = "".join(c for c in folded if not unicodedata.combining(c) and c not in "'’‘").replace("_", " ")
    return tuple(_WORD.findall(plain))


@lru_cache(maxsize=20_000)
def telling_words(title: str) -> tuple[str, ...]:
    """Return the words of a title that tell it from others: no fillers, numbers in one form."""
    return tuple(_number_in(word) or word for word in words_of(title) if word not in FILLERS)


def numbers_in(title: str) -> set[str]:
    return {number for word in words_of(title) if (number := _number_in(word))}


def _number_in(word: str) -> str | None:
    """Return a numeral as digits: `2`, `2nd`, `two`, `second`, `ii`, `1.2`."""
    if word.replace(".", "").isdigit():
        return word.lstrip("0") or "0"
    if ordinal := _ORDINAL.fullmatch(word):
        return ordinal[1]
    return _NUMBER_WORDS.get(word) or _ROMAN.get(word)


def designations(text: str) -> dict[str, str]:
    """Return what a text says it is among its siblings: `Volume II` is volume 2, `Appendix B` is appendix b."""
    labels: dict[str, str] = {}
    words = words_of(text)
    for before, word, after in zip(("", *words), words, (*words[1:], ""), strict=False):
        name = _DESIGNATING.get(word)
        if name == "edition" and _number_in(before):
            labels.setdefault(name, str(_number_in(before)))
        elif name and (label := _number_label(after)):
            labels.setdefault(name, label)
    return labels


def designation(value: object) -> str | None:
    """Return the value of a field such as `volume` or `edition` in the form that `designations` has."""
    words = words_of(str(value))
    return next((label for word in words if (label := _number_label(word))), None)


def _number_label(word: str) -> str | None:
    return _number_in(word) or _LONE_ROMAN.get(word) or (word if len(word) == 1 and word.isalpha() else None)
