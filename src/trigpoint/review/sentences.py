"""Sentences of a passage, with where they stand in it: what a quotation is made of. Lines of a table stay lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ABBREVIATIONS = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bapprox)(?<!\bpara)(?<!\bparas)(?<!\bNo)(?<!\bSt)(?<!\bFig)(?<!\bRd)(?<!\bLtd)(?<!\bcf)(?<!\bvs)(?<!\bc)"
_END = re.compile(
    _ABBREVIATIONS
    + r"[.!?][\"')\]\u2019\u201d]*\s+(?=[\"'(\[\u2018\u201cA-Z0-9\u2022£])"  # a full stop and a new start
    r"|\n\s*\n"  # a blank line
    r"|\n(?=\s*(?:[\u2022\u25aa\u25cf\u2013*\-]|\([a-z0-9]{1,3}\)|\d+(?:\.\d+)+\.?\s|\d{1,3}\.\s)\s*)"  # a bullet or a numbered paragraph
)
_SPACE = re.compile(r"\s+")
_FOLD = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2013": "-",
        "\u2014": "-",
        "\u2011": "-",
        "\u00a0": " ",
        "\u00ad": None,
    }
)


@dataclass(frozen=True)
class Sentence:
    """A run of text of a passage. `whole` is false where the passage begins or ends in the middle of it."""

    text: str
    start: int
    end: int
    whole: bool = True


def collapse(text: str) -> str:
    """One space for every run of white space."""
    return _SPACE.sub(" ", text).strip()


def fold(text: str) -> str:
    """Text as it is compared: one kind of quote, dash and space, lower case; nothing else is forgiven."""
    return collapse(text.translate(_FOLD)).lower()


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of a passage, in order, white space collapsed."""
    found: list[Sentence] = []
    start = 0
    for end in [match.end() for match in _END.finditer(text)] + [len(text)]:
        piece = collapse(text[start:end])
        if piece:
            found.append(Sentence(piece, start, end, _is_whole(piece, first=start == 0, last=end == len(text))))
        start = end
    return found


def _is_whole(piece: str, *, first: bool, last: bool) -> bool:
    if first and (piece[0].islower() or piece[0] in ",;.)"):
        return False
    return not (last and piece[-1] not in ".!?:;)\"'\u2019\u201d" and len(piece.split()) > 12)
