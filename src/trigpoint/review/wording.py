"""Small steps of putting words together and of recognising them, shared by whatever writes or checks sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence


def listed(parts: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def as_written(value: float) -> str:
    """Return a number as a reader writes it: 1,035,000, 13.8 or 2.75."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def within_sentence(text: str) -> str:
    """Return a text as it goes on within a sentence: without its capital, unless it begins with an abbreviation."""
    return text if text[1:2].isupper() else f"{text[:1].lower()}{text[1:]}"


def as_beginning(text: str) -> str:
    """Return a text as it begins a sentence."""
    return f"{text[:1].upper()}{text[1:]}"


def any_of(*phrases: str) -> re.Pattern[str]:
    """Return a pattern that finds any of these phrases, each as whole words, in capitals or not."""
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)
