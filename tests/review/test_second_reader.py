"""What a second reader says of a finding: it is kept in words that say less, sent back, divided or dropped with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from test_draft import finding, verdict
from test_held_findings import NOT_SHOWN, PATH, SIDES, draft_of


def test_a_second_reader_sends_back_also_what_was_mended_before() -> None:
    draft = draft_of()
    assert verdict(draft, statement="The shared path is 2.8 m wide.")[0] == "returned"
    assert verdict(draft, id="F1")[0] == "verified"
    assert draft.record_support("F1", "overstated", "a part only").verdict == "returned"
    assert verdict(draft, id="F1", statement="The shared path will be 2.5 m wide.")[0] == "verified"
    assert list(draft.verified()) == ["F1"]


def test_what_stays_overstated_counts_in_the_second_readers_words_if_these_hold() -> None:
    draft = draft_of()
    verdict(draft, outcome="failed", statement="The 2.5 m shared path is far too narrow for anybody.")
    draft.record_support("F1", "overstated", "too strong")
    verdict(draft, id="F1", outcome="failed", statement="The 2.5 m shared path is much too narrow for anybody.")
    answer = draft.record_support("F1", "overstated", "still", "The shared path will be 2.5 m wide.", "partly")
    assert answer.verdict == "verified"
    assert [(one.outcome, one.text) for one in draft.verified().values()] == [
        ("failed", "The shared path will be 2.5 m wide.")
    ]
    assert (draft.quality().reworded, draft.quality().dropped) == (1, 0)


@pytest.mark.parametrize(
    ("support", "instead"),
    [
        ("overstated", "The shared path will be 9.9 m wide."),
        ("overstated", "The documents do not provide a path."),
        ("overstated", ""),
        ("not_supported", "The shared path will be 2.5 m wide."),
    ],
)
def test_what_stays_unsupported_or_cannot_be_reworded_is_dropped_with_the_reason(support: Any, instead: str) -> None:
    draft = draft_of()
    verdict(draft)
    draft.record_support("F1", support, "goes too far", instead)
    verdict(draft, id="F1")
    assert draft.record_support("F1", support, "goes too far", instead).verdict == "dropped"
    [left_out] = draft.quality().left_out
    assert left_out.by == "second reader"
    assert left_out.why == (
        "the quoted words show less" if support == "overstated" else "the quoted words do not show it"
    )


def test_what_is_overstated_counts_at_once_in_the_second_readers_words_if_these_hold() -> None:
    draft = draft_of()
    verdict(draft, outcome="failed", statement="The 2.5 m shared path is far too narrow for anybody.")
    less = "The shared path will be 2.5 m wide."
    assert draft.record_support("F1", "overstated", "too strong", less).verdict == "verified"
    [kept] = draft.verified().values()
    assert (kept.text, kept.outcome) == (less, "failed")
    assert draft.quality().reworded == 1


def test_a_finding_whose_mended_words_fail_the_rules_counts_in_the_second_readers_words() -> None:
    draft = draft_of()
    verdict(draft, statement="The shared path is far too narrow for anybody.")
    less = "The schedule has 134 cycle parking spaces."
    assert draft.record_support("F1", "overstated", "it is about parking", less).verdict == "returned"
    worse = {"statement": "The schedule has 999 cycle parking spaces.", "evidence": SIDES[1:], "recommendation": None}
    assert verdict(draft, id="F1", **worse)[0] == "verified"
    assert draft.verified()["F1"].text == less


def test_a_returned_finding_that_comes_back_in_two_parts_keeps_both() -> None:
    draft = draft_of()
    verdict(draft, statement="The shared path is 2.5 m wide, 400 m long and 9.9 m high.")
    parts = ["The shared path along Mill Lane is 2.5 m wide.", "The shared path along Mill Lane is 400 m long."]
    answers = draft.submit_findings([finding(id="F1", statement=one, evidence=[PATH]) for one in parts])
    assert [(one.id, one.verdict) for one in answers] == [("F1", "verified"), ("F2", "verified")]
    assert [one.text for one in draft.verified().values()] == parts


def test_an_open_point_on_a_part_is_told_next_to_a_finding_on_the_same_question() -> None:
    draft = draft_of()
    assert verdict(draft)[0] == "verified"
    other = "We did not find a width for the path along Kings Road."
    given = NOT_SHOWN | {"aspect": "cycle_routes", "question": "width", "looked_for": ["Kings Road"]}
    assert verdict(draft, **given, statement=other)[0] == "verified"
    [routes] = [one for one in draft.conclude(None, model="test").aspects if one.id == "cycle_routes"]
    assert other in [point.reason for point in routes.not_assessed]
    assert [one.check for one in routes.findings] == ["cycle_routes-width-f1"]


def test_what_was_merged_into_a_finding_that_is_dropped_later_has_its_reason() -> None:
    draft = draft_of()
    verdict(draft)
    assert "repeats F1" in verdict(draft)[1]
    draft.give_up(["F1"])
    assert [(one.id, one.why) for one in draft.quality().left_out] == [
        ("F1", "it was withdrawn"),
        ("F2", "it was withdrawn"),
    ]
    assert (draft.quality().merged, draft.quality().dropped) == (0, 2)


def test_a_policy_that_a_second_reader_finds_unfit_is_left_out_for_good_and_the_finding_stays() -> None:
    draft = draft_of()
    verdict(draft)
    refs = [one.ref for one in draft.verified()["F1"].policy]
    assert len(refs) > 1
    assert draft.record_support("F1", "supported", "", unfit=refs[:1]).verdict == "verified"
    assert [one.ref for one in draft.verified()["F1"].policy] == refs[1:]
    draft.record_support("F1", "overstated", "a part only", unfit=refs[:1])
    assert verdict(draft, id="F1", statement="The shared path will be 2.5 m wide.")[0] == "verified"
    assert [one.ref for one in draft.verified()["F1"].policy] == refs[1:]


def test_a_figure_that_only_an_unfit_policy_gave_does_not_outlive_it() -> None:
    draft = draft_of()
    label = next(name for name, one in draft.labels.by_label.items() if "minimum width 4.5 m" in one.text)
    row = {"policy": label, "words": "More than 300 cyclists an hour: minimum width 4.5 m"}
    given = {"statement": "The shared path is 2.5 m wide, below the minimum width of 4.5 m.", "recommendation": None}
    assert verdict(draft, **given, policy=[row])[0] == "verified"
    [ref] = [one.ref for one in draft.verified()["F1"].policy]
    answer = draft.record_support("F1", "supported", "", unfit=[ref])
    assert answer.verdict == "returned"
    assert "4.5" in answer.reasons[0]
    draft.settle()
    assert draft.verified() == {}


def test_whether_anything_asks_for_a_point_is_the_second_readers_to_say() -> None:
    """A promise, a condition or the question itself may ask for it when no policy does."""
    for outcome, published in (("failed", ["failed"]), ("noted", [])):
        draft = draft_of()
        verdict(draft, outcome="failed", statement="The shared path will be 2.5 m wide.")
        refs = [one.ref for one in draft.verified()["F1"].policy]
        assert refs
        draft.record_support("F1", "supported", "", outcome=outcome, unfit=refs)
        assert [one.outcome for one in draft.verified().values()] == published
        assert all(one.policy == () for one in draft.verified().values())
        assert draft.state.held["F1"].counts


@pytest.mark.parametrize("said", ["failed", "partly", "contradicted", "met"])
def test_what_the_judge_notes_is_not_made_a_verdict_by_the_second_reader_alone(said: Any) -> None:
    draft = draft_of()
    verdict(draft, outcome="noted", statement="The shared path will be 2.5 m wide.")
    draft.record_support("F1", "supported", "", outcome=said)
    assert draft.verified() == {}
    point = draft.state.held["F1"].open_point
    assert point is not None
    assert point.noted
    assert "2.5 m wide" in point.reason
