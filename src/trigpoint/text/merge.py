"""Merges two readings of one page in reading order: the blocks of its text layer, and what OCR read around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trigpoint.text.images import Box, overlap

_SAME = 0.5
_NEAR = 4.0  # points


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a page's text: whole lines, each with its newline, and where they are."""

    box: Box
    text: str


def is_read_already(line: Piece, pieces: Iterable[Piece]) -> bool:
    """Return whether a line that OCR read is one that the text layer has: there, or with the same words close by."""
    touching = [piece for piece in pieces if overlap(line.box, _wider(piece.box)) > 0]
    if sum(overlap(line.box, piece.box) for piece in touching) >= _SAME:
        return True
    words = _word_set(line.text)
    return any(len(words & _word_set(piece.text)) > _SAME * len(words) for piece in touching)


def _wider(box: Box) -> Box:
    return box[0] - _NEAR, box[1] - _NEAR, box[2] + _NEAR, box[3] + _NEAR


def _word_set(text: str) -> set[str]:
    return {word.strip(".,:;|()[]\\/").lower() for word in text.split()} - {""}


def merged(pieces: Sequence[Piece], read: Iterable[Piece]) -> list[Piece]:
    """Return all pieces: the first ones in their own order, each of the others after the piece that it follows on the page."""
    result = list(pieces)
    for piece in read:
        result.insert(_reading_index(result, piece.box), piece)
    return result


def insert(text: str, pieces: Sequence[Piece], read: Iterable[Piece]) -> str:
    """Return a text made from `pieces`, but changed since (it has tables), with more pieces put in where they belong."""
    for piece in read:
        before = pieces[: _reading_index(pieces, piece.box)]
        at = next((end for one in reversed(before) if (end := _end_of(one, text)) is not None), len(text))
        ending = "" if text[:at].endswith("\n") or not at else "\n"
        text = f"{text[:at]}{ending}{piece.text}{text[at:]}"
    return text


def joined(pieces: Iterable[Piece]) -> str:
    """Return the text of the pieces, each on its own lines."""
    return "".join(piece.text if piece.text.endswith("\n") else f"{piece.text}\n" for piece in pieces)


def _reading_index(pieces: Sequence[Piece], box: Box) -> int:
    """Return the index of a piece: after the nearest one above it in its column, else before the first below."""
    middle = (box[1] + box[3]) / 2
    above = [(piece.box[3], index) for index, piece in enumerate(pieces) if _centre(piece.box) <= middle]
    column = [(bottom, index) for bottom, index in above if _share_column(pieces[index].box, box)]
    if column:
        return max(column)[1] + 1
    below = [index for index, piece in enumerate(pieces) if _centre(piece.box) > middle]
    beside = [index for index in below if _share_column(pieces[index].box, box)]
    if beside:
        return beside[0]
    return max(above)[1] + 1 if above else 0


def _centre(box: Box) -> float:
    return (box[1] + box[3]) / 2


def _share_column(one: Box, other: Box) -> bool:
    return min(one[2], other[2]) - max(one[0], other[0]) > 0.2 * min(one[2] - one[0], other[2] - other[0])


def _end_of(piece: Piece, text: str) -> int | None:
    """Return where the last line of a piece ends in the text."""
    last = piece.text.strip().rpartition("\n")[2]
    at = text.find(f"{last}\n") if last else -1
    return at + len(last) + 1 if at >= 0 else None
