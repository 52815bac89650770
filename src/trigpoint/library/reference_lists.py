"""Lists of references, in which a document names its sources: words about other works, not the work's own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trigpoint.library.title_words import words_of

_NAMES = frozenset(
    {
        *("references", "reference list", "list of references", "references and notes", "notes and references"),
        *("bibliography", "select bibliography", "selected bibliography", "works cited", "sources cited"),
        *("literature", "literature cited", "cited literature", "literaturverzeichnis", "bibliographie"),
    }
)
_YEAR = "(?:1[6-9]|20)[0-9]{2}[a-z]?"
_ENTRY = re.compile(rf"\[[0-9]{{1,3}}\]|\({_YEAR}\)|\bdoi\b|https?://|{_YEAR}[.;,]")
_LINES_LOOKED_AT = 12
_LEAST_ENTRIES = 3


def lists_references(section_path: Sequence[str]) -> bool:
    """Return whether a section is a list of references, by its heading or one above it."""
    return any(_is_reference_heading(title) for title in section_path)


def _is_reference_heading(title: str) -> bool:
    """Return whether a heading says so; a number before it does not matter."""
    words = [word for word in words_of(title) if not word.replace(".", "").isdigit()]
    return " ".join(words) in _NAMES


def reference_list_starts(text: str) -> list[int]:
    """Return the lines of a plain text that head a list of references: alone on their line, with entries below."""
    starts, offset = [], 0
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if len(line) < 40 and _is_reference_heading(line) and _entries_in(lines[number + 1 :]) >= _LEAST_ENTRIES:
            starts.append(offset)
        offset += len(line)
    return starts


def _entries_in(lines: Sequence[str]) -> int:
    following = [line for line in lines[: 2 * _LINES_LOOKED_AT] if line.strip()][:_LINES_LOOKED_AT]
    return sum(bool(_ENTRY.search(line)) for line in following)
