"""The brief: what is quoted under which title, what is judged, and what is left to a person with the pages to look at."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pymupdf
import pytest
from review_samples import evidence_of_text, result_of
from stated_facts import fact, stated
from written_samples import written_evidence

from trigpoint.reading.discrepancies import Discrepancy, DiscrepancyKind, Input
from trigpoint.reading.profile import Profile, UseSize
from trigpoint.reading.vocabulary import Status
from trigpoint.review.aspects import aspect
from trigpoint.review.citing import policy_place
from trigpoint.review.evidence import Evidence, PlacedProvision, PolicyPassage
from trigpoint.review.findings import Finding, NotAssessed
from trigpoint.review.proportion import disproportionate
from trigpoint.review.quoting import group_of, quotations
from trigpoint.review.render import render_markdown, render_pdf
from trigpoint.review.rules import judge_aspect, judge_by_rules, judge_check
from trigpoint.review.standards import Standard
from trigpoint.review.verify import policy_problem

OFFICE = "Erection of an office building of 5,000 sqm"


def homes(**bedrooms: int) -> Profile:
    """Homes by number of bedrooms: `homes(two=2, three=3)`."""
    sizes = [UseSize(use="dwellings", size=10, unit="dwelling", bedrooms=number) for number in bedrooms.values()]
    return Profile(kind="full", scale="major", uses=(UseSize(use="dwellings", size=200, unit="dwelling"), *sizes))


def school(*, pupils: float, jobs: float | None = None) -> Profile:
    staff = (UseSize(use="school", size=jobs, unit="job"),) if jobs else ()
    return Profile(kind="full", scale="major", uses=(UseSize(use="school", size=pupils, unit="pupil"), *staff))


def offices(size: float) -> Profile:
    return Profile(kind="full", scale="major", uses=(UseSize(use="office", size=size, unit="m2"),))


def judged(evidence: Evidence, check_id: str) -> Finding | NotAssessed:
    area, _, name = check_id.partition(".")
    check = aspect(area).check(name)
    assert check is not None
    return judge_check(evidence, aspect(area), check)


@pytest.mark.parametrize(
    ("status", "group"),
    [
        ("proposed", "proposed"),
        ("phased", "proposed"),
        ("conditional", "open"),
        ("deferred", "open"),
        ("indicative", "open"),
        ("rejected", "ruled_out"),
        ("existing", "existing"),
        ("policy", "asked"),
        ("requested", "asked"),
        ("other_scheme", "context"),
        ("assumption", "context"),
        ("historic", "context"),
        ("none", "mentioned"),
    ],
)
def test_a_statement_is_shown_by_what_it_is(status: Status, group: str) -> None:
    evidence = evidence_of_text("Forty cycle spaces are provided in the basement.")
    made = fact(evidence, "cycle_parking.total", evidence.documents[0].text, status=status)
    assert group_of(made) == group
    assert group_of(made.model_copy(update={"certainty": 0.6})) == "mentioned"


def test_statements_are_quoted_whole_with_their_page_and_the_standard_next_to_their_figure() -> None:
    text = "The site lies in Banbury.\fEach flat will be provided with 2 cycle parking spaces per dwelling in a store."
    evidence = evidence_of_text(text)
    (quoted,) = quotations(evidence, aspect("cycle_parking"))
    assert quoted.citation.quote == "Each flat will be provided with 2 cycle parking spaces per dwelling in a store."
    assert quoted.citation.pages == (2,)
    assert quoted.standard == "1 per bedroom (LTN 1/20:Table 11-1)"


@pytest.mark.parametrize(
    ("said", "standard"),
    [
        ("The flats will have 40 cycle parking spaces in a store.", "1 per bedroom of dwellings (LTN 1/20:Table 11-1)"),
        ("The market will have 40 cycle parking spaces at its doors.", None),
    ],
)
def test_where_standards_of_several_uses_apply_a_figure_is_shown_only_that_of_the_use_it_names(
    said: str, standard: str | None
) -> None:
    evidence = evidence_of_text(said, proposal="Erection of 60 flats, 900 sqm of offices and a market hall")
    (quoted,) = quotations(evidence, aspect("cycle_parking"))
    assert quoted.standard == standard


def test_a_long_table_is_told_by_its_first_row_with_the_pages_of_all() -> None:
    rows = [f"Bus {number} to Oxford | {number} minutes past the hour" for number in range(1, 31)]
    evidence = evidence_of_text("\n".join(rows))
    made = [fact(evidence, "bus.frequency", row, certainty=0.5, page=1 + index // 20) for index, row in enumerate(rows)]
    numbered = [
        one.model_copy(update={"source": one.source.model_copy(update={"statement": index})})
        for index, one in enumerate(made)
    ]
    (quoted,) = quotations(stated(evidence, *numbered), aspect("public_transport"))
    assert (quoted.citation.quote, quoted.citation.pages, quoted.more_rows) == (rows[0], (1, 2), 29)
    assert quoted.rest == "and 29 more rows of this table"


def test_of_very_many_statements_the_certain_and_the_likeliest_are_quoted() -> None:
    sentences = [f"The bus stop number {number} is near the gate." for number in range(100, 200)]
    evidence = evidence_of_text(" ".join(sentences))
    made = [
        fact(evidence, "bus.stop_distance", words, certainty=0.95 if index == 99 else 0.5).model_copy(
            update={"relevance": 0.9 if index < 59 else 0.1}
        )
        for index, words in enumerate(sentences)
    ]
    quoted = quotations(stated(evidence, *made), aspect("public_transport"))
    assert {one.citation.quote for one in quoted} == {*sentences[:59], sentences[99]}


def test_where_nothing_is_asked_only_likely_statements_are_quoted() -> None:
    words = "The path to the school is narrow."
    evidence = evidence_of_text(words, proposal="Single storey rear extension to dwelling")
    stop = fact(evidence, "bus.stop_distance", words)
    said = [stated(evidence, stop.model_copy(update={"relevance": relevance})) for relevance in (0.3, 0.7)]
    assert [len(quotations(one, aspect("public_transport"))) for one in said] == [0, 1]


@pytest.mark.parametrize(
    ("words", "profile", "outcome"),
    [
        ("1 cycle space per bedroom", homes(), "met"),
        ("0.5 cycle spaces per bedroom", homes(), "failed"),
        ("2 cycle spaces per dwelling", homes(one=1, two=2), "met"),
        ("2 cycle spaces per dwelling", homes(two=2, four=4), "partly"),
        ("2 cycle spaces per dwelling", homes(three=3), "failed"),
        ("2 cycle spaces per dwelling", homes(), None),
        ("up to 1 cycle space per bedroom", homes(), None),
        ("25 cycle spaces", offices(5000), "met"),
        ("24 cycle spaces", offices(5000), "failed"),
        ("1 cycle space per 200 m2", offices(5000), "met"),
        ("1 cycle space per 250 m2", offices(5000), "failed"),
        ("95 cycle spaces", school(pupils=900, jobs=98), "met"),
        ("94 cycle spaces", school(pupils=900, jobs=98), "failed"),
        ("95 cycle spaces", school(pupils=900), None),
    ],
)
def test_long_stay_parking_is_held_against_the_rate_for_the_use(
    words: str, profile: Profile, outcome: str | None
) -> None:
    evidence = evidence_of_text(f"The scheme provides {words} for its users.")
    made = stated(evidence, fact(evidence, "cycle_parking.long_stay", words), profile=profile)
    found = judged(made, "cycle_parking.long_stay")
    assert (found.outcome if isinstance(found, Finding) else None) == outcome


def test_a_local_standard_decides_before_the_national_one_and_alone_is_cited_for_it() -> None:
    words = "1 cycle space per bedroom"
    rate = {"name": "cycle_parking_long_stay", "use": "dwellings", "count": 2, "unit": "bedroom"}
    local = Standard(source="HEREFORD_SPD", section="Table 7", rates=[rate])  # type: ignore[list-item]
    table = PolicyPassage("spd:7", "Homes: 2 cycle spaces per bedroom.", "HEREFORD_SPD", "r", "2023", "Table 7", 41)
    evidence = evidence_of_text(f"The scheme provides {words} for its users.")
    rates = (PlacedProvision("cycle_parking_rates", "", "", table), *evidence.provisions["cycle_parking_rates"])
    made = replace(
        stated(evidence, fact(evidence, "cycle_parking.long_stay", words), profile=homes()),
        standards=(local,),
        provisions={**evidence.provisions, "cycle_parking_rates": rates},
        in_force={**evidence.in_force, "HEREFORD_SPD": "r"},
    )
    found = judged(made, "cycle_parking.long_stay")
    assert isinstance(found, Finding)
    assert found.outcome == "failed"
    assert "2 per bedroom (HEREFORD SPD:Table 7)" in found.text
    assert [policy.ref for policy in found.policy if policy.source in ("HEREFORD_SPD", "LTN_1_20")] == [
        "HEREFORD SPD:Table 7"
    ]


def test_a_check_whose_section_is_not_certain_is_judged_and_cites_the_policy_with_that_said() -> None:
    words = "0.5 cycle spaces per bedroom"
    evidence = evidence_of_text(f"The scheme provides {words} for its users.")
    (placed,) = evidence.provisions["cycle_parking_rates"]
    unsure = replace(placed, certain=False, passage=replace(placed.passage, section_ref="", text=""))
    made = replace(
        stated(evidence, fact(evidence, "cycle_parking.long_stay", words), profile=homes()),
        provisions={"cycle_parking_rates": (unsure,)},
    )
    found = judged(made, "cycle_parking.long_stay")
    assert isinstance(found, Finding)
    assert [(policy.ref, policy.quote) for policy in found.policy] == [("LTN 1/20 (section to be confirmed)", "")]
    assert [policy_problem(policy, made) for policy in found.policy] == [None]
    assert policy_place(found.policy[0]) == "LTN 1/20"


def test_a_number_that_is_worked_out_shows_its_calculation() -> None:
    evidence = evidence_of_text("The scheme provides 24 cycle spaces for its staff.")
    made = stated(evidence, fact(evidence, "cycle_parking.long_stay", "24 cycle spaces"), profile=offices(5000))
    found = judged(made, "cycle_parking.long_stay")
    assert isinstance(found, Finding)
    assert [one.expression for one in found.calculations] == ["5,000 / 200 = 25"]
    assert found.text == (
        "Long-stay cycle parking is below the minimum of 1 per 200 m2 (LTN 1/20:Table 11-1): "
        "24 spaces, where 5,000 / 200 = 25"
    )
    assert "bedroom" not in found.model_dump_json(exclude={"policy"})


def test_a_figure_is_not_judged_met_where_the_documents_name_another_standard() -> None:
    text = "The scheme provides 40 cycle spaces. The London Plan asks for 66 cycle spaces."
    evidence = evidence_of_text(text)
    own = fact(evidence, "cycle_parking.long_stay", "40 cycle spaces")
    other = fact(evidence, "cycle_parking.long_stay", "66 cycle spaces", status="policy")
    found = judged(stated(evidence, own, other, profile=offices(5000)), "cycle_parking.long_stay")
    assert isinstance(found, NotAssessed)
    assert "another standard" in found.reason


@pytest.mark.parametrize("status", ["policy", "existing", "other_scheme", "requested", "assumption", "historic"])
def test_only_what_is_proposed_is_provision(status: Status) -> None:
    evidence = evidence_of_text("A shared path 3.0 m wide runs along the road. A travel plan is provided.")
    for topic, words, check in (
        ("cycle_route.width", "A shared path 3.0 m wide", "cycle_routes.width"),
        ("travel_plan.exists", "A travel plan is provided", "travel_planning.plan"),
    ):
        made = stated(evidence, fact(evidence, topic, words, status=status))  # type: ignore[arg-type]
        assert isinstance(judged(made, check), NotAssessed)


@pytest.mark.parametrize(
    ("words", "outcome"), [("3.0 m", "met"), ("2.5 m", "partly"), ("1.8 m", "failed"), ("2 to 4 m", "partly")]
)
def test_widths_are_held_against_their_bounds(words: str, outcome: str) -> None:
    evidence = evidence_of_text(f"The shared path will be {words} wide.")
    path = fact(evidence, "cycle_route.width", f"The shared path will be {words} wide")
    found = judged(stated(evidence, path), "cycle_routes.width")
    assert isinstance(found, Finding)
    assert found.outcome == outcome


@pytest.mark.parametrize(
    "words",
    [
        "Advisory cycle lanes 1.5 m wide will be provided on both sides of the road",
        "A one-way cycle track 2.0 m wide will be provided on each side",
        "The cycle track will be 2.0 m wide",
    ],
)
def test_the_bounds_of_shared_and_two_way_routes_are_not_those_of_lanes_and_one_way_tracks(words: str) -> None:
    evidence = evidence_of_text(f"{words}.")
    found = judged(stated(evidence, fact(evidence, "cycle_route.width", words)), "cycle_routes.width")
    assert isinstance(found, NotAssessed)
    assert "no statement" not in found.reason


def test_a_statement_with_two_widths_is_for_a_person() -> None:
    evidence = evidence_of_text("A 3.0 m track and a 2.0 m footway are proposed.")
    found = judged(
        stated(evidence, fact(evidence, "cycle_route.width", "3.0 m track and a 2.0 m")), "cycle_routes.width"
    )
    assert isinstance(found, NotAssessed)
    assert [str(place) for place in found.places] == ["Document 1.pdf, page 1"]


def test_the_nearest_stop_counts_and_existing_stops_may_decide() -> None:
    evidence = evidence_of_text("There are bus stops at 350 m and at 900 m.")
    near = fact(evidence, "bus.stop_distance", "350 m", status="existing")
    far = fact(evidence, "bus.stop_distance", "900 m", status="existing")
    found = judged(stated(evidence, far, near), "public_transport.bus_distance")
    assert isinstance(found, Finding)
    assert (found.outcome, [one.quote for one in found.evidence]) == ("met", ["350 m"])


def test_what_is_ruled_out_fails_and_what_is_said_both_ways_is_for_a_person() -> None:
    evidence = evidence_of_text("A travel plan will be submitted. No travel plan is offered.")
    promised = fact(evidence, "travel_plan.exists", "A travel plan will be submitted")
    denied = fact(evidence, "travel_plan.exists", "No travel plan is offered", status="rejected", polarity="lacks")
    failed = judged(stated(evidence, denied), "travel_planning.plan")
    assert isinstance(failed, Finding)
    assert (failed.outcome, failed.recommendation is not None) == ("failed", True)
    assert isinstance(judged(stated(evidence, promised, denied), "travel_planning.plan"), NotAssessed)


def test_what_follows_later_is_said_to_follow_later() -> None:
    evidence = evidence_of_text("The shared path, 3.5 m wide, will follow with phase two.")
    found = judged(
        stated(evidence, fact(evidence, "cycle_route.width", "The shared path, 3.5 m wide", status="phased")),
        "cycle_routes.width",
    )
    assert isinstance(found, Finding)
    assert found.flags == ("Part of it is to follow in a later phase.",)


def test_what_is_left_open_is_named_with_its_pages_and_may_be_asked_for() -> None:
    evidence = evidence_of_text("Cycle parking will be settled at reserved matters.")
    words = "Cycle parking will be settled at reserved matters"
    found = judged(
        stated(evidence, fact(evidence, "cycle_parking.total", words, status="deferred")), "cycle_parking.long_stay"
    )
    assert isinstance(found, NotAssessed)
    assert found.reason.startswith("The documents leave it open")
    assert found.request == "Settle before the decision: long-stay cycle parking at the rate for the use"


def test_absence_is_only_told_if_no_page_has_a_word_of_the_subject() -> None:
    silent = stated(evidence_of_text("The roof is of slate.\fThe walls are of brick."))
    found = judged(silent, "travel_planning.plan")
    assert isinstance(found, NotAssessed)
    assert found.reason == "We found no statement of a travel plan in the 2 pages we could read."
    hinted = stated(evidence_of_text("The roof is of slate.\fSee the Travel Plan."))
    found = judged(hinted, "travel_planning.plan")
    assert isinstance(found, NotAssessed)
    assert "no statement" not in found.reason
    assert [place.pages for place in found.places] == [(2,)]


def test_nothing_is_judged_by_a_policy_that_is_not_in_force() -> None:
    evidence = evidence_of_text("Paths are 2.5 m wide.", day="2020-07-26", without=("LTN_1_20",))
    found = judged(stated(evidence, fact(evidence, "cycle_route.width", "2.5 m")), "cycle_routes.width")
    assert isinstance(found, NotAssessed)
    assert "in force on 2020-07-26" in found.reason


def test_an_aspect_is_green_only_if_every_essential_check_is_judged_and_met() -> None:
    evidence = evidence_of_text("A travel plan will be submitted, with a coordinator.")
    plan = fact(evidence, "travel_plan.exists", "A travel plan will be submitted")
    found = judge_aspect(stated(evidence, plan), aspect("travel_planning"))
    assert (found.rating, found.assessed, found.shown_rating) == ("amber", "partly", "amber")
    assert found.key_issue == "A travel plan. Not assessed: a target for trips by bicycle"
    nothing = judge_aspect(stated(evidence), aspect("travel_planning"))
    assert (nothing.rating, nothing.assessed, nothing.shown_rating) == ("amber", "no", "not assessed")


def test_a_householder_gets_a_short_review_without_a_demand() -> None:
    text = "A single-storey rear extension of 20 square metres in matching brick. Parking is unaffected. No trees are lost."
    review = result_of(evidence_of_text(text, proposal="Single storey rear extension to dwelling")).review
    assert not any(aspect.findings or aspect.not_assessed for aspect in review.aspects)
    assert review.recommendations == review.suggested_conditions == review.policy_compliance == ()
    assert len(review.full_markdown) == 0
    assert "travel plan" not in review.summary.lower()


def test_policy_that_is_not_asked_of_a_development_is_not_shown() -> None:
    def asked(proposal: str) -> set[str]:
        judged = judge_aspect(evidence_of_text("Cycle parking.", proposal=proposal), aspect("cycle_parking"))
        return {ask.provision for ask in judged.asks}

    assert asked(OFFICE) - asked("Erection of 200 dwellings") == {"trip_end_facilities"}


def test_an_office_is_not_asked_about_bedrooms() -> None:
    text = "The office building will provide 40 long-stay cycle parking spaces in the basement for staff."
    result = result_of(evidence_of_text(text, proposal=OFFICE))
    assert [size.use for size in result.review.profile.uses] == ["office"] if result.review.profile else False
    assert "bedroom" not in render_markdown(result)
    with pymupdf.open(stream=render_pdf(result)) as pdf:
        assert "bedroom" not in "".join(page.get_text() for page in pdf)


def test_sums_and_contradictions_are_findings_that_need_no_policy() -> None:
    text = "A total of 144 cycle parking spaces is proposed, comprising 127 spaces in racks and 7 spaces on stands."
    review = result_of(evidence_of_text(text, without=("LTN_1_20",))).review
    (found,) = review.contradictions
    assert (found.outcome, found.calculations[0].result) == ("contradicted", 134)
    assert found.policy == ()
    assert found.evidence[0].quote == text


@pytest.mark.parametrize("kind", get_args(DiscrepancyKind))
def test_every_kind_of_discrepancy_has_words_of_its_own(kind: DiscrepancyKind) -> None:
    evidence = evidence_of_text("There are 40 cycle spaces. There are 50 cycle spaces.")
    source = fact(evidence, "cycle_parking.total", evidence.documents[0].text).source
    given = Input(words=source.quote, source=source)
    one = Discrepancy(kind=kind, topic="cycle_parking.total", summary="It differs.", inputs=(given,))
    judged = judge_aspect(replace(evidence, discrepancies=(one,)), aspect("cycle_parking"))
    (found,) = [finding for finding in judged.findings if finding.outcome == "contradicted"]
    assert found.check == kind
    assert found.requirement != "Statements that agree with each other"


def test_if_no_core_aspect_is_assessed_the_first_sentence_says_so() -> None:
    review = result_of(evidence_of_text("The roof is of slate.")).review
    assert review.summary.startswith(
        "None of the core aspects (cycle parking, cycle routes, junctions and permeability)"
    )
    assert (review.assessed, review.shown_rating, review.overall_rating) == ("no", "not assessed", "amber")


def test_the_same_evidence_gives_the_same_judgement() -> None:
    evidence = evidence_of_text("A 3.0 m wide shared path will be provided. Forty cycle spaces are proposed.")
    once, again = (judge_by_rules(evidence, (aspect("cycle_routes"),)).model_dump_json() for _ in range(2))
    assert once == again


@pytest.mark.parametrize("name", ["barn-tithe-lane", "householder-orchard-way"])
def test_a_barn_and_an_extension_get_no_demand_that_is_meant_for_large_schemes(name: str) -> None:
    review = result_of(written_evidence(name)).review
    asked = {f"{aspect.id}.{point.check}" for aspect in review.aspects for point in aspect.not_assessed}
    asked |= {finding.check for aspect in review.aspects for finding in aspect.findings}
    demands = [*review.recommendations, *review.suggested_conditions]
    assert not any(one.startswith(("travel_planning.", "public_transport.", "off_site.")) for one in asked)
    assert not [one for one in demands if review.profile is None or disproportionate(one, review.profile)]
    assert ("permeability.way_on_foot" in asked) is (name == "barn-tithe-lane")
    assert ("junctions.access" in asked) is (name == "barn-tithe-lane")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("The shared path along Mill Lane will be 2.5 m wide.", True),
        ("The footway along Mill Lane will be 1.3 m wide.", False),
    ],
)
def test_a_standard_for_cycling_is_shown_only_next_to_what_speaks_of_cycling(said: str, shown: bool) -> None:
    evidence = evidence_of_text(f"1 Proposed development\n\nA new cycle route is proposed.\n\n{said}\n")
    quoted = [one for one in quotations(evidence, aspect("cycle_routes")) if one.citation.quote == said]
    assert all(bool(one.standard) is shown for one in quoted)
    assert quoted or not shown
