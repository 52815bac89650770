"""Which of a finding's quotations prove a statement: those with its figures, the words it quotes and most of its others."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trigpoint.review.evidence import collapse
from trigpoint.review.findings import Citation

_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
_WORD = re.compile(r"[^\W\d_]{4,}")
_STEM = 6  # letters by which "junction" is known again in "junctions"
_QUOTED = re.compile(r"[“\"]([^“”\"]{8,})[”\"]")
_FIGURE_WEIGHS = 3.0  # words; a quotation within the text weighs as much
_COMMON = frozenset(
    word[:_STEM]
    for word in "that this these those with from into their there which than more most less have been were they also only "
    "would could should shall will must each between says states".split()
)


class _Phrase(str):
    """Words that a text quotes: whatever proves it must have them."""


def deciding_first(text: str, citations: Iterable[Citation]) -> tuple[Citation, ...]:
    """Return the citations in the order in which they prove a text: each adds the most to those before it.

    A citation that adds nothing keeps its place among the others that add nothing, and the standard by which something
    is measured comes after what is said of the application.
    """
    return tuple(one for one, _ in _by_what_each_adds(text, citations))


def proving(text: str, citations: Iterable[Citation], *, most: int) -> tuple[Citation, ...]:
    """Return the citations that prove a text: those that add a figure, words it quotes, or several others to the ones before."""
    ordered = _by_what_each_adds(text, citations)
    return tuple(one for place, (one, adds) in enumerate(ordered) if place == 0 or adds >= _FIGURE_WEIGHS)[:most]


def _by_what_each_adds(text: str, citations: Iterable[Citation]) -> list[tuple[Citation, float]]:
    left = list(dict.fromkeys(citations))
    phrases = {_Phrase(collapse(found).casefold()) for found in _QUOTED.findall(text)}
    wanted = _figures_and_stems(text) | phrases
    parts = {one: _figures_and_stems(one.quote) | _phrases_in(one.quote, phrases) for one in left}
    ordered: list[tuple[Citation, float]] = []
    while left:
        best = max(left, key=lambda one: (one.status != "policy", _weight(parts[one] & wanted)))
        left.remove(best)
        ordered.append((best, _weight(parts[best] & wanted)))
        wanted -= parts[best]
    return ordered


def _figures_and_stems(text: str) -> set[float | str]:
    figures: set[float | str] = {float(found.replace(",", "")) for found in _FIGURE.findall(text)}
    return figures | ({word[:_STEM].casefold() for word in _WORD.findall(text)} - _COMMON)


def _phrases_in(quote: str, phrases: Iterable[_Phrase]) -> set[float | str]:
    said = collapse(quote).casefold()
    return {phrase for phrase in phrases if phrase.rstrip(".,") in said}


def _weight(parts: Iterable[float | str]) -> float:
    return sum(_FIGURE_WEIGHS if isinstance(part, float | _Phrase) else 1.0 for part in parts)
