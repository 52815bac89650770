"""Figures that are the only ones of their kind in a document, by the thing that is named nearest to them.

A document that gives one width for a path, one distance to a bus stop or one number of showers speaks of the same thing as
another that does, in whichever words. A document with two such figures is left alone: it may mean two things.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.measured import Measure, Measured
from trigpoint.reading.names import Gazetteer
from trigpoint.reading.place_measures import is_from_elsewhere, station_names
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.said import Said
from trigpoint.reading.tokens import Token, tokenise

_THINGS = Lexicon(
    {
        "bus stop": "bus_stop bus_stops the_stop the_stops stops_are nearest_stop nearest_stops closest_stop closest_stops a_stop",
        "station": "station",
        "school": "school",
        "path": "path shared_path shared_use shared_-_use shared_footway shared_cycleway cycle_path cycleway cycle_track greenway "
        "footway_/_cycleway",
        "footway": "footway pavement",
        "carriageway": "carriageway",
        "access": "access bellmouth",
        "other": "road street lane drive verge track aisle aisles corridor gate doors door lift bay bays splay splays radii island "
        "refuge garage garages bridge gateway walkway",
        "bus": "bus buses",
        "train": "train trains rail railway",
        "wide": "wide width",
        "portion": "remaining remainder narrow* narrows pinch reduc* widen* existing locally temporary further additional each per "
        "minimum least preferred previously originally",
        "driving": "driving driver drivers drive car cars single_-_occupancy single_occupancy",
        "cycling": "cycling cycle cyclists bicycle bicycles bike bikes",
        "walking": "walking walk foot",
        "public transport": "public_transport rail train trains",
        "aim": "target targets targeted aim aims objective lower cut reduce raise grow sets_out is_to_be are_to_be is_to_rise is_to_fall",
        "interim": "interim year_1 year_2 year_3 year_one year_two year_three",
        "start": "baseline census currently points point survey surveys",
        "nearest": "nearest closest",
        "elsewhere": "elsewhere another neighbouring approved permitted consented committed academy ask asks asked asking sought "
        "request* recommend* prefer* should considered rejected",
    }
)
_LOCATING = frozenset("along alongside beside across through off".split())
_STOP_ON = re.compile(r"\bstops? (?:on|in|at|outside) (?:the )?[A-Z]")  # one stop of several
_OTHERS = frozenset(("policy", "requested", "other_scheme", "rejected", "historic"))
BEFORE, AFTER = 12, 3  # tokens between a figure and the thing that it measures
NEAREST, WIDEST = 50, 12  # metres: a shorter length is no distance, a longer one no width
MANY_BEDS = 10  # fewer are those of one home
_BEDS = ("bed", "bedroom")


def _is_distance(one: Quantity, text: str) -> bool:
    """Return whether a length is the distance of something from the site."""
    far = one.unit in ("m", "km", "mile", "yard") and one.per is None and (one.unit != "m" or one.value >= NEAREST)
    any_stop = _STOP_ON.search(text) is not None and "nearest" not in _THINGS.tag_text(text)
    return far and not any_stop and not is_from_elsewhere(text[one.end :])


def _is_width(one: Quantity, text: str) -> bool:
    """Return whether a length is a width: "3 m wide", "a width of 3 m", "a 3 m path"."""
    if one.unit != "m" or one.per is not None or one.value > WIDEST:
        return False
    around = text[max(0, one.start - 25) : one.end + 15]
    after = " ".join(text[one.end :].split()[:2])
    return "wide" in _THINGS.tag_text(around) or not _THINGS.tag_text(after).keys().isdisjoint(("path", "footway"))


def _is_frequency(one: Quantity, text: str) -> bool:
    return one.unit == "service" and one.per == "hour" and one.value > 0 and not one.of


def _is_target(one: Quantity, text: str) -> bool:
    """Return whether a share is one that is aimed at: not the one that it starts from, nor the change between them."""
    if one.unit != "%" or one.of not in ("", "trips", "journeys", "staff", "residents", "all journeys", "all trips"):
        return False
    before = [*text[: one.start].lower().split()[-2:], *text[one.start : one.end].lower().split()[:1]]
    starts = bool({"from", "by", "baseline", "than"} & set(before))
    cues = _THINGS.tag_text(text)
    return not starts and "aim" in cues and "interim" not in cues and "start" not in _THINGS.tag_text(text[one.start :])


@dataclass(frozen=True)
class _Kind:
    """A kind of figure: which quantities are of it, the things that they may measure, and those that are compared."""

    fits: Callable[[Quantity, str], bool]
    things: frozenset[str]
    compared: dict[str, Measure]
    words: str


_KINDS = (
    _Kind(
        _is_distance,
        frozenset(("bus stop", "station", "school")),
        {
            "bus stop": Measure("bus.stop_distance", tolerance=0.25, most_apart=4),
            "station": Measure("rail.access", tolerance=0.1, most_apart=4),
            "school": Measure("school.route", tolerance=0.1, most_apart=4),
        },
        "the distance to the {}",
    ),
    _Kind(
        _is_width,
        frozenset(("path", "footway", "carriageway", "access", "other")),
        {
            "path": Measure("cycle_route.width", tolerance=0.02),
            "footway": Measure("permeability.link", tolerance=0.02),
            "access": Measure("junction.geometry", tolerance=0.02),
            "carriageway": Measure("junction.geometry", tolerance=0.02),
        },
        "the width of the {}",
    ),
    _Kind(
        _is_frequency,
        frozenset(("bus", "train")),
        {
            "bus": Measure("bus.frequency", tolerance=0.1, most_apart=4),
            "train": Measure("rail.access", tolerance=0.1, most_apart=4),
        },
        "how often the {} runs in an hour",
    ),
    _Kind(
        _is_target,
        frozenset(("driving", "cycling", "walking", "public transport", "bus")),
        {
            "driving": Measure("travel_plan.target", most_apart=2),
            "cycling": Measure("travel_plan.target", most_apart=3),
        },
        "the share of {} that is aimed at",
    ),
)
_SHOWERS = Measure("cycle_parking.facilities", most_apart=5)
_BEDROOMS = Measure("development.size", most_apart=1.5)


def sole_figures(said: Sequence[Said], gazetteer: Gazetteer) -> Iterator[Measured]:
    """Yield the figures that are the only ones of their kind in a document."""
    by_kind: dict[tuple[str, ...], list[Measured]] = {}
    for one in said:
        named = {name.known for name in gazetteer.names(one.text)} | set(station_names(one.text))
        names = frozenset(named - gazetteer.own)
        for found in _figures(one):
            key = (found.document, found.measure.topic, *found.key)
            by_kind.setdefault(key, []).append(replace(found, names=names))
    for group in by_kind.values():
        if len({one.value for one in group}) == 1:
            yield group[0]


def _figures(said: Said) -> Iterator[Measured]:
    if said.is_requirement or said.is_elsewhere or any(fact.status in _OTHERS for fact in said.facts):
        return
    if said.statement.kind not in ("sentence", "bullet") or "elsewhere" in _THINGS.tag_text(said.text):
        return
    for one in said.counts:
        if one.high is None:
            yield from _measured(said, one)


def _measured(said: Said, one: Quantity) -> Iterator[Measured]:
    if one.per is None and _is_portion(said.text, one):
        return
    if one.unit == "shower" and one.per is None:
        yield Measured(_SHOWERS, ("sole", "shower"), "the number of showers", one, said, whole=True)
    if one.unit in _BEDS and one.per is None and one.value >= MANY_BEDS:
        yield Measured(_BEDROOMS, ("sole", "bedrooms"), "the number of bedrooms", one, said, whole=True)
    for kind in _KINDS:
        if kind.fits(one, said.text):
            thing = _nearest(said.text, one, kind.things)
            if thing in kind.compared:
                state = _state(said) if kind.fits is _is_width else ""
                words = kind.words.format(thing)
                yield Measured(kind.compared[thing], ("sole", thing, state), words, one, said, whole=True)


def _state(said: Said) -> str:
    return "existing" if any(fact.status == "existing" for fact in said.facts) else "planned"


def _is_portion(text: str, one: Quantity) -> bool:
    return "portion" in _THINGS.tag_text(text[max(0, one.start - 40) : one.end + 30])


def _nearest(text: str, one: Quantity, things: frozenset[str]) -> str:
    """Return the thing that is named nearest to a figure: right after it, or else before it.

    "The path along the street is 2.5 m wide": a thing before which another is located comes last.
    """
    tokens = tokenise(text)
    first = next(at for at, token in enumerate(tokens) if token.start >= one.start)
    last = max(at for at, token in enumerate(tokens) if token.start < one.end)
    near: list[tuple[bool, int, str]] = []
    for thing, places in _THINGS.tag_text(text).items():
        for at in places if thing in things else ():
            away = at - last if at > last else first - at
            in_reach = away <= AFTER if at > last else away <= BEFORE
            apart = any(token.text == ";" for token in tokens[min(at, last) : max(at, first)])
            if in_reach and not apart and not _is_named(text, tokens[at], at):
                located = at < first and not _LOCATING.isdisjoint(token.text for token in tokens[max(0, at - 3) : at])
                near.append((located, away if at > last else away + AFTER, thing))
    return min(near, default=(False, 0, ""))[2]


def _is_named(text: str, token: Token, at: int) -> bool:
    """Return whether a word is part of a name: "Mill Lane"."""
    return at > 0 and text[token.start].isupper()
