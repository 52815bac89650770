"""Numbers as planning documents write them: figures, words ("one hundred and forty-four"), fractions, millions."""

from __future__ import annotations

from trigpoint.reading.tokens import Cursor, Phrases

_ONES = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
_ONES += "sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SMALL = Phrases({word: value for value, word in enumerate(_ONES, 1)} | {"zero": 0, "nil": 0})
_TEN = Phrases({word: 10 * value for value, word in enumerate(_TENS, 2)})
_FRACTIONS = Phrases({"half": 0.5, "third": 1 / 3, "quarter": 0.25, "fifth": 0.2, "tenth": 0.1})
_PLURAL_FRACTIONS = Phrases({"thirds": 1 / 3, "quarters": 0.25, "fifths": 0.2, "tenths": 0.1})
_THOUSAND = 1_000.0
_LARGE = Phrases({"thousand": _THOUSAND, "million": 1_000_000.0, "billion": 1_000_000_000.0})
NUMBER_WORDS = frozenset((*_ONES, *_TENS, "zero", "nil", "half", "third", "quarter", "fifth", "tenth"))
"""The words with which a number or a fraction in words can begin, apart from "a"."""


def take_number(cursor: Cursor) -> float | None:
    """Move over a number in figures or words and return it."""
    token = cursor.peek()
    if token is None:
        return None
    if token.kind == "number":
        cursor.at += 1
        value = float(token.text.replace(",", ""))
        return value * (cursor.take_longest(_LARGE) or 1.0)
    whole = _take_words(cursor)
    return None if whole is None else whole + _take_and_a_half(cursor)


def take_fraction(cursor: Cursor) -> float | None:
    """Move over "half", "a third", "two thirds" or "three quarters" and return the fraction."""
    start = cursor.at
    cursor.take(("a", "one"))
    if (fraction := cursor.take_longest(_FRACTIONS)) is not None:
        return fraction
    cursor.at = start
    count = cursor.take_longest(_SMALL)
    cursor.take(("-",))
    if count is not None and (part := cursor.take_longest(_PLURAL_FRACTIONS)) is not None:
        return count * part
    cursor.at = start
    return None


def _take_and_a_half(cursor: Cursor) -> float:
    """Move over "and a half" or "and a quarter" after a number and return the fraction, else 0."""
    start = cursor.at
    if cursor.take(("and",)) and cursor.take(("a",)) and (part := cursor.take_longest(_FRACTIONS)) is not None:
        return part
    cursor.at = start
    return 0.0


def _take_words(cursor: Cursor) -> float | None:
    below = _take_below_thousand(cursor)
    if below is None:
        return None
    large = cursor.take_longest(_LARGE)
    if large is None:
        return below
    rest_at = cursor.at
    cursor.take(("and", ","))
    rest = _take_below_thousand(cursor) if large == _THOUSAND else None
    if rest is None:
        cursor.at = rest_at
    return below * large + (rest or 0.0)


def _take_below_thousand(cursor: Cursor) -> float | None:
    start = cursor.at
    hundreds = _take_below_hundred(cursor)
    if hundreds is None and cursor.text() == "a" and cursor.text(1) in ("hundred", "thousand"):
        cursor.at += 1
        hundreds = 1.0
        if cursor.text() == "thousand":
            return hundreds
    if hundreds is None or not cursor.take(("hundred",)):
        if hundreds is None:
            cursor.at = start
        return hundreds
    rest_at = cursor.at
    cursor.take(("and",))
    rest = _take_below_hundred(cursor)
    if rest is None:
        cursor.at = rest_at
    return hundreds * 100 + (rest or 0.0)


def _take_below_hundred(cursor: Cursor) -> float | None:
    tens = cursor.take_longest(_TEN)
    if tens is None:
        small = cursor.take_longest(_SMALL)
        return None if small is None else float(small)
    rest_at = cursor.at
    cursor.take(("-",))
    ones = cursor.take_longest(_SMALL)
    if ones is None or ones > 9:
        cursor.at = rest_at
        return float(tens)
    return float(tens + ones)


def number_in_words(value: int) -> str:
    """Return a whole number below a million in English words."""
    if value >= 1000:
        thousands, rest = divmod(value, 1000)
        joint = " and " if 0 < rest < 100 else " "
        return f"{number_in_words(thousands)} thousand" + (f"{joint}{number_in_words(rest)}" if rest else "")
    if value >= 100:
        hundreds, rest = divmod(value, 100)
        return f"{_ONES[hundreds - 1]} hundred" + (f" and {number_in_words(rest)}" if rest else "")
    if value >= 20:
        tens, ones = divmod(value, 10)
        return _TENS[tens - 2] + (f"-{_ONES[ones - 1]}" if ones else "")
    return _ONES[value - 1] if value else "zero"
