"""The words in which a reader, a model and a person describe a statement: topics, statuses, speakers, aspects."""

from __future__ import annotations

from typing import Literal, get_args

from trigpoint.registers.sources import SourceKind as SourceKind  # who wrote a document: a register may know it first

Topic = Literal[
    "cycle_parking.long_stay",
    "cycle_parking.short_stay",
    "cycle_parking.total",
    "cycle_parking.quality",
    "cycle_parking.larger_cycles",
    "cycle_parking.facilities",
    "car_parking",
    "cycle_route.on_site",
    "cycle_route.off_site",
    "cycle_route.width",
    "cycle_route.separation",
    "cycle_route.surface_lighting",
    "traffic.volume",
    "traffic.speed",
    "junction.priority",
    "junction.crossing",
    "junction.geometry",
    "permeability.link",
    "permeability.barrier",
    "permeability.directness",
    "trips.forecast",
    "trips.mode_share",
    "trips.data",
    "audit.walking_cycling",
    "bus.stop_distance",
    "bus.frequency",
    "rail.access",
    "offsite.works",
    "offsite.contribution",
    "travel_plan.exists",
    "travel_plan.coordinator",
    "travel_plan.target",
    "travel_plan.monitoring",
    "travel_plan.remedies",
    "travel_plan.measures",
    "place.speed",
    "place.trees",
    "place.lighting",
    "place.overlooking",
    "school.route",
    "compliance.claim",
    "development.use",
    "development.size",
    "development.kind",
]
TOPICS: tuple[Topic, ...] = get_args(Topic)

Status = Literal[
    "proposed",
    "phased",
    "conditional",
    "deferred",
    "indicative",
    "rejected",
    "existing",
    "other_scheme",
    "policy",
    "requested",
    "assumption",
    "historic",
    "none",
    "mentioned",
]
_STATUSES: tuple[Status, ...] = get_args(Status)
READ_STATUSES: tuple[Status, ...] = tuple(status for status in _STATUSES if status != "mentioned")
"""Statuses that the trained reader knows, in this order."""
PROVISION: frozenset[Status] = frozenset({"proposed", "phased"})
"""The only statuses on which a finding of provision may rest. `mentioned` means that the status is not known."""
NOT_OFFERED: frozenset[Status] = frozenset({"policy", "requested", "other_scheme", "rejected", "existing", "historic"})
"""Statuses of what the scheme does not offer: others ask for it, others build it, it is ruled out, or it is there already."""

Speaker = Literal["applicant", "consultee", "objector", "officer", "inspector", "condition", "policy_text"]

Polarity = Literal["provides", "lacks", "neutral"]

Aspect = Literal[
    "cycle_parking",
    "cycle_routes",
    "junctions",
    "permeability",
    "trip_generation",
    "route_audit",
    "public_transport",
    "off_site",
    "travel_planning",
    "placemaking",
]
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)

_ASPECT_OF_FAMILY: dict[str, Aspect] = {
    "cycle_parking": "cycle_parking",
    "cycle_route": "cycle_routes",
    "traffic": "cycle_routes",
    "junction": "junctions",
    "permeability": "permeability",
    "trips": "trip_generation",
    "audit": "route_audit",
    "school": "route_audit",
    "bus": "public_transport",
    "rail": "public_transport",
    "offsite": "off_site",
    "travel_plan": "travel_planning",
    "place": "placemaking",
    "car_parking": "placemaking",
}
_MORE_ASPECTS: dict[str, tuple[Aspect, ...]] = {
    "cycle_route.off_site": ("off_site",),
    "trips.mode_share": ("travel_planning",),
    "travel_plan.target": ("trip_generation",),
}


def aspects_of(topic: Topic) -> tuple[Aspect, ...]:
    """Return the aspects of a review under which statements on a topic belong; none for the development itself."""
    main = _ASPECT_OF_FAMILY.get(topic.partition(".")[0])
    return ((main,) if main else ()) + _MORE_ASPECTS.get(topic, ())


PLACED_TOPICS: tuple[Topic, ...] = tuple(topic for topic in TOPICS if aspects_of(topic))
"""Topics of an aspect, which the trained reader of topics knows, in this order."""
