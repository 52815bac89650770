"""Demands that are out of proportion to a small development, whoever makes them."""

from __future__ import annotations

import re

from trigpoint.reading.profile import Profile
from trigpoint.reading.statements import split_sentences

_LARGE = {
    "a travel plan": r"travel plans?",
    "a bus service": r"bus(?:es)? (?:service|route|frequency|subsidy)s?|(?:service|frequency) of (?:the )?bus(?:es)?",
    "a crossing with signals": (
        r"(?:signal\w*|toucan|puffin|pelican)(?:[- ]controlled)? (?:\w+ )?crossings?|signalised|traffic signals?"
    ),
}
_DEMAND = re.compile(r"\b(?:should|shall|must|needs?|ask\w*|requir\w+|request\w*|secur\w+|fund\w*)\b", re.IGNORECASE)
_SMALL = ("minor", "householder")


def disproportionate(text: str, profile: Profile) -> str | None:
    """Return why a demand is not made of a small development, or None if it may be made."""
    if profile.scale not in _SMALL:
        return None
    named = next((name for name, words in _LARGE.items() if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE)), None)
    return f"{named[0].upper()}{named[1:]} is not asked of a {profile.scale} development" if named else None


def demanding(text: str) -> str:
    """Return the sentences of a text that ask for something."""
    sentences = [text[start:end] for start, end in split_sentences(text)]
    return " ".join(one for one in sentences if _DEMAND.search(one))
