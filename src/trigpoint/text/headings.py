"""Headings that say what they are (Chapter, Section, Para, Annex, Policy, Table, Figure), and how refs are spelled.

A heading has its own line, is short, and is not a mention at the start of a wrapped line.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from trigpoint.text.lines import Line, follows_pause, is_sentence, listed, title_at

_KINDS = {
    "chapter": "Chapter",
    "section": "Section",
    "para": "Para",
    "para.": "Para",
    "paragraph": "Para",
    "table": "Table",
    "figure": "Figure",
    "fig": "Figure",
    "fig.": "Figure",
    "annex": "Annex",
    "appendix": "Appendix",
    "policy": "Policy",
    "footnote": "Footnote",
}
_SEPARATOR = r"\s*(?:[:–—-]|\.(?=\s|$))\s*"
_LETTERS_AND_NUMBER = "[A-Z]{1,6}[ /-]?[0-9]{1,3}(?:[./-][0-9]{1,3})?[A-Z]?"  # SLE4, INF 1.2
_WORDS_AND_NUMBER = "[A-Z][a-z]+(?: [A-Z][a-z]+)? [0-9]{1,3}"  # Bicester 12
_CODE = rf"{_LETTERS_AND_NUMBER}|{_WORDS_AND_NUMBER}|[0-9]{{1,3}}(?:\.[0-9]{{1,3}})?"
_DIVISION = r"Chapter|CHAPTER|Section|SECTION|Paragraph|Para\.?|Annex|ANNEX|Appendix|APPENDIX"
_KIND = rf"{_DIVISION}|Table|TABLE|Figure|FIGURE|Fig\."
_NUMBER = r"[0-9]+(?:[.–-][0-9]+)*[a-z]?|[A-Z][0-9]*(?:[.–-][0-9]+)*"
_NUMBERED_PART = rf"(?P<kind>{_KIND})\s+(?P<number>{_NUMBER})"
_POLICY = rf"(?P<policy>Policy|POLICY)\s+(?P<code>{_CODE})"
_WORDED = re.compile(rf"(?:{_NUMBERED_PART}|{_POLICY})(?P<separator>{_SEPARATOR}|\s+|$)(?P<title>.*)")
_AFTER_CODE = r":\s+|\s{2,}|\t\s*"
_CODED = re.compile(
    r"(?P<family>[A-Z]{1,5})(?P<number>[0-9]{1,2})(?P<letter>[A-Z]?)" + rf"(?:(?:{_AFTER_CODE})(?P<title>[A-Z].*))?"
)
_REFERENCE = re.compile(r"([A-Za-z]+\.?)\s*(.*)", re.DOTALL)
_JOINED = re.compile(r"([A-Za-z]{1,6})(?:\s*|([/-]))([0-9]+(?:[./-][0-9]+)*[A-Za-z]?)")
_CLOSEST_POLICIES = 150  # characters
_MOST_POLICIES_ON_A_PAGE = 3  # more are a list of policies


@dataclass(frozen=True, slots=True)
class Heading:
    line: int
    start: int
    ref: str
    title: str


def normalise_ref(ref: str) -> str:
    """Return the one spelling of a section: "Paragraph 116" is "Para 116", "policy sle 4" is "Policy SLE4"."""
    text = " ".join(ref.replace("–", "-").replace("—", "-").split())
    match = _REFERENCE.fullmatch(text)
    kind = _KINDS.get(match[1].lower()) if match else None
    if match is None or kind is None or not match[2]:
        return text
    rest = match[2].rstrip(".:")
    if kind == "Policy":
        joined = _JOINED.fullmatch(rest)
        rest = (
            "".join(part or "" for part in joined.groups()).upper()
            if joined and (len(joined[1]) <= 4 or joined[1].isupper())
            else _title_words(rest)
        )
    elif kind in ("Annex", "Appendix"):
        rest = rest.upper()
    return f"{kind} {rest}"


def worded_headings(lines: Sequence[Line], skipped_pages: frozenset[int]) -> list[Heading]:
    """Return the headings with their kind in words, each once: the first outside the contents."""
    headings: dict[str, Heading] = {}
    policies_on: Counter[int] = Counter()
    for index, line in enumerate(lines):
        if line.page in skipped_pages:
            continue
        heading = _worded(lines, index)
        if heading is None:
            continue
        if heading.ref.startswith("Policy"):
            policies_on[line.page] += 1
        headings.setdefault(heading.ref, heading)
    return [
        h
        for h in headings.values()
        if not h.ref.startswith("Policy") or policies_on[lines[h.line].page] <= _MOST_POLICIES_ON_A_PAGE
    ]


def coded_policies(lines: Sequence[Line], skipped_pages: frozenset[int], contents: frozenset[str]) -> list[Heading]:
    """Return the policies titled by their code alone (`TR1: …`, `EMP1   …`).

    Their families count from 1, have more than one member, and are spread over the document.
    """
    families: dict[str, list[Heading]] = defaultdict(list)
    last: dict[str, int] = {}
    for index, line in enumerate(lines):
        match = _CODED.fullmatch(line.text)
        if match is None or line.page in skipped_pages:
            continue
        family, number = match["family"], int(match["number"])
        title = _coded_title(lines, index, match["title"], contents)
        if title is not None and 1 <= number - last.get(family, 0) <= 2:
            last[family] = number
            families[family].append(Heading(index, line.start, f"Policy {family}{number}{match['letter']}", title))
    return [
        heading for members in families.values() if len(members) > 1 and not _crowded(members) for heading in members
    ]


def _coded_title(lines: Sequence[Line], index: int, text: str | None, contents: frozenset[str]) -> str | None:
    """Return the title next to the code, or the next line if the contents list it too."""
    if text:
        return title_at(lines, index, text, marked=True)
    if index + 1 >= len(lines):
        return None
    title = title_at(lines, index + 1, lines[index + 1].text, marked=True)
    return title if title and listed(title, contents) else None


def _crowded(members: Sequence[Heading]) -> bool:
    """Return whether they are the rows of a table."""
    return any(b.start - a.start < _CLOSEST_POLICIES for a, b in pairwise(members))


def _worded(lines: Sequence[Line], index: int) -> Heading | None:
    line = lines[index]
    match = _WORDED.fullmatch(line.text)
    if match is None:
        return None
    separated, text = match["separator"].strip() not in ("", "."), match["title"]
    if text and not (text[0].isupper() or text[0].isdigit() or text[0] in "‘“\"'(" or separated):
        return None  # "Policy SD10 directs development…": a mention
    if match["separator"].strip() == "." and not (follows_pause(lines, index) if text else _is_bare(line, match)):
        return None  # "…in Appendix 2. Phase 2 of the EIG…": the end of a sentence
    if not separated and _mid_sentence(lines, index):
        return None
    if match["kind"] in ("Paragraph", "Para", "Para.") and text and ":" not in match["separator"]:
        return None  # "Paragraph 2.35 – Strategic objectives": a mention in a table
    title = title_at(lines, index, text, marked=True) if text else ""
    if title is None or (not separated and is_sentence(title)):
        return None
    kind, number = match["kind"] or match["policy"], match["number"] or match["code"]
    return Heading(index, line.start, normalise_ref(f"{kind} {number}"), title)


def _is_bare(line: Line, match: re.Match[str]) -> bool:
    """Return whether there is only a kind, a number and a full stop."""
    return line.after_blank and match["policy"] is None


def _mid_sentence(lines: Sequence[Line], index: int) -> bool:
    """Return whether the line before runs on into this one."""
    if index == 0 or lines[index].after_blank:
        return False
    before = lines[index - 1]
    return len(before.text) > 60 and not before.ends_sentence


def _title_words(text: str) -> str:
    return " ".join(word if word.isupper() else word.capitalize() for word in text.split())
