"""Sentences and table rows of a passage: what a quotation is made of. A heading is not part of the sentence below
it, a row of a table is its label with the values that follow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|approx|paras?|No|St|Figs?|Rd|Ltd|cf|vs|c|Mr|Mrs|Dr|etc)|[0-9]\s?[Nn]os?)\.$"
)
_END = re.compile(r"[.!?][\"')\]\u2019\u201d]*\s+(?=[\"'(\[\u2018\u201cA-Z0-9\u2022£])")
_NEW = re.compile(
    r"\s*(?:[\u2022\u25aa\u25cf\u2013*]|-\s|\([a-z0-9]{1,3}\)\s|\d{1,2}(?:\.\d{1,2}){1,3}\.?\s+[A-Z]|\d{1,3}\.\s+[A-Z])"
)
_VALUE = re.compile(
    r"\s*(?:[£<>≤≥~+-]?\s?\d[\d,.:]*\s?(?:%|m²|m2|mm|m|km|mph|per cent|minutes?|mins?|hectares|ha|spaces|stands?)?|-|–|N/A|Yes|No|None)\s*[.,;]?\s*",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")
_FOLD = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u2011": "-"}
    | {"\u00a0": " ", "\u00ad": None, "\ufb01": "fi", "\ufb02": "fl", "\ufb00": "ff"}
)
_FULL_LINE = 60  # a line at least this long goes on in the next one


@dataclass(frozen=True)
class Sentence:
    """A run of text of a passage. `whole` is false where the passage begins or ends in the middle of it."""

    text: str
    whole: bool = True


def collapse(text: str) -> str:
    """One space for every run of white space."""
    return _SPACE.sub(" ", text).strip()


def fold(text: str) -> str:
    """Text as it is compared: one kind of quote, dash and space, lower case; nothing else is forgiven."""
    return collapse(text.translate(_FOLD)).lower()


def split_sentences(text: str) -> list[Sentence]:
    """The sentences and table rows of a passage, in order, white space collapsed."""
    pieces = [piece for block in _blocks(text) for piece in _sentences(block)]
    last = len(pieces) - 1
    return [Sentence(piece, _is_whole(piece, first=i == 0, last=i == last)) for i, piece in enumerate(pieces)]


def _blocks(text: str) -> list[str]:
    """Paragraphs, headings and table rows."""
    lines = text.split("\n")
    full = min(_FULL_LINE, 0.75 * max((len(line.strip()) for line in lines), default=0))
    blocks: list[list[str]] = []
    previous = ""
    for line in lines:
        stripped = line.strip()
        if stripped and blocks and previous and _goes_on(previous, stripped, full):
            blocks[-1].append(stripped)
        elif stripped:
            blocks.append([stripped])
        previous = stripped
    return [collapse(" ".join(block)) for block in blocks]


def _goes_on(previous: str, line: str, full: float) -> bool:
    if _NEW.match(line):
        return False
    if _VALUE.fullmatch(line):
        return True
    if previous[-1] in ".!?" and len(previous) < full:
        return False
    return (
        len(previous) >= full or line[0].islower() or previous[-1] in ",-–" or (line[0] == "(" and previous[-1] != ":")
    )


def _sentences(block: str) -> list[str]:
    found, start = [], 0
    for match in _END.finditer(block):
        if not _ABBREVIATED.search(block[start : match.start() + 1]):
            found.append(block[start : match.end()].strip())
            start = match.end()
    return [*found, block[start:].strip()] if block[start:].strip() else found


def _is_whole(piece: str, *, first: bool, last: bool) -> bool:
    if first and (piece[0].islower() or piece[0] in ",;.)"):
        return False
    return not (last and piece[-1] not in ".!?:;)\"'\u2019\u201d" and len(piece.split()) > 12)
