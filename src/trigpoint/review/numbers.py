"""Numbers as planning documents write them: "1,200", "1 200", "twenty-four", "one hundred and forty-four", "half a"."""

from __future__ import annotations

import re

_ONES = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {
    **{word: value for value, word in enumerate([*_ONES, *_TEENS], 1)},
    **{word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)},
    "half": 0.5,
}
_ONE, _TEN = "|".join(_ONES), "|".join(_TENS)
_BELOW_100 = rf"(?:(?:{_TEN})(?:-(?:{_ONE})\b|\s(?:{_ONE})\b(?!-))?|{'|'.join([*_TEENS, *_ONES])})"
_BELOW_1000 = rf"(?:(?:{_BELOW_100}|an?)\shundred(?:\s(?:and\s)?{_BELOW_100}\b(?!-))?|{_BELOW_100})"

DIGITS = r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?"
# thousands may stand apart, by a space or a thin one
FIGURES = rf"[0-9]{{1,3}}(?:[ \u00a0\u2009\u202f][0-9]{{3}})+(?![0-9,])(?:\.[0-9]+)?|{DIGITS}"
IN_WORDS = (
    rf"(?:(?:{_BELOW_1000}|an?)\sthousand(?:,?\s(?:and\s)?{_BELOW_1000})?|{_BELOW_1000}(?:\sand\sa\shalf)?|half\san?)\b"
)
NUMBER = rf"(?:{FIGURES}|{IN_WORDS})"

_ANY = re.compile(rf"{DIGITS}|\b{IN_WORDS}|\bhalf\b", re.IGNORECASE)
_APART = re.compile(FIGURES)


def number(text: str) -> float:
    """A number as it is written: figures with or without separators, or words."""
    if re.match("[0-9]", text):
        return float(re.sub(r"[,\s]", "", text))
    whole = part = 0.0
    for word in re.findall("[a-z]+", text.lower()):
        if word == "thousand":
            whole, part = (part or 1) * 1000, 0.0
        elif word == "hundred":
            part = (part or 1) * 100
        else:
            part += _VALUES.get(word, 0)
    return whole + part


def numbers_in(text: str) -> set[float]:
    """Every number of a text; figures with a space between them count as one number and as two."""
    return {number(found) for pattern in (_ANY, _APART) for found in pattern.findall(text)}
