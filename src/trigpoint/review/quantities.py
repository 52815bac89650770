"""Quantities with their units, read from the words of a planning document: "2 spaces per dwelling", "3.0m wide",
"1 Sheffield stand per 10 dwellings" (two spaces a stand), "between 1.2 and 3.0 metres", "less than one space per bedroom".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from trigpoint.review.numbers import IN_WORDS, NUMBER, number

SPACES_PER_STAND = 2

Limit = Literal["at most", "below", "at least", "above"]

_UNITS = {
    "m2": r"m²|m2\b|sq\.?\s?m\b|sqm\b|square metres?",
    "km": r"km\b|kilomet(?:re|er)s?",
    "mm": r"mm\b|millimet(?:re|er)s?",
    "mph": r"mph\b|miles per hour",
    "mile": r"miles?\b(?! per hour)",
    "m": r"m\b(?!²)|met(?:re|er)s?\b",
    "%": r"%|per ?cent\b",
    "minute": r"min(?:ute)?s?\b",
    "second": r"seconds?\b",
    "year": r"years?\b",
}
_NOUNS = {
    "space": r"spaces|space|bays?\b",
    "stand": r"stands|stand",
    "rack": r"racks|rack|lockers|locker",
    "cycle": r"bikes?|bicycles?|cycles(?!\w)",
    "dwelling": r"dwellings?|homes?|houses?|apartments?|flats?|residential units?|units?|properties|property|plots?",
    "bedroom": r"bedrooms?|bed(?=[ -]spaces?)",
    "trip": r"trips?|journeys?|movements",
    "vehicle": r"vehicles?|pcus?|cars?\b",
    "cyclist": r"cyclists?",
    "pupil": r"pupils?|students?",
    "employee": r"employees?|staff|workers",
    "storey": r"storeys?",
    "bus": r"buses|services",
    "resident": r"residents?",
}
_UNIT = "|".join(f"(?P<u_{i}>{pattern})" for i, pattern in enumerate(_UNITS.values()))
_NOUN = "|".join(f"(?P<n_{i}>{pattern})" for i, pattern in enumerate(_NOUNS.values()))
_UNIT_NAMES, _NOUN_NAMES = list(_UNITS), list(_NOUNS)
_START = r"(?<![\w£$.,/-])(?P<between>between\s+)?"
_FIGURE = rf"(?P<n>{NUMBER})(?:\s?(?:-|–|to|(?(between)and|to))\s?(?P<hi>{NUMBER}))?"
_TIMES = rf"(?:\s?(?:nos?\b\.?|[x×](?=\s)))?(?:\s\({NUMBER}\))?"  # "2no.", "2 x", "two (2)"
# between a number and what it counts: adjectives, never another number, a full stop or a verb
_BETWEEN = rf"(?:(?!(?:is|are|was|were|will|to|per|for|of|from|within|and a|in|at|on|with|that|which)\b|{IN_WORDS}(?!-))[A-Za-z][A-Za-z/’'-]*,?\s+){{0,6}}?"
_MEASURE = re.compile(rf"{_START}{_FIGURE}[\s-]?(?:{_UNIT})", re.IGNORECASE)
_COUNT = re.compile(rf"{_START}{_FIGURE}{_TIMES}\s+(?P<adj>{_BETWEEN})(?:{_NOUN})\b", re.IGNORECASE)
_BEDS = rf"(?P<beds>{NUMBER})(?:\+|\s?(?:-|–|/|or|and|to)\s?(?P<more>{NUMBER}))?[\s-]bed(?:room)?(?:ed)?"
_BARE_RATE = re.compile(
    rf"{_START}(?P<n>{NUMBER})\s+(?=(?:per|for each|for every)\s+(?:{NUMBER}\s?)?(?:\w+\s+)?(?:dwelling|home|house|flat|apartment|bedroom|unit|employee|staff|pupil|student|{NUMBER}|m²|sqm))",
    re.IGNORECASE,
)
_DENOMINATOR = {
    "dwelling": r"dwellings?|homes?|houses?|apartments?|flats?|residential units?|units?|propert(?:y|ies)|plots?",
    "bedroom": r"bedrooms?",
    "m2": r"m²|m2|sq\.?\s?m|sqm|square metres?",
    "employee": r"employees?|staff|members? of staff",
    "pupil": r"pupils?|students?",
    "hour": r"hours?|hr",
    "day": r"days?",
}
_DEN = "|".join(f"(?P<d_{i}>{pattern})" for i, pattern in enumerate(_DENOMINATOR.values()))
_DEN_NAMES = list(_DENOMINATOR)
_PER = re.compile(
    rf"\s*\(?(?:per|for each|for every|an?(?=\s+hour|\s+day)|/|each(?=\s+hour))\s*(?:{_BEDS}\s+|(?P<count>{NUMBER})\s*)?(?:[a-z]+\s+(?!of\b)){{0,2}}?(?:{_DEN})\b",
    re.IGNORECASE,
)
_EACH = re.compile(
    rf"\b(?:each|every|all|per)\s+(?:(?:new|proposed|residential|individual|of the|family|{_BEDS})\s+){{0,2}}(?:{_DEN})\b",
    re.IGNORECASE,
)
_EACH_AFTER = re.compile(
    rf"(?:(?!\b{NUMBER}\b)[^.;:]){{0,60}}?\b(?:(?:for|to) (?:each|every)|per)\s+(?:{_BEDS}\s+)?(?:[a-z]+\s+){{0,2}}?(?:{_DEN})\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:\b(?:plots?|units?|blocks?|tables?|figures?|fig\.|phases?|sections?|chapters?|paras?|paragraphs?|policy|drawing|appendix|page)|[0-9]\s+in)\s+$",
    re.IGNORECASE,
)
_MORE, _LESS = (
    "more|greater|higher|larger|wider|longer|further|farther|deeper",
    "less|fewer|lower|smaller|narrower|shorter|shallower|closer|nearer",
)


def _before(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\s+(?:(?:a|an|the|about|around|approximately|some)\s+)?$", re.IGNORECASE)


_LIMITS_BEFORE: dict[Limit, re.Pattern[str]] = {
    "at most": _before(rf"up to|at most|within|not exceeding|maximum(?: \w+)? of|(?:no|not) (?:{_MORE}) than"),
    "at least": _before(rf"at least|minimum(?: \w+)? of|(?:no|not) (?:{_LESS}) than"),
    "below": _before(rf"(?<!no )(?<!not )(?:{_LESS}) than|under|below"),
    "above": _before(rf"(?<!no )(?<!not )(?:{_MORE}) than|over|above|beyond|in excess of|exceed(?:s|ing)?"),
}
_LIMITS_AFTER: dict[Limit, re.Pattern[str]] = {
    "at least": re.compile(rf"\s*\(?(?:or (?:{_MORE}|over|above)\b|min(?:imum)?\b)", re.IGNORECASE),
    "at most": re.compile(rf"\s*\(?(?:or (?:{_LESS}|under|below)\b|max(?:imum)?\b)", re.IGNORECASE),
}
_CHANGED = re.compile(
    r"\b(?:widen|increas|rais|reduc|narrow|extend|upgrad|enlarg|lower)\w*(?: \w+){0,3} from\s+$", re.IGNORECASE
)


@dataclass(frozen=True)
class Quantity:
    """A value with its unit. `per` and `per_count` make it a rate: 1 stand per 10 dwellings."""

    value: float
    unit: str
    start: int
    end: int
    text: str
    per: str | None = None
    per_count: float = 1.0
    high: float | None = None
    bedrooms: float | None = None  # of the dwelling that it is counted per: 2 spaces per 2-bed flat
    limit: Limit | None = None
    restated: bool = False  # in another unit by a factor that is no power of ten, so that its digits are others

    @property
    def rate(self) -> float:
        """The value for one of what it is counted per."""
        return self.value / self.per_count

    @property
    def highest(self) -> float:
        """The upper end of a range, as a rate."""
        return (self.value if self.high is None else self.high) / self.per_count

    @property
    def interval(self) -> tuple[float, float]:
        """What the rate may be, by its range and its limit."""
        low = 0.0 if self.limit in ("at most", "below") else self.rate
        high = float("inf") if self.limit in ("at least", "above") else self.highest
        return low, high

    def in_spaces(self) -> Quantity:
        """Stands as the spaces they give; bikes and racks as one space each."""
        factor = {"stand": SPACES_PER_STAND, "cycle": 1, "rack": 1, "space": 1}.get(self.unit)
        return self if factor is None else replace(self._times(factor, "space"), restated=factor != 1)

    def in_metres(self) -> Quantity:
        """Lengths in metres; anything else unchanged."""
        factor = {"km": 1000.0, "mm": 0.001, "mile": 1609.344, "m": 1.0}.get(self.unit)
        return self if factor is None else replace(self._times(factor, "m"), restated=self.unit == "mile")

    def per_bedroom(self) -> Quantity:
        """A rate for dwellings of a stated size as one for each of their bedrooms."""
        if self.per != "dwelling" or not self.bedrooms:
            return self
        return replace(self, per="bedroom", per_count=self.per_count * self.bedrooms)

    def _times(self, factor: float, unit: str) -> Quantity:
        high = None if self.high is None else round(self.high * factor, 6)
        return replace(self, value=round(self.value * factor, 6), high=high, unit=unit)


def parse_quantities(text: str) -> list[Quantity]:
    """Every quantity of a sentence, in order. A number that belongs to none is not one."""
    found: list[Quantity] = []
    for match in _MEASURE.finditer(text):
        found.append(_quantity(text, match, _named(match, "u_", _UNIT_NAMES)))
    for match in _COUNT.finditer(text):
        if not _LABEL.search(text[: match.start()]) and not any(
            q.start < match.end() and match.start() < q.end for q in found
        ):
            found.append(_quantity(text, match, _named(match, "n_", _NOUN_NAMES)))
    for match in _BARE_RATE.finditer(text):
        if not any(q.start <= match.start() < q.end for q in found):
            found.append(_quantity(text, match, _implied_unit(text[: match.start()])))
    return _ranges(text, sorted(found, key=lambda q: q.start))


def sentence_break(text: str) -> bool:
    return re.search(r"[.;](?:\s|$)", text) is not None


def _named(match: re.Match[str], prefix: str, names: list[str]) -> str:
    return next(name for i, name in enumerate(names) if match.group(f"{prefix}{i}"))


def _quantity(text: str, match: re.Match[str], unit: str) -> Quantity:
    per = _PER.match(text, match.end())
    end = per.end() if per else match.end()
    count = number(per["count"]) if per and per["count"] else 1.0
    if per is None and unit in ("space", "stand", "cycle", "rack"):
        per = _each_before(text, match.start()) or _EACH_AFTER.match(text, match.end())
    values = sorted(number(value) for value in (match["n"], match.groupdict().get("hi")) if value)
    if len(values) > 1 and _CHANGED.search(text[: match.start()]):
        values = [number(match["hi"])]
    return Quantity(
        values[0],
        unit,
        match.start(),
        end,
        text[match.start() : end],
        _named(per, "d_", _DEN_NAMES) if per else None,
        count,
        values[1] if len(values) > 1 else None,
        number(per["more"] or per["beds"]) if per and per["beds"] else None,
        _limit(text, match.start(), end),
    )


def _limit(text: str, start: int, end: int) -> Limit | None:
    before, after = text[max(0, start - 40) : start], text[end : end + 20]
    said = (limit for limit, pattern in _LIMITS_BEFORE.items() if pattern.search(before))
    then = (limit for limit, pattern in _LIMITS_AFTER.items() if pattern.match(after))
    return next(said, None) or next(then, None)


def _ranges(text: str, quantities: Sequence[Quantity]) -> list[Quantity]:
    """Two quantities that are the ends of one range ("1.2m to 3.0m", "between 1.2m and 3.0m") as one."""
    found: list[Quantity] = []
    for quantity in quantities:
        first = found[-1] if found else None
        if first is None or not _begins_range(text, first, quantity):
            found.append(quantity)
            continue
        low, high = sorted((first.value, quantity.value))
        whole = replace(quantity, start=first.start, text=text[first.start : quantity.end])
        if _CHANGED.search(text[: first.start]):
            found[-1] = whole
        else:
            found[-1] = replace(whole, value=low, high=high, limit=first.limit)
    return found


def _begins_range(text: str, first: Quantity, second: Quantity) -> bool:
    if first.unit != second.unit or first.per is not None or first.high is not None or second.high is not None:
        return False
    joined = r"and|to|-|–" if first.text.lower().startswith("between") else r"to|-|–"
    return re.fullmatch(rf"\s*(?:{joined})\s*", text[first.end : second.start], re.IGNORECASE) is not None


def _each_before(text: str, start: int) -> re.Match[str] | None:
    before = text[max(0, start - 110) : start]
    found = [m for m in _EACH.finditer(before) if not sentence_break(before[m.end() :])]
    return found[-1] if found else None


def _implied_unit(before: str) -> str:
    return "stand" if re.search(r"stands?\b[^.]*$", before, re.IGNORECASE) else "space"
