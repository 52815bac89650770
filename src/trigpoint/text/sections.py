"""Sections of a policy document: the start and the name of each, and passages that lie within one section each.

Numbers are found in `numbering.py`, headings in words in `headings.py`; here they become one list of marks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

from trigpoint.text.chunk import Chunk, PageMap, PageText, TextChunker, document_text
from trigpoint.text.headings import Heading, coded_policies, normalise_ref, worded_headings
from trigpoint.text.lines import (
    Line,
    contents_pages,
    contents_spans,
    follows_pause,
    is_page_number,
    letters,
    read_lines,
)
from trigpoint.text.numbering import Numbered, chapters, decimals, footnotes, paragraphs, undotted_chapters

__all__ = ["SectionChunk", "SectionMark", "chunk_sections", "find_sections", "normalise_ref"]

_PASSING = ("Table", "Figure", "Footnote")  # they interrupt a section, which then continues
_PROSE = 70  # characters; a line this long after a blank one is text again, not table
_LONGEST_SUBHEADING = 80
_MOST_SUBHEADINGS = 4  # lines above one paragraph
_LONGEST_LIST = 40  # lines
_LETTER = "(?:[a-z]|[ivx]{1,5})"
_LABEL = re.compile(rf"(?:\({_LETTER}\)|{_LETTER}[.)]|[ivx]{{2,5}}(?=\s))(?:\s+|$)")  # (a), b., iii
_NUMBER_ALONE = re.compile(r"[0-9]{1,3}\.?")
_NUMBER = re.compile(r"[0-9]{1,3}[. \t]")


@dataclass(frozen=True)
class SectionMark:
    """A section begins at `start` in the document's text. `parent` is the section around it, `continues` says that it was interrupted."""

    start: int
    ref: str
    title: str
    parent: str = ""
    continues: bool = False


@dataclass(frozen=True)
class SectionChunk(Chunk):
    """A passage of one section only. `section_ref` is empty before the first heading."""

    section_ref: str = ""
    parent_ref: str = ""


def find_sections(pages: Sequence[PageText]) -> list[SectionMark]:
    """Return the headings of a document in their order, without mentions, contents pages and running lines."""
    lines = read_lines(pages)
    contents = contents_pages(lines)
    titles = frozenset(letters(line.text) for line in lines if line.page in contents) - {""}
    body = [line for line in lines if line.page not in contents]
    worded = _worded_marks(lines, contents, titles)
    numbered = _numbered_marks(body, titles, {mark.start for mark in worded})
    return _resumed(_nested(_one_a_place([*numbered, *_footnote_marks(body), *worded])), body)


def chunk_sections(
    pages: Sequence[PageText], marks: Sequence[SectionMark], chunker: TextChunker | None = None
) -> list[SectionChunk]:
    """Return passages that never straddle two sections; a section longer than a chunk is split like any text.

    Tables of contents and lone page numbers make no passages.
    """
    chunker = chunker or TextChunker()
    text = document_text(pages)
    at = PageMap(list(pages))
    bounds = [SectionMark(0, "", ""), *marks, SectionMark(len(text), "", "")]
    lists = contents_spans(read_lines(pages), len(text))
    chunks: list[SectionChunk] = []
    for mark, following in pairwise(bounds):
        for first, last in _outside(lists, mark.start, following.start):
            for begin, end in chunker.spans(text[first:last]):
                start, stop = first + begin, first + end
                if is_page_number(text[start:stop]):
                    continue
                place = (start, stop, at.pages(start, stop))
                chunks.append(SectionChunk(len(chunks), text[start:stop], *place, mark.ref, mark.parent))
    return chunks


def _outside(excluded: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a span that lie outside those excluded."""
    for first, last in excluded:
        if first < end and last > start:
            if first > start:
                yield start, first
            start = max(start, last)
    if start < end:
        yield start, end


def _numbered_marks(lines: Sequence[Line], contents: frozenset[str], worded: set[int]) -> list[SectionMark]:
    sections = decimals(lines)
    paras = paragraphs(lines, contents)
    if len(sections) >= len(paras):
        paras = []  # in a document numbered within chapters, 1, 2, 3 are lists
    heads = chapters(lines, paras, contents)
    heads += [c for c in undotted_chapters(lines, sections) if c.number not in {h.number for h in heads}]
    taken = {c.start for c in heads} | worded
    marks = [SectionMark(c.start, f"Chapter {c.number[0]}", c.title or "") for c in heads]
    marks += [_paragraph_mark(lines, c, taken) for c in paras]
    for section in sections:
        if section.title:
            number = ".".join(map(str, section.number))
            marks.append(SectionMark(section.start, f"Section {number}", section.title))
        else:
            marks.append(_paragraph_mark(lines, section, taken))
    return marks


def _paragraph_mark(lines: Sequence[Line], paragraph: Numbered, headings: set[int]) -> SectionMark:
    """Return the mark of a numbered paragraph, which begins with the sub-heading above it if it has one."""
    ref = "Para " + ".".join(map(str, paragraph.number))
    first = _first_heading_above(lines, paragraph.line, headings)
    title = " ".join(line.text for line in lines[first : paragraph.line])
    return SectionMark(lines[first].start if title else paragraph.start, ref, title)


def _first_heading_above(lines: Sequence[Line], index: int, headings: set[int]) -> int:
    """Return the first of up to four lines above this one that are its headings, and so no part of what is before.

    Returns the index itself if there is none. `headings` are the places of other sections' headings.
    """
    top = index
    while (
        top > 0
        and index - top < _MOST_SUBHEADINGS
        and lines[top - 1].start not in headings
        and not _is_title_of_number(lines, top - 1, headings)
        and _is_subheading(lines, top - 1)
    ):
        top -= 1
    for first in range(top, index):
        begins = follows_pause(lines, first) or _is_title_of_number(lines, first - 1, headings)
        if begins and not _ends_list(lines, first, index):
            return first
    return index


def _is_title_of_number(lines: Sequence[Line], index: int, headings: set[int]) -> bool:
    """Return whether the line is the title of another section whose number is alone on the line before."""
    if index < 1:
        return False
    before = lines[index - 1]
    return before.start in headings and _NUMBER_ALONE.fullmatch(before.text) is not None


def _is_subheading(lines: Sequence[Line], index: int) -> bool:
    """Return whether a line may be a heading: short, in words, not a sentence; a question only on a line of its own."""
    line = lines[index]
    if len(line.text) > _LONGEST_SUBHEADING or line.page != lines[index + 1].page:
        return False
    label = _LABEL.match(line.text)
    words = line.text[label.end() :] if label else line.text
    if not words:
        return True  # the label of the heading that is on the next line
    if line.text.endswith("?"):
        is_alone = line.after_blank or label is not None or (index > 0 and _is_label(lines[index - 1].text))
    else:
        is_alone = not line.ends_sentence
    return is_alone and words[0].isupper() and any(c.isalpha() for c in words[1:])


def _is_label(text: str) -> bool:
    return _LABEL.fullmatch(text) is not None


def _ends_list(lines: Sequence[Line], first: int, index: int) -> bool:
    """Return whether the lines from `first` to `index` are the end of a list, by their labels.

    Headings of several levels, (c) and (i), do not count on, and the paragraph above them has no labels.
    """
    labels = [label for line in lines[first:index] if (label := _label_letters(line.text))]
    if any(after in (chr(ord(before[-1]) + 1), f"{before}i") for before, after in pairwise(labels)):
        return True
    return bool(labels) and _has_list_above(lines, first)


def _label_letters(text: str) -> str:
    match = _LABEL.match(text)
    return match.group().strip("(.) \t") if match else ""


def _has_list_above(lines: Sequence[Line], index: int) -> bool:
    """Return whether a line between this one and the number of the paragraph above it has a label."""
    for line in reversed(lines[max(0, index - _LONGEST_LIST) : index]):
        if _NUMBER.match(line.text) or _LABEL.match(line.text):
            return _LABEL.match(line.text) is not None
    return False


def _worded_marks(lines: Sequence[Line], contents: frozenset[int], titles: frozenset[str]) -> list[SectionMark]:
    headings = worded_headings(lines, contents)
    known = {heading.ref for heading in headings}
    headings += [heading for heading in coded_policies(lines, contents, titles) if heading.ref not in known]
    places = {heading.start for heading in headings}
    return [
        SectionMark(_start_with_group(lines, heading, places), heading.ref, heading.title)
        for heading in _without_annexed_policies(headings)
    ]


def _start_with_group(lines: Sequence[Line], heading: Heading, places: set[int]) -> int:
    """Return the place at which a policy begins: the heading of its group, if that is right above it."""
    if not heading.ref.startswith("Policy"):
        return heading.start
    first = _first_heading_above(lines, heading.line, places)
    follows_prose = first > 0 and lines[first - 1].ends_sentence
    return lines[first].start if follows_prose else heading.start


def _without_annexed_policies(headings: list[Heading]) -> list[Heading]:
    """Return the headings without policies that annexes merely name in tables, unless most policies are there."""
    annexed = min((h.start for h in headings if h.ref.startswith(("Annex", "Appendix"))), default=None)
    policies = [h for h in headings if h.ref.startswith("Policy")]
    named = {h.ref for h in policies if annexed is not None and h.start > annexed}
    return headings if len(named) > len(policies) / 2 else [h for h in headings if h.ref not in named]


def _footnote_marks(lines: Sequence[Line]) -> list[SectionMark]:
    return [SectionMark(c.start, f"Footnote {c.number[0]}", "") for c in footnotes(lines)]


def _one_a_place(marks: Iterable[SectionMark]) -> list[SectionMark]:
    """Return the marks in order, one for each place: of two, the last one counts, which is in words and says more."""
    return [mark for _, mark in sorted({mark.start: mark for mark in marks}.items())]


def _nested(marks: Iterable[SectionMark]) -> list[SectionMark]:
    """Return each mark with the section that contains it."""
    nested: list[SectionMark] = []
    outer: dict[str, str] = {}
    current = ""
    for mark in marks:
        kind, _, number = mark.ref.partition(" ")
        if kind in ("Chapter", "Annex", "Appendix"):
            outer = {"top": mark.ref}
            nested.append(mark)
        elif kind == "Policy":
            nested.append(replace(mark, parent=outer.get("top", "")))
            outer = {"top": outer.get("top", ""), "inner": mark.ref}
        elif kind == "Section":
            around = (
                outer.get("section", "")
                if number.startswith(outer.get("section", "-").removeprefix("Section ") + ".")
                else ""
            )
            nested.append(replace(mark, parent=around or outer.get("top", "")))
            outer = {"top": outer.get("top", ""), "section": around or mark.ref}
        elif kind == "Para":
            nested.append(replace(mark, parent=outer.get("inner") or outer.get("section") or outer.get("top", "")))
        else:
            nested.append(replace(mark, parent=current))
        if kind not in _PASSING:
            current = mark.ref
    return nested


def _resumed(marks: Sequence[SectionMark], lines: Sequence[Line]) -> list[SectionMark]:
    """Return the marks, and one more wherever a section continues after a table, a figure or the notes of a page."""
    starts = [line.start for line in lines]
    resumed: list[SectionMark] = []
    current = SectionMark(0, "", "")
    for mark, following in zip_longest(marks, marks[1:]):
        resumed.append(mark)
        if not mark.ref.startswith(_PASSING):
            current = mark
            continue
        place = _end_of_interruption(mark, lines, bisect_left(starts, mark.start))
        if place is not None and (following is None or place < following.start):
            resumed.append(SectionMark(place, current.ref, current.title, current.parent, continues=True))
    return resumed


def _end_of_interruption(mark: SectionMark, lines: Sequence[Line], index: int) -> int | None:
    """Return the place at which the section continues after a note, a figure or a table.

    Notes end with their page; a figure's caption with its lines; a table after its rows or, if its rows are not known
    as such, when prose begins again.
    """
    page = lines[index].page
    in_rows = False
    for line in lines[index + 1 :]:
        if mark.ref.startswith("Footnote"):
            if line.page != page:
                return line.start
        elif mark.ref.startswith("Figure"):
            if line.after_blank:
                return line.start
        elif line.is_table_row:
            in_rows = True
        elif in_rows or (line.after_blank and len(line.text) >= _PROSE):
            return line.start
    return None
