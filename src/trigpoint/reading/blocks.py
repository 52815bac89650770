"""Lines become blocks: headings, paragraphs, bullets and table rows, whole across line and page breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from trigpoint.reading.lines import Line

BlockKind = Literal["heading", "paragraph", "bullet", "row", "header", "label"]

_FULL_LINE = 0.72  # of the document's usual width: a line at least this long runs on into the next
_LONGEST_HEADING = 90
_SHORT_LABEL = 40
_MOST_SKIPPED = 3
CAPITALS_LEVEL, PLAIN_LEVEL = 8, 9  # depths of headings without a number, below all numbered ones
_MIN_VALUES = 3  # bare figures among short lines, from which on they are read as the cells of a table

_NUMBER = r"\d{1,3}(?:\.\d{1,3}){0,4}\.?"
_NUMBER_ALONE = re.compile(rf"(?:{_NUMBER}|[A-Z]\d{{1,2}}\.?|[A-Z]\d?\.\d{{1,2}})")
_NUMBERED = re.compile(rf"(?P<number>{_NUMBER})(?:\s+|\t)(?P<rest>[A-Z“‘\"'(].*)", re.DOTALL)
_BULLET = re.compile(r"(?P<mark>[•▪●○■◦‣⁃✓➢\uf0b7\uf0a7*·]|[-–—]\s|\uf0d8)\s*(?P<rest>.*)", re.DOTALL)
_LETTERED = re.compile(r"(?P<mark>\(?(?:[a-z]|[ivx]{1,4})[).]|\(\d{1,2}\)|\d{1,2}\))\s+(?P<rest>.*)", re.DOTALL)
_MARK_ALONE = re.compile(r"[•▪●○■◦‣⁃✓➢\uf0b7\uf0a7*·o–-]|\(?(?:[a-z]|[ivx]{1,4})[).]|\(\d{1,2}\)|\d{1,2}\)")
_MARKDOWN = re.compile(r"(?P<hashes>#{1,6})\s+(?P<rest>.*)")
_SEPARATOR = re.compile(r"\|?(?:\s*:?-{2,}:?\s*\|)+(?:\s*:?-{2,}:?\s*)?")
_CAPTION = re.compile(r"(?:Table|Figure|Plan|Appendix|Image|Photo)\s+[A-Z]?\d", re.IGNORECASE)
_VALUE = re.compile(r"[£<>~+-]?\s?\d[\d,.]*\s?(?:%|m2|m²|sqm|m|km|mph|ha)?|[-–]|n/a|nil", re.IGNORECASE)
_CONTENTS = re.compile(r".*(?:\.\s?){5,}\s*\d+")
_ENDS = (".", "!", "?", ":", ";")
_QUOTES = "\"'’”)]"
_RUN_IN = frozenset(("reason", "reasons"))  # labels of the sentence that follows them, never headings
_SMALL_WORDS = frozenset("a an and as at but by for from in into of on or per the to via with".split())


@dataclass
class Block:
    """A run of lines that belong together. `level` is a heading's depth, `number` a paragraph's printed number."""

    kind: BlockKind
    lines: list[Line]
    number: str = ""
    level: int = 0
    cells: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The words of the block with single spaces."""
        return " ".join(" ".join(line.text for line in self.lines).split())


def read_blocks(lines: Sequence[Line]) -> list[Block]:
    """Return headings, paragraphs, bullets and rows in reading order."""
    return list(_BlockReader(lines).read())


class _BlockReader:
    """Takes one line after another; a paragraph stays open until a line shows that it has ended."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.widths = _usual_widths(lines)
        self.open: Block | None = None
        self.number = ""
        self.counted = 0  # the last whole number that counted a paragraph, a chapter or a condition
        self.alone = False  # whether the line above was a paragraph's number and nothing else

    def read(self) -> Iterator[Block]:
        index = 0
        while index < len(self.lines):
            cells = self._cell_run(index)
            if cells:
                yield from self._close()
                yield from _rows_of_cells(self.lines[index : index + cells])
                index += cells
                continue
            yield from self._take(self.lines[index], self._next(index))
            index += 1
        yield from self._close()

    def _next(self, index: int) -> Line | None:
        return self.lines[index + 1] if index + 1 < len(self.lines) else None

    def _take(self, line: Line, following: Line | None) -> Iterator[Block]:
        text = line.text
        if text.startswith("|"):
            yield from self._close()
            yield from _row_blocks(line)
        elif _CONTENTS.fullmatch(text):
            yield from self._close()
        elif markdown := _MARKDOWN.fullmatch(text):
            yield from self._close()
            yield Block("heading", [_rest(line, markdown["rest"])], level=len(markdown["hashes"]))
        elif self._is_number_alone(line, following):
            yield from self._close()
            self._count(text)
            self.alone = True
        elif _MARK_ALONE.fullmatch(text) and following is not None:
            yield from self._close()
            self.open = Block("bullet", [], number=self.number)
        elif bullet := _BULLET.fullmatch(text) or (_LETTERED.fullmatch(text) if self._may_begin(line) else None):
            yield from self._close()
            self.open = Block("bullet", [_rest(line, bullet["rest"])], number=self.number)
        elif (numbered := _NUMBERED.fullmatch(text)) and self._may_begin(line) and self._heads(numbered, line):
            yield from self._close()
            self._count(numbered["number"])
            self._begin(_rest(line, numbered["rest"]), following, fresh=True)
        elif self.open is not None and self._goes_on(line):
            self.open.lines.append(line)
        else:
            yield from self._close()
            self._begin(line, following, fresh=self.alone)

    def _begin(self, line: Line, following: Line | None, *, fresh: bool) -> None:
        """Begin a paragraph or a heading; `fresh` says that the number in force is this very line's own."""
        self.alone = False
        if not self._is_heading(line, following, fresh=fresh):
            self.open = Block("paragraph", [line], number=self.number)
            return
        unnumbered = CAPITALS_LEVEL if line.text.isupper() else PLAIN_LEVEL
        level = self.number.count(".") + 1 if fresh else unnumbered
        self.open = Block("heading", [line], number=self.number if fresh else "", level=level)

    def _close(self) -> Iterator[Block]:
        if self.open is not None and self.open.lines:
            yield _labelled(self.open)
        self.open = None

    def _is_number_alone(self, line: Line, following: Line | None) -> bool:
        """Return whether a line is the number of the paragraph below it."""
        if following is None or not _NUMBER_ALONE.fullmatch(line.text) or not self._counts(line.text):
            return False
        return following.text[0].isupper() or following.text[0] in "“‘\"'(0123456789"

    def _counts(self, number: str) -> bool:
        """Return whether a number counts paragraphs: it has a dot ("5.", "14.4.10"), or is 1 or the last one plus 1."""
        return "." in number or (number.isdecimal() and int(number) in (1, self.counted + 1))

    def _heads(self, numbered: re.Match[str], line: Line) -> bool:
        """Return whether a number at the start of a line counts; before a short title one or two may be skipped."""
        number, rest = numbered["number"], numbered["rest"]
        if self._counts(number):
            return True
        skips = number.isdecimal() and 0 < int(number) - self.counted <= _MOST_SKIPPED
        return skips and bool(line.blank_before) and len(rest) <= _SHORT_LABEL + 10 and not _ended(rest)

    def _count(self, number: str) -> None:
        self.number = number.rstrip(".")
        first = self.number.partition(".")[0]
        self.counted = int(first) if first.isdecimal() else self.counted

    def _may_begin(self, line: Line) -> bool:
        """Return whether a new paragraph may begin here: not in the middle of an unfinished sentence on full lines."""
        if self.open is None or line.blank_before or not self.open.lines:
            return True
        last = self.open.lines[-1].text
        return _ended(last) or not self._is_full(self.open.lines[-1])

    def _goes_on(self, line: Line) -> bool:
        assert self.open is not None
        if not self.open.lines:
            return True
        last, first = self.open.lines[-1].text, line.text[0]
        if self.open.kind == "heading":  # a heading in capitals, one word a line
            return last.isupper() and line.text.isupper() and not line.blank_before
        if last[-1] in ":;":
            return (first.islower() and not line.blank_before) or last.isupper()
        if _ended(last):
            return not line.blank_before and not line.new_page and self._is_full(self.open.lines[-1])
        if first.islower() or last[-1] in ",-–‑&/(" or last.split()[-1].lower() in _SMALL_WORDS:
            return True
        if line.blank_before and not line.new_page:
            return False
        if _is_figure(self.open) and len(line.text) <= _SHORT_LABEL and not first.isdigit():
            return True
        return self._is_full(self.open.lines[-1]) and not line.text.isupper()

    def _is_full(self, line: Line) -> bool:
        return len(line.text) >= self.widths[line.page] * _FULL_LINE

    def _is_heading(self, line: Line, following: Line | None, *, fresh: bool) -> bool:
        text = line.text
        if len(text) > _LONGEST_HEADING or _ended(text.rstrip(":")) or text[-1] in ",;-–" or not text[0].isalnum():
            return False
        if _CAPTION.match(text) or text.count("(") != text.count(")"):
            return False
        if text.endswith(":") and not (fresh and text.isupper()):
            return False
        words = text.rstrip(":").split()
        if text.lower() in _RUN_IN or text[0].islower() or len(words) > 14 or words[-1].lower() in _SMALL_WORDS:
            return False
        if any(char.isdigit() for char in text) and not fresh and not text.isupper():
            return False
        if following is None or following.text[0].islower():
            return False
        if text.isupper() and len(text) > 3:
            return True
        return not self._is_full(line)

    def _cell_run(self, start: int) -> int:
        """Return how many short lines from here on are the cells of a table that was torn apart; 0 if none."""
        end, values = start, 0
        while end < len(self.lines) and _is_cell(self.lines[end], first=end == start):
            values += _VALUE.fullmatch(self.lines[end].text) is not None
            end += 1
        while end > start and not _VALUE.fullmatch(self.lines[end - 1].text):
            end -= 1
        length = end - start
        return length if values >= _MIN_VALUES and values >= length * 0.4 and length >= 2 * _MIN_VALUES else 0


def _is_cell(line: Line, *, first: bool) -> bool:
    if line.text.startswith("|") or (line.new_page and not first) or _BULLET.fullmatch(line.text):
        return False
    if _VALUE.fullmatch(line.text):
        return not first
    return len(line.text) <= _SHORT_LABEL and not _ended(line.text) and not _NUMBER_ALONE.fullmatch(line.text)


def _rows_of_cells(lines: Sequence[Line]) -> Iterator[Block]:
    """Put the cells of a torn table together: a row is a label with the figures that follow it."""
    row: list[Line] = []
    for line in lines:
        is_value = _VALUE.fullmatch(line.text) is not None
        if row and not is_value and _VALUE.fullmatch(row[-1].text):
            yield _cell_block(row)
            row = []
        row.append(line)
    if row:
        yield _cell_block(row)


def _cell_block(row: list[Line]) -> Block:
    labels = [line.text for line in row if not _VALUE.fullmatch(line.text)]
    values = [line.text for line in row if _VALUE.fullmatch(line.text)]
    cells = (" ".join(labels), *values)
    return Block("row", row, cells=cells)


def _row_blocks(line: Line) -> Iterator[Block]:
    if _SEPARATOR.fullmatch(line.text):
        yield Block("header", [line])
        return
    cells = tuple(cell.strip() for cell in line.text.strip("|").split("|"))
    if any(cells):
        yield Block("row", [line], cells=cells)


def _labelled(block: Block) -> Block:
    """Return the block, as a label if it is a short paragraph without an end: a caption, an entry of a list."""
    if block.kind == "paragraph" and not _ended(block.text) and len(block.text) <= _LONGEST_HEADING:
        block.kind = "label"
    return block


def _rest(line: Line, rest: str) -> Line:
    """Return a line without the mark or number that it begins with."""
    return replace(line, text=rest, start=line.end - len(rest))


def _ended(text: str) -> bool:
    return text.rstrip(_QUOTES).endswith(_ENDS) if text else False


def _is_figure(block: Block) -> bool:
    """Return whether a block is a figure of an infographic, whose words follow on the next lines ("165", "HOMES")."""
    return block.kind == "paragraph" and block.lines[0].text[0].isdigit() and len(block.text) <= _SHORT_LABEL


def _usual_widths(lines: Sequence[Line]) -> dict[int | None, float]:
    """Return for each page the length that nine in ten of its lines of prose do not exceed."""
    lengths: dict[int | None, list[int]] = {}
    for line in lines:
        lengths.setdefault(line.page, []).append(len(line.text))
    return {page: _ninth_tenth(widths) for page, widths in lengths.items()}


def _ninth_tenth(lengths: Sequence[int]) -> float:
    prose = sorted(length for length in lengths if length > _SHORT_LABEL)
    return float(prose[int(len(prose) * 0.9)]) if prose else 60.0
