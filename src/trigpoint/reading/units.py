"""Units in which planning documents count and measure, each under one name."""

from __future__ import annotations

from trigpoint.reading.tokens import Cursor, Phrases


def _each(unit: str, *spellings: str) -> dict[str, str]:
    return dict.fromkeys(spellings, unit)


MEASURES: dict[str, str] = {
    **_each("m2", "m2", "m²", "sqm", "sq m", "sq . m", "sq metres", "square metres", "square metre", "square meters"),
    **_each("m2", "m 2", "sq metre", "sq . metres", "sqms"),
    **_each("ft2", "sqft", "sq ft", "sq . ft", "square feet", "square foot"),
    **_each("ha", "ha", "hectare", "hectares"),
    **_each("acre", "acre", "acres"),
    **_each("mm", "mm", "millimetre", "millimetres"),
    **_each("cm", "cm", "centimetres", "centimetre"),
    **_each("m", "m", "metre", "metres", "meter", "meters"),
    **_each("km", "km", "kilometre", "kilometres", "kms"),
    **_each("mile", "mile", "miles"),
    **_each("yard", "yard", "yards", "yds"),
    **_each("foot", "ft", "foot", "feet"),
    **_each("mph", "mph", "miles per hour", "miles an hour"),
    **_each("km/h", "kph", "km / h", "kilometres per hour"),
    **_each("%", "%", "per cent", "percent", "percentage points"),
    **_each("minute", "minute", "minutes", "min", "mins"),
    **_each("hour", "hour", "hours", "hrs"),
    **_each("day", "day", "days"),
    **_each("week", "week", "weeks"),
    **_each("month", "month", "months"),
    **_each("year", "year", "years"),
}

METRES = {"mm": 0.001, "m": 1.0, "km": 1000.0, "mile": 1609.0, "yard": 0.914, "foot": 0.305}
"""How long the units of length are."""
DISTANCES = ("m", "km", "mile")
"""The units in which ways and distances are given; the others measure widths and heights."""

NOUNS: dict[str, str] = {
    **_each("space", "space", "spaces"),
    **_each("stand", "stand", "stands"),
    **_each("rack", "rack", "racks"),
    **_each("bay", "bay", "bays"),
    **_each("dwelling", "dwelling", "dwellings", "home", "homes", "house", "houses", "flat", "flats"),
    **_each("dwelling", "apartment", "apartments", "bungalow", "bungalows", "residential units", "residential unit"),
    **_each("care home", "care home", "care homes", "nursing home"),
    **_each("unit", "unit", "units"),
    **_each("bedroom", "bedroom", "bedrooms", "bedspace", "bedspaces"),
    **_each("room", "room", "rooms"),
    **_each("bed", "bed", "beds"),
    **_each("pupil", "pupil", "pupils"),
    **_each("place", "place", "places"),
    **_each("employee", "employee", "employees", "staff", "fte", "ftes"),
    **_each("job", "job", "jobs"),
    **_each("resident", "resident", "residents"),
    **_each("tree", "tree", "trees"),
    **_each("storey", "storey", "storeys", "stories"),
    **_each("shower", "shower", "showers"),
    **_each("locker", "locker", "lockers"),
    **_each("trip", "trip", "trips", "movement", "movements"),
    **_each("vehicle", "vehicle", "vehicles", "pcu", "pcus", "hgv", "hgvs"),
    **_each("cycle", "cycle", "cycles", "bicycle", "bicycles", "bike", "bikes", "cyclists"),
    **_each("service", "bus", "buses", "train", "trains", "service", "services"),
    **_each("charging point", "charging point", "charging points", "charger", "chargers"),
    **_each("junction", "junction", "junctions"),
    **_each("crossing", "crossing", "crossings"),
    **_each("bus stop", "bus stop", "bus stops"),
    **_each("plot", "plot", "plots"),
    **_each("phase", "phase", "phases"),
}

_MEASURES, _NOUNS = Phrases(MEASURES), Phrases(NOUNS)
_CYCLE = frozenset("cycle cycles bicycle bicycles bike bikes sheffield long-stay short-stay cyclist cyclists".split())
_CAR = frozenset("car cars vehicle vehicles vehicular motor disabled badge ev electric motorcycle".split())


def take_measure(cursor: Cursor) -> str | None:
    """Move over a unit of measure and return its name."""
    return cursor.take_longest(_MEASURES)


def take_noun(cursor: Cursor) -> str | None:
    """Move over a noun that is counted and return its name."""
    return cursor.take_longest(_NOUNS)


def counted_unit(noun: str, described: str) -> str:
    """Return the unit of a counted noun: a "space" is a cycle space or a car space if its description says so."""
    words = set(described.replace("-", " ").split())
    if noun in ("space", "stand", "rack", "bay", "place"):
        if words & _CYCLE:
            return f"cycle {noun}"
        if words & _CAR or noun == "bay" or (noun == "space" and "parking" in words):
            return "car space"
    return noun
