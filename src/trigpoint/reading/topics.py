"""Which topics a statement is about: rules over word classes, and a trained reader that has the last word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from trigpoint.reading.context import Context
from trigpoint.reading.features import class_features, topic_features
from trigpoint.reading.lexicon import tag
from trigpoint.reading.placing import likeliest_topics, read_aspects
from trigpoint.reading.readers import Readers
from trigpoint.reading.statements import Statement
from trigpoint.reading.vocabulary import TOPICS, Aspect, Topic, aspects_of

_CLOSE = 6  # tokens within which two words belong together

_POINTS_BACK = ("these ", "this ", "such ", "they ", "it ", "those ", "both ", "the approved ", "the scheme shall ")


class StatementWords:
    """The word classes of a statement, and those of the headings and list above it."""

    def __init__(self, statement: Statement, before: str = "", title: str = "") -> None:
        own = " ".join((statement.text, *statement.columns)) if statement.columns else statement.text
        self.found = tag(own)
        self.is_bullet = statement.kind == "bullet"
        self.has_number = any(character.isdigit() for character in statement.text)
        about = (
            title if "travel plan" in title.lower() else ""
        )  # the title of a document on one subject counts as a heading
        above = " . ".join((about, *statement.headings[-2:], statement.lead, before if _leans(statement) else ""))
        self.above = tag(above) if above.strip(" .") else {}
        self.before = tag(before) if before else {}

    def has(self, *classes: str) -> bool:
        """Return whether the statement has a word of one of these classes."""
        return any(name in self.found for name in classes)

    def has_apart(self, wanted: str, unwanted: str) -> bool:
        """Return whether a class has a word outside phrases of other classes: a station, and not Station Road."""
        within = {position for at in self.found.get(unwanted, ()) for position in range(at, at + 3)}
        return any(position not in within for position in self.found.get(wanted, ()))

    def under(self, *classes: str) -> bool:
        """Return whether the headings or the sentence that introduces the list have a word of one of these classes."""
        return any(name in self.above for name in classes)

    def near(self, one: str, other: str, distance: int = _CLOSE) -> bool:
        """Return whether words of two classes lie close together."""
        return any(
            abs(i - j) <= distance and i != j for i in self.found.get(one, ()) for j in self.found.get(other, ())
        )

    @property
    def cycling(self) -> bool:
        """Whether cycles are meant, and not a life cycle."""
        return self.has_apart("cycle", "not_cycle")

    @property
    def cycling_above(self) -> bool:
        return "cycle" in self.above and "not_cycle" not in self.above

    @property
    def stored_cycles(self) -> bool:
        """Whether cycles and a place to keep them are named together."""
        distance = 4 if self.has("route", "car") else 10
        return self.near("cycle", "store", distance) or self.near("cycle", "space", 4)

    @property
    def on_foot_or_cycle(self) -> bool:
        return self.cycling or self.has("walk", "active")


def _leans(statement: Statement) -> bool:
    """Return whether a statement depends on the one before it: a bullet, or a sentence that begins by pointing back."""
    return statement.kind == "bullet" or statement.text.lower().startswith(_POINTS_BACK)


def read_topics(context: Context, readers: Readers) -> dict[Topic, float]:
    """Return the topics of a statement with their relevance: those of the aspects that it is quoted under.

    Topics of no aspect, such as the size of the development, come from the rules alone.
    """
    if not is_readable(context.statement):
        return {}
    words = words_of(context)
    by_rule = rule_topics(words)
    seen = topic_features(context.statement, context.previous, words.found, words.above, by_rule)
    chances = read_aspects(readers.aspects, seen, by_rule)
    topics = {topic for topic in by_rule if not aspects_of(topic) or chances.keys() & set(aspects_of(topic))}
    missing = chances.keys() - {aspect for topic in topics for aspect in aspects_of(topic)}
    topics |= set(likeliest_topics(readers.topics, missing, class_features(words.found, words.above, by_rule)))
    return {topic: _relevance(topic, chances) for topic in TOPICS if topic in topics}


def _relevance(topic: Topic, chances: Mapping[Aspect, float]) -> float:
    return max((chances[aspect] for aspect in aspects_of(topic) if aspect in chances), default=1.0)


def is_readable(statement: Statement) -> bool:
    """Return whether a statement can say something by itself: a heading cannot, nor can the reason for a condition."""
    return statement.kind != "heading" and not _is_formal(statement.text)


def words_of(context: Context) -> StatementWords:
    """Return the word classes of a statement and of what is above it."""
    return StatementWords(context.statement, context.before, context.title)


def rule_topics(words: StatementWords) -> tuple[Topic, ...]:
    """Return the topics that the rules find."""
    if not words.found and not (words.is_bullet and words.has_number):
        return ()
    topics = set(_topics(words)) or set(_passing(words))
    return tuple(topic for topic in TOPICS if topic in topics)


def _is_formal(text: str) -> bool:
    """Return whether a statement is a condition's reason or the head of a message: neither says anything itself."""
    return text.lower().startswith(("reason:", "reasons:", "reason for")) or "@" in text or "http" in text


def _topics(words: StatementWords) -> Iterator[Topic]:
    for rule in _RULES:
        yield from rule(words)


def _passing(words: StatementWords) -> Iterator[Topic]:
    """Yield the routes for a mention of cycling or walking that no rule places, so that it is still quoted."""
    if words.cycling or words.has("active"):
        yield "cycle_route.on_site"
    elif words.has("walk") and not words.has("leisure", "fire", "water", "wild", "view"):
        yield "permeability.link"


def _cycle_parking(words: StatementWords) -> Iterator[Topic]:
    """Yield cycle parking if the words name it, or if the heading does and no car is mentioned."""
    named = (words.cycling and words.stored_cycles) or words.has("stand")
    named = named or (words.near("stay", "space") and not words.has("car"))
    listed = words.is_bullet and words.has_number and words.cycling_above and words.under("store")
    kept_before = "stand" in words.before or (
        "cycle" in words.before and ("store" in words.before or "space" in words.before)
    )
    same_store = kept_before and words.has("store", "space")
    implied = (
        (words.cycling_above or same_store)
        and (words.under("store", "parking", "space") or same_store)
        and words.has("store", "space", "facility", "long_stay", "short_stay", "larger")
        and not words.has("car", "servicing")
    )
    facilities = words.has("facility") and (words.cycling or words.cycling_above)
    near_cycles = "stand" in words.before or "cycle" in words.before
    facilities = facilities or (words.has("shower") and (near_cycles or words.has("workers")))
    if facilities:
        yield "cycle_parking.facilities"
    if not (named or implied or listed):
        return
    if words.has("long_stay"):
        yield "cycle_parking.long_stay"
    if words.has("short_stay"):
        yield "cycle_parking.short_stay"
    if words.near("larger", "cycle") or words.near("larger", "space", 4) or words.near("larger", "stand", 4):
        yield "cycle_parking.larger_cycles"
    if words.has("quality"):
        yield "cycle_parking.quality"
    if not words.has("long_stay", "short_stay", "larger", "quality"):
        yield "cycle_parking.total"


def _car_parking(words: StatementWords) -> Iterator[Topic]:
    cycles_only = words.near("cycle", "parking", 2) and not words.has("car")
    if words.has("car_parking") or (words.has("parking") and not cycles_only and not words.cycling_above):
        yield "car_parking"


def _cycle_route(words: StatementWords) -> Iterator[Topic]:
    named = (
        (words.cycling and words.near("cycle", "route", 5))
        or words.near("active", "route", 5)
        or words.has("ncn", "shared_path")
    )
    named = named or words.near("cycle", "link", 5) or words.near("active", "link", 5)
    implied = (words.cycling_above or words.under("active")) and words.has("dependent") and words.under("route", "link")
    if not (named or implied) or words.has("leisure", "fire"):
        return
    outside = words.has("ncn", "works", "contribution") or words.has("junction")
    yield "cycle_route.off_site" if outside else "cycle_route.on_site"
    if words.has("width"):
        yield "cycle_route.width"
    if words.has("separate"):
        yield "cycle_route.separation"
    if words.has("surface"):
        yield "cycle_route.surface_lighting"


def _traffic(words: StatementWords) -> Iterator[Topic]:
    roads = words.has("traffic") or words.near("capacity", "roads", 8)
    if roads and not words.has("not_traffic", "noise", "water"):
        yield "traffic.volume"
    if words.has("speed"):
        yield "traffic.speed"
    if words.has("calm") or words.near("speed", "design_speed"):
        yield "place.speed"


def _junction(words: StatementWords) -> Iterator[Topic]:
    if words.has("crossing") and not words.has("water"):
        yield "junction.crossing"
    if words.near("junction", "priority", 8) or (words.cycling and words.near("cycle", "priority", 3)):
        yield "junction.priority"
    if words.has("geometry", "junction", "access") and not words.has("fire", "water"):
        yield "junction.geometry"


def _permeability(words: StatementWords) -> Iterator[Topic]:
    if words.has("leisure", "fire"):
        return
    elsewhere = words.has("water", "wild", "view", "noise") and not words.cycling
    travelling = (words.on_foot_or_cycle or words.under("cycle", "walk", "active", "permeable")) and not elsewhere
    opened = words.has("permeable") or words.near("new", "way_through", 4)
    if (
        words.has("prow", "public_access")
        or (opened and not words.has("water", "servicing"))
        or (words.has("link") and travelling)
    ):
        yield "permeability.link"
    if words.has("no_access", "obstacle") or (words.has("barrier") and travelling):
        yield "permeability.barrier"
    if words.has("direct") and (travelling or words.has("bus", "rail")):
        yield "permeability.directness"


def _trips(words: StatementWords) -> Iterator[Topic]:
    if words.has("trip") and not words.has("facility", "not_traffic"):
        yield "trips.forecast"
    counted = words.has("per_cent") and words.on_foot_or_cycle and words.has("people")
    if words.has("mode_share") or counted or (words.near("people", "cycle", 6) and not words.has("store", "route")):
        yield "trips.mode_share"
    if words.has("assessment") or (words.has("data") and words.has("traffic", "trip", "mode_share", "junction")):
        yield "trips.data"


def _audit(words: StatementWords) -> Iterator[Topic]:
    if words.has("audit"):
        yield "audit.walking_cycling"
    if (
        words.has("school")
        and not words.has("noise")
        and (words.near("school", "link", 8) or words.near("school", "near", 8))
    ):
        yield "school.route"


def _public_transport(words: StatementWords) -> Iterator[Topic]:
    rail = words.has_apart("rail", "not_rail") and not words.has("noise")
    if words.has("not_bus"):
        return
    if words.has("bus") and words.has("bus_stop"):
        yield "bus.stop_distance"
    timetabled = words.has("timetable") and words.has_number and "bus" in words.before
    if timetabled or (words.has("bus") and (words.has("frequency") or not words.has("bus_stop"))):
        yield "bus.frequency"
    if rail:
        yield "rail.access"


def _off_site(words: StatementWords) -> Iterator[Topic]:
    mitigation = words.near("mitigation", "roads", 12) and not words.has("noise", "water", "wild", "leisure", "view")
    if (words.has("works") or mitigation) and not words.has("not_traffic"):
        yield "offsite.works"
    paid = words.has("contribution") or (words.has("pounds") and words.has("towards"))
    other_purpose = words.has("not_transport") and not words.has("route", "prow", "cycle")
    if paid and words.has("transport", "prow") and not other_purpose:
        yield "offsite.contribution"


def _travel_plan(words: StatementWords) -> Iterator[Topic]:
    planned = words.has("travel_plan") or words.under("travel_plan") or "travel_plan" in words.before
    named = words.has("travel_plan")
    if named:
        yield "travel_plan.exists"
    if words.has("coordinator") and planned:
        yield "travel_plan.coordinator"
    if words.has("target") and (planned or words.has("mode_share")):
        yield "travel_plan.target"
    if words.has("monitor") and planned:
        yield "travel_plan.monitoring"
    if words.has("missed_target") or (words.has("remedy") and planned):
        yield "travel_plan.remedies"
    if words.has("measure_named") or (
        words.has("measure") and (planned or words.on_foot_or_cycle) and not words.has("leisure")
    ):
        yield "travel_plan.measures"


def _place_topics(words: StatementWords) -> Iterator[Topic]:
    if words.near("tree", "tree_care", 8):
        yield "place.trees"
    if words.near("lighting", "outdoors", 10) and not words.has("privacy"):
        yield "place.lighting"
    if words.has("overlook") and not words.has("privacy", "shopping"):
        yield "place.overlooking"


def _named_by_words(words: StatementWords) -> Iterator[Topic]:
    """Yield the topics that have their own word class: they need no other rule."""
    yield from (topic for topic in TOPICS if topic in words.found)


def _compliance(words: StatementWords) -> Iterator[Topic]:
    if words.near("comply", "standard", 10):
        yield "compliance.claim"


def _development(words: StatementWords) -> Iterator[Topic]:
    sized = words.has("dwelling", "floorspace") and words.has("build")
    if sized:
        yield "development.use"
        yield "development.size"
    if words.has("kind") and words.has("build"):
        yield "development.kind"


_RULES: tuple[Callable[[StatementWords], Iterator[Topic]], ...] = (
    _cycle_parking,
    _car_parking,
    _cycle_route,
    _traffic,
    _junction,
    _permeability,
    _trips,
    _audit,
    _public_transport,
    _off_site,
    _travel_plan,
    _place_topics,
    _named_by_words,
    _compliance,
    _development,
)
