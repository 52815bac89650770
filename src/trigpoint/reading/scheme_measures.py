"""Figures that measure the scheme itself in sentences: spaces, showers, people, trips, targets, contributions, terms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.measured import Measure, Measured
from trigpoint.reading.names import Gazetteer
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.said import Said
from trigpoint.reading.scopes import groups_of, is_part, named_unit, what_of
from trigpoint.reading.tokens import tokenise

CYCLES = Measure("cycle_parking.total", most_apart=2.5)
CARS = Measure("car_parking", most_apart=2.0)
SHOWERS = Measure("cycle_parking.facilities", most_apart=4)
PEOPLE = Measure("development.size", most_apart=1.5)
HOMES = Measure("development.size", most_apart=1.5, revised=True)
TRIPS = Measure("trips.forecast", tolerance=0.02, most_apart=2.5)
TARGET = Measure("travel_plan.target", most_apart=3)
TERM = Measure("travel_plan.coordinator", most_apart=10)

_CUES = Lexicon(
    {
        "whole_scheme": "scheme_comprises application_is_for application_is_now_for is_now_for development_is_of erection_of "
        "development_of development_comprises development_comprising proposals_comprise application_for scheme_of "
        "development_will_comprise proposal_is_for scheme_is_for permission_for construction_of",
        "houses": "house houses",
        "flats": "flat flats apartment apartments",
        "employed": "employed employ employs work working",
        "making": "making giving makes gives",
        "holds": "enough_for room_for hold holds take takes accommodate accommodates space_for holding accommodating",
        "accommodated": "can_be_accommodated can_park be_parked could_be_accommodated will_be_accommodated",
        "store": "store shed stores bicycles bicycle cycle cycles",
        "total": "in_total in_all altogether total totals totalling overall",
        "provided": "provid* propos* deliver* compris* includ* accommodat* will_have will_be has have is_provided are_provided with "
        "served_by contain* offer*",
        "scheme": "development scheme proposal proposals building application school hospital hotel project",
        "not_ours": "require* needs_to need_for needed minimum standard standards demand policy previous previously consented former originally "
        "superseded approved earlier initially recommended requested asked should must could may might would_require reduction "
        "adjacent neighbouring maximum elsewhere comparable survey* surveyed counted recorded occupied shortfall against "
        "instead rather considered rejected discounted option options if unless potential future lapsed expected appeal",
        "existing": "existing present currently occupied_by today at_present demolition_of",
        "car_park": "parking car_park car_parking parking_for_cars parking_spaces parking_space cars car",
        "from": "from",
        "change": "fall falls fell rise rises rose increase* reduce* reduction cut cuts grow* enlarge* drop* decrease* amended chang* come* down up",
        "staff": "employ employs employees employee staff jobs job fte workers",
        "body": "employ employed employment school_of community_of full_-_time fte jobs workforce employees roll on_site_staff",
        "not_body": "arrival arrivals tenant tenants each per cycle cycling drive trips survey questionnaire shift first driver cars "
        "more_than showers lockers parking spaces construction new_starter",
        "morning": "am_peak morning_peak 08 08_: a_._m am",
        "evening": "pm_peak evening_peak 17_: p_._m pm",
        "two_way": "two_-_way two_way",
        "not_vehicle": "cycle cycles cyclists pedestrian pedestrians person people bus passengers existing hgv hgvs lorries servicing daily",
        "target": "target targets aim aims aiming raise increase objective seeks",
        "cycling": "cycle cycling cyclists bicycle bike cycles",
        "points": "percentage_point percentage_points points",
        "baseline": "baseline forecast currently census existing at_present base survey 2011 2021",
        "coordinator": "coordinator co_-_ordinator tpc coordinators",
        "shower": "shower showers",
    }
)
_CODE = re.compile(r"[a-z]{1,4}\d+")
_TERMS = ("for", "over")
LAST_TOKENS = 5
_PLAIN_HOMES = frozenset("new residential no no. dwelling dwellings c3 class use".split())


def scheme_measures(said: Said, gazetteer: Gazetteer) -> Iterator[Measured]:
    """Yield what a sentence says of the measures of the scheme."""
    cues = _CUES.tag_text(said.text)
    for one in (_changed_to(said, count) for count in said.counts):
        if one.per == "dwelling" and one.unit == "cycle space" and one.high is None and one.limit == "exactly":
            yield from _rate(said, one)
        if one.high is not None or one.per is not None or one.limit not in ("exactly", "about", "more than"):
            continue
        if one.unit in ("cycle space", "car space", "space", "shower", ""):
            yield from _spaces(said, one, gazetteer)
        if one.unit in ("employee", "job") or (_counts_people(said, one) and "employed" in cues):
            yield from _people(said, one, "staff")
        elif one.unit == "dwelling":
            yield from _homes(said, one)
        elif one.unit == "pupil":
            yield from _people(said, one, "pupils")
        elif one.unit == "trip":
            yield from _trips(said, one)
        elif one.unit == "%":
            yield from _target(said, one)
        elif one.unit == "year" and "coordinator" in cues:
            yield from _term(said, one)


def form_measures(said: Said) -> Iterator[Measured]:
    """Yield the spaces that somebody reads on an application form which is not among the documents."""
    if "application form" not in said.text.lower():
        return
    for one in said.counts:
        if one.unit in ("cycle space", "car space") and one.per is None and one.high is None:
            measure = CYCLES if one.unit == "cycle space" else CARS
            yield Measured(measure, (one.unit, "", "planned"), what_of(one.unit, ()), one, said, whole=True)


def _spaces(said: Said, one: Quantity, gazetteer: Gazetteer) -> Iterator[Measured]:
    """Yield a number of cycle spaces, car spaces or showers that the scheme, or one group of its users, has."""
    unit = _unit_of(said, one)
    cues = _CUES.tag_text(said.text)
    whole = _is_whole(said, one)
    around = _around(said, one)
    if unit == "car space" and "bay" in said.text[one.start : one.end].lower() and "car_park" not in cues:
        return
    if unit is None or "not_ours" in _CUES.tag_text(around if whole else said.text) or _speaks_of_others(said):
        return
    existing = "existing" in cues or any(fact.status == "existing" for fact in said.facts)
    if is_part(f"{one.of} {around}") or (_has_siblings(said, one, unit) and not whole):
        return
    unit_name = named_unit(around)
    strange = [name for name in gazetteer.names(said.text) if name.start != 0 and not _CODE.fullmatch(name.known)]
    strange = [] if one.unit == "" and _held(said, one) else strange
    if (strange and not whole) or (
        existing
        and (unit != "car space" or "the car park" not in said.text.lower().replace("existing multi-storey", "the"))
    ):
        return
    if not existing and "provided" not in cues and not whole and unit != "shower":
        return
    groups = groups_of(f"{one.of} {around}", unit)
    measure = {"cycle space": CYCLES, "car space": CARS, "shower": SHOWERS}[unit]
    key = (unit, unit_name, "there" if existing else "planned", *groups)
    what = ("the existing car park" if existing else what_of(unit, groups)) + (
        f" at {unit_name.title()}" if unit_name else ""
    )
    yield Measured(measure, key, what, one, said, whole=whole)


def _speaks_of_others(said: Said) -> bool:
    """Whether a statement is on something else than this scheme, or is not the applicant's or the officer's own."""
    return any(
        fact.status in ("requested", "other_scheme", "rejected", "historic")
        or (fact.is_certain and fact.status in ("policy", "assumption", "indicative", "conditional"))
        or fact.speaker == "objector"
        for fact in said.facts
    )


def _unit_of(said: Said, one: Quantity) -> str | None:
    """Return what a number counts; one that is called a total counts what the sentence does."""
    if one.unit in ("cycle space", "car space", "shower"):
        return one.unit
    if one.unit == "" and (held := _held(said, one)) is not None:
        return held
    units = {other.unit for other in said.counts if other.unit in ("cycle space", "car space")}
    if one.unit == "" and not (_is_called_total(said.text, one) or _is_end_of_change(said, one)):
        return None
    if len(units) == 1:
        return units.pop()
    topics = {fact.topic.partition(".")[0] for fact in said.facts} & {"cycle_parking", "car_parking"}
    named = {"cycle_parking": "cycle space", "car_parking": "car space"}
    return named[topics.pop()] if len(topics) == 1 and one.unit == "space" else None


def _held(said: Said, one: Quantity) -> str | None:
    """Return what a bare number counts in "a store large enough for three" and "three cars can be accommodated"."""
    after = said.text[one.end :].lower().split()[:4]
    if after[:1] == ["cars"] and "accommodated" in _CUES.tag_text(" ".join(after)):
        return "car space"
    before = " ".join(said.text[: one.start].lower().split()[-3:])
    is_cycle_store = "store" in _CUES.tag_text(said.text[: one.start])
    ends = (
        not after or said.text[one.end : one.end + 1] in (".", ",", ";") or after[0] in ("bicycles", "cycles", "bikes")
    )
    return "cycle space" if is_cycle_store and ends and "holds" in _CUES.tag_text(before) else None


def _is_whole(said: Said, one: Quantity) -> bool:
    """Whether a figure is called the total, or is what a change of the whole leads to."""
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
    """Whether a figure ends a change of the whole: "cycle parking rises from 212 to 262 spaces"."""
    before = said.text[: one.end].lower().split()
    if "from" not in before or not {"to"} & set(before[before.index("from") :]):
        return False
    start = len(before) - 1 - before[::-1].index("from")
    subject = " ".join(before[max(0, start - LAST_TOKENS) : start])
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
    """Whether the sentence has another figure of the same unit and the same group, of which either may be a part."""
    groups = groups_of(f"{one.of}", unit)
    return any(
        other is not one and other.unit in (unit, "space") and other.per is None and groups_of(other.of, unit) == groups
        for other in said.counts
    )


def _people(said: Said, one: Quantity, who: str) -> Iterator[Measured]:
    cues = _CUES.tag_text(said.text)
    around = said.text[max(0, one.start - 40) : one.end + 30]
    if (
        "not_ours" in cues
        or "not_body" in _CUES.tag_text(around)
        or one.limit == "more than"
        or _speaks_of_others(said)
    ):
        return
    if "body" in cues and sum(other.unit == one.unit for other in said.counts) == 1:
        yield Measured(PEOPLE, ("people", who), f"the number of {who}", one, said, whole=True)


def _counts_people(said: Said, one: Quantity) -> bool:
    return one.unit == "" and said.text[one.end :].lstrip().startswith("people")


def _homes(said: Said, one: Quantity) -> Iterator[Measured]:
    """Yield the number of homes that a sentence gives for the whole scheme: "the application is now for 138 dwellings"."""
    cues = _CUES.tag_text(said.text[: one.start])
    words = set(one.of.replace("-", " ").split())
    plain = words <= _PLAIN_HOMES and "not_ours" not in _CUES.tag_text(said.text) and not _speaks_of_others(said)
    last = max(cues.get("whole_scheme", [-99]))
    near = len(tokenise(said.text[: one.start])) - last <= LAST_TOKENS + 1
    if plain and near and sum(other.unit == "dwelling" for other in said.counts) == 1:
        yield Measured(HOMES, ("homes",), "the number of homes", one, said, whole=True)


def _trips(said: Said, one: Quantity) -> Iterator[Measured]:
    cues = _CUES.tag_text(said.text)
    near = _CUES.tag_text(f"{one.of} {said.text[one.start : one.end + 20]}")
    peaks = [peak for peak in ("morning", "evening") if peak in cues]
    plain = "two_way" in near and "not_vehicle" not in near and "not_ours" not in cues
    if len(peaks) == 1 and plain and sum(other.unit == "trip" for other in said.counts) == 1:
        what = f"two-way vehicle trips in the {peaks[0]} peak hour"
        yield Measured(TRIPS, ("trips", peaks[0]), what, one, said, whole=True)


def _target(said: Said, one: Quantity) -> Iterator[Measured]:
    """Yield the share of cycling that the travel plan aims at, or the cut in car use in percentage points."""
    headed = " ; ".join((said.text, *said.statement.headings[-1:]))
    if "target" not in _CUES.tag_text(headed) or _speaks_of_others_targets(said):
        return
    text = said.text
    near = text[max(0, one.start - 60) : one.end + 40]
    if "points" in _CUES.tag_text(text[one.start : one.end + 20]):
        yield Measured(TARGET, ("target", "points"), "the cut in car use that is aimed at", one, said, whole=True)
    elif "cycling" in _CUES.tag_text(near) and sum(other.unit == "%" for other in said.counts) == 1:
        groups = groups_of(text, "share")
        yield Measured(
            TARGET, ("target", "cycling", *groups), "the share of cycling that is aimed at", one, said, whole=True
        )


def _rate(said: Said, one: Quantity) -> Iterator[Measured]:
    """Yield the cycle spaces that each house or each flat is given."""
    kinds = [kind for kind in ("houses", "flats") if kind in _CUES.tag_text(said.text)]
    if len(kinds) == 1 and "not_ours" not in _CUES.tag_text(said.text) and not _speaks_of_others(said):
        yield Measured(
            CYCLES, ("rate", kinds[0]), f"the cycle spaces for each of the {kinds[0]}", one, said, whole=True
        )


def _speaks_of_others_targets(said: Said) -> bool:
    return any(fact.status in ("policy", "requested", "other_scheme") for fact in said.facts)


def _term(said: Said, one: Quantity) -> Iterator[Measured]:
    before = said.text[: one.start].lower().split()[-1:]
    words = said.text[one.start : one.end].lower().split()[:1]
    if (before and before[0] in _TERMS) or (words and words[0] in _TERMS):
        what = "the years for which there is a travel plan coordinator"
        yield Measured(TERM, ("term", "coordinator"), what, one, said, whole=True)
