"""Contradictions between statements: one thing with two figures, and a claim of compliance next to a shortfall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from trigpoint.reading.arithmetic import check_sums
from trigpoint.reading.conditions import find_condition_gaps
from trigpoint.reading.discrepancies import Discrepancy, Input, distinct, figures
from trigpoint.reading.documents import Document
from trigpoint.reading.facts import Fact
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.places import named_places
from trigpoint.reading.profile import Profile
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.statements import Statement
from trigpoint.reading.vocabulary import Topic

_TOTALS: dict[Topic, str] = {
    "cycle_parking.long_stay": "cycle space",
    "cycle_parking.short_stay": "cycle space",
    "cycle_parking.total": "cycle space",
    "car_parking": "car space",
}
_NEUTRAL = frozenset(
    "cycle bicycle bike car parking vehicle new proposed internal secure covered total dedicated on site long short stay "
    "long-stay short-stay on-site".split()
)
_STATED = frozenset(("proposed", "phased", "mentioned"))
_CLAIMS = Lexicon(
    {
        "claim": "accordance accords complies comply compliant compliance meets in_line_with conforms exceeds",
        "shortfall": "shortfall under_-_provision underprovision below_the fails_to_meet does_not_meet not_meet falls_short "
        "reduced_provision less_than_the",
        "part": "block phase plot zone each additional extra further remaining balance level floor basement existing "
        "building visitor accessible disabled first of_which including",
        "not_ours": "require* need needed minimum standard standards demand policy previous previously consented former "
        "originally superseded approved earlier initially recommended requested asked should must could may would_require "
        "reduction reduced increase increased adjacent neighbouring existing maximum",
        "shared_path": "shared_path shared_use shared_-_use shared_footway shared_cycle* shared_route footway_/_cycleway",
        "cycle_track": "cycle_track cycleway cycle_path cycle_lane* segregated",
        "footway": "footway footways footpath pavement",
        "width": "wide width",
        "target": "target targets",
        "houses": "house houses",
        "flats": "flat flats apartment apartments",
        "speed_limit": "speed_limit mph_limit",
        "nearest": "nearest_bus closest_bus nearest_stop* closest_stop*",
        "generates": "generate generates generated result_in trip_generation generating",
        "two_way": "two_-_way two_way total_vehicle",
        "vehicle": "vehicle vehicles vehicular car",
        "morning": "am_peak morning_peak a_._m",
        "evening": "pm_peak evening_peak p_._m",
        "whole": "total totals totalling overall altogether in_all scheme_will_provide scheme_provides development_provides "
        "development_will_provide proposals_provide proposals_will_provide",
        "standard": "requirement requirements standard standards london_plan local_plan policy development_plan",
    }
)


def find_discrepancies(
    facts: Sequence[Fact], profile: Profile, statements: Sequence[Statement], documents: Sequence[Document]
) -> tuple[Discrepancy, ...]:
    """Return the sums that do not add up and the statements that contradict each other, each once."""
    return (*check_sums(facts, statements, documents), *find_contradictions(facts, profile))


def find_contradictions(facts: Sequence[Fact], profile: Profile) -> tuple[Discrepancy, ...]:
    """Return what the documents say in two ways. Only plain totals of the scheme itself are compared."""
    found = [
        *_profile_disagreements(profile),
        *_different_totals(facts),
        *_different_measures(facts),
        *_claims_beside_shortfalls(facts),
        *find_condition_gaps(facts),
    ]
    return distinct(found)


def _profile_disagreements(profile: Profile) -> Iterator[Discrepancy]:
    for one in profile.disagreements:
        inputs = tuple(
            Input(value=size.size, unit=size.unit, words=size.source.quote, source=size.source)
            for size in one.sizes
            if size.source is not None
        )
        if len(inputs) > 1:
            yield _differ("development.size", inputs, f"the number of {one.sizes[0].use}")


def _different_totals(facts: Sequence[Fact]) -> Iterator[Discrepancy]:
    for topic in _TOTALS:
        totals = [(fact, one) for fact in facts if fact.topic == topic and (one := _total(fact)) is not None]
        first = {one.value: (fact, one) for fact, one in reversed(totals)}
        if len(first) > 1:
            inputs = tuple(
                Input(value=one.value, unit=one.unit, words=fact.source.quote, source=fact.source)
                for fact, one in sorted(first.values(), key=lambda pair: _place(pair[0]))
            )
            yield _differ(topic, inputs, _NAMES[topic])


def _total(fact: Fact) -> Quantity | None:
    """Return the figure of a statement that calls it the scheme's total number of spaces."""
    if fact.status not in _STATED or fact.speaker not in ("applicant", "officer"):
        return None
    counts = [one for one in fact.quantities if one.unit == _TOTALS[fact.topic] and one.per is None]
    if len(counts) != 1 or counts[0].limit != "exactly" or counts[0].high is not None:
        return None
    described = set(counts[0].of.replace("-", " ").split())
    said = _CLAIMS.tag_text(fact.source.quote)
    if "not_ours" in said or "whole" not in said:  # a figure that nobody calls the total may be that of a part
        return None
    around = fact.source.quote[max(0, counts[0].start - AROUND) : counts[0].end + AROUND]
    return counts[0] if described <= _NEUTRAL and "part" not in _CLAIMS.tag_text(around) else None


def _different_measures(facts: Sequence[Fact]) -> Iterator[Discrepancy]:
    """Yield measures of one named thing that differ: the width of a path on one road, the nearest bus stop, trips."""
    measured: dict[tuple[str, ...], list[tuple[Fact, Quantity]]] = {}
    for fact in facts:
        rule = _MEASURES.get(fact.topic)
        key = rule.key(fact) if rule is not None else None
        if rule is None or key is None:
            continue
        figures_given = [one for one in fact.quantities if one.unit in rule.units and rule.measures(fact, one)]
        if len(figures_given) == 1:
            there = "there" if fact.status == "existing" else "planned"  # an old path and a new one may differ
            measured.setdefault((fact.topic, there, *key), []).append((fact, figures_given[0]))
    for shared, given in measured.items():
        yield from _unlike(given, " ".join(shared[2:]))


def _unlike(given: Sequence[tuple[Fact, Quantity]], what: str) -> Iterator[Discrepancy]:
    first: dict[float, tuple[Fact, Quantity]] = {}
    for fact, one in given:
        first.setdefault(round(one.rate * _METRES.get(one.unit, 1.0), 3), (fact, one))
    low, high = min(first), max(first)
    if len(first) > 1 and high > low * (1 + SAME_MEASURE):
        inputs = tuple(
            Input(value=one.value, unit=one.unit, words=fact.source.quote, source=fact.source)
            for fact, one in (first[low], first[high])
        )
        yield _differ(given[0][0].topic, inputs, what)


def _is_plain(fact: Fact, one: Quantity) -> bool:
    return one.per is None and one.high is None and one.limit in ("exactly", "about")


def _is_width(fact: Fact, one: Quantity) -> bool:
    """Whether a length is a width: "3.0m wide", "a width of 3.0m"."""
    before, after = fact.source.quote[: one.start].rstrip(), fact.source.quote[one.end :].lstrip()
    return _is_plain(fact, one) and (
        after.startswith(("wide", "in width")) or before.endswith(("width of", "width is"))
    )


def _is_by_cycle(fact: Fact, one: Quantity) -> bool:
    """Whether a share is one of cycling: "10 per cent of trips are made by bicycle"."""
    return _is_plain(fact, one) and "cycl" in fact.source.quote[one.end : one.end + AROUND]


def _is_rate(fact: Fact, one: Quantity) -> bool:
    return one.per == "dwelling" and one.high is None and one.limit == "exactly"


@dataclass(frozen=True)
class _Measure:
    """How one measured thing is told from another: the units, and a key that two statements must share."""

    units: frozenset[str]
    key: Callable[[Fact], tuple[str, ...] | None]
    measures: Callable[[Fact, Quantity], bool] = _is_plain


def _width_on_road(fact: Fact) -> tuple[str, ...] | None:
    """The width of one kind of path on the one road that is named."""
    cues = _CLAIMS.tag_text(fact.source.quote)
    kind = next((kind for kind in ("shared path", "cycle track", "footway") if kind.replace(" ", "_") in cues), None)
    return _on_one_place(fact, "the width of the", kind) if kind is not None and "width" in cues else None


def _cycling_target(fact: Fact) -> tuple[str, ...] | None:
    own = fact.status not in ("policy", "requested", "other_scheme", "existing", "historic")
    return ("the target for cycling",) if own and "target" in _CLAIMS.tag_text(fact.source.quote) else None


def _rate_for_homes(fact: Fact) -> tuple[str, ...] | None:
    """The cycle spaces per home, for houses or for flats."""
    kinds = [kind for kind in ("houses", "flats") if kind in _CLAIMS.tag_text(fact.source.quote)]
    return ("cycle spaces per dwelling for", kinds[0]) if len(kinds) == 1 and _is_stated(fact) else None


def _speed_limit(fact: Fact) -> tuple[str, ...] | None:
    limited = "speed_limit" in _CLAIMS.tag_text(fact.source.quote)
    return _on_one_place(fact, "the speed limit") if limited else None


def _to_station(fact: Fact) -> tuple[str, ...] | None:
    stations = [name for name in named_places(fact.source.quote) if name.endswith("station")]
    return ("the distance to", stations[0]) if len(stations) == 1 and _is_stated(fact) else None


def _to_nearest_stop(fact: Fact) -> tuple[str, ...] | None:
    nearest = "nearest" in _CLAIMS.tag_text(fact.source.quote)
    return ("the distance to the nearest bus stop",) if nearest and _is_stated(fact) else None


def _peak_trips(fact: Fact) -> tuple[str, ...] | None:
    """The development's trips in one peak hour."""
    cues = _CLAIMS.tag_text(fact.source.quote)
    peaks = [peak for peak in ("morning", "evening") if peak in cues]
    plain = "generates" in cues and "two_way" in cues and "part" not in cues and "not_ours" not in cues
    return (
        (f"two-way vehicle trips in the {peaks[0]} peak",) if len(peaks) == 1 and plain and "vehicle" in cues else None
    )


def _on_one_place(fact: Fact, *what: str) -> tuple[str, ...] | None:
    places = named_places(fact.source.quote)
    return (*what, "on", next(iter(places))) if len(places) == 1 and _is_stated(fact) else None


def _is_stated(fact: Fact) -> bool:
    """Whether the applicant or the officer states a fact, and nobody asks for it or requires it."""
    stated = fact.status in (*_STATED, "existing") and fact.speaker in ("applicant", "officer")
    return stated and "not_ours" not in _CLAIMS.tag_text(fact.source.quote)


_METRES = {"m": 1.0, "km": 1000.0, "mile": 1609.0, "yard": 0.914, "foot": 0.305}
_LENGTHS = frozenset(("m", "km", "mile", "yard"))
_MEASURES: dict[Topic, _Measure] = {
    "cycle_route.width": _Measure(frozenset(("m",)), _width_on_road, _is_width),
    "travel_plan.target": _Measure(frozenset(("%",)), _cycling_target, _is_by_cycle),
    "cycle_parking.total": _Measure(frozenset(("cycle space",)), _rate_for_homes, _is_rate),
    "traffic.speed": _Measure(frozenset(("mph",)), _speed_limit),
    "rail.access": _Measure(_LENGTHS, _to_station),
    "bus.stop_distance": _Measure(_LENGTHS, _to_nearest_stop),
    "trips.forecast": _Measure(frozenset(("trip",)), _peak_trips),
}
SAME_MEASURE = 0.1  # two figures within a tenth of each other may be one figure, rounded


def _differ(topic: Topic, inputs: tuple[Input, ...], what: str) -> Discrepancy:
    said = " and ".join(f"{figures(one.value or 0)} ({one.source.document}, page {one.source.page})" for one in inputs)
    return Discrepancy(
        kind="figures_differ",
        topic=topic,
        summary=f"The documents give different figures for {what}: {said}.",
        inputs=inputs,
    )


def _claims_beside_shortfalls(facts: Sequence[Fact]) -> Iterator[Discrepancy]:
    """Pair an applicant's claim of compliance with an admitted shortfall on the same subject in the same document."""
    shortfalls = [fact for fact in facts if fact.topic.startswith("cycle_parking") and _admits_shortfall(fact)]
    for shortfall in shortfalls[:1]:
        claims = [fact for fact in facts if _claims_compliance(fact) and _close(fact, shortfall)]
        if claims:
            nearest = min(
                claims, key=lambda fact: (_cites_guidance(fact), abs(fact.source.start - shortfall.source.start))
            )
            yield Discrepancy(
                kind="claim_against_shortfall",
                topic=shortfall.topic,
                summary="Compliance is claimed for cycle parking, and a shortfall is admitted.",
                inputs=tuple(Input(words=fact.source.quote, source=fact.source) for fact in (nearest, shortfall)),
            )


def _admits_shortfall(fact: Fact) -> bool:
    """Whether the applicant says that less than the standard is provided."""
    if fact.speaker != "applicant" or fact.status in ("policy", "requested", "other_scheme", "existing"):
        return False
    cues = _CLAIMS.tag_text(fact.source.quote)
    partial = any(one.unit == "%" and one.value < 100 and _is_standard(one.of) for one in fact.quantities)
    return "shortfall" in cues or partial


def _is_standard(words: str) -> bool:
    return "standard" in _CLAIMS.tag_text(words)


def _claims_compliance(fact: Fact) -> bool:
    claims = "claim" in _CLAIMS.tag_text(fact.source.quote)
    return fact.topic == "compliance.claim" and fact.status != "policy" and fact.speaker == "applicant" and claims


def _cites_guidance(fact: Fact) -> bool:
    """Whether a claim rests on guidance only: one that rests on a plan or a standard says more."""
    return "standard" not in _CLAIMS.tag_text(fact.source.quote)


def _close(one: Fact, other: Fact) -> bool:
    """Whether two facts are in one document, on one page or the next."""
    if one.source.document_id != other.source.document_id or one.source.statement == other.source.statement:
        return False
    return (
        abs((one.source.page or 0) - (other.source.page or 0)) <= 1
        and abs(one.source.statement - other.source.statement) <= NEAR
    )


def _place(fact: Fact) -> tuple[str, int]:
    return fact.source.document_id, fact.source.start


AROUND = 40  # characters around a figure in which a word tells that it is only a part
NEAR = 12  # statements between a claim and the shortfall next to it
_NAMES: dict[Topic, str] = {
    "cycle_parking.long_stay": "long-stay cycle parking",
    "cycle_parking.short_stay": "short-stay cycle parking",
    "cycle_parking.total": "cycle parking",
    "car_parking": "car parking",
}
