"""Figures that measure the scheme itself in sentences: homes, people, floor areas, trips, targets, terms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.measured import Measured, MeasureKind
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.said import Said
from trigpoint.reading.scopes import groups_of, is_part
from trigpoint.reading.space_measures import speaks_of_others
from trigpoint.reading.tokens import tokenise
from trigpoint.reading.uses import read_uses

PEOPLE = MeasureKind("development.size", most_apart=1.5)
HOMES = MeasureKind("development.size", most_apart=1.5)
AREA = MeasureKind("development.size", tolerance=0.005, most_apart=1.25)
_SITE = MeasureKind("development.size", tolerance=0.05, most_apart=2)
_TRIPS = MeasureKind("trips.forecast", tolerance=0.02, most_apart=2.5)
TARGET = MeasureKind("travel_plan.target", most_apart=3)
_TERM = MeasureKind("travel_plan.coordinator", most_apart=10)

_CUES = Lexicon(
    {
        "whole_scheme": "school_of scheme_comprises scheme_comprising application_is_for is_now_for development_is_of "
        "proposed_development_of development_comprises development_comprising proposals_comprise application_for scheme_of "
        "development_will_comprise proposal_is_for scheme_is_for application_for_the_erection_of permission_is_sought sought_for "
        "scheme_will_deliver application_proposes development_would_provide development_will_provide scheme_would_deliver "
        "proposal_comprises scheme_proposes development_will_deliver development_would_deliver building_will_provide "
        "scheme_will_provide scheme_provides development_provides proposals_provide building_providing application_seeks "
        "building_provides office_building_of proposal_is_for_an application_is_for_up_to",
        "proposed": "are_proposed is_proposed proposed",
        "not_ours": "require* needs_to need_for needed minimum standards demand policy previous previously consented former originally "
        "superseded approved earlier initially recommended requested asked should must could may might would_require reduction "
        "adjacent neighbouring maximum elsewhere comparable surveyed counted recorded shortfall against instead rather considered "
        "rejected discounted option options if unless potential lapsed appeal committed threshold refused granted dismissed",
        "body": "employ employed employment school_of community_of full_-_time fte jobs workforce employees roll on_site_staff "
        "members_of_staff will_have will_work work_at staff_numbers will_be would_be capacity_of accommodate primary_school "
        "secondary_school school_for academy",
        "not_body": "arrival arrivals tenant tenants each per cycle cycling drive trips survey questionnaire shift first driver cars "
        "showers lockers parking spaces construction new_starter year_7 more_than oversubscribed net additional",
        "employed": "employed employ employs work working members_of_staff",
        "morning": "am_peak morning_peak 08 08_: a_._m am",
        "evening": "pm_peak evening_peak 17_: p_._m pm",
        "two_way": "two_-_way two_way",
        "vehicle": "vehicle vehicles vehicular car",
        "one_way": "arrivals departures arriving departing inbound outbound in_and",
        "not_vehicle": "cycle cycles cyclists pedestrian pedestrians person people bus passengers existing hgv hgvs lorries servicing "
        "daily construction per_day committed",
        "target": "target targets targeted aim aims aiming raise increase objective seeks",
        "not_final": "interim year_1 year_2 year_3 year_one year_two year_three council county government national borough city_wide "
        "2030 2031 2035 2040 2041 2050",
        "cycling": "cycle cycling cyclists bicycle bike cycles",
        "points": "percentage_point percentage_points points",
        "baseline": "baseline forecast currently census existing at_present base survey starting 2011 2021",
        "coordinator": "coordinator co_-_ordinator tpc coordinators",
    }
)
_HAS_THE_SIZE = "extends to|covers|measures|is|has an area of|comprises"
_SITE_IS = re.compile(rf"\b[Tt]he (?:application )?[Ss]ite (?:{_HAS_THE_SIZE})\b[^.;,]{{0,25}}$")
_LONG_AGO = re.compile(r"\b1[5-9]\d\d\b")  # "built in 1871 for a tannery that employed 140 people"
_TERMS = ("for", "over")
_PLAIN_HOMES = frozenset("new residential no no. dwelling dwellings c3 class use houses house and flats".split())
_LAST_TOKENS = 5
_AROUND = 45  # characters around a figure among which its noun is


def scheme_measures(said: Said) -> Iterator[Measured]:
    """Yield the measures of the scheme that a sentence gives."""
    cues = _CUES.tag_text(said.text)
    for one in said.counts:
        if one.high is not None or one.per is not None or one.limit == "less than":
            continue
        if one.unit in ("employee", "job") or (_counts_people(said, one) and "employed" in cues):
            yield from _people_measures(said, one, "staff")
        elif one.unit == "dwelling" or (one.unit == "unit" and "residential" in one.of):
            yield from _homes(said, one)
        elif one.unit == "pupil" or (one.unit == "place" and "school" in said.text[one.end : one.end + 20]):
            yield from _people_measures(said, one, "pupils")
        elif one.unit in ("trip", "vehicle"):
            yield from _trips(said, one)
        elif one.unit == "%":
            yield from _target(said, one)
        elif one.unit == "ha" and _SITE_IS.search(said.text[: one.start]) and _is_own(said):
            yield Measured(_SITE, ("site",), "the area of the site", one, said, whole=True)
        elif one.unit == "year" and "coordinator" in cues:
            yield from _term(said, one)
    yield from _areas(said)


def _people_measures(said: Said, one: Quantity, who: str) -> Iterator[Measured]:
    cues = _CUES.tag_text(said.text)
    around = said.text[max(0, one.start - _AROUND) : one.end + _AROUND // 2]
    if (
        "not_ours" in cues
        or "not_body" in _CUES.tag_text(around)
        or one.limit == "more than"
        or _LONG_AGO.search(said.text)
        or _speaks_of_policy(said)
    ):
        return
    if "body" in cues and sum(other.unit == one.unit for other in said.counts) == 1:
        yield Measured(PEOPLE, ("people", who), f"the number of {who}", one, said, whole=True)


def _counts_people(said: Said, one: Quantity) -> bool:
    return one.unit == "" and said.text[one.end :].lstrip().startswith(("people", "members of staff"))


def _homes(said: Said, one: Quantity) -> Iterator[Measured]:
    """Yield the number of homes that a sentence gives for the whole scheme: "the application is now for 138 dwellings"."""
    before, after = said.text[: one.start], " ".join(said.text[one.end :].split()[:3])
    plain = set(one.of.replace("-", " ").split()) <= _PLAIN_HOMES and _is_own(said)
    last = max(_CUES.tag_text(before).get("whole_scheme", [-99]))
    near = len(tokenise(before)) - last <= _LAST_TOKENS + 1 or "proposed" in _CUES.tag_text(after)
    if plain and near and sum(other.unit == "dwelling" for other in said.counts) <= 1:
        yield Measured(HOMES, ("homes",), "the number of homes", one, said, whole=True)


def _is_own(said: Said) -> bool:
    return "not_ours" not in _CUES.tag_text(said.text) and not speaks_of_others(said)


def _areas(said: Said) -> Iterator[Measured]:
    """Yield the floor area of each use that a sentence on the whole scheme gives."""
    cues = _CUES.tag_text(said.text)
    if not _is_own(said) or not ("whole_scheme" in cues or "proposed" in cues):
        return
    sized = [(use, size) for use, size in read_uses(said.text) if size is not None and size.unit == "m2"]
    for use, size in sized:
        plain = (
            size.high is None
            and size.limit in ("exactly", "about", "at most")
            and not is_part(said.text[max(0, size.start - _AROUND) : size.end])
        )
        if plain and use != "other" and sum(other == use for other, _ in sized) == 1:
            name = use.replace("_", " ")
            yield Measured(AREA, ("area", name), f"the floor area of the {name}", size, said)


def _trips(said: Said, one: Quantity) -> Iterator[Measured]:
    """Yield the development's vehicle trips in one peak hour, in both directions together."""
    cues = _CUES.tag_text(said.text)
    near = _CUES.tag_text(f"{one.of} {said.text[one.start : one.end + 20]}")
    peaks = [peak for peak in ("morning", "evening") if peak in cues]
    both_ways = "two_way" in cues or ("vehicle" in near and "one_way" not in cues)
    plain = both_ways and "not_vehicle" not in near and "not_ours" not in cues and not _speaks_of_policy(said)
    if len(peaks) == 1 and plain and sum(other.unit in ("trip", "vehicle") for other in said.counts) == 1:
        what = f"two-way vehicle trips in the {peaks[0]} peak hour"
        yield Measured(_TRIPS, ("trips", peaks[0]), what, one, said, whole=True)


def _target(said: Said, one: Quantity) -> Iterator[Measured]:
    """Yield the share of cycling that the travel plan aims at, or the cut in car use in percentage points."""
    headed = " ; ".join((said.text, *said.statement.headings[-1:]))
    if "target" not in _CUES.tag_text(headed) or "not_final" in _CUES.tag_text(said.text) or _speaks_of_policy(said):
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


def _speaks_of_policy(said: Said) -> bool:
    """Return whether a statement is certainly on policy or a request, or may be on another scheme."""
    return said.is_elsewhere or any(
        fact.status == "other_scheme" or (fact.is_certain and fact.status in ("policy", "requested"))
        for fact in said.facts
    )


def _term(said: Said, one: Quantity) -> Iterator[Measured]:
    words = said.text[: one.end].lower().split()[-7:]
    if (
        set(words) & set(_TERMS)
        and "month" not in " ".join(words)
        and sum(other.unit == "year" for other in said.counts) == 1
    ):
        what = "the years for which there is a travel plan coordinator"
        exact = one.model_copy(update={"limit": "exactly"})
        yield Measured(_TERM, ("term", "coordinator"), what, exact, said, whole=True)
