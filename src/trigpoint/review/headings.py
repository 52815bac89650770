"""The heading under which a sentence or a table row stands: its chapter, and its section or table with the table's columns."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBERED = re.compile(r"(?P<number>(?:Table |Figure )?\d+(?:[.-]\d+)*):? [A-Z][\w ,&'’/()-]{0,70}")
_TITLE = re.compile(r"[A-Z][A-Za-z ,&'’/()-]{2,60}")
_MOST_COLUMNS = 8


def is_heading(text: str) -> bool:
    """Whether a line is a numbered heading or a caption, and so says nothing by itself."""
    return _NUMBERED.fullmatch(text) is not None


@dataclass
class Headings:
    """The headings in force while a document is read from its top."""

    chapter: str = ""
    section: str = ""
    columns: tuple[str, ...] | None = None  # while a table is read

    def at(self, text: str) -> str:
        """Take the next sentence, row or heading, and give what it stands under."""
        numbered = _NUMBERED.fullmatch(text)
        if numbered:
            self.columns = () if numbered["number"].startswith("Table") else None
            if re.fullmatch(r"\d+", numbered["number"]):
                self.chapter, self.section = text, ""
            else:
                self.section = text
        elif text[-1] in ".!?;":
            self.columns = None
        elif _TITLE.fullmatch(text):
            if self.columns is None:
                self.section = text
            elif len(self.columns) < _MOST_COLUMNS:
                self.columns = (*self.columns, text)
        return "\n".join(part for part in (self.chapter, self.section, *(self.columns or ())) if part)
