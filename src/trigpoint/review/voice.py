"""One voice for a letter: "I" for a person, "we" for a group. Quotations keep the voice of their speaker."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"(“[^”]*”|\"[^\"]*\")")
_TO_PLURAL = {
    "am": "are", "was": "were", "i": "we", "me": "us", "my": "our", "mine": "ours", "myself": "ourselves",
}  # fmt: skip
_TO_SINGULAR = {"are": "am", "were": "was", "we": "I", "us": "me", "our": "my", "ours": "mine", "ourselves": "myself"}
_NOT_NUMERAL = "".join(rf"(?<!\b{word} )" for word in ("Grade", "Phase", "Class", "Part", "Type", "Block"))
_SINGULAR = re.compile(
    rf"{_NOT_NUMERAL}\bI(?=['’ ][a-z])(?: (?:am|was)\b)?|"
    r"\b(?:[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b"
)
_PLURAL = re.compile(r"\b[Ww]e\b(?: (?:are|were)\b)?|\b(?:[Uu]s|[Oo]urs?|[Oo]urselves)\b")


def in_voice(text: str, plural: bool) -> str:
    """Return a text in which the writer is one person, or several."""
    parts = _QUOTED.split(text)
    own = _in_plural if plural else _in_singular
    return "".join(part if _QUOTED.fullmatch(part) else own(part) for part in parts)


def _in_plural(text: str) -> str:
    plain = re.sub(r"\bI['’]m\b", "I am", text)
    return _SINGULAR.sub(lambda match: _turned(match, _TO_PLURAL, plain), plain)


def _in_singular(text: str) -> str:
    plain = re.sub(r"\b([Ww])e['’]re\b", r"\1e are", text)
    return _PLURAL.sub(lambda match: _turned(match, _TO_SINGULAR, plain), plain)


def _turned(match: re.Match[str], table: dict[str, str], text: str) -> str:
    """Return the words in the other voice, with a capital at the beginning of a sentence."""
    words = " ".join(table[word.lower()] for word in match[0].split())
    begins = not text[: match.start()].strip() or text[: match.start()].rstrip()[-1] in ".!?:"
    capital = begins if match[0].startswith("I") else match[0][0].isupper()
    return f"{words[0].upper()}{words[1:]}" if capital else words
