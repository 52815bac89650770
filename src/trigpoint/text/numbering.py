"""Numbers at the start of lines that are numbering: chains of paragraphs, chapters, decimal sections and footnotes.

A single number proves nothing: a date, a list, a table cell look the same. What counts is the longest sequence that
runs through the document in order, so each kind of numbering is found as the best chain among its candidates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from trigpoint.text.lines import Line, follows_pause, listed, title_at

SectionNumber = tuple[int, ...]

_DOTTED = re.compile(r"([0-9]{1,3})\.(?:\s+(\S.*))?")
_DECIMAL = re.compile(r"([0-9]{1,2}(?:\.[0-9]{1,3}){1,3})\.?(?:\s+(\S.*))?")
_PLAIN = re.compile(r"([0-9]{1,3})\s+(\S.*)")
_TEXT_START = re.compile(r"[A-Z‘“\"'(•\[]")
_FEWEST = 3  # shorter chains are lists
_BEYOND_LISTS = 20
_CHAPTER_DISTANCE = 300  # characters; titles closer than this are a list too


@dataclass(frozen=True, slots=True)
class Numbered:
    """A line that begins with a number. `title` is None if a sentence follows."""

    line: int
    start: int
    number: SectionNumber
    title: str | None


@dataclass(frozen=True)
class _Chain:
    score: float
    last: Numbered
    before: _Chain | None = None
    late: float = 0.0  # what the score lost because the numbers do not start at 1

    def members(self) -> list[Numbered]:
        chain: _Chain | None = self
        reached = []
        while chain is not None:
            reached.append(chain.last)
            chain = chain.before
        return reached[::-1]


def paragraphs(lines: Sequence[Line], contents: frozenset[str]) -> list[Numbered]:
    """Return the numbered paragraphs of a document that counts them from its beginning to its end (`116.`)."""
    possible = [c for c in _candidates(lines, _DOTTED) if c.title is None or not listed(c.title, contents)]
    found = _longest(
        possible,
        weight=lambda c: 1.0 if c.title is None else 0.45,
        skip_cost=0.7,
        jump_cost=3.0,
        late_start_cost=1.5,
    )
    return found or _excerpt(lines, possible)


def chapters(lines: Sequence[Line], taken: Iterable[Numbered], contents: frozenset[str]) -> list[Numbered]:
    """Return the numbered titles (`9. Promoting sustainable transport`), those that the contents list above others."""
    used = {c.line for c in taken}
    titles = [
        c for c in _candidates(lines, _DOTTED) if c.title is not None and c.line not in used and c.number[0] < 100
    ]

    def weight(candidate: Numbered) -> float:
        return 1.0 if listed(candidate.title or "", contents) else 0.3

    found = _longest(
        titles,
        weight=weight,
        skip_cost=0.6,
        jump_cost=None,
        late_start_cost=0.6,
        distance=_CHAPTER_DISTANCE,
        fewest=0.9,
    )
    named = {c.number[0] for c in found if listed(c.title or "", contents)}
    return [c for c in found if not contents or c.number[0] in named or {c.number[0] - 1, c.number[0] + 1} <= named]


def decimals(lines: Sequence[Line]) -> list[Numbered]:
    """Return the sections or paragraphs that are numbered within chapters: `11.1 Introduction`, `2.5. The Strategy…`."""
    best: dict[SectionNumber, _Chain] = {}
    for candidate in _candidates(lines, _DECIMAL):
        number = candidate.number
        if number[-1] > 200 or number[0] == 0:
            continue
        previous = max(
            (best[p] for p in _numbers_before(number) if p in best), key=lambda chain: chain.score, default=None
        )
        score_of_first = 0.0 if set(number[1:]) <= {0, 1} else -1.5
        base = previous.score if previous else score_of_first
        chain = _Chain(base + 1, candidate, previous, previous.late if previous else -base)
        for length in range(1, len(number) + 1):
            prefix = number[:length]
            if prefix not in best or best[prefix].score < chain.score:
                best[prefix] = chain
    return _members_of_best(best.values(), _FEWEST)


def _excerpt(lines: Sequence[Line], possible: Sequence[Numbered]) -> list[Numbered]:
    """Return the paragraphs of an excerpt.

    Lists start at 1, so even a single sentence with number 116 is a paragraph.
    """
    clear = [c for c in possible if c.title is None and c.number[0] >= _BEYOND_LISTS and follows_pause(lines, c.line)]
    return _longest(clear, weight=lambda _: 1.0, skip_cost=0.7, jump_cost=None, late_start_cost=0.0, fewest=0.9)


def undotted_chapters(lines: Sequence[Line], sections: Sequence[Numbered]) -> list[Numbered]:
    """Return titles such as `5 Geometric requirements`, but only if section 5.1 follows."""
    first_of: dict[int, Numbered] = {}
    for section in sections:
        first_of.setdefault(section.number[0], section)
    by_number: dict[int, Numbered] = {}
    for candidate in _candidates(lines, _PLAIN):
        first = first_of.get(candidate.number[0])
        if first is not None and candidate.title and 0 < first.start - candidate.start < 3000:
            by_number[candidate.number[0]] = candidate
    return list(by_number.values())


def footnotes(lines: Sequence[Line]) -> list[Numbered]:
    """Return the notes at the foot of pages, numbered through the document (`85 Calculated using…`)."""
    possible = []
    previous: Numbered | None = None
    for candidate in _candidates(lines, _PLAIN):
        line = lines[candidate.line]
        follows = (
            previous is not None
            and lines[previous.line].page == line.page
            and candidate.number[0] == previous.number[0] + 1
        )
        if line.after_blank or follows:
            possible.append(candidate)
            previous = candidate
    return _longest(possible, weight=lambda _: 1.0, skip_cost=0.7, jump_cost=None, late_start_cost=1.5)


def _candidates(lines: Sequence[Line], pattern: re.Pattern[str]) -> list[Numbered]:
    candidates = []
    for index, line in enumerate(lines):
        match = pattern.fullmatch(line.text)
        if match is None:
            continue
        at, rest = index, match[2]
        if rest is None:  # the number is alone on its line: the text is on the next
            if index + 1 >= len(lines) or lines[index + 1].page != line.page:
                continue
            at, rest = index + 1, lines[index + 1].text
        if _TEXT_START.match(rest):
            candidates.append(
                Numbered(index, line.start, tuple(int(n) for n in match[1].split(".")), title_at(lines, at, rest))
            )
    return candidates


def _longest(
    candidates: Iterable[Numbered],
    *,
    weight: Callable[[Numbered], float],
    skip_cost: float,
    jump_cost: float | None,
    late_start_cost: float,
    distance: int = 0,
    fewest: float = _FEWEST,
) -> list[Numbered]:
    """Return the chain of rising numbers with the best score: a skipped number costs a little, a jump more."""
    best: dict[int, _Chain] = {}
    for candidate in candidates:
        number = candidate.number[0]
        options: list[tuple[float, _Chain | None]] = [(0.0 if number <= 1 else -late_start_cost, None)]
        for value, chain in best.items():
            gap = number - value
            if gap < 1 or candidate.start - chain.last.start < distance:
                continue
            cost = skip_cost * (gap - 1) if gap <= 4 else jump_cost
            if cost is not None:
                options.append((chain.score - cost, chain))
        base, before = max(options, key=lambda option: option[0])
        score = base + weight(candidate)
        if number not in best or score > best[number].score:
            late = before.late if before else -base
            best[number] = _Chain(score, candidate, before, late)
    return _members_of_best(best.values(), fewest)


def _numbers_before(number: SectionNumber) -> Iterable[SectionNumber]:
    """Yield the numbers that may precede a decimal number.

    They are a sibling up to three earlier or anything in it, its parent, and the end of a chapter before.
    """
    for step in (1, 2, 3):
        if number[-1] > step:
            yield (*number[:-1], number[-1] - step)
    if number[-1] <= 2:
        yield number[:-1]
        for depth in range(len(number) - 1):
            for step in (1, 2, 3):
                if number[depth] > step and set(number[depth + 1 :]) <= {0, 1}:
                    yield (*number[:depth], number[depth] - step)


def _members_of_best(chains: Iterable[_Chain], fewest: float) -> list[Numbered]:
    top = max(chains, key=lambda chain: chain.score, default=None)
    return top.members() if top is not None and top.score + top.late >= fewest else []
