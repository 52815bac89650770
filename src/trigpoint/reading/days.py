"""Days as documents write them: `10 December 2025`, `Wed 10th Dec 25`, `10/12/2025`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime

_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_IN_WORDS = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+({_MONTHS})[a-z]*\.?,?\s+(20\d\d|\d\d)\b",
    re.IGNORECASE,
)
_IN_FIGURES = re.compile(r"\b(\d{1,2})([/.-])(\d{1,2})\2(20\d\d)\b")


def days_in_words(text: str) -> Iterator[date]:
    """Yield the days that a text writes with the name of their month, in order."""
    for match in _IN_WORDS.finditer(text):
        year = match[3] if len(match[3]) == 4 else f"20{match[3]}"
        try:
            yield datetime.strptime(f"{match[1]} {match[2]} {year}", "%d %b %Y").date()
        except ValueError:  # such as 31 June
            continue


def days_in(text: str) -> list[date]:
    """Return the days that a text writes in words, then those in figures (the day before the month)."""
    return [*days_in_words(text), *_days_in_figures(text)]


def _days_in_figures(text: str) -> Iterator[date]:
    for match in _IN_FIGURES.finditer(text):
        try:
            yield date(int(match[4]), int(match[3]), int(match[1]))
        except ValueError:
            continue
