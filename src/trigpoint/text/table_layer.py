"""The text layer of a PyMuPDF page as tables need it: words with their lines, directions and weights."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from trigpoint.text.aligned import find_aligned_grids, may_have_aligned_table
from trigpoint.text.images import Box
from trigpoint.text.pages import clean_text
from trigpoint.text.rulings import find_grids, may_have_table
from trigpoint.text.table_cells import Word
from trigpoint.text.tables import Table, find_tables, text_with_tables, without_underlines

_BOLD = 16  # MuPDF's flag of a span
_STRIP = 8.0  # points: spans are looked up by the strip of the page that their middle lies in

_Strips = Mapping[int, list[Box]]


def with_tables(
    page: int, layer: Any, text: str, boxes: Sequence[Box], styled: Callable[[], Any]
) -> tuple[str, tuple[Table, ...]]:
    """Return the page's text with its tables as Markdown rows, and the tables.

    `layer` is where the text comes from, `boxes` are those of the page's vector drawings: a page on which they make no
    grid, and that has no rows of figures, costs next to nothing. `styled` gives a layer without pictures.
    """
    is_ruled, is_aligned = may_have_table(boxes), may_have_aligned_table(text)
    if not (is_ruled or is_aligned) or not text.strip():
        return text, ()
    raw_words = layer.extractWORDS()
    is_ruled = is_ruled and (
        any(map(_may_be_turned, raw_words)) or bool(find_grids(without_underlines(boxes, raw_words)))
    )
    if not is_ruled and not (is_aligned and find_aligned_grids([Word(*word[:5]) for word in raw_words])):
        return text, ()
    lines = text.splitlines(keepends=True)
    words = _words_of_layer(raw_words, lines, styled)
    tables = find_tables(page, words, boxes if is_ruled else ())
    return (text_with_tables(lines, words, tables), tables) if tables else (text, ())


def _may_be_turned(word: tuple[Any, ...]) -> bool:
    """Return whether a word of some letters is taller than it is wide."""
    return bool(word[3] - word[1] > word[2] - word[0]) and sum(map(str.isalnum, word[4])) >= 4


def _words_of_layer(
    raw_words: Iterable[tuple[Any, ...]], lines: Sequence[str], styled: Callable[[], Any]
) -> list[Word]:
    """Return the words of the layer in their order; none if they do not match the lines."""
    bold, turned = _styles(styled().extractDICT())
    words: list[Word] = []
    letters = iter([(number, len("".join(line.split()))) for number, line in enumerate(lines)])
    number, left = next(letters)
    for x0, y0, x1, y1, text, *_ in raw_words:
        text = "".join(clean_text(text).split())
        while not left:
            number, left = next(letters, (number, len(text)))
        left -= len(text)
        if left < 0:
            return []
        middle = (x0 + x1) / 2, (y0 + y1) / 2
        turn = next((turn for turn in (1, 3) if _is_in(turned[turn], middle)), 0)
        words.append(Word(x0, y0, x1, y1, text, number, _is_in(bold, middle), turn))
    return words


def _styles(layer: Any) -> tuple[_Strips, Mapping[int, _Strips]]:
    """Return the strips of bold text, and those of text that runs downwards (1) or upwards (3)."""
    bold: defaultdict[int, list[Box]] = defaultdict(list)
    turned: dict[int, defaultdict[int, list[Box]]] = {1: defaultdict(list), 3: defaultdict(list)}
    for block in layer["blocks"]:
        for line in block.get("lines", ()):
            turn = _turn_of_direction(line["dir"])
            if turn:
                _enter(turned[turn], line["bbox"])
            for span in line["spans"]:
                if span["flags"] & _BOLD or "bold" in span["font"].lower():
                    _enter(bold, span["bbox"])
    return bold, turned


def _enter(strips: defaultdict[int, list[Box]], box: Box) -> None:
    for strip in range(int(box[1] // _STRIP), int(box[3] // _STRIP) + 1):
        strips[strip].append(box)


def _is_in(strips: _Strips, point: tuple[float, float]) -> bool:
    x, y = point
    return any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in strips.get(int(y // _STRIP), ()))


def _turn_of_direction(direction: tuple[float, float]) -> int:
    across, down = direction
    if abs(across) >= abs(down):
        return 0
    return 1 if down > 0 else 3
