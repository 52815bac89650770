"""Where a comment, a letter or a form has a person's data by its layout: fields, tables, the sender's block, the sign-off."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trigpoint.review.people_words import (
    CLOSINGS,
    COUNCILS,
    ORGANISATIONS,
    ROLES,
    SITE,
    is_address,
    is_name,
    label_kind,
    words,
)
from trigpoint.review.wording import any_of

SIGNED_LINES = 6
HEAD_LINES = 16
_LONG_LINE = 11  # words, from which on a line is part of a sentence
_LABEL = re.compile(
    r"(?:^|[ \t]{2,}|[|;][ \t]*)[> \t|]*(?P<label>[A-Za-z][\w'’/(). -]{0,45}?)[ \t]*(?::|[ ][-–][ ])[ \t]*"
)
_OPENING = re.compile(
    r"(?:Signed|Posted by|Submitted by|Comments? (?:by|from)|[Cc]\.?[Cc]\.?|c/o)[ \t]+[-–:]?[ \t]*(?=\S)"
)
_SALUTATION = re.compile(r"(?:dear|hi|hello|good (?:morning|afternoon|evening)|to whom)\b", re.IGNORECASE)
_POSTCODE = re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b")
_ENDING = re.compile(r"(?:p\.?s\b|sent from|>?\s*on .{0,60}wrote)", re.IGNORECASE)
_PERSON_SECTION = any_of(
    *"applicant agent customer".split(),
    "your (?:details|comments)",
    *"contact owner certificate declaration person".split(),
)


@dataclass(frozen=True)
class PersonalSpan:
    """A part of a text. `named`: it is the name of a person, who may be named again elsewhere."""

    start: int
    end: int
    named: bool = False

    def holds(self, other: PersonalSpan) -> bool:
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True)
class _Line:
    start: int
    text: str

    @property
    def bare(self) -> str:
        return self.text.strip(" \t>|")

    def part(self, start: int, end: int, *, named: bool = False) -> PersonalSpan:
        return PersonalSpan(self.start + start, self.start + end, named)

    def whole(self, *, named: bool = False) -> PersonalSpan:
        return self.part(0, len(self.text), named=named)


def personal_lines(text: str) -> tuple[list[PersonalSpan], list[PersonalSpan]]:
    """Return the personal parts that the layout of a comment tells, and those of them that are names."""
    lines = list(_placed_lines(text))
    spans = [
        *_fields(lines),
        *_table_cells(lines),
        *_head(lines),
        *_signed(lines),
        *_tail(lines),
        *_address_lines(lines),
    ]
    return spans, [span for span in spans if span.named]


def personal_fields(text: str) -> tuple[list[PersonalSpan], list[PersonalSpan]]:
    """Return the personal fields of a form, and those of them that are names. What is said of the site stays."""
    lines = list(_placed_lines(text))
    spans = [*_fields(lines), *_table_cells(lines)]
    return spans, [span for span in spans if span.named]


def site_lines(text: str) -> list[PersonalSpan]:
    """Return the lines that tell the site, the application or whom a letter goes to: an address there is no person's."""
    lines = list(_placed_lines(text))
    blocks = [line for block in _blocks(lines[:HEAD_LINES]) if _is_official(block) for line in block]
    labelled = [line for line, section in _sectioned(lines) if section == "site" or SITE.search(line.text)]
    return [
        line.whole() for line in (*blocks, *labelled) if len(words(line.text)) < _LONG_LINE or SITE.match(line.bare)
    ]


# --- fields


def _fields(lines: Sequence[_Line]) -> Iterator[PersonalSpan]:
    """Yield the values of labelled fields: on the label's line, in the next cell, or on the next line."""
    of_site = _values_of_site(lines)
    for at, (line, section) in enumerate(_sectioned(lines)):
        for kind, value in _values(lines, at):
            shown = value.text.strip(" |\t")
            if not shown or (section == "site" and kind != "person") or shown.casefold() in of_site:
                continue
            if kind == "contact" and not re.search(r"\d|@", shown):
                continue
            if kind == "person" and _is_organisation(shown):
                continue
            yield value.whole(named=kind == "person")
        if opening := _OPENING.match(line.text.lstrip("> \t")):
            after = len(line.text) - len(line.text.lstrip("> \t")) + opening.end()
            for start, end in _spans_between_commas(line.text, after):
                if is_name(line.text[start:end], fewest=1) or is_address(line.text[start:end]):
                    yield line.part(start, end, named=is_name(line.text[start:end], fewest=1))


def _values(lines: Sequence[_Line], at: int) -> Iterator[tuple[str, _Line]]:
    """Yield the kinds and values of the fields whose labels are on a line."""
    line = lines[at]
    cells = [(m.start(), m.end(), m[0].strip()) for m in re.finditer(r"[^|]+", line.text)] if "|" in line.text else []
    for (_, _, label), (start, end, _) in itertools.pairwise(cells):
        if (kind := label_kind(label)) and not label_kind(line.text[start:end]):
            yield kind, _Line(line.start + start, line.text[start:end])
    found = [] if cells else list(_LABEL.finditer(line.text))
    for number, match in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(line.text)
        kind = label_kind(match["label"])
        if kind and line.text[match.end() : end].strip():
            yield kind, _Line(line.start + match.end(), line.text[match.end() : end])
    alone = label_kind(line.bare.rstrip(":")) if not cells else None
    if alone and at + 1 < len(lines):
        following = lines[at + 1]
        if (
            following.bare
            and not label_kind(following.bare.partition(":")[0])
            and len(words(following.bare)) < _LONG_LINE
        ):
            yield alone, following


def _sectioned(lines: Sequence[_Line]) -> Iterator[tuple[_Line, str]]:
    """Yield each line with the section it is in: of the site, of a person, or neither."""
    section = ""
    for line in lines:
        bare = line.bare
        heading = (
            bare
            and ":" not in bare
            and len(words(bare)) <= 7
            and not bare.endswith((".", ","))
            and not label_kind(bare)
        )
        if heading and SITE.search(bare):
            section = "site"
        elif heading and _PERSON_SECTION.search(bare):
            section = "person"
        elif not bare and section != "site":
            section = ""
        yield line, section


def _values_of_site(lines: Sequence[_Line]) -> set[str]:
    """Return the values of the site's own fields: a householder's address is the site's, and stays."""
    found: set[str] = set()
    for at, (_, section) in enumerate(_sectioned(lines)):
        if section == "site":
            found |= {value.text.strip(" |\t").casefold() for kind, value in _values(lines, at) if kind == "address"}
    return found


# --- tables


def _table_cells(lines: Sequence[_Line]) -> Iterator[PersonalSpan]:
    """Yield the cells of columns that are headed Name, Address, Signature and the like."""
    columns: dict[int, str] = {}
    for line in lines:
        cells = _cells(line)
        kinds = {number: label_kind(line.text[start:end]) for number, (start, end) in enumerate(cells)}
        named = {number: kind for number, kind in kinds.items() if kind}
        if len(cells) < 2:
            columns = {}
        elif len(named) > 1 and len(named) * 2 >= len(cells):
            columns = named
        else:
            for number, (start, end) in enumerate(cells):
                if number in columns and not _is_organisation(line.text[start:end]):
                    yield line.part(start, end, named=columns[number] == "person")


def _cells(line: _Line) -> list[tuple[int, int]]:
    """Return the places of a line's cells: between bars, or between wide gaps."""
    pattern = r"[^|]*[^|\s][^|]*" if "|" in line.text else r"\S+(?: \S+)*"
    return [match.span() for match in re.finditer(pattern, line.text)]


# --- letters


def _head(lines: Sequence[_Line]) -> Iterator[PersonalSpan]:
    """Yield the names and addresses of the sender's block, before the salutation or the first sentence."""
    head: list[_Line] = []
    for line in lines[:HEAD_LINES]:
        if _SALUTATION.match(line.bare) or len(words(line.bare)) >= _LONG_LINE:
            break
        head.append(line)
    section_of = {line.start: section for line, section in _sectioned(lines)}
    for block in _blocks(head):
        if not _is_official(block):
            for line in block:
                if section_of[line.start] != "site" and not SITE.search(line.text):
                    yield from _of_sender(line, fewest=2)


def _signed(lines: Sequence[_Line]) -> Iterator[PersonalSpan]:
    """Yield the names and addresses after a closing formula."""
    left, first = 0, False
    for line in lines:
        bare = line.bare
        if CLOSINGS.match(bare) and len(words(bare)) <= 6:
            left, first = SIGNED_LINES, True
        elif left and bare:
            if len(words(bare)) >= _LONG_LINE or _ENDING.match(bare) or _SALUTATION.match(bare):
                left = 0
                continue
            left -= 1
            yield from _of_sender(line, fewest=1 if first else 2)
            first = False


def _tail(lines: Sequence[_Line]) -> Iterator[PersonalSpan]:
    """Yield the names and addresses in the last short lines of a text, which are its author's."""
    for line in [line for line in reversed(lines) if line.bare][:4]:
        if len(words(line.bare)) >= _LONG_LINE or label_kind(line.bare.partition(":")[0]):
            break
        yield from _of_sender(line, fewest=2)


def _address_lines(lines: Sequence[_Line]) -> Iterator[PersonalSpan]:
    """Yield the names and address in any line that has a postcode and is no sentence about the site."""
    official = {line.start for block in _blocks(lines[:HEAD_LINES]) if _is_official(block) for line in block}
    for line, section in _sectioned(lines):
        if (
            _POSTCODE.search(line.text)
            and section != "site"
            and line.start not in official
            and not SITE.search(line.text)
        ) and not COUNCILS.search(line.text):
            yield from _of_sender(line, fewest=2)


def _of_sender(line: _Line, *, fewest: int) -> Iterator[PersonalSpan]:
    """Yield the parts of a line, between commas, that are a name, an address or a postcode."""
    for start, end in _spans_between_commas(line.text, 0):
        part = line.text[start:end]
        if is_name(part, fewest=fewest):
            yield line.part(start, end, named=True)
        elif is_address(part):
            yield line.part(start, end)
        for match in _POSTCODE.finditer(part):
            yield line.part(start + match.start(), start + match.end())


def _spans_between_commas(text: str, start: int) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"[^,:;|(]+", text[start:]):
        yield start + match.start(), start + match.end()


# --- lines


def _placed_lines(text: str) -> Iterator[_Line]:
    at = 0
    for line in text.splitlines(keepends=True):
        yield _Line(at, line.rstrip("\r\n\f\v"))
        at += len(line)


def _blocks(lines: Sequence[_Line]) -> list[list[_Line]]:
    blocks: list[list[_Line]] = [[]]
    for line in lines:
        if line.bare:
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _is_official(block: Sequence[_Line]) -> bool:
    """Return whether a block is a council's, a councillor's, or whom a letter goes to."""
    return any(COUNCILS.search(line.text) or re.match(r"\W*(?:cllr|councillor)\b", line.text, re.I) for line in block)


def _is_organisation(text: str) -> bool:
    said = {word.casefold() for word in words(text)}
    return bool(said & (ORGANISATIONS | ROLES)) or COUNCILS.search(text) is not None
