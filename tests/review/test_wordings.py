"""Many ways to say the same: denials, limits, ranges, sizes of homes, and figures that belong to something else."""

from __future__ import annotations

import pytest
from review_samples import evidence_of_text

from trigpoint.review.aspects import aspect
from trigpoint.review.findings import Finding
from trigpoint.review.rules import judge_aspect, judge_by_rules
from trigpoint.review.verify import verify


def _finding(area: str, check: str, *documents: str) -> Finding:
    judged = judge_aspect(evidence_of_text(*documents), aspect(area))
    return next(finding for finding in judged.findings if finding.check == check)


def _contradictions(area: str, *documents: str) -> list[Finding]:
    judged = judge_aspect(evidence_of_text(*documents), aspect(area))
    return [finding for finding in judged.findings if finding.outcome == "contradicted"]


@pytest.mark.parametrize(
    ("area", "check", "text"),
    [
        ("junctions", "side_roads", "Continuous footways across side roads are not included in the layout."),
        ("junctions", "side_roads", "It is not intended to build continuous footways at the side roads."),
        ("junctions", "main_road_crossing", "A toucan crossing of the A4260 was considered and has been discounted."),
        ("junctions", "main_road_crossing", "A signal controlled crossing has been ruled out by the applicant."),
        ("junctions", "main_road_crossing", "The parallel crossing was withdrawn from the scheme."),
        ("junctions", "main_road_crossing", "The scheme omits the toucan crossing."),
        ("cycle_routes", "separate_route", "A segregated cycle track along Mill Lane is not proposed."),
        ("cycle_routes", "separate_route", "The applicant objects to the request for a segregated cycle track."),
        ("cycle_routes", "separate_route", "The county asked for a segregated cycle track; it is not offered."),
        ("cycle_routes", "separate_route", "A two-way cycle track could not be accommodated and was rejected."),
        ("cycle_routes", "separate_route", "Instead of a segregated cycle track, signs will be put up."),
        ("permeability", "connections", "Connections for walking and cycling to Orchard Close are not included."),
        ("permeability", "connections", "Pedestrian and cycle links to the north cannot be provided."),
        ("permeability", "barriers", "There is no barrier-free route through the site."),
        ("travel_planning", "plan", "A Travel Plan Coordinator will not be appointed."),
        ("travel_planning", "coordinator", "A Travel Plan Coordinator will not be appointed."),
        ("travel_planning", "coordinator", "No Travel Plan Coordinator will be funded."),
        ("travel_planning", "plan", "A Travel Plan has been submitted and is withdrawn."),
        ("travel_planning", "monitoring", "Surveys will be carried out only if requested."),
        ("trip_generation", "all_modes", "Trips by all modes have not been assessed."),
        ("trip_generation", "all_modes", "A multi-modal forecast of trips was not undertaken."),
        ("cycle_parking", "visitors", "Visitor cycle parking is not proposed."),
        ("cycle_parking", "visitors", "Visitor cycle stands were deleted from the plan."),
        ("cycle_parking", "secure_and_covered", "Cycle parking will be neither secure nor covered."),
        ("cycle_parking", "secure_and_covered", "A secure and covered cycle store is not possible here."),
        ("cycle_parking", "long_stay", "Cycle parking is provided at less than 1 space per bedroom."),
        ("cycle_parking", "long_stay", "Cycle parking is provided at up to one space per bedroom."),
        ("cycle_parking", "long_stay", "Cycle parking is provided at no more than one space per bedroom."),
        ("cycle_parking", "long_stay", "It is not possible to achieve one cycle space per bedroom."),
        (
            "cycle_parking",
            "long_stay",
            "One cycle space per bedroom was requested by the authority but is not offered.",
        ),
        ("cycle_parking", "long_stay", "Vehicular parking is provided at 3 spaces per dwelling."),
        ("cycle_parking", "long_stay", "Parking is provided at 3 spaces per dwelling."),
        ("cycle_parking", "long_stay", "Each dwelling has 3 car spaces and a bicycle hook."),
        ("cycle_parking", "long_stay", "Cycle storage is small, and cars have 3 spaces per dwelling."),
        ("cycle_routes", "width", "The cycle track will be between 1.2 and 3.0 metres wide."),
        ("cycle_routes", "width", "The shared path will be 2 to 3m wide."),
        ("cycle_routes", "width", "The shared path will be less than 3.0m wide."),
        ("cycle_routes", "width", "The shared path will not be 3.0m wide."),
        ("cycle_routes", "width", "The shared path lies beside a street, and the road is 6.0m wide."),
        ("placemaking", "speed", "Streets are not designed for 20mph."),
        ("public_transport", "bus_distance", "No dwelling is within 400m of a bus stop."),
        ("public_transport", "bus_distance", "The nearest bus stop is more than 400m from the site."),
        ("public_transport", "bus_distance", "The bus stop layby is 60m long."),
    ],
)
def test_what_is_denied_or_falls_short_is_not_met(area: str, check: str, text: str) -> None:
    assert _finding(area, check, text).outcome != "met"


@pytest.mark.parametrize(
    ("area", "check", "text"),
    [
        ("junctions", "main_road_crossing", "There will be no uncontrolled crossings."),
        ("junctions", "main_road_crossing", "A toucan crossing replaces the refuge; no crossing will be removed."),
        ("junctions", "side_roads", "Cyclists never give way at side roads."),
        ("junctions", "side_roads", "Pedestrians do not have to give way at the side road."),
        (
            "permeability",
            "connections",
            "No connections are closed; five connections for walking and cycling are open.",
        ),
        (
            "permeability",
            "connections",
            "The layout has a single point of access for motor vehicles and six connections for walking and cycling.",
        ),
        ("permeability", "connections", "The layout is not a series of cul-de-sacs."),
        ("permeability", "barriers", "The fence no longer encloses the site."),
        ("travel_planning", "plan", "A Travel Plan Coordinator will not be appointed."),
        ("travel_planning", "plan", "No Travel Plan Coordinator will be funded."),
        ("cycle_parking", "secure_and_covered", "None of the cycle stands will be uncovered."),
        ("cycle_parking", "long_stay", "No home is below one cycle space per bedroom."),
        ("placemaking", "trees", "No street trees will be lost."),
    ],
)
def test_a_shortfall_that_is_denied_is_none(area: str, check: str, text: str) -> None:
    assert _finding(area, check, text).outcome in ("met", "not_found")


@pytest.mark.parametrize(
    ("area", "check", "text"),
    [
        (
            "permeability",
            "connections",
            "No connections are closed; five connections for walking and cycling are open.",
        ),
        ("permeability", "connections", "A single access for vehicles and six connections for walking and cycling."),
        ("cycle_parking", "long_stay", "Cycle parking is at least one space per bedroom."),
        ("cycle_parking", "long_stay", "Cycle parking is no less than one space per bedroom."),
        ("cycle_parking", "long_stay", "Cycle parking: one (1) space per bedroom."),
        (
            "cycle_parking",
            "long_stay",
            "Cycle parking is 1 space per 1-bed flat, 2 spaces per 2-bed flat and 3 spaces per 3-bed house.",
        ),
        ("cycle_parking", "long_stay", "Each two-bedroom flat has two cycle spaces."),
        ("cycle_parking", "long_stay", "2 Cycle Parking\nThe homes have 3 spaces per dwelling."),
        ("cycle_parking", "long_stay", "Table 1: Parking\nUse\nCycle parking rate\nHouses\n3 spaces per dwelling"),
        ("cycle_parking", "long_stay", "Cars have 1 space per dwelling and cycles have 3 spaces per dwelling."),
        ("cycle_routes", "width", "The shared path beside the road is 3.0m wide."),
        ("cycle_routes", "width", "The shared path will be at least 3.0m wide."),
        ("cycle_routes", "width", "The shared path will be widened from 2.0m to 3.0m in width."),
        ("cycle_routes", "width", "The carriageway is 5.5m wide and the cycleway is 3.0m wide."),
        ("cycle_routes", "separate_route", "A segregated 3.5m wide cycle track will be built."),
        ("public_transport", "bus_distance", "All homes are less than 400m from a bus stop."),
        (
            "public_transport",
            "bus_distance",
            "The nearest bus stop is 350 metres from the centre of the site; the next town is 12 km away.",
        ),
        (
            "public_transport",
            "bus_distance",
            "Bus stops are 250m from the site, with services to the town centre 1.5km away.",
        ),
        ("placemaking", "speed", "Streets are designed for less than 20mph."),
    ],
)
def test_what_is_offered_in_other_words_is_met(area: str, check: str, text: str) -> None:
    assert _finding(area, check, text).outcome == "met"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Cycle parking is 1 space per 2-bed flat.", "failed"),
        ("Cycle parking is 2 spaces per 1-bed flat and 2 spaces per 3-bed house.", "partly"),
        ("Cycle parking is half a space per bedroom.", "failed"),
    ],
)
def test_a_rate_by_size_of_home_is_held_against_bedrooms(text: str, outcome: str) -> None:
    assert _finding("cycle_parking", "long_stay", text).outcome == outcome


def test_rates_for_homes_of_different_size_do_not_contradict() -> None:
    text = "Cycle parking is 1 space per 1-bed flat, 2 spaces per 2-bed flat and 3 spaces per 3-bed house."
    assert not _contradictions("cycle_parking", text)
    assert not _contradictions(
        "cycle_parking", "Flats have 1 cycle space per dwelling and houses 2 cycle spaces per dwelling."
    )
    found = _contradictions("cycle_parking", text, "Each 2-bed flat has 1 cycle space.")
    assert [finding.check for finding in found] == ["long_stay_agrees"]
    assert "2-bed flat" in found[0].text


@pytest.mark.parametrize(
    "documents",
    [
        (
            "The shared path along the road will be 3.0m wide.",
            "A shared path 2.5m wide crosses the road to the school.",
        ),
        ("A cycle track on Mill Lane is 3.0m wide.", "A cycle track on Elm Road is 2.5m wide."),
        ("The Elm Road shared path is at least 3.0m wide.", "The Elm Road shared path is 3.5m wide."),
        ("The Elm Road shared path is 2.0 to 3.0m wide.", "The Elm Road shared path is 2.5m wide."),
        ("The Elm Road shared path is 3.0m wide.", "The Elm Road shared path will not be 2.0m wide."),
    ],
)
def test_figures_that_can_both_be_true_do_not_contradict(documents: tuple[str, ...]) -> None:
    assert not _contradictions("cycle_routes", *documents)


def test_a_street_is_known_by_its_name() -> None:
    (found,) = _contradictions(
        "cycle_routes", "The shared path on Elm Road is 3.0m wide.", "Elm Road shared path 2.0m wide."
    )
    assert "elm road" in found.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The bus stop is 0.8 miles away.", "0.8 miles"),
        ("The nearest bus stop is 1.1km from the site.", "1,100 m"),
        ("The nearest bus stop is half a mile away.", "half a mile"),
        ("The nearest bus stop is more than 900 metres away.", "more than 900 m"),
    ],
)
def test_a_distance_is_shown_as_it_can_be_checked(text: str, shown: str) -> None:
    evidence = evidence_of_text(text)
    judged, count = verify(judge_by_rules(evidence, [aspect("public_transport")]), evidence)
    finding = next(one for one in judged.aspects[0].findings if one.check == "bus_distance")
    assert finding.text.endswith(f": {shown}")
    assert count.dropped == 0


@pytest.mark.parametrize(
    ("area", "text", "met", "issue"),
    [
        (
            "travel_planning",
            "A Travel Plan Coordinator will be appointed.\nThe target is 5% of trips by bicycle.",
            {"plan", "coordinator", "target"},
            "A travel plan, a coordinator and a target for trips by bicycle",
        ),
        ("travel_planning", "Surveys will be carried out each year.", {"monitoring"}, None),
        ("placemaking", "Benches will be provided on the green.", {"seating"}, None),
        ("placemaking", "Street lighting will be provided.", {"lighting"}, None),
        (
            "placemaking",
            "Streets are designed for 20mph. Streets will be tree-lined.",
            {"speed", "trees"},
            "Slow streets and street trees",
        ),
        (
            "permeability",
            "Five connections for walking and cycling are provided.\nAll paths are step-free.",
            {"connections", "barriers"},
            "Connections for walking and cycling and routes without barriers or steps",
        ),
        ("trip_generation", "Multi-modal trip rates were used for all trips.", {"all_modes"}, None),
        (
            "trip_generation",
            "Trips by all modes are forecast for the whole day.",
            {"all_modes", "whole_day"},
            "Trips forecast by mode and a forecast for the whole day",
        ),
    ],
)
def test_only_what_was_found_is_claimed(area: str, text: str, met: set[str], issue: str | None) -> None:
    judged = judge_aspect(evidence_of_text(text), aspect(area))
    assert {finding.check for finding in judged.findings if finding.outcome == "met"} == met
    assert judged.rating == ("green" if issue else "amber")
    assert issue is None or judged.key_issue == issue


def test_a_total_in_words_that_adds_up_is_not_reported() -> None:
    text = (
        "In total one hundred and forty-four cycle spaces are shown, comprising one hundred and twenty long-stay spaces "
        "and twenty-four visitor spaces."
    )
    assert not _contradictions("cycle_parking", text)
    (found,) = _contradictions("cycle_parking", text.replace("twenty-four", "fourteen"))
    assert found.text == "A total does not add up: 144 is stated, but its parts of 120 and 14 make 134."


def test_some_of_a_total_need_not_be_all_of_it() -> None:
    text = "218 cycle spaces are provided, including 10 visitor spaces and 6 spaces for cargo bikes."
    assert not _contradictions("cycle_parking", text)


@pytest.mark.parametrize(
    "documents",
    [
        ("40 cycle spaces are provided for staff.", "52 cycle spaces in total are provided for staff."),
        (
            "40 cycle spaces are provided for staff, at 1 space per 100 sqm, in a secure and covered store.",
            "52 cycle spaces in total are provided for staff in the secure and covered store.",
        ),
        ("The flats have 48 cycle spaces in total.", "The flats have 60 cycle spaces in total."),
        (
            "A total of 144 cycle parking spaces is provided for the flats.",
            "The flats are provided with one hundred and twenty cycle parking spaces in total.",
        ),
        ("A total of 26 cycle stands is proposed.", "A total of 40 cycle spaces is proposed."),
        ("A total of 40 cycle spaces is proposed.", "At least 50 cycle spaces in total are proposed."),
    ],
)
def test_totals_for_the_same_people_and_place_must_agree(documents: tuple[str, ...]) -> None:
    evidence = evidence_of_text(*documents)
    judged, count = verify(judge_by_rules(evidence, [aspect("cycle_parking")]), evidence)
    found = [finding.check for finding in judged.aspects[0].findings if finding.outcome == "contradicted"]
    assert found == ["total_agrees"]
    assert count.dropped == 0


@pytest.mark.parametrize(
    "documents",
    [
        ("40 cycle spaces are provided for staff.", "12 cycle spaces are provided for visitors."),
        ("40 cycle spaces in total are provided in Phase 1.", "52 cycle spaces in total are provided in Phase 2."),
        ("Block A has 40 cycle spaces in total.", "Block B has 52 cycle spaces in total."),
        ("1 Block A\n40 cycle spaces in total are provided.", "1 Block B\n52 cycle spaces in total are provided."),
        ("40 cycle spaces are provided for staff beside the reception.", "52 cycle spaces in total are for staff."),
        ("A further 10 cycle spaces are provided for staff.", "A total of 52 cycle spaces is provided for staff."),
        ("A total of 52 cycle spaces is proposed.", "A total of 40 cycle spaces is required by the standard."),
        ("A total of 52 cycle spaces is proposed.", "The existing building has 12 cycle spaces in total."),
        ("A total of 52 cycle spaces is proposed.", "A total of 26 cycle stands is proposed."),
        ("A total of 52 cycle spaces is proposed.", "A total of 288 car parking spaces is provided by cycle stores."),
        ("A total of 52 cycle spaces is proposed.", "Up to 60 cycle spaces in total are proposed."),
        ("A total of 52 cycle spaces is proposed.", "A total of 40 cycle spaces is not proposed."),
        ("A total of 40 cycle spaces for staff and a total of 12 cycle spaces for visitors are proposed.",),
        ("Oak House has 40 cycle spaces in total.", "Elm House has 52 cycle spaces in total."),
    ],
)
def test_totals_of_different_things_do_not_contradict(documents: tuple[str, ...]) -> None:
    assert not _contradictions("cycle_parking", *documents)
