"""Read the numbers of a text with the reading's own grammar: in figures and in words, as shares, and in names.

"840" is not read out of "1,840", "nine" is 9, "two thirds" is a share, and the 51 of "Route 51" belongs to a name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from trigpoint.reading.numerals import NUMBER_WORDS, take_fraction, take_number
from trigpoint.reading.quantities import LIMITS, NAMES_BEFORE_NUMBERS, read_quantities
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.tokens import Cursor, Token, tokenise
from trigpoint.reading.units import MEASURES
from trigpoint.review.evidence import fold

_CHAIN = ("-", ".", "/")  # of "11-1", "5.2.1" and "1/20"
_LIST = ("and", "or", "to", "-", ",", "&")
_ENDINGS = ("st", "nd", "rd", "th")
_ORDINALS = dict(
    zip("first second third fourth fifth sixth seventh eighth ninth tenth".split(), range(1, 11), strict=True)
)
_MONTHS = frozenset("january february march april may june july august september october november december".split()) | {
    "may (month)"
}
_WHOLE = frozenset(("all", "every", "each", "whole", "entire"))
_NOTHING = frozenset(("no", "none", "nothing", "without"))
_BASE = {"km": ("m", 1000.0), "mm": ("m", 0.001), "cm": ("m", 0.01), "hour": ("minute", 60.0)}
_THIN_SPACES = ("\u00a0", "\u2009", "\u202f")
_DIGITS, _THREE_DIGITS = re.compile(r"[1-9]\d{0,2}"), re.compile(r"\d{3}(?:\.\d+)?")
_BY_WORTH = ("service", "pound")  # "every 20 minutes" is three an hour, £1.2m is £1,200,000
REFERENCES = frozenset(
    "condition conditions page pages drawing drawings obligation schedule no nos ref item items clause clauses row rows".split()
)
_CODE = re.compile(r"(?=[A-Z0-9/_.-]*[A-Z])(?=[A-Z0-9/_.-]*\d)[A-Z0-9]+(?:[-/_.][A-Z0-9]+)+(?![a-z])")
_NUMBERED = re.compile(r"[A-Z]+\d+")
_ALL = 100.0
_MEASURED = frozenset((*MEASURES.values(), "%"))
_COMPARED = frozenset("not than below above over under exceed exceeds beyond instead".split())
_YEARS = re.compile(r"(?<!\d)\d{4}(?!\d)")  # of "Local Plan 2023-2030"
_FEWEST_IN_WORDS = 3  # "two places", "one of them" count what is said, and are no figures of a document


@dataclass(frozen=True)
class Number:
    """A number of a text. `unit` is empty if nothing is counted or measured by it."""

    value: float
    shown: str
    decimals: int = 0
    unit: str = ""
    name: str = ""  # in folded words: "route 51"
    listed: bool = False  # named by a word before the list in which it is: "paragraphs 115 and 116"
    in_words: bool = False
    is_share: bool = False  # a fraction in words
    is_ordinal: bool = False
    about: bool = False
    is_code: bool = False  # a reference in capitals and figures: it has no value
    denied: bool = False  # told as what is not so, or as the whole that something falls short of
    worth: float | None = None  # in its unit, if that is counted in another way than it is written

    @property
    def is_claim(self) -> bool:
        """Whether a statement that uses it must prove it."""
        if self.denied:
            return False
        return not self.in_words or (bool(self.unit) and (self.is_share or self.value >= _FEWEST_IN_WORDS))


@lru_cache(maxsize=4096)
def read_numbers(text: str) -> tuple[Number, ...]:
    """Return the numbers of a text in order."""
    return tuple(_Reader(with_joined_thousands(text)).read())


@lru_cache(maxsize=4096)
def with_joined_thousands(text: str) -> str:
    """Return a text with "1 840 trips" as "1840 trips": the space is thin, or the number counts something and is in no row."""
    tokens, quantities = tokenise(text), read_quantities(text)
    for at in range(len(tokens) - 1, 0, -1):
        one, other = tokens[at - 1], tokens[at]
        if not (_DIGITS.fullmatch(one.text) and _THREE_DIGITS.fullmatch(other.text)):
            continue
        gap = text[one.end : other.start]
        in_row = any(0 <= n < len(tokens) and tokens[n].kind == "number" for n in (at - 2, at + 1))
        named = at > 1 and tokens[at - 2].text in NAMES_BEFORE_NUMBERS
        counted = any(quantity.start == other.start for quantity in quantities)
        if gap in _THIN_SPACES or (gap == " " and counted and not in_row and not named):
            text = text[: one.end] + text[other.start :]
    return text


class _Reader(Cursor):
    def __init__(self, text: str) -> None:
        super().__init__(tokenise(text))
        self.source, self.quantities = text, read_quantities(text)
        self.name, self.named_until = "", -1

    def read(self) -> Iterable[Number]:
        while (token := self.peek()) is not None:
            start = self.at
            found = self._code() or (self._in_figures(token) if token.kind == "number" else self._in_words(token))
            if found is not None:
                yield found
            self.at = max(self.at, start + 1)

    def _code(self) -> Number | None:
        """Move over a reference in capitals and figures, such as GD-100 or 1234-P-05, and return it as a name."""
        token = self.tokens[self.at]
        match = _CODE.match(self.source, token.start) if token.spaced or self.text(-1) == "(" else None
        if match is None or all(_NUMBERED.fullmatch(part) for part in match.group().split("/")):
            return None  # "A4130/B4100" are two names
        while (following := self.peek()) is not None and following.start < match.end():
            self.at += 1
        return Number(0.0, match.group(), name=fold(match.group()), is_code=True)

    def _in_figures(self, token: Token) -> Number:
        start = self.at
        name, listed = self._name()
        if name and not listed:
            while self.text(1) in _CHAIN and self._touches(1) and self._touches(2) and self._is_number(2):
                self.at += 2
            self.at += 1
            if self.text() == "(" and self._touches(0) and self._is_number(1) and self.text(2) == ")":  # M4(2)
                self.at += 3
            shown = self.source[token.start : self.tokens[self.at - 1].end]
            self.name, self.named_until = name, self.at
            return Number(_value_of(token.text), shown, name=f"{name}{shown}".strip().casefold())
        value, decimals = self._value(token)
        if listed:
            self.named_until = self.at
        shown = self.source[token.start : self.tokens[self.at - 1].end]
        ordinal = self.text() in _ENDINGS and self._touches(0)
        quantity = self._quantity(token)
        return Number(
            value,
            shown,
            decimals,
            unit=quantity.unit if quantity else "",
            name=f"{self.name}{shown}".casefold() if listed else "",
            listed=listed,
            is_ordinal=ordinal or self.text() in _MONTHS,
            about=self._is_about(start),
            denied=self._is_denied(start) or (value == _ALL and _is_share(quantity) and self._is_compared(start)),
            worth=quantity.value if quantity and quantity.unit in _BY_WORTH and quantity.high is None else None,
        )

    def _value(self, token: Token) -> tuple[float, int]:
        """Move over a number in figures and return it with its decimals."""
        value = take_number(self)
        assert value is not None
        large = self.tokens[self.at - 1] is not token
        return value, 0 if large else len(token.text.partition(".")[2])

    def _in_words(self, token: Token) -> Number | None:
        start = self.at
        if (fraction := self._fraction(token)) is not None:
            quantity = self._quantity(token) or self._quantity(self.tokens[self.at - 1])
            shown = self.source[token.start : self.tokens[self.at - 1].end]
            unit = quantity.unit if quantity else ""
            return Number(round(fraction * 100, 4), shown, unit=unit, in_words=True, is_share=True)
        self.at = start
        if token.text in NUMBER_WORDS or (token.text == "a" and self.text(1) in ("hundred", "thousand")):
            value = take_number(self)
            if value is not None:
                quantity = self._quantity(token)
                shown = self.source[token.start : self.tokens[self.at - 1].end]
                return Number(value, shown, unit=quantity.unit if quantity else "", in_words=True)
        self.at = start
        if token.text in _ORDINALS:
            return Number(_ORDINALS[token.text], token.text, in_words=True, is_ordinal=True)
        return None

    def _fraction(self, token: Token) -> float | None:
        if token.text in NUMBER_WORDS or (token.text == "a" and self.text(1) in NUMBER_WORDS):
            return take_fraction(self)
        return None

    def _name(self) -> tuple[str, bool]:
        """Return the beginning of the name that a number belongs to, and whether it was given before a list."""
        before, token = self.peek(-1), self.tokens[self.at]
        if before is None:
            return "", False
        if self.at - 1 == self.named_until and before.text in _LIST:
            return self.name, True
        if before.kind == "word" and not token.spaced:
            return before.text, False
        if before.text == "." and (self.text(-2) in NAMES_BEFORE_NUMBERS or self.text(-2) in REFERENCES):
            return f"{self.text(-2)} ", False
        return (f"{before.text} ", False) if self._names(before) else ("", False)

    def _names(self, before: Token) -> bool:
        if before.text in NAMES_BEFORE_NUMBERS or before.text in _MONTHS or before.text in REFERENCES - {"no"}:
            return True
        token = self.tokens[self.at]
        capital = self.source[before.start].isupper() and before.kind == "word"
        return capital and before.text not in LIMITS.longest and self._quantity(token) is None and len(before.text) > 2

    def _quantity(self, token: Token) -> Quantity | None:
        return next((one for one in self.quantities if one.start <= token.start < one.end), None)

    def _is_about(self, start: int) -> bool:
        words = {self.tokens[at].text for at in range(max(0, start - 2), start)}
        return bool(words & {"about", "around", "approximately", "roughly", "circa", "some", "nearly", "almost"})

    def _is_denied(self, start: int) -> bool:
        """Return whether a figure is told as what is not so: "95 % and not 100 %", "rather than 4"."""
        before = [self.tokens[at].text for at in range(max(0, start - 2), start)]
        return before[-1:] == ["not"] or before in (["rather", "than"], ["instead", "of"])

    def _is_compared(self, start: int) -> bool:
        return bool({self.tokens[at].text for at in range(max(0, start - 3), start)} & _COMPARED)

    def _is_number(self, ahead: int) -> bool:
        token = self.peek(ahead)
        return token is not None and token.kind == "number"

    def _touches(self, ahead: int) -> bool:
        token = self.peek(ahead)
        return token is not None and not token.spaced


def _value_of(digits: str) -> float:
    return float(digits.replace(",", ""))


class StatedNumbers:
    """The numbers that some texts state, to hold those of a claim against."""

    def __init__(self, texts: Iterable[str], computed: Iterable[float] = ()) -> None:
        joined = tuple(with_joined_thousands(text) for text in texts)
        self.numbers = tuple(number for text in joined for number in read_numbers(text))
        self.quantities = tuple(quantity for text in joined for quantity in read_quantities(text))
        self.computed = tuple(computed)
        words = {token.text for text in joined for token in tokenise(text)}
        self._all, self._none = bool(words & _WHOLE), bool(words & _NOTHING)
        self.values = (
            frozenset(one.value for one in self.numbers if not one.is_ordinal and not one.is_code)
            | frozenset(value for q in self.quantities for value in (q.value, q.high, q.per_count) if value is not None)
            | frozenset(float(year) for one in self.numbers if one.name for year in _YEARS.findall(one.shown))
        )

    def has(self, number: Number) -> bool:
        """Return whether a number of a claim is stated, in figures or words, or was worked out."""
        if number.is_code:
            return any(one.is_code and one.name == number.name for one in self.numbers)
        return (
            number.value in self.values
            or any(one.value == number.value and one.is_ordinal and number.is_ordinal for one in self.numbers)
            or self._is_computed(number)
            or self._is_share(number)
            or self._in_another_unit(number)
            or any(one.unit == number.unit and one.value == number.worth for one in self.quantities)
            or (number.about and any(_rounds(value, number.value) for value in self.values))
        )

    def _is_computed(self, number: Number) -> bool:
        for value in self.computed:
            if abs(round(value, number.decimals) - number.value) < 1e-9:
                return True
            if number.unit == "%" and abs(round(value * 100, number.decimals) - number.value) < 1e-9:
                return True
            if number.unit not in _MEASURED and value > 1 and math.ceil(value) == number.value:
                return True  # of 6.48 spaces that are required, seven are needed
        return False

    def _is_share(self, number: Number) -> bool:
        """Return whether a share is stated in another form: 0.8 for 80 %, a third for 33 %, all for 100 %."""
        if number.is_share:
            shares = [one.value for one in self.quantities if one.unit == "%"]
            shares += [one.value for one in self.numbers if one.is_share]
            shares += [one.value * 100 for one in self.numbers if not one.unit and not one.name and 0 < one.value < 1]
            shares += [value * part for value in self.computed for part in (1, 100)]
            return any(abs(share - number.value) <= 0.5 for share in shares)
        if number.unit != "%":
            return number.value == 0 and self._none
        bare = [one for one in self.numbers if not one.unit and not one.name and 0 < one.value < 1]
        fractions = [one for one in self.numbers if one.is_share]
        return (
            (number.value == 100 and self._all)
            or (number.value == 0 and self._none)
            or any(abs(one.value * 100 - number.value) < 1e-6 for one in bare)
            or any(abs(round(one.value, number.decimals) - number.value) < 1e-9 for one in fractions)
        )

    def _in_another_unit(self, number: Number) -> bool:
        if number.unit not in _BASE and number.unit not in ("m", "minute"):
            return False
        unit, value = _in_base(number.unit, number.value)
        return any(
            abs(other - value) < 1e-6 and name == unit
            for one in self.quantities
            for name, other in (_in_base(one.unit, one.value), _in_base(one.unit, one.high or one.value))
        )


def _in_base(unit: str, value: float) -> tuple[str, float]:
    base, factor = _BASE.get(unit, (unit, 1.0))
    return base, value * factor


def _rounds(exact: float, rounded: float) -> bool:
    """Return whether an exact number is the rounded one to as many places as that is written with: 1,840 and 1,800."""
    if rounded <= 0 or rounded != int(rounded):
        return False
    step = 10 ** (len(str(int(rounded))) - len(str(int(rounded)).rstrip("0")))
    return math.isclose(math.floor(exact / step + 0.5) * step, rounded)


def unstated(numbers: Sequence[Number], stated: StatedNumbers) -> list[Number]:
    """Return the numbers that a claim must prove and that are not stated. A share of two figures that it tells needs no more."""
    missing = [one for one in numbers if one.is_claim and not stated.has(one)]
    told = {one.value for one in numbers if one.value and not one.is_share and not one.name and one not in missing}
    shares = {round(100 * part / whole, 4) for part in told for whole in told if part < whole}
    return [one for one in missing if not (one.is_share and any(abs(share - one.value) <= 0.5 for share in shares))]


def _is_share(quantity: Quantity | None) -> bool:
    return quantity is not None and quantity.unit == "%"
