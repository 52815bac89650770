"""Figures that measure a named place: widths of paths, traffic and speed limits on roads, distances, bus services."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.measured import Measured, MeasureKind
from trigpoint.reading.names import Gazetteer, Name
from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.said import Said
from trigpoint.reading.tables import Table
from trigpoint.reading.units import DISTANCES

_WIDTH = MeasureKind("cycle_route.width", tolerance=0.02)
_FLOW = MeasureKind("traffic.volume", tolerance=0.1, most_apart=4)
_LIMIT = MeasureKind("traffic.speed")
_STATION = MeasureKind("rail.access", tolerance=0.1, beyond=min, most_apart=5)
_STOP = MeasureKind("bus.stop_distance", tolerance=0.25, beyond=min, most_apart=4)
_FURTHEST = MeasureKind("bus.stop_distance", tolerance=0.1, most_apart=4)
_FURTHEST_WORDS = "the distance from the furthest home to a bus stop"
_ENTRANCE = MeasureKind("cycle_parking.quality", tolerance=0.25, beyond=min, most_apart=10)
_SERVICE = MeasureKind("bus.frequency", tolerance=0.1)

_CUES = Lexicon(
    {
        "path": "path paths shared_path shared_use shared_-_use footway_/_cycleway shared_footway shared_cycle* greenway "
        "cycle_path shared_route shared_pedestrian route link pathway",
        "track": "cycle_track* cycle_lane* cycleway",
        "footway": "footway footways pavement footpath",
        "carriageway": "carriageway road access_road",
        "not_path": "crossing crossings refuge splay splays verge buffer margin gate gates door doors lift lifts bay bays aisle "
        "corridor trench ramp island lane_widths running_lane",
        "wide": "wide width",
        "portion": "remaining remainder narrow* pinch pinch_point reduc* minimum least preferred where locally section_of part_of "
        "guidance standard ltn should recommend* require* request* asked desirable absolute",
        "flow": "vehicle vehicles aadt traffic",
        "future": "forecast 2028 2029 2030 2031 2032 2033 2034 2035 2036 2037 2038 future with_development growth additional increase "
        "capacity generate* generates peak hour hgv hgvs cyclists cycles pedestrians would",
        "limit": "speed_limit mph_limit posted_limit limit",
        "new_limit": "extend reduce* lower* proposed order asked seek would will should",
        "station": "station",
        "stop": "bus_stop bus_stops stop stops",
        "bus": "bus buses service services runs operates route",
        "distant": "from_the_site of_a away is distant walk nearest closest from_the located lies lie to_the found within from_its to "
        "metres_to",
        "furthest": "furthest farthest",
        "entrance": "from_the_staff_entrance from_the_main_entrance from_the_entrance from_the_main_door from_the_door",
        "cycle_store": "shelter shelters cycle_store cycle_stores staff_spaces cycle_parking cycle_spaces stand stands store compound",
        "every_home": "all_of_the all_the all_homes all_dwellings every each",
        "nearest": "nearest closest",
        "elsewhere": "south_of north_of east_of west_of beyond then chang* increases drops section part through_the further",
        "not_nearest": "furthest farthest school_bus policy guidance within recommended ciht should maximum standard coach",
        "frequent": "every hourly half_-_hourly minutes hour",
        "day": "sunday sundays saturday saturdays evening evenings weekend weekends bank",
    }
)
_SERVICE_WORD = r"(?:[Ss]ervices?|[Rr]outes?|[Nn]o\.|[Nn]umber|[Bb]us|[Tt]he)"
_NUMBER_OF_SERVICE = re.compile(rf"\b{_SERVICE_WORD}\s(?:[Nn]o\.?\s)?(\d{{1,3}}[A-Z]?)\b")
_CAPITALISED = r"(?:[A-Z][\w’'-]+ ){1,3}"
_STATION_NAME = re.compile(rf"\b({_CAPITALISED})(?:[Rr]ailway |[Tt]rain |[Uu]nderground )?[Ss]tation\b")
_ANY_STOP = re.compile(r"\s*(?:There (?:is|are) )?(?:a |two |several )?bus stops?\b", re.IGNORECASE)
_CENTRE = "(?:town|city|village|shopping|local|district) (?:centre|hall)"
_OTHER_PLACE = re.compile(f"{_CENTRE}|station|school|bridge")
_NEXT_TO_THE = r"\b(?:along|on|beside|alongside|side of) the"
_ONLY_STREET = re.compile(rf"{_NEXT_TO_THE} (primary|spine|loop|central|main) (?:street|road)\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_OLD = 3  # years before the document, from which on a count of traffic is history
_ALONG = frozenset("along on of beside alongside off fronting via across".split())
_TOWARDS = frozenset("to at near from between towards with into".split())
LATEST, RECENT = 2028, 2015  # years: later ones are forecasts, earlier ones are history in any document
_LEAST_FLOW = 100  # vehicles a day
_AROUND = 6  # words around a figure among which the thing that it measures is named
_SUBJECT = 9  # words before a width: "the shared footway and cycleway along the primary street is 2.5m wide"


def place_measures(said: Said, gazetteer: Gazetteer, stations: frozenset[str]) -> Iterator[Measured]:
    """Yield the measures of named places that a sentence gives."""
    for one in said.counts:
        if one.high is not None or one.limit not in ("exactly", "about", "more than", "at most"):
            continue
        if one.unit in ("mm", *DISTANCES):
            yield from _width(said, one, gazetteer) if one.limit != "at most" else ()
            yield from _distance(said, one, stations)
        elif _is_daily_flow(said.text, one):
            yield from _flow(said, one, gazetteer)
        elif one.unit == "mph":
            yield from _speed_limit(said, one, gazetteer)
        elif one.unit == "service" and one.per == "hour":
            yield from _frequency(said, one)


def station_names(text: str) -> Iterator[str]:
    """Yield the names of the railway stations that a text mentions."""
    for match in _STATION_NAME.finditer(text):
        name = match[1].strip().removeprefix("The ").removeprefix("From ").lower()
        if name not in ("railway", "train", "underground", "the", "bus", "fire", "police"):
            yield name


def _state(said: Said) -> str:
    existing = any(fact.status == "existing" for fact in said.facts) or "existing" in said.text.lower()
    return "there" if existing else "planned"


def _words_before(text: str, end: int, count: int = _AROUND) -> str:
    return " ".join(text[:end].split()[-count:])


def _words_after(text: str, start: int, count: int = _AROUND) -> str:
    return " ".join(text[start:].split()[:count])


def _width(said: Said, one: Quantity, gazetteer: Gazetteer) -> Iterator[Measured]:
    text = said.text
    before, after = _words_before(text, one.start), _words_after(text, one.end)
    if "portion" in _CUES.tag_text(text) or not _is_width(before, after):
        return
    kind = _kind_of_path(_words_before(text, one.start, _SUBJECT), after)
    place = _place_of_path(said, gazetteer)
    if kind is not None and place is not None:
        what = f"the width of the {kind} at {_titled(place)}"
        yield Measured(_WIDTH, ("width", kind, place, _state(said)), what, one, said, whole=True)


def _titled(place: str) -> str:
    return place if place.startswith("the ") else place.title()


def _is_width(before: str, after: str) -> bool:
    """Return whether a length is a width: "3.0m wide", "a width of 3.0m", "a 3.0m shared path"."""
    if after.lower().startswith(("wide", "in width")) or before.lower().endswith(("width of", "width is")):
        return True
    cues = _CUES.tag_text(" ".join(after.split()[:3]))
    made_of = before.lower().endswith(" of") and any(
        kind in _CUES.tag_text(" ".join(before.split()[-3:])) for kind in ("path", "track", "footway")
    )
    return made_of or any(kind in cues for kind in ("path", "track", "footway"))


def _kind_of_path(before: str, after: str) -> str | None:
    """Return the kind of path that a width belongs to: the noun that follows, or else the one before."""
    for words in (" ".join(after.partition(",")[0].split()[:5]), before):
        near = _CUES.tag_text(words)
        found = next((kind for kind in ("path", "track", "footway") if kind in near), None)
        if "not_path" in near or found is not None:
            return None if "not_path" in near else found
    return None


def _place_of_path(said: Said, gazetteer: Gazetteer) -> str | None:
    """Return the place that a path runs along: named with it, else in the sentence before, else in the heading."""
    names = gazetteer.names(said.text)
    along = _along(said.text, names) or _only_street(said.text)
    if along is None and len({name.known for name in names}) == 1 and not _leads_to(said.text, names[0]):
        return names[0].known
    if along is None and said.previous is not None:
        along = _along(said.previous.text, gazetteer.names(said.previous.text))
    if along is not None or names:
        return along
    headings = {name.known for heading in said.statement.headings[-1:] for name in gazetteer.names(heading)}
    return headings.pop() if len(headings) == 1 and gazetteer.is_usual(*headings) else None


def _along(text: str, names: tuple[Name, ...]) -> str | None:
    """Return the first name that comes after "along", "on", "side of"."""
    return next((name.known for name in names if set(text[: name.start].lower().split()[-2:]) & _ALONG), None)


def _only_street(text: str) -> str | None:
    """Return the street of which a scheme has one, and which therefore needs no name: "along the spine road"."""
    street = _ONLY_STREET.search(text)
    return f"the {street[1]} street" if street else None


def _leads_to(text: str, name: Name) -> bool:
    return bool(set(text[: name.start].lower().split()[-2:]) & _TOWARDS)


def _flow(said: Said, one: Quantity, gazetteer: Gazetteer) -> Iterator[Measured]:
    if "future" in _CUES.tag_text(said.text) or _is_old(said):
        return
    place = _subject(said, one, gazetteer)
    if place is not None:
        yield Measured(_FLOW, ("flow", place), f"the daily traffic on {place.title()}", one, said, whole=True)


def _is_old(said: Said) -> bool:
    """Return whether a statement gives a year well before the last one that its document names."""
    years = [int(year) for year in _YEAR.findall(said.text)]
    latest = max((int(year) for year in _YEAR.findall(said.document.text) if int(year) <= LATEST), default=0)
    return bool(years) and (latest - max(years) > _OLD or max(years) < RECENT)


def _is_daily_flow(text: str, one: Quantity) -> bool:
    if one.unit in ("vehicle", "trip") and one.per == "day":
        return True
    daily = re.search(r"\bAADT\b|average daily (?:traffic|flow)|daily (?:traffic|flow)s?\b", text[: one.start])
    return one.unit in ("", "vehicle") and one.per is None and daily is not None and one.value >= _LEAST_FLOW


def _subject(said: Said, one: Quantity, gazetteer: Gazetteer) -> str | None:
    """Return the first name before a figure, or else the one that opens the paragraph."""
    names = gazetteer.names(said.text)
    before = [name for name in names if name.start < one.start]
    if before or len(names) == 1:
        return (before or names)[0].known
    first = said
    while first.previous is not None:
        first = first.previous
    opening = gazetteer.names(first.text) if first is not said else ()
    return opening[0].known if opening else None


def _speed_limit(said: Said, one: Quantity, gazetteer: Gazetteer) -> Iterator[Measured]:
    cues = _CUES.tag_text(said.text)
    near = f"{_words_before(said.text, one.start, 7)} ; {_words_after(said.text, one.end, 3)}"
    several = sum(other.unit == "mph" for other in said.counts) > 1
    if "limit" not in _CUES.tag_text(near) or "new_limit" in cues or "elsewhere" in cues or several:
        return
    place = _subject(said, one, gazetteer)
    if place is not None:
        yield Measured(_LIMIT, ("limit", place), f"the speed limit on {place.title()}", one, said, whole=True)


def _distance(said: Said, one: Quantity, stations: frozenset[str]) -> Iterator[Measured]:
    clause = _clause(said.text, one)
    cues = _CUES.tag_text(clause)
    if "distant" not in cues or "wide" in cues or _is_from_elsewhere(clause):
        return
    station = _station(clause, stations)
    if station is not None and "furthest" not in cues:
        yield _to_station(station, one, said)
    elif "stop" in cues and station is None and _is_of_buses(said, clause):
        if "furthest" in cues or (one.limit == "at most" and "every_home" in cues):
            yield Measured(_FURTHEST, ("furthest", "bus stop"), _FURTHEST_WORDS, one, said, whole=True)
        elif "not_nearest" not in cues and one.limit != "at most" and ("nearest" in cues or _ANY_STOP.match(clause)):
            yield _to_stop(one, said)
    elif "entrance" in cues and "cycle_store" in _CUES.tag_text(said.text) and one.unit == "m":
        what = "the distance from cycle parking to the entrance"
        yield Measured(_ENTRANCE, ("distance", "entrance"), what, one, said)


def _is_from_elsewhere(clause: str) -> bool:
    """Return whether a distance is measured from something other than the site: "from the town centre"."""
    origin = re.search(r"\bfrom (?:the |its )?(.*)", clause)
    return origin is not None and _OTHER_PLACE.match(origin[1]) is not None


def _to_station(station: str, one: Quantity, said: Said) -> Measured:
    return Measured(
        _STATION, ("distance", station), f"the distance to {station.title()} station", one, said, whole=True
    )


def _to_stop(one: Quantity, said: Said) -> Measured:
    return Measured(_STOP, ("distance", "bus stop"), "the distance to the nearest bus stop", one, said)


def _station(clause: str, stations: frozenset[str]) -> str | None:
    """Return the station that a clause names; "the station" is the only one that the documents name."""
    cues, low = _CUES.tag_text(clause), clause.lower()
    named = [name for name in stations if re.search(rf"\b{re.escape(name)}\b", low)]
    if len(named) == 1 and ("station" in cues or re.match(rf"\s*{re.escape(named[0])}(?:,| is| lies| at)\b", low)):
        return named[0]
    unnamed = re.search(r"\bthe (?:railway |train |rail )?station\b", low) is not None
    return next(iter(stations)) if not named and unnamed and len(stations) == 1 else None


def distances_in(table: Table, rows: dict[tuple[str, int], Said], stations: frozenset[str]) -> Iterator[Measured]:
    """Yield the distances to stations and bus stops in a table of facilities: "Oakley railway station | 2.3 km"."""
    columns = [index for index, column in enumerate(table.columns) if "distance" in column.lower()]
    if len(columns) != 1:
        return
    for row in table.rows:
        lengths = [one for one in read_quantities(row.cells[columns[0]]) if one.unit in DISTANCES]
        label, said = row.cells[0], rows[row.document_id, row.index]
        if len(lengths) != 1 or lengths[0].high is not None or columns[0] >= len(row.cells):
            continue
        station = _station(label if "station" in label.lower() else "", stations)
        if station is not None:
            yield _to_station(station, lengths[0], said)
        elif "bus stop" in label.lower():
            yield _to_stop(lengths[0], said)


def _is_of_buses(said: Said, clause: str) -> bool:
    return "bus" in _CUES.tag_text(" ".join((clause, *said.statement.headings[-1:]))) or (
        any(fact.topic.startswith("bus") for fact in said.facts) or "bus" in said.text.lower()
        or "public transport" in " ".join(said.statement.headings[-1:]).lower()
    )  # fmt: skip


def _clause(text: str, one: Quantity) -> str:
    """Return the part of a sentence that a figure belongs to: all of it, or up to the next figure's part."""
    several = sum(other.unit in DISTANCES for other in read_quantities(text)) > 1
    marks = ("; ", ". ", " and ") if several else ("; ", ". ")
    start = max((text.rfind(mark, 0, one.start) + len(mark) for mark in marks if mark in text[: one.start]), default=0)
    ends = [at for mark in marks if (at := text.find(mark, one.end)) >= 0]
    return text[start : min(ends, default=len(text))]


def _frequency(said: Said, one: Quantity) -> Iterator[Measured]:
    numbers = [match for match in _NUMBER_OF_SERVICE.finditer(said.text) if match.start() < one.start]
    if not numbers or one.value <= 0 or one.of or "day" in _CUES.tag_text(said.text):
        return
    service = numbers[-1][1].lower()
    if said.text[numbers[-1].end() : one.start].count(";") == 0 and "bus" in _CUES.tag_text(said.text):
        what = f"the frequency of bus service {service.upper()}"
        yield Measured(_SERVICE, ("frequency", service), what, one, said, whole=True)
