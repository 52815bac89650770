"""The grammar of quantities: small rules with names that read numbers with their units, limits and bases.

quantity  = money | frequency | share | ratio | measured
measured  = [limit] number ["to" number] [description] unit [basis]
basis     = ("per" | "for each" | "for every" | "each") [number] noun
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from trigpoint.reading.numerals import NUMBER_WORDS, take_fraction, take_number
from trigpoint.reading.quantity import Limit, Quantity
from trigpoint.reading.tokens import Cursor, Phrases, Token, tokenise
from trigpoint.reading.units import counted_unit, take_measure, take_noun

__all__ = ["Limit", "Quantity", "read_quantities"]

_MOST_DESCRIPTION = 6  # words between a number and the noun that it counts ("1,600 new long-stay cycle parking spaces")

_LIMITED: dict[str, Limit] = {
    **dict.fromkeys(("up to", "no more than", "not more than", "at most", "a maximum of", "maximum of"), "at most"),
    **dict.fromkeys(("maximum", "max", "within", "not exceeding", "as many as"), "at most"),
    **dict.fromkeys(("at least", "no less than", "not less than", "no fewer than", "a minimum of"), "at least"),
    **dict.fromkeys(("minimum of", "minimum", "min", "in excess of or equal to"), "at least"),
    **dict.fromkeys(("more than", "over", "in excess of", "exceeding", "greater than", "above"), "more than"),
    **dict.fromkeys(("less than", "fewer than", "under", "below"), "less than"),
    **dict.fromkeys(("reduces to", "reducing to", "reduced to", "narrows to", "narrowing to", "down to"), "reduces to"),
    **dict.fromkeys(("approximately", "approx", "approx .", "circa", "c .", "c", "around", "about", "some"), "about"),
    **dict.fromkeys(("roughly", "nearly", "almost", "~"), "about"),
}
LIMITS = Phrases(_LIMITED)

_PER = ("per", "/")
_FOR_EACH = ("for each", "for every", "to each", "to every")
_BREAKS = frozenset(
    "and or with to in on at from by of for is are was were will would shall be has have which that including plus but "
    "as than the this these per each every".split()
)
_VERB_GROUP = frozenset("is are will would shall must to be should installed provided made available required".split())
_PERIODS = {"hourly": 1.0, "half-hourly": 2.0, "quarter-hourly": 4.0}
_DAYS = frozenset("sunday sundays saturday saturdays weekday weekdays weekend weekends evening evenings".split())
_BY_TIME = frozenset(("hour", "day", "week", "month", "year"))
_GRADIENT = frozenset("gradient gradients slope slopes ramp ramps ramped incline steep steeper shallower".split())
_PER_CENT = Phrases({"%": True, "per cent": True, "percent": True})
_MONEY = {"m": 1e6, "million": 1e6, "k": 1e3, "bn": 1e9, "billion": 1e9, "thousand": 1e3}
_MINUTES = Phrases({"minute": 1.0, "minutes": 1.0, "mins": 1.0, "min": 1.0, "hour": 60.0, "hours": 60.0})


@lru_cache(maxsize=4096)
def read_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a statement in order, with their offsets in it."""
    return tuple(_Grammar(tokenise(text)).read())


class _Grammar(Cursor):
    """The rules. Each returns a quantity and moves on, or returns None and stays."""

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        super().__init__(tokens)
        self.bracketed: list[Quantity] = []

    def read(self) -> Iterator[Quantity]:
        while self.at < len(self.tokens):
            start = self.at
            quantity = self._quantity() if self._can_begin() else None
            if quantity is None:
                self.at = start + 1
                self.bracketed.clear()
                continue
            yield quantity
            yield from self.bracketed
            self.bracketed.clear()

    def _can_begin(self) -> bool:
        token = self.tokens[self.at]
        return token.kind == "number" or token.text in _BEGINNINGS

    def _quantity(self) -> Quantity | None:
        if self._inside_a_name():
            return None
        start = self.at
        for rule in (self._frequency, self._absence, self._money, self._ratio, self._share, self._measured):
            quantity = rule()
            if quantity is not None:
                first, last = self.tokens[start], self.tokens[self.at - 1]
                return quantity.model_copy(update={"start": first.start, "end": last.end})
            self.at = start
        return None

    def _inside_a_name(self) -> bool:
        """Return whether a number belongs to a name: "Policy 5", "A120", "LTN 1/20", "UTT/25/3011", "M4(3)"."""
        if self.text(2 if self.text(1) == "-" else 1) in _NOT_COUNTED:
            return True
        token, before = self.peek(), self.peek(-1)
        if token is None or token.kind != "number" or before is None:
            return False
        if before.kind == "word" and not token.spaced:
            return True
        if before.text in ("/", ":") and not token.spaced:
            return True
        return before.text in NAMES_BEFORE_NUMBERS

    def _limit(self) -> Limit:
        limit_so_far: Limit = "exactly"
        while (limit := self.take_longest(LIMITS)) is not None:
            limit_so_far = limit if limit_so_far in ("exactly", "about") else limit_so_far
        return limit_so_far

    def _frequency(self) -> Quantity | None:
        """Read "every 20 minutes", "half-hourly", "hourly", "twice an hour" as services per hour."""
        if self.take_phrase("every"):
            count = take_number(self) or 1.0
            minutes = self.take_longest(_MINUTES)
            return None if minutes is None or not count else _per_hour(60 / (count * minutes))
        if self.text() in ("half", "quarter") and self.text(1) == "-" and self.text(2) == "hourly":
            word = f"{self.text()}-hourly"
            self.at += 3
            return _per_hour(_PERIODS[word])
        return _per_hour(_PERIODS["hourly"]) if self.take(("hourly",)) else None

    def _absence(self) -> Quantity | None:
        """Read "none on Sundays", "no service on Sundays", "no evening service" as no services."""
        if not self.take(("no", "none")):
            return None
        self.take(("bus", "train"))
        self.take(("service", "services", "buses", "trains"))
        self.take(("on", "in", "at", "during"))
        self.take(("the",))
        day = self.take(_DAYS)
        return None if day is None else Quantity(value=0, unit="service", per="hour", of=day)

    def _money(self) -> Quantity | None:
        limit = self._limit()
        value = self._pounds()
        if value is None:
            return None
        high, end = None, self.at
        if self.take(("-", "to")):
            high = self._pounds()
            self.at = end if high is None else self.at
        return self._with_basis(Quantity(value=value, high=high, unit="pound", limit=limit))

    def _pounds(self) -> float | None:
        if not self.take(("£",)):
            return None
        value = take_number(self)
        token = self.peek()
        if (
            value is not None
            and token is not None
            and token.text in _MONEY
            and (not token.spaced or len(token.text) > 2)
        ):
            self.at += 1
            value *= _MONEY[token.text]
        return value

    def _ratio(self) -> Quantity | None:
        """Read "1:20" and "1 in 20": a gradient next to a word for a slope, otherwise a ratio."""
        limit = self._limit()
        if self.text() not in ("1", "one"):
            return None
        self.at += 1
        if not self.take((":", "in")):
            return None
        count = take_number(self)
        if not count:
            return None
        unit = "gradient" if self._near(_GRADIENT) else "ratio"
        return Quantity(value=1, per_count=count, unit=unit, limit=limit, per="unit")

    def _share(self) -> Quantity | None:
        """Read "80% of the requirement" and "two thirds of trips" as per cent of a whole."""
        limit = self._limit()
        if (fraction := take_fraction(self)) is not None and self.text() == "of":
            return Quantity(value=round(fraction * 100, 4), unit="%", limit=limit, of=self._whole())
        if fraction is not None:
            return None
        low, high = self._range()
        if low is None or not self.take_longest(_PER_CENT):
            return None
        return Quantity(value=low, high=high, unit="%", limit=limit, of=self._whole())

    def _whole(self) -> str:
        """Move over "of …" after a share and return the words of the whole."""
        if self.text() != "of":
            return ""
        start = self.at = self.at + 1
        self.take(("the", "all", "these", "this", "its", "their"))
        while self.is_word() and self.text() not in _BREAKS and self.at - start < _MOST_DESCRIPTION:
            self.at += 1
        return self._words(start, self.at)

    def _measured(self) -> Quantity | None:
        between = self.take(("between", "from"))
        limit = self._limit()
        low, high = self._range(joint=("and", "to", "-") if between else ("to", "-"))
        if low is None:
            return self._one_for_each()
        if (unit := self._measure()) is not None:
            return self._with_basis(Quantity(value=low, high=high, unit=unit, limit=limit))
        if self.text() == "x":
            return self._each_with_bedrooms(low)
        if self.text() in _PER:
            return self._with_basis(Quantity(value=low, high=high, unit="", limit=limit))
        share = self._share_in_brackets()
        described = self._counted() or self._shared_noun()
        if described is None and share:
            return Quantity(value=low, high=high, unit="", limit=limit, of=self._description())
        if described is None:
            return None
        noun, words = described
        unit = counted_unit(noun, words)
        if unit in ("space", "stand"):
            unit = counted_unit(noun, self._context())
        return self._with_basis(Quantity(value=low, high=high, unit=unit, limit=limit, of=words))

    def _each_with_bedrooms(self, count: float) -> Quantity | None:
        """Read "12 x 2 bed": so many homes with so many bedrooms."""
        self.at += 1
        bedrooms = take_number(self)
        self.take(("-",))
        if bedrooms is None or not self.take(("bed", "beds", "bedroom", "bedrooms", "b")):
            return None
        take_noun(self)
        return Quantity(value=count, unit="dwelling", of=f"{bedrooms:g}-bed")

    def _share_in_brackets(self) -> bool:
        """Move over the share of a count: "127 (95%) two-tier spaces". The share is a separate quantity."""
        start = self.at
        if not self.take(("(",)):
            return False
        first = self.tokens[self.at] if self.at < len(self.tokens) else None
        value = take_number(self)
        if first is not None and value is not None and self.take_longest(_PER_CENT) and self.take((")",)):
            last = self.tokens[self.at - 2]
            self.bracketed.append(Quantity(value=value, unit="%", of="the total", start=first.start, end=last.end))
            return True
        self.at = start
        return False

    def _description(self) -> str:
        start = self.at
        while (self.is_word() or self.text() == "-") and self.text() not in _BREAKS:
            self.at += 1
        return self._words(start, self.at)

    def _one_for_each(self) -> Quantity | None:
        """Read "a space for each bedroom" and "a cycle space per dwelling": an article that counts one."""
        if not self.take(("a", "an")):
            return None
        described = self._counted()
        if described is None:
            return None
        noun, words = described
        quantity = self._with_basis(Quantity(value=1, unit=counted_unit(noun, words), of=words))
        return quantity if quantity.per else None

    def _range(self, joint: tuple[str, ...] = ("to", "-")) -> tuple[float | None, float | None]:
        low = take_number(self)
        if low is None:
            return None, None
        start = self.at
        unit = self._measure()
        if self.take(joint):
            self._limit()
            high = take_number(self)
            if high is not None and high > low and (unit is None or self._measure_follows(unit)):
                return low, high
        self.at = start
        return low, None

    def _measure_follows(self, unit: str) -> bool:
        start = self.at
        same = self._measure() == unit
        self.at = start
        return same

    def _measure(self) -> str | None:
        start = self.at
        self.take(("-",))
        quantity = take_measure(self)
        if quantity is None:
            self.at = start
        return quantity

    def _counted(self) -> tuple[str, str] | None:
        """Move over a description and the noun that ends it; return the noun's name and the description."""
        start, best = self.at, None
        while self.at - start <= _MOST_DESCRIPTION and (self.is_word() or self.text() in ("-", "no", ".", "(", ")")):
            at = self.at
            noun = take_noun(self)
            if noun is not None:
                best = noun, self._words(start, at), self.at
                if noun in ("bed", "bedroom") and at == start:  # "a 60 bed care home", "a three bedroom house"
                    break
                if not self.is_word() or self.text() in _BREAKS or self.text() in _PER:
                    break
                continue
            if self.text() in _BREAKS and not self._joins_descriptions():
                break
            self.at += 1
        if best is None:
            self.at = start
            return None
        self.at = best[2]
        return best[0], best[1]

    def _shared_noun(self) -> tuple[str, str] | None:
        """Read "122 long-stay and 18 short-stay spaces": the second count's noun is the first one's too."""
        start = self.at
        while (self.is_word() and self.text() not in _BREAKS) or self.text() == "-":
            self.at += 1
        end = self.at
        if start < end <= start + _MOST_DESCRIPTION and self.take(("and", "or", ",")) and take_number(self) is not None:
            described = self._counted()
            self.at = end
            if described is not None:
                return described[0], self._words(start, end)
        self.at = start
        return None

    def _joins_descriptions(self) -> bool:
        """Return whether "and" joins two descriptions of one noun: "63 covered scooter and cycle spaces"."""
        if self.text() not in ("and", "or"):
            return False
        ahead = Cursor(self.tokens, self.at + 2)
        return self.is_word(1) and self.text(1) not in _BREAKS and take_noun(ahead) is not None

    def _with_basis(self, quantity: Quantity) -> Quantity:
        """Read "per dwelling", "for every 5 dwellings", "/dwelling" or "per 100 sqm" after a quantity."""
        start = self.at
        while self.text() in _VERB_GROUP:  # "one point shall be installed for each dwelling"
            self.at += 1
        apart = self.at > start
        in_period = not apart and self.text() in ("a", "an") and self.text(1) in _BY_TIME
        if in_period:  # "two buses an hour"
            self.at += 1
        if not (in_period or (not apart and self.take(_PER)) or any(self.take_phrase(words) for words in _FOR_EACH)):
            self.at = start
            return quantity
        self.take(("each", "every", "additional"))
        count = take_number(self)
        basis = take_measure(self) or self._basis_noun()
        if basis is None:
            self.at = start
            return quantity
        return quantity.model_copy(update={"per": basis, "per_count": count or 1.0})

    def _basis_noun(self) -> str | None:
        """Return the noun that a rate is counted by; a word that is not a unit is counted under its own name."""
        start = self.at
        described = self._counted()
        if described is not None:
            return described[0]
        self.at = start
        if self.is_word() and self.text() not in _BREAKS:
            self.at += 1
            return self.tokens[self.at - 1].text
        return None

    def _words(self, start: int, end: int) -> str:
        parts: list[str] = []
        for token in self.tokens[start:end]:
            if token.text in (".", "(", ")", "no") or (token.text == "-" and not parts):
                continue
            joined = parts and (token.text == "-" or parts[-1].endswith("-")) and not token.spaced
            if joined:
                parts[-1] += token.text
            else:
                parts.append(token.text)
        return " ".join(parts)

    def _context(self) -> str:
        """Return the words around, among which a description ("cycle parking: 24 spaces") may be."""
        around: tuple[Token, ...] | list[Token] = list(self.tokens[max(0, self.at - 14) : self.at + 4])
        return " ".join(token.text for token in around)

    def _near(self, words: frozenset[str]) -> bool:
        return any(token.text in words for token in self.tokens[max(0, self.at - 12) : self.at + 6])


_BEGINNINGS = (
    NUMBER_WORDS | LIMITS.longest.keys() | {"a", "an", "£", "every", "hourly", "no", "none", "between", "from"}
)
_NOT_COUNTED = frozenset("way tier tiered sided".split())  # "two-way", "two tier"
NAMES_BEFORE_NUMBERS = frozenset(
    "number policy policies paragraph paragraphs para paras section sections table tables figure figures appendix phase class "
    "condition conditions chapter plan route footpath bridleway block plot zone stage version revision rev july june "
    "january february march april may august september october november december part schedule article core "
    "regulation objective page volume option junction building core site unit step category level ncn ltn band".split()
)


def _per_hour(value: float) -> Quantity:
    return Quantity(value=round(value, 4), unit="service", per="hour")
