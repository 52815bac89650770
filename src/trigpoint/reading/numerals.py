"""Numbers as planning documents write them: figures, words ("one hundred and forty-four"), fractions, millions."""

from __future__ import annotations

from trigpoint.reading.tokens import Cursor

_ONES = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
_ONES += "sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SMALL = {word: value for value, word in enumerate(_ONES, 1)} | {"zero": 0, "nil": 0}
_TEN = {word: 10 * value for value, word in enumerate(_TENS, 2)}
_FRACTIONS = {"half": 0.5, "third": 1 / 3, "quarter": 0.25, "fifth": 0.2, "tenth": 0.1}
_PLURAL_FRACTIONS = {"thirds": 1 / 3, "quarters": 0.25, "fifths": 0.2, "tenths": 0.1}
_LARGE = {"thousand": 1_000.0, "million": 1_000_000.0, "billion": 1_000_000_000.0}


def take_number(cursor: Cursor) -> float | None:
    """Move over a number in figures or words and return it."""
    token = cursor.peek()
    if token is None:
        return None
    if token.kind == "number":
        cursor.at += 1
        value = float(token.text.replace(",", ""))
        return value * (cursor.take_longest(_LARGE) or 1.0)
    return _take_words(cursor)


def take_fraction(cursor: Cursor) -> float | None:
    """Move over "half", "a third", "two thirds" or "three quarters" and return the fraction."""
    start = cursor.at
    cursor.take(("a", "one"))
    if (found := cursor.take_longest(_FRACTIONS)) is not None:
        return found
    cursor.at = start
    count = cursor.take_longest(_SMALL)
    cursor.take(("-",))
    if count is not None and (part := cursor.take_longest(_PLURAL_FRACTIONS)) is not None:
        return count * part
    cursor.at = start
    return None


def _take_words(cursor: Cursor) -> float | None:
    below = _take_below_thousand(cursor)
    if below is None:
        return None
    large = cursor.take_longest(_LARGE)
    if large is None:
        return below
    rest_at = cursor.at
    cursor.take(("and", ","))
    rest = _take_below_thousand(cursor) if large == _LARGE["thousand"] else None
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
    tens = cursor.take_longest(_TEN, 1)
    if tens is None:
        small = cursor.take_longest(_SMALL, 1)
        return None if small is None else float(small)
    rest_at = cursor.at
    cursor.take(("-",))
    ones = cursor.take_longest(_SMALL, 1)
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
