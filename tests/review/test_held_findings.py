"""What becomes of a finding: kept without a support that fails, reworded, merged or dropped, and never lost unsaid."""

from __future__ import annotations

import json
from typing import Any

import pytest
from review_samples import evidence_of_text
from test_draft import finding, quote, verdict

from trigpoint.review.draft import ReviewDraft
from trigpoint.review.evidence import PolicyPassage
from trigpoint.review.submitted import DraftFact, Quote

TEXT = (
    "1 Proposed development\n\nThe proposed shared path along Mill Lane will be 2.5 m wide and 400 m long.\n\n"
    "A total of 144 cycle parking spaces will be provided in the basement.\n\n"
    "The existing bus stop on Mill Lane is 300 m from the site.\n\n"
    "The development would generate 42 two-way trips in the morning peak hour.\f"
    "2 Drawings\n\nThe shared path along Mill Lane is drawn with a width of 2.0 m.\n\n"
    "The schedule has 134 cycle parking spaces in the basement.\n\n"
    "Covered stands: 20.\n\nWall racks: 30.\n\nTwo-tier racks: 40.\n\nLockers: 10.\n\nHangars: 12.\n\nRails: 14.\n\nCages: 8.\n"
)
ASPECTS = ("cycle_parking", "cycle_routes", "public_transport", "trip_generation")
SIDES = [
    quote("A total of 144 cycle parking spaces will be provided"),
    quote("134 cycle parking spaces in the basement", 2),
]
PATH = quote("The proposed shared path along Mill Lane will be 2.5 m wide and 400 m long")
CONTRADICTION: dict[str, Any] = {
    "aspect": "cycle_parking", "question": None, "outcome": "contradicted", "requirement": "Figures that agree",
    "statement": "One page gives 144 cycle parking spaces and another 134.", "evidence": SIDES, "recommendation": None,
}  # fmt: skip


def draft_of(text: str = TEXT) -> ReviewDraft:
    return ReviewDraft(evidence_of_text(text), ASPECTS)


def test_a_contradiction_needs_no_policy_and_is_not_lost_for_the_words_of_one() -> None:
    draft = draft_of()
    wrong_policy = [{"policy": "P1", "words": "words that no policy has"}, {"policy": "P99"}]
    assert verdict(draft, **CONTRADICTION, policy=wrong_policy)[0] == "returned"
    assert verdict(draft, **CONTRADICTION, policy=wrong_policy, id="F1")[0] == "verified"
    [held] = draft.verified().values()
    assert (held.outcome, held.policy, len(held.evidence)) == ("contradicted", (), 2)


def test_a_contradiction_needs_no_question_that_is_asked() -> None:
    assert verdict(draft_of(), **CONTRADICTION | {"question": "facilities", "requirement": None})[0] == "verified"


def test_a_contradiction_whose_second_side_is_nowhere_is_dropped() -> None:
    draft = draft_of()
    one_side = CONTRADICTION | {"evidence": [SIDES[0], quote("There are 134 spaces in the yard", 2)]}
    assert verdict(draft, **one_side)[0] == "returned"
    assert verdict(draft, **one_side, id="F1")[0] == "dropped"
    [left_out] = draft.quality().left_out
    assert (left_out.outcome, left_out.by) == ("contradicted", "rules")
    assert left_out.why.startswith("a quotation that is not in the documents")
    assert "134" not in left_out.why


LOST_SUPPORTS: dict[str, dict[str, Any]] = {
    "a policy that was not shown": {"policy": [{"policy": "P99"}]},
    "words that the policy does not have": {"policy": [{"policy": "P1", "words": "all paths must be painted blue"}]},
    "one of two quotations": {
        "evidence": [quote("shared path along Mill Lane will be 2.5 m wide"), quote("as the plans show", 2)]
    },
    "an equation that is not used": {"calculations": ["3.0 - 2.5 = 0.7"]},
    "a figure of the recommendation": {"recommendation": "Widen it to 4.7 m"},
}


@pytest.mark.parametrize("changes", LOST_SUPPORTS.values(), ids=LOST_SUPPORTS)
def test_a_finding_is_kept_without_the_one_support_that_fails(changes: dict[str, Any]) -> None:
    draft = draft_of()
    assert verdict(draft, **changes)[0] == "returned"
    [answer] = draft.submit_findings([finding(**changes, id="F1")])
    assert answer.verdict == "verified"
    assert answer.remarks[0].startswith("Left out: ")
    [held] = draft.verified().values()
    shown = held.model_dump_json()
    assert not any(words in shown for words in ("P99", "blue", "as the plans show", "0.7", "4.7"))
    assert held.policy, "the policy that the question rests on is cited"


@pytest.mark.parametrize("changes", LOST_SUPPORTS.values(), ids=LOST_SUPPORTS)
def test_a_finding_that_is_not_handed_in_again_is_settled_in_the_same_way(changes: dict[str, Any]) -> None:
    draft = draft_of()
    assert verdict(draft, **changes)[0] == "returned"
    draft.settle()
    assert (draft.returned(), list(draft.verified())) == ({}, ["F1"])
    assert draft.quality().corrected == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"statement": "The shared path along Mill Lane is 2.5 m wide and lit by lanterns.",
         "evidence": [quote("shared path along Mill Lane will be 2.5 m wide"), quote("lit by lanterns at night")]},
        {"statement": "The shared path is 2.5 m wide, and 3.7 m is asked for.",
         "policy": [{"policy": "P1", "words": "at least 3.7 m is asked for"}]},
        {"statement": "The shared path is 2.5 m wide, which forbids cargo trikes.",
         "policy": [{"policy": "P1", "words": "a width that forbids cargo trikes"}]},
    ],
)  # fmt: skip
def test_a_finding_that_says_what_only_the_failed_support_said_is_dropped(changes: dict[str, Any]) -> None:
    draft = draft_of()
    assert verdict(draft, **changes)[0] == "returned"
    assert verdict(draft, **changes, id="F1")[0] == "dropped"


def test_two_quotations_of_one_policy_are_both_kept() -> None:
    draft = draft_of()
    text = "Shared paths must be lit. Shared paths beside Mill Lane must be 3.0 m wide."
    [label] = draft.add_policies([PolicyPassage("X1", text, "LTN_1_20", "rev_LTN_1_20_2020_07", "2020", "9.9", 1)])
    rows = [{"policy": label, "words": "Shared paths must be lit"}]
    rows += [{"policy": label, "words": "Shared paths beside Mill Lane must be 3.0 m wide"}]
    part_of_a_row = {"policy": label, "words": "Mill Lane must be 3.0 m wide"}
    assert verdict(draft, policy=[*rows, part_of_a_row])[0] == "verified"
    assert [one.quote for one in draft.verified()["F1"].policy] == [row["words"] for row in rows]


def test_the_rows_of_a_table_can_all_be_quoted_for_their_sum() -> None:
    rows = [
        "Covered stands: 20",
        "Wall racks: 30",
        "Two-tier racks: 40",
        "Lockers: 10",
        "Hangars: 12",
        "Rails: 14",
        "Cages: 8",
    ]
    total = {
        "aspect": "cycle_parking", "question": None, "requirement": "Sums that add up", "outcome": "contradicted",
        "statement": "The rows add up to 134, not to 144.", "calculations": ["20 + 30 + 40 + 10 + 12 + 14 + 8 = 134"],
        "evidence": [SIDES[0], *(quote(row, 2) for row in rows)], "recommendation": None,
    }  # fmt: skip
    assert verdict(draft_of(), **total) == ("verified", "")


def test_a_figure_of_the_calculating_tool_carries_its_inputs() -> None:
    draft = draft_of()
    draft.calculate("144 - 134")
    short = CONTRADICTION | {"statement": "One page gives 144 cycle parking spaces, 10 more than another."}
    assert verdict(draft, **short)[0] == "verified"
    [made] = draft.verified()["F1"].calculations
    assert (made.expression, made.inputs, made.result) == ("144 - 134 = 10", (144, 134), 10)


def test_a_figure_of_the_calculating_tool_from_figures_that_are_not_quoted_is_refused() -> None:
    draft = draft_of()
    draft.calculate("150 - 133")
    assert "17" in verdict(draft, statement="The path is 17 m short of it.")[1]


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({"aspect": "public_transport", "question": "bus_distance", "outcome": "met",
          "statement": "A bus stop is 300 m from the site.", "evidence": [quote("bus stop on Mill Lane is 300 m")]}, True),
        ({"aspect": "public_transport", "question": None, "requirement": "A stop nearby", "outcome": "met",
          "statement": "The existing bus stop is 300 m away.", "evidence": [quote("bus stop on Mill Lane is 300 m")]}, True),
        ({"aspect": "public_transport", "question": None, "requirement": "A stop nearby", "outcome": "met",
          "statement": "A bus stop will be provided 300 m away.", "evidence": [quote("bus stop on Mill Lane is 300 m")]}, False),
        ({"aspect": "cycle_routes", "question": "width", "outcome": "met",
          "statement": "The existing stop is 300 m away.", "evidence": [quote("bus stop on Mill Lane is 300 m")]}, False),
        ({"aspect": "trip_generation", "question": "forecast", "outcome": "partly",
          "statement": "42 trips are forecast.", "lacking": "The forecast is for the morning peak hour.",
          "evidence": [quote("would generate 42 two-way trips")]}, True),
        ({"aspect": "cycle_parking", "question": "quality", "outcome": "met",
          "statement": "42 trips are forecast.", "evidence": [quote("would generate 42 two-way trips")]}, False),
    ],
)  # fmt: skip
def test_what_exists_or_is_forecast_answers_the_questions_that_ask_for_it(
    changes: dict[str, Any], counts: bool
) -> None:
    draft = draft_of()
    forecast = Quote(document="D1", page=1, words="The development would generate 42 two-way trips")
    stop = Quote(document="D1", page=1, words="The existing bus stop on Mill Lane is 300 m from the site")
    draft.submit_facts(
        [DraftFact(topic="trips.forecast", status="assumption", quote=forecast),
         DraftFact(topic="bus.stop_distance", status="existing", quote=stop)]
    )  # fmt: skip
    assert (verdict(draft, **changes, recommendation=None)[0] == "verified") is counts


NOT_SHOWN: dict[str, Any] = {
    "aspect": "cycle_parking", "question": "larger_cycles", "outcome": "not_shown", "evidence": [], "recommendation": None,
    "looked_for": ["cargo bikes", "adapted cycles"],
}  # fmt: skip


def reason_of(statement: str, **changes: Any) -> str:
    draft = draft_of()
    draft.read("D1", 1, to=2)
    given = finding(**NOT_SHOWN | {"statement": statement} | changes)
    [answer] = draft.submit_findings([given])
    if answer.verdict == "returned":
        assert answer.reasons[0].startswith("Tell each absence as your search")
        [answer] = draft.submit_findings([given.model_copy(update={"id": "F1"})])
    assert answer.verdict == "verified", answer.reasons
    point = draft.state.held["F1"].open_point
    assert point is not None
    return point.reason


@pytest.mark.parametrize(
    "statement",
    [
        "We did not find any room for cargo bikes among the 144 spaces on page 1.",
        "No space for cargo bikes was found in the pages read; the basement is the only store named.",
    ],
)
def test_an_absence_in_the_judges_words_is_kept_if_they_tell_what_was_looked_for(statement: str) -> None:
    assert reason_of(statement, evidence=[SIDES[0]]) == statement


@pytest.mark.parametrize(
    "statement",
    [
        "The documents do not provide any room for cargo bikes.",
        "We did not find room for cargo bikes, so the scheme fails to provide it.",
        "We did not find room for cargo bikes among the 999 spaces.",
        "Room for cargo bikes was looked for.",
    ],
)
def test_an_absence_in_other_words_is_told_in_ours_with_what_was_looked_for_and_quoted(statement: str) -> None:
    reason = reason_of(statement, evidence=[SIDES[0]])
    assert reason.startswith(
        "We looked for cargo bikes and adapted cycles and found nothing that settles it in the 2 pages"
    )
    assert "page 1 says “A total of 144 cycle parking spaces will be provided”" in reason
    assert "999" not in reason
    assert "fails" not in reason


def test_an_unread_page_that_merely_has_a_word_does_not_stand_against_an_absence() -> None:
    text = f"{TEXT}\fCargo is delivered to the shops by lorry.\n"
    draft = draft_of(text)
    assert (
        verdict(draft, **NOT_SHOWN | {"looked_for": ["cargo"]}, statement="We found no room for cargo bikes.")[0]
        == "verified"
    )


def test_an_unread_statement_is_shown_with_the_reason_and_then_counts_as_seen() -> None:
    text = f"{TEXT}\fCargo bikes and adapted cycles can use two larger bays at the entrance.\n"
    draft = draft_of(text)
    given = NOT_SHOWN | {"looked_for": ["cargo bikes adapted cycles"], "statement": "We found no room for cargo bikes."}
    assert "two larger bays at the entrance" in verdict(draft, **given)[1]
    again = ReviewDraft.from_state(evidence_of_text(text), ASPECTS, json.loads(json.dumps(draft.to_state())))
    assert verdict(again, **given, id="F1")[0] == "verified"


def test_a_suspected_discrepancy_is_not_reported_by_arithmetic_after_a_second_reader_denied_it() -> None:
    text = "A total of 144 cycle parking spaces is proposed, comprising 127 spaces in racks and 7 spaces on stands."
    draft = draft_of(text)
    [candidate] = draft.orientation().candidates
    reported = CONTRADICTION | {
        "statement": "144 spaces are claimed, and 134 are listed.", "settles": [candidate.id],
        "calculations": ["127 + 7 = 134"], "evidence": [quote("144 cycle parking spaces is proposed, comprising 127 spaces in racks and 7")],
    }  # fmt: skip
    assert verdict(draft, **reported) == ("verified", "")
    draft.record_support("F1", "not_supported", "these are of another building")
    draft.settle()
    left = [f.outcome for one in draft.conclude(None, model="test").aspects for f in one.findings]
    assert "contradicted" not in left


def test_a_discrepancy_that_a_finding_reports_is_not_reported_by_arithmetic_too() -> None:
    texts = "It will employ the equivalent of 98 full-time staff.", "It is for a community of 900 pupils and 105 staff."
    draft = ReviewDraft(evidence_of_text(*texts), ASPECTS)
    assert _contradictions(draft) == 1
    one, other = quote("the equivalent of 98 full-time staff"), quote("900 pupils and 105 staff") | {"document": "D2"}
    pupils = CONTRADICTION | {"statement": "A community of 900 pupils is not a staff.", "evidence": [one, other]}
    assert verdict(draft, **pupils)[0] == "verified"
    assert _contradictions(draft) == 2
    staff = CONTRADICTION | {
        "statement": "There are 98 staff in one place and 105 in another.",
        "evidence": [one, other],
    }
    assert verdict(draft, **staff)[0] == "verified"
    assert _contradictions(draft) == 2


def _contradictions(draft: ReviewDraft) -> int:
    judged = draft.conclude(None, model="test")
    found = [f.outcome for one in judged.aspects for f in one.findings]
    return found.count("contradicted") + len(judged.contradictions)


def test_findings_that_say_the_same_are_merged_with_what_they_settle() -> None:
    draft = draft_of()
    assert verdict(draft, **CONTRADICTION, settles=["C1"])[0] == "verified"
    more = CONTRADICTION | {"evidence": [*SIDES, quote("The schedule has 134 cycle parking spaces", 2)]}
    [answer] = draft.submit_findings([finding(**more | {"aspect": "cycle_routes"}, settles=["C2"])])
    assert (answer.verdict, "repeats F1" in answer.reasons[0]) == ("dropped", True)
    assert draft.state.held["F1"].given.settles == ("C1", "C2")
    assert (draft.quality().merged, draft.quality().dropped, draft.quality().verified) == (1, 0, 1)


def test_findings_on_different_places_or_figures_are_not_merged() -> None:
    text = f"{TEXT}\fThe proposed shared path along Kings Road will be 2.5 m wide.\n"
    draft = draft_of(text)
    other = {"question": None, "requirement": "Wide paths"}
    assert verdict(draft, **other)[0] == "verified"
    assert verdict(draft, **other, statement="The shared path along Mill Lane is 400 m long.")[0] == "verified"
    kings_road = {
        "statement": "The shared path along Kings Road is 2.5 m wide.", "evidence": [quote("path along Kings Road will be 2.5 m", 3)],
    }  # fmt: skip
    assert verdict(draft, **other, **kings_road)[0] == "verified"
    assert len(draft.verified()) == 3
