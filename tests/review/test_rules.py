"""The rules: what they find in the samples, and what they make of single statements."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from review_samples import evidence_of_text, result_of

from trigpoint.demo.facts import sample_facts
from trigpoint.review.aspects import aspect, load_aspects
from trigpoint.review.evidence import Evidence
from trigpoint.review.findings import Finding, Outcome
from trigpoint.review.models import ReviewOptions
from trigpoint.review.rating import overall_rating, rate
from trigpoint.review.result import AspectReview
from trigpoint.review.rules import judge_aspect, judge_by_rules
from trigpoint.review.sentences import fold
from trigpoint.review.verify import verify

CORE = frozenset(one.id for one in load_aspects() if one.core)
SAMPLES = ("25/01178/REM", "24/00633/F", "25/02034/F", "25/01502/F")


def _finding(area: str, check: str, *documents: str) -> Finding:
    judged = judge_aspect(evidence_of_text(*documents), aspect(area))
    return next(finding for finding in judged.findings if finding.check == check)


@pytest.mark.parametrize("reference", SAMPLES)
def test_a_sample_is_rated_as_its_facts_say(reference: str, sample_evidence: Callable[[str], Evidence]) -> None:
    judged = judge_by_rules(sample_evidence(reference), load_aspects()).aspects
    facts = sample_facts(reference)
    assert {one.id: one.rating for one in judged} == facts.aspects
    assert overall_rating(judged, CORE) == facts.overall


@pytest.mark.parametrize("reference", SAMPLES)
def test_every_fact_is_found_with_its_document_and_page(
    reference: str, sample_evidence: Callable[[str], Evidence]
) -> None:
    judged = {one.id: one for one in judge_by_rules(sample_evidence(reference), load_aspects()).aspects}
    for fact in sample_facts(reference).facts:
        if fact.needs or fact.superseded:
            continue
        citing = [
            finding
            for finding in judged[fact.aspect].findings
            for citation in finding.evidence
            if citation.document == fact.document
            and citation.pages == (fact.page,)
            and (fold(fact.quote) in fold(citation.quote) or fold(citation.quote) in fold(fact.quote))
        ]
        assert citing, (fact.aspect, fact.id)
        if fact.bearing == "contradiction":
            assert any(finding.outcome == "contradicted" for finding in citing), fact.id


def test_an_application_without_useful_documents_is_never_green(sample_evidence: Callable[[str], Evidence]) -> None:
    for judged in judge_by_rules(sample_evidence("25/01502/F"), load_aspects()).aspects:
        assert judged.rating == "amber"
        assert judged.key_issue.startswith("Not enough evidence")


def test_no_documents_at_all_is_not_enough_evidence() -> None:
    judged = judge_by_rules(evidence_of_text(), load_aspects()).aspects
    assert {one.rating for one in judged} == {"amber"}
    assert all(one.key_issue.startswith("Not enough evidence") for one in judged)


def test_the_same_evidence_gives_the_same_judgement(sample_evidence: Callable[[str], Evidence]) -> None:
    evidence = sample_evidence("25/01178/REM")
    once, twice = (judge_by_rules(evidence, load_aspects()).model_dump_json() for _ in range(2))
    assert once == twice


@pytest.mark.parametrize(
    ("area", "check", "text", "outcome"),
    [
        ("cycle_parking", "long_stay", "Cycle parking will be provided at one space per bedroom.", "met"),
        ("cycle_parking", "long_stay", "Each dwelling has covered, secure cycle parking for 2 bikes.", "partly"),
        ("cycle_parking", "long_stay", "Each flat will have 1 cycle space.", "failed"),
        ("cycle_parking", "long_stay", "No cycle storage is proposed for the apartments.", "failed"),
        ("cycle_parking", "long_stay", "A total of 40 car parking spaces is provided.", "not_found"),
        ("cycle_parking", "long_stay", "LTN 1/20 recommends one cycle space per bedroom.", "not_found"),
        (
            "cycle_parking",
            "secure_and_covered",
            "Secure and covered cycle stores should be included in new homes.",
            "not_found",
        ),
        ("public_transport", "bus_distance", "Bus stops should be no more than 400m from new homes.", "not_found"),
        ("permeability", "directness", "He was shorter than his fellow warriors.", "not_found"),
        ("travel_planning", "target", "No targets have been set for waste.", "not_found"),
        ("cycle_parking", "visitors", "No visitor cycle parking is shown.", "failed"),
        ("cycle_parking", "visitors", "Visitor cycle parking is provided at 1 Sheffield stand per 5 dwellings.", "met"),
        ("cycle_routes", "width", "The shared path is 3.0m wide.", "met"),
        ("cycle_routes", "width", "The shared path is 2.5 m wide beside a verge of 1.0 m.", "partly"),
        ("cycle_routes", "width", "A shared footway and cycleway of 1.8m will be provided.", "failed"),
        ("cycle_routes", "width", "The shared path is 640m long.", "not_found"),
        ("cycle_routes", "separation", "The cycle track is separated from the carriageway by a 0.5m buffer.", "met"),
        ("cycle_routes", "separation", "The shared path has a buffer of 0.2m to the kerb.", "failed"),
        ("cycle_routes", "width", "The shared path is 3.0m wide beside a verge of 2.0m.", "met"),
        ("cycle_routes", "lane_width", "An advisory cycle lane 1.2m wide is marked.", "failed"),
        ("cycle_routes", "separate_route", "There is no dedicated cycle route to the town centre.", "failed"),
        ("cycle_routes", "separate_route", "A segregated cycle track will be built along the road.", "met"),
        ("cycle_routes", "traffic", "The road carries 9,200 vehicles per day.", "failed"),
        ("cycle_routes", "width", "The shared footway/cycleway is 3m in width.", "met"),
        ("cycle_routes", "width", "A 2m wide footway and a 3m wide cycleway are proposed.", "met"),
        ("cycle_routes", "width", "The carriageway is 2.75m wide and the cycleway is 3.0m wide.", "met"),
        ("cycle_routes", "separate_route", "There is no safe and direct cycle link.", "failed"),
        ("cycle_routes", "separate_route", "There is no direct cycle link to the station.", "failed"),
        (
            "cycle_parking",
            "long_stay",
            "Cycle parking is 1 space per 1-bed unit and 2 spaces per larger dwelling.",
            "partly",
        ),
        ("cycle_parking", "secure_and_covered", "Secure cycle storage will be in garages or sheds.", "met"),
        ("cycle_parking", "secure_and_covered", "Details of secure cycle storage are to be agreed.", "partly"),
        ("junctions", "side_roads", "Continuous footways will be provided at side road junctions.", "met"),
        ("permeability", "connections", "Pedestrian and cycle links will be provided to the north.", "met"),
        ("permeability", "connections", "No pedestrian and cycle links are proposed to the north.", "failed"),
        ("trip_generation", "all_modes", "Multi-modal trip rates were used for all trips.", "met"),
        ("route_audit", "audited", "A walking route audit has been undertaken.", "met"),
        ("route_audit", "audited", "No audit of cycling routes was undertaken.", "failed"),
        ("public_transport", "bus_service", "The bus service is half-hourly.", "partly"),
        ("public_transport", "bus_service", "There is an hourly bus service.", "failed"),
        ("travel_planning", "plan", "A Framework Travel Plan has been prepared.", "met"),
        ("off_site", "works", "A contribution towards the cycle route will be made.", "met"),
        ("placemaking", "trees", "Streets will be tree-lined.", "met"),
        ("junctions", "corner_radii", "Corner radii of 4m are used at side roads.", "met"),
        ("junctions", "corner_radii", "The corner radius is 15 metres.", "failed"),
        ("junctions", "main_road_crossing", "A toucan crossing will be provided on the main road.", "met"),
        ("junctions", "main_road_crossing", "No crossing of the main road is proposed.", "failed"),
        ("public_transport", "bus_distance", "The nearest bus stop is 1.1km from the site.", "failed"),
        ("public_transport", "bus_distance", "The nearest bus stop is 600 metres away.", "partly"),
        ("travel_planning", "plan", "No Travel Plan is provided.", "failed"),
        ("placemaking", "speed", "Streets are designed for 20mph.", "met"),
        ("placemaking", "speed", "The spine road has a design speed of 30 mph.", "failed"),
    ],
)
def test_a_statement_is_held_against_the_threshold(area: str, check: str, text: str, outcome: Outcome) -> None:
    assert _finding(area, check, text).outcome == outcome


def test_a_finding_quotes_its_sentence_and_cites_policy_in_force() -> None:
    finding = _finding("cycle_routes", "width", "The layout is new. The shared path is 2.5m wide. It is lit.")
    assert [citation.quote for citation in finding.evidence] == ["The shared path is 2.5m wide."]
    assert finding.evidence[0].place == "Document 1.pdf, page 1"
    assert [policy.ref for policy in finding.policy] == ["LTN 1/20:Table 6-3", "LTN 1/20:Table 5-2"]


def test_policy_follows_the_revision_in_force_on_the_day() -> None:
    text = "No crossing of the main road is proposed."
    for day, ref in (("2024-03-14", "NPPF:para.111"), ("2025-05-21", "NPPF:para.116")):
        judged = judge_aspect(evidence_of_text(text, day=day), aspect("junctions"))
        cited = {policy.ref for finding in judged.findings for policy in finding.policy}
        assert ref in cited
        assert len([one for one in cited if one in ("NPPF:para.111", "NPPF:para.116")]) == 1


GOOD_PARKING = "Cycle parking is one space per bedroom in secure, covered stores at ground level."


def test_nothing_is_met_by_a_policy_that_is_not_in_force() -> None:
    evidence = evidence_of_text(GOOD_PARKING, day="2020-07-26", without=("LTN_1_20", "NPPF"))
    result = result_of(evidence, ReviewOptions(focus_areas=("cycle_parking",)))
    (parking,) = result.review.aspects
    assert parking.rating == "amber"
    assert parking.key_issue == "Not judged: nothing in force on the day could be cited for cycle parking"
    assert parking.policy_refs == ()
    assert {finding.outcome for finding in parking.findings} == {"not_found"}
    assert "2020-07-26" in parking.findings[0].text
    assert "LTN" not in result.review.model_dump_json()
    assert result.review.suggested_conditions == ()
    assert result.review.recommendations == ()


def test_a_figure_is_judged_only_by_the_policy_that_states_it() -> None:
    judged = judge_aspect(evidence_of_text(GOOD_PARKING, without=("LTN_1_20",)), aspect("cycle_parking"))
    assert {finding.outcome for finding in judged.findings} == {"not_found"}


def test_a_policy_is_named_only_where_it_is_cited() -> None:
    text = "There is no dedicated cycle route to the town centre."
    cited = judge_aspect(evidence_of_text(text), aspect("cycle_routes")).findings[0]
    assert "designed to LTN 1/20" in (cited.condition or "")
    local = judge_aspect(evidence_of_text(text, without=("LTN_1_20", "NPPF")), aspect("cycle_routes")).findings[0]
    assert local.outcome == "failed"
    assert [policy.source for policy in local.policy] == ["CHERWELL_LOCAL_PLAN"]
    assert "LTN" not in (local.condition or "")
    assert "must serve has been completed" in (local.condition or "")


def test_the_worst_figure_is_named() -> None:
    finding = _finding("cycle_routes", "width", "The shared path is 3.5m wide.", "The shared link is 1.6m wide here.")
    assert finding.text.endswith("1.6 m")


@pytest.mark.parametrize(("written", "shown"), [("2.75m", "2.75 m"), ("2500mm", "2.5 m"), ("2 metres", "2.0 m")])
def test_a_figure_is_shown_exactly_and_stands_verification(written: str, shown: str) -> None:
    evidence = evidence_of_text(f"The shared path is {written} wide.")
    judged, count = verify(judge_by_rules(evidence, [aspect("cycle_routes")]), evidence)
    finding = next(one for one in judged.aspects[0].findings if one.check == "width")
    assert finding.text.endswith(shown)
    assert count.dropped == 0


# --- contradictions


def _contradictions(area: str, *documents: str) -> list[Finding]:
    judged = judge_aspect(evidence_of_text(*documents), aspect(area))
    return [finding for finding in judged.findings if finding.outcome == "contradicted"]


def test_two_documents_that_differ_on_a_width_contradict_each_other() -> None:
    found = _contradictions(
        "cycle_routes",
        "The shared path on the primary street is 3.0m wide.",
        "Along the primary street the shared path is 2.5m wide.",
    )
    assert len(found) == 1
    assert {citation.document for citation in found[0].evidence} == {"Document 1.pdf", "Document 2.pdf"}
    assert "3.0 m in Document 1.pdf" in found[0].text
    assert "2.5 m in Document 2.pdf" in found[0].text


def test_widths_of_different_routes_do_not_contradict() -> None:
    assert not _contradictions(
        "cycle_routes",
        "The shared path on the primary street is 3.0m wide.",
        "The shared path in the green corridor is 3.5m wide.",
    )


def test_a_sum_within_a_sentence_is_checked() -> None:
    found = _contradictions(
        "cycle_parking", "The flats have 144 cycle spaces including 127 spaces in racks and 7 spaces on stands."
    )
    assert [finding.text for finding in found] == [
        "A total does not add up: 144 is stated, but its parts of 127 and 7 make 134."
    ]


def test_a_sum_that_adds_up_is_not_reported() -> None:
    assert not _contradictions(
        "cycle_parking", "The 174 cycle spaces include 160 spaces on stands and 14 spaces for cargo bikes."
    )
    assert not _contradictions(
        "cycle_parking", "There are 174 cycle spaces, comprising 160 spaces on stands and 14 spaces for cargo bikes."
    )


def test_a_table_total_is_checked() -> None:
    found = _contradictions("cycle_parking", "Cycle parking\nUse\nSpaces\nHouses\n127\nVisitors\n7\nTotal\n144\n")
    assert [finding.derived for finding in found] == [(134.0,)]


def test_two_targets_contradict_each_other() -> None:
    found = _contradictions(
        "travel_planning",
        "The target is that 10 per cent of trips are made by bicycle.",
        "The Travel Plan target of 7 per cent of trips by bicycle has been used.",
    )
    assert len(found) == 1
    assert "7 per cent in Document 2.pdf" in found[0].text


# --- ratings


def _rated(*outcomes: tuple[Outcome, bool]) -> str:
    return rate([Finding(check="c", requirement="r", outcome=o, text="t", essential=e) for o, e in outcomes])


@pytest.mark.parametrize(
    ("outcomes", "rating"),
    [
        ((("met", True), ("met", True)), "green"),
        ((("met", True), ("not_found", False)), "green"),
        ((("met", True), ("partly", False)), "green"),
        ((("met", True), ("failed", False)), "amber"),
        ((("met", True), ("contradicted", False)), "amber"),
        ((("met", True), ("not_found", True)), "amber"),
        ((("failed", True), ("met", True)), "amber"),
        ((("failed", True), ("partly", True)), "amber"),
        ((("failed", True), ("failed", True), ("met", True)), "red"),
        ((("failed", True), ("not_found", True)), "red"),
        ((("not_found", True), ("not_found", True)), "amber"),
        ((("not_found", True), ("met", False)), "amber"),
    ],
)
def test_an_aspect_is_rated_by_the_stated_rule(outcomes: tuple[tuple[Outcome, bool], ...], rating: str) -> None:
    assert _rated(*outcomes) == rating


def _aspects(**ratings: str) -> list[AspectReview]:
    return [
        AspectReview.model_validate({"id": i, "name": i, "rating": r, "key_issue": "k", "findings": ()})
        for i, r in ratings.items()
    ]


@pytest.mark.parametrize(
    ("ratings", "overall"),
    [
        ({"cycle_parking": "green", "cycle_routes": "red"}, "amber"),
        ({"cycle_parking": "red", "cycle_routes": "red", "junctions": "green", "permeability": "green"}, "red"),
        ({"cycle_parking": "red"}, "red"),
        ({"cycle_parking": "green", "placemaking": "red"}, "amber"),
        ({"cycle_parking": "green", "placemaking": "amber"}, "green"),
        ({"placemaking": "amber", "off_site": "green"}, "amber"),
        ({"placemaking": "red", "off_site": "red", "route_audit": "green"}, "red"),
    ],
)
def test_the_overall_rating_follows_the_stated_rule(ratings: dict[str, str], overall: str) -> None:
    assert overall_rating(_aspects(**ratings), CORE) == overall
