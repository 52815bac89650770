"""Numbers of cycle spaces, car spaces and showers that a sentence gives for the scheme or a group of its users."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.measured import Measured, MeasureKind
from trigpoint.reading.names import Gazetteer
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.said import Said
from trigpoint.reading.scopes import groups_of, is_part, named_unit, what_of
from trigpoint.reading.tokens import tokenise

CYCLES = MeasureKind("cycle_parking.total", most_apart=2.5)
CARS = MeasureKind("car_parking", most_apart=2.0)
_FACILITIES = MeasureKind("cycle_parking.facilities", most_apart=4)

_CUES = Lexicon(
    {
        "houses": "house houses",
        "flats": "flat flats apartment apartments",
        "holds": "enough_for room_for hold holds take takes accommodate accommodates space_for holding accommodating parking_for "
        "storage_for store_for provided_for capacity_of capacity_for provision_for made_for stores_for spaces_for",
        "store": "store shed stores bicycles bicycle cycle cycles storage",
        "accommodated": "can_be_accommodated can_park be_parked could_be_accommodated will_be_accommodated",
        "total": "in_total in_all altogether total totals totalling overall amounts_to number_of",
        "provided": "provid* propos* deliver* compris* includ* accommodat* will_have will_be has have with served_by contain* offer* "
        "provision amount* number_of capacity located available allocated totals is are :",
        "not_ours": "require* needs_to need_for needed minimum standards demand policy previous previously consented former originally "
        "superseded approved earlier initially recommended requested asked should must could may might would_require reduction "
        "adjacent neighbouring maximum elsewhere comparable survey* surveyed counted recorded occupied shortfall against "
        "instead rather considered rejected discounted option options if unless potential future lapsed expected appeal were was "
        "had hospital university typical example average",
        "existing": "existing present currently occupied_by today at_present demolition_of",
        "car_park": "parking car_park car_parking parking_for_cars parking_spaces parking_space cars car",
        "change": "fall falls fell rise rises rose increase* reduce* reduction cut cuts grow* enlarge* drop* decrease* amended chang* "
        "come* down up",
    }
)
_EXISTING_CAR_PARK = re.compile(r"\b(?:the|existing)\b[^.,;]{0,30}\bcar park\b", re.IGNORECASE)
_CODE = re.compile(r"[a-z]{1,4}\d+")
_LAST_TOKENS = 5


def space_measures(said: Said, gazetteer: Gazetteer) -> Iterator[Measured]:
    """Yield the numbers of spaces and showers that a sentence gives."""
    for one in (_changed_to(said, count) for count in said.counts):
        if one.per == "dwelling" and one.unit == "cycle space" and one.high is None and one.limit == "exactly":
            yield from _rate(said, one)
        plain = one.high is None and one.per is None and one.limit in ("exactly", "about", "more than", "at least")
        unit = _unit_of(said, one) if plain else None
        if unit is not None:
            yield from _spaces(said, one, unit, gazetteer)


def form_measures(said: Said) -> Iterator[Measured]:
    """Yield the spaces that somebody reads on an application form which is not among the documents."""
    if "application form" not in said.text.lower():
        return
    for one in said.counts:
        if one.unit in ("cycle space", "car space") and one.per is None and one.high is None:
            measure = CYCLES if one.unit == "cycle space" else CARS
            yield Measured(measure, (one.unit, "", "planned"), what_of(one.unit, ()), one, said, whole=True)


def _spaces(said: Said, one: Quantity, unit: str, gazetteer: Gazetteer) -> Iterator[Measured]:
    """Yield a number of cycle spaces, car spaces or showers that the scheme, or one group of its users, has."""
    whole = _is_whole(said, one)
    around = _around(said, one)
    existing = _is_existing(said)
    if not _is_own(said, around if whole else said.text) or not _is_of_parking(said, one, unit):
        return
    if is_part(f"{one.of} {around}") or (
        not whole and (_has_siblings(said, one, unit) or _names_others(said, one, gazetteer))
    ):
        return
    if existing and (unit != "car space" or not _EXISTING_CAR_PARK.search(said.text)):
        return
    groups, unit_name = groups_of(f"{one.of} {around}", unit), named_unit(around)
    measure = {"cycle space": CYCLES, "car space": CARS}.get(unit, _FACILITIES)
    key = (unit, unit_name, "there" if existing else "planned", *groups)
    what = "the existing car park" if existing else what_of(unit, groups)
    at = f" at {unit_name.title()}" if unit_name else ""
    yield Measured(measure, key, f"{what}{at}", one.model_copy(update={"unit": unit}), said, whole=whole)


def _is_existing(said: Said) -> bool:
    return "existing" in _CUES.tag_text(said.text) or any(fact.status == "existing" for fact in said.facts)


def _is_own(said: Said, words: str) -> bool:
    """Return whether a statement says what this scheme has, not what somebody asks for, requires or has elsewhere."""
    return "not_ours" not in _CUES.tag_text(words) and not speaks_of_others(said)


def _is_of_parking(said: Said, one: Quantity, unit: str) -> bool:
    """Return whether the sentence has a verb of provision, and "bays" are bays for cars and not those of a barn."""
    cues = _CUES.tag_text(said.text)
    of_a_building = unit == "car space" and "bay" in said.text[one.start : one.end].lower() and "car_park" not in cues
    return not of_a_building and (unit in ("shower", "locker") or "provided" in cues or _is_whole(said, one))


def _names_others(said: Said, one: Quantity, gazetteer: Gazetteer) -> bool:
    """Return whether a sentence names something else that may have these spaces, other than policies and drawings."""
    if one.unit == "" and _held(said, one):
        return False
    return any(
        name.start != 0 and name.known not in gazetteer.own and not _CODE.fullmatch(name.known)
        for name in gazetteer.names(said.text)
    )


def speaks_of_others(said: Said) -> bool:
    """Return whether a statement is about another scheme, or is neither the applicant's nor the officer's own."""
    return said.is_elsewhere or any(
        fact.status in ("requested", "other_scheme", "rejected", "historic")
        or (fact.is_certain and fact.status in ("policy", "assumption", "indicative", "conditional"))
        or fact.speaker == "objector"
        for fact in said.facts
    )


def _unit_of(said: Said, one: Quantity) -> str | None:
    """Return what a number counts; one that is called a total counts what the sentence does."""
    if one.unit in ("cycle space", "car space", "shower", "locker"):
        return one.unit
    if one.unit in ("", "cycle", "vehicle") and (held := _held(said, one)) is not None:
        return held
    if one.unit not in ("", "space") or (one.unit == "" and not _is_whole(said, one)):
        return None
    units = {other.unit for other in said.counts if other.unit in ("cycle space", "car space")}
    if len(units) == 1:
        return units.pop()
    return _subject_unit(said)


def _subject_unit(said: Said) -> str | None:
    """Return what bare spaces are by the subject of the sentence: "cycle parking provision is 124 spaces"."""
    topics = {fact.topic.partition(".")[0] for fact in said.facts} & {"cycle_parking", "car_parking"}
    named = {"cycle_parking": "cycle space", "car_parking": "car space"}
    return named[topics.pop()] if len(topics) == 1 else None


def _held(said: Said, one: Quantity) -> str | None:
    """Return what is counted in "a store large enough for three", "parking for 210 cars", "three cars can be accommodated"."""
    after = said.text[one.end :].lower().split()[:4]
    before = " ".join(said.text[: one.start].lower().split()[-3:])
    holds = "holds" in _CUES.tag_text(before)
    noun = (after[:1] or [""])[0].strip(".,;") if one.unit == "" else ""
    if noun == "cars" or one.unit == "vehicle":
        parks = holds and "car_park" in _CUES.tag_text(said.text[: one.start])
        return "car space" if parks or "accommodated" in _CUES.tag_text(" ".join(after)) else None
    ends = (
        one.unit == "cycle"
        or not after
        or said.text[one.end : one.end + 1] in (".", ",", ";")
        or noun in ("bicycles", "cycles")
    )
    stores = one.unit == "cycle" or "store" in _CUES.tag_text(said.text[: one.start])
    return "cycle space" if holds and ends and stores else None


def _is_whole(said: Said, one: Quantity) -> bool:
    """Return whether a figure is called the total, or is what a change of the whole leads to."""
    return _is_called_total(said.text, one) or _is_end_of_change(said, one)


def _is_called_total(text: str, one: Quantity) -> bool:
    after = _CUES.tag_text(text[one.end :]).get("total", ())
    before = _CUES.tag_text(text[: one.start]).get("total", ())
    length = len(tokenise(text[: one.start]))
    made = text[: one.start].lower().split()[-1:] in (["making"], ["giving"]) and one.unit in (
        "",
        "cycle space",
        "car space",
    )
    return any(at <= 1 for at in after) or any(length - at <= 3 for at in before) or made


def _changed_to(said: Said, one: Quantity) -> Quantity:
    """Return the figure that a change leads to, if "from 212 to 262" is a change and not a range."""
    is_change = one.high is not None and said.text[one.start : one.end].lower().startswith("from")
    if is_change and "change" in _CUES.tag_text(said.text[: one.start]):
        return one.model_copy(update={"value": one.high, "high": None})
    return one


def _is_end_of_change(said: Said, one: Quantity) -> bool:
    """Return whether a figure ends a change of the whole: "cycle parking rises from 212 to 262 spaces"."""
    before = said.text[: one.end].lower().split()
    if "from" not in before or not {"to"} & set(before[before.index("from") :]):
        return False
    start = len(before) - 1 - before[::-1].index("from")
    subject = " ".join(before[max(0, start - _LAST_TOKENS) : start])
    cues = _CUES.tag_text(subject)
    return "change" in cues and ("car_park" in cues or "cycle parking" in subject) and not is_part(subject)


def _around(said: Said, one: Quantity) -> str:
    """Return the words around a figure within its clause, which say whose spaces they are."""
    text = said.text
    start = max((text.rfind(mark, 0, one.start) for mark in (",", ";", ":", "(")), default=-1) + 1
    ends = [at for mark in (",", ";", "(", ". ") if (at := text.find(mark, one.end)) >= 0]
    clause = text[start : min(ends, default=len(text))]
    if clause.strip().lower().startswith("a total of"):  # in apposition to all that was said before
        return text[: min(ends, default=len(text))]
    siblings = [other for other in said.counts if other is not one and other.unit == one.unit and other.unit]
    if siblings:
        return text[one.start : min(ends, default=len(text))][:60]
    return clause


def _has_siblings(said: Said, one: Quantity, unit: str) -> bool:
    """Return whether the sentence has another figure of the same unit and group, so that either may be a part."""
    groups = groups_of(f"{one.of}", unit)
    return any(
        other is not one and other.unit in (unit, "space") and other.per is None and groups_of(other.of, unit) == groups
        for other in said.counts
    )


def _rate(said: Said, one: Quantity) -> Iterator[Measured]:
    """Yield the cycle spaces that each house or each flat is given."""
    kinds = [kind for kind in ("houses", "flats") if kind in _CUES.tag_text(said.text)]
    if len(kinds) == 1 and "not_ours" not in _CUES.tag_text(said.text) and not speaks_of_others(said):
        yield Measured(
            CYCLES, ("rate", kinds[0]), f"the cycle spaces for each of the {kinds[0]}", one, said, whole=True
        )
