"""All findings side by side: each point is told once, in the aspect that proves most, and doubt is told as doubt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from review_samples import evidence_of_text

from trigpoint.review.agent.shown_claims import side_by_side
from trigpoint.review.aspects import aspect
from trigpoint.review.assemble import assemble_review
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.findings import Finding
from trigpoint.review.models import ReviewOptions
from trigpoint.review.result import AspectReview, Judgement
from trigpoint.review.submitted import Comparison, DraftFinding

TEXT = (
    "1 Proposed development\n\nThe proposed shared path along Mill Lane will be 2.5 m wide.\n\n"
    "At the junction of Mill Lane and Station Road the proposed path crosses without priority.\n\n"
    "Forty cycle parking spaces are proposed for the flats.\n"
)
ASPECTS = ("cycle_routes", "junctions")


def finding(**changes: Any) -> DraftFinding:
    return DraftFinding.model_validate(
        {
            "aspect": "cycle_routes",
            "question": "width",
            "outcome": "failed",
            "statement": "The shared path along Mill Lane is 2.5 m wide, below the 3.0 m asked for.",
            "evidence": [{"document": "D1", "page": 1, "words": "shared path along Mill Lane will be 2.5 m wide"}],
        }
        | changes
    )


CROSSING = finding(
    aspect="junctions",
    question="side_roads",
    statement="At the junction of Mill Lane and Station Road the path crosses without priority.",
    evidence=[{"document": "D1", "page": 1, "words": "the proposed path crosses without priority"}],
)
CROSSING_ON_THE_ROUTE = CROSSING.model_copy(
    update={
        "aspect": "cycle_routes",
        "question": None,
        "requirement": "A route that does not stop at side roads",
        "statement": "Cyclists who use the shared path on Mill Lane give way at Station Road.",
        "evidence": (*CROSSING.evidence, *finding().evidence),
    }
)


def draft_of(*findings: DraftFinding) -> ReviewDraft:
    draft = ReviewDraft(evidence_of_text(TEXT), ASPECTS)
    verdicts = draft.submit_findings(findings)
    assert {one.verdict for one in verdicts} == {"verified"}, verdicts
    for name in draft.verified():
        draft.record_support(name, "supported", "", outcome="failed")
    return draft


def compared(draft: ReviewDraft, **said: Any) -> Judgement:
    draft.compare(Comparison.model_validate(said))
    return draft.conclude(None, model="test")


def test_the_reader_sees_every_finding_with_its_outcome_and_words_and_which_are_near() -> None:
    shown = side_by_side(draft_of(finding(), CROSSING, CROSSING_ON_THE_ROUTE))
    assert "F2 [junctions] failed: At the junction of Mill Lane" in shown
    assert "(by the applicant) p1: “the proposed path crosses without priority.”" in shown
    assert "(near to it in words: F1, F2)" in shown


def test_a_repetition_is_told_once_and_its_question_is_answered_by_the_other_aspect() -> None:
    draft = draft_of(finding(), CROSSING, CROSSING_ON_THE_ROUTE)
    judgement = compared(draft, repeats=[{"id": "F2", "other": "F3"}])
    routes, junctions = judgement.aspects
    assert "junctions-side_roads-f2" not in [one.check for one in junctions.findings]
    [answer] = junctions.elsewhere
    assert (answer.finding, answer.aspect) == ("cycle_routes-other-f3", aspect("cycle_routes").name)
    assert "side_roads" not in {one.check.split("-")[-1] for one in junctions.not_assessed}
    assert junctions.key_issue == "Cyclists who use the shared path on Mill Lane give way at Station Road"
    assert junctions.rating == "red"
    assert junctions.assessed != "no"
    assert [one.check for one in routes.findings].count("cycle_routes-other-f3") == 1
    assert judgement.quality is not None
    assert [(one.id, one.why) for one in judgement.quality.left_out] == [("F2", "it repeats F3")]


def test_a_repetition_within_an_aspect_leaves_no_question_open() -> None:
    judgement = compared(draft_of(finding(), CROSSING_ON_THE_ROUTE), repeats=[{"id": "F1", "other": "F2"}])
    routes = judgement.aspects[0]
    assert [one.check for one in routes.findings] == ["cycle_routes-other-f2"]
    assert "cycle_routes.width" not in {one.check for one in routes.not_assessed}
    assert routes.elsewhere == ()


def test_what_is_overtaken_goes_and_rules_do_not_judge_its_question_again() -> None:
    judgement = compared(draft_of(finding(), CROSSING), overtaken=[{"id": "F1", "other": "F2"}])
    assert judgement.aspects[0].findings == ()
    assert judgement.quality is not None
    [left] = judgement.quality.left_out
    assert (left.id, left.by, left.why) == (
        "F1",
        "comparison",
        "words that another finding quotes answer or replace it",
    )


def test_an_outcome_that_stands_is_left_as_it_is() -> None:
    tested = {"id": "F1", "because": "The question asks for 3.0 m.", "stands": True}
    judgement = compared(draft_of(finding(), CROSSING), outcomes=[tested])
    assert [(one.check, one.outcome) for one in judgement.aspects[0].findings] == [("cycle_routes-width-f1", "failed")]


def test_a_doubtful_verdict_becomes_an_open_point_with_its_words() -> None:
    doubted = {"id": "F1", "because": "Nobody asks for it.", "stands": False}
    judgement = compared(draft_of(finding(), CROSSING), outcomes=[doubted])
    routes = judgement.aspects[0]
    assert routes.findings == ()
    [point] = [one for one in routes.not_assessed if one.id == "open-f1"]
    assert "2.5 m wide" in point.reason
    assert "shared path along Mill Lane will be 2.5 m wide" in point.evidence[0].quote


def test_policies_that_do_not_fit_are_struck() -> None:
    draft = draft_of(finding(statement="The shared path along Mill Lane is 2.5 m wide."), CROSSING)
    refs = [one.ref for one in draft.verified()["F2"].policy]
    assert refs
    draft.compare(Comparison.model_validate({"unfit": [{"id": "F2", "policies": refs}]}))
    assert draft.verified()["F2"].policy == ()


@pytest.mark.parametrize(
    "said",
    [
        {"repeats": [{"id": "F1", "other": "F1"}]},
        {"repeats": [{"id": "F1", "other": "F9"}, {"id": "F9", "other": "F1"}]},
        {"outcomes": [{"id": "F77", "because": "Nobody asks for it.", "stands": False}]},
        {"unfit": [{"id": "F77", "policies": ["NPPF 1"]}]},
    ],
)
def test_what_names_no_finding_changes_nothing(said: dict[str, Any]) -> None:
    draft = draft_of(finding(), CROSSING)
    before = draft.verified()
    draft.compare(Comparison.model_validate(said))
    assert draft.verified() == before


def test_of_two_that_are_said_to_repeat_each_other_one_stays() -> None:
    twins = [{"id": "F1", "other": "F2"}, {"id": "F2", "other": "F1"}]
    draft = draft_of(finding(), CROSSING)
    draft.compare(Comparison.model_validate({"repeats": twins}))
    assert list(draft.verified()) == ["F2"]


def test_an_aspect_is_rated_by_what_was_found_on_its_own_question() -> None:
    offered = CROSSING_ON_THE_ROUTE.model_copy(
        update={
            "outcome": "partly",
            "lacking": "At Station Road the path crosses without priority.",
            "statement": "A shared path along Mill Lane is proposed.",
        }
    )
    draft = draft_of(finding(), CROSSING)
    draft.submit_findings([offered])
    draft.record_support("F3", "supported", "", outcome="partly")
    junctions = compared(draft, repeats=[{"id": "F2", "other": "F3"}]).aspects[1]
    assert [(one.finding, one.outcome) for one in junctions.elsewhere] == [("cycle_routes-other-f3", "failed")]
    assert junctions.rating == "red"


def test_if_verification_drops_the_answer_under_another_aspect_the_question_is_open() -> None:
    judgement = compared(draft_of(finding(), CROSSING, CROSSING_ON_THE_ROUTE), repeats=[{"id": "F2", "other": "F3"}])
    routes, junctions = judgement.aspects
    left = tuple(one for one in routes.findings if one.check != "cycle_routes-other-f3")
    dropped = judgement.model_copy(update={"aspects": (routes.model_copy(update={"findings": left}), junctions)})
    shown = assemble_review(dropped, ReviewOptions()).aspects[1]
    assert shown.elsewhere == ()
    assert [one.check for one in shown.not_assessed].count("cycle_routes-other-f3") == 1
    assert shown.assessed == "no"
    assert "give way at Station Road" in junctions.key_issue
    assert "give way at Station Road" not in shown.key_issue
    kept = assemble_review(judgement, ReviewOptions()).aspects[1]
    assert (kept.elsewhere, kept.rating) == (junctions.elsewhere, "red")


@pytest.mark.parametrize("told_in", ASPECTS)
def test_a_shortfall_that_is_told_elsewhere_does_not_leave_its_question_met(told_in: str) -> None:
    met = finding(
        aspect="junctions",
        question="side_roads",
        outcome="met",
        statement="At Church Street the path has priority over the side road.",
        evidence=[{"document": "D1", "page": 1, "words": "the proposed path has priority over the side road"}],
    )
    text = f"{TEXT}\nAt Church Street the proposed path has priority over the side road.\n"
    draft = ReviewDraft(evidence_of_text(text), ASPECTS)
    draft.submit_findings([met, CROSSING, CROSSING_ON_THE_ROUTE.model_copy(update={"aspect": told_in})])
    for name, outcome in (("F1", "met"), ("F2", "failed"), ("F3", "failed")):
        draft.record_support(name, "supported", "", outcome=outcome)
    asked = aspect("junctions").check("side_roads")
    assert asked is not None
    junctions = compared(draft, repeats=[{"id": "F2", "other": "F3"}]).aspects[1]
    own = "junctions-other-f3"
    pointed = [(one.finding, one.outcome) for one in junctions.elsewhere]
    assert pointed == ([] if told_in == "junctions" else [("cycle_routes-other-f3", "failed")])
    assert [(one.outcome, one.requirement) for one in junctions.findings if one.check != own] == [
        ("met", f"{asked.requirement} (a part of it)")
    ]
    assert junctions.rating != "green"


def test_what_is_met_answers_a_part_of_a_question_of_which_another_part_is_open() -> None:
    noted = CROSSING.model_copy(update={"outcome": "noted"})
    met = finding(outcome="met", aspect="junctions", question="side_roads", statement="The path crosses Station Road.")
    draft = ReviewDraft(evidence_of_text(TEXT), ASPECTS)
    words = [
        {
            "document": "D1",
            "page": 1,
            "words": "At the junction of Mill Lane and Station Road the proposed path crosses",
        }
    ]
    draft.submit_findings([met.model_copy(update={"evidence": finding(evidence=words).evidence}), noted])
    for name, outcome in (("F1", "met"), ("F2", "noted")):
        draft.record_support(name, "supported", "", outcome=outcome)
    junctions = draft.conclude(None, model="test").aspects[1]
    [part] = [one for one in junctions.findings if one.outcome == "met"]
    assert part.requirement.endswith("(a part of it)")
    assert part.flags == ("Other parts of what is asked for fall short or are open.",)


MET = finding(
    outcome="met", question=None, requirement="A path along Mill Lane", statement="A shared path runs along Mill Lane."
)


def limited(*limits: str, others: Sequence[DraftFinding] = (CROSSING,), **said: Any) -> Judgement:
    """The path is there (F1), and at Station Road it has no priority (F2): these are said to limit it."""
    draft = ReviewDraft(evidence_of_text(TEXT), ASPECTS)
    draft.submit_findings([MET, *others])
    for name, one in draft.verified().items():
        draft.record_support(name, "supported", "", outcome=one.outcome)
    tested = {"id": "F1", "because": "A path will run along Mill Lane.", "stands": True, "limited_by": limits}
    return compared(draft, outcomes=[tested], **said)


def path_of(aspects: Sequence[AspectReview]) -> Finding:
    return next(one for one in aspects[0].findings if one.check == "cycle_routes-other-f1")


def test_what_is_met_names_the_point_under_another_question_that_limits_it() -> None:
    path = path_of(assemble_review(limited("F2"), ReviewOptions()).aspects)
    assert (path.outcome, path.requirement) == ("met", "A path along Mill Lane (a part of it)")
    assert [one.text for one in path.limits] == [CROSSING.statement]


def test_a_limit_that_verification_drops_is_not_told() -> None:
    judgement = limited("F2")
    routes, junctions = judgement.aspects
    dropped = judgement.model_copy(update={"aspects": (routes, junctions.model_copy(update={"findings": ()}))})
    path = path_of(assemble_review(dropped, ReviewOptions()).aspects)
    assert path.limits == ()


@pytest.mark.parametrize("limits", [("F1",), ("F77",), ()])
def test_nothing_limits_itself_and_nothing_unknown_limits_anything(limits: tuple[str, ...]) -> None:
    path = path_of(limited(*limits).aspects)
    assert (path.limits, path.requirement) == ((), "A path along Mill Lane")


def test_a_limit_that_is_merged_is_told_by_what_it_was_merged_into() -> None:
    both = (CROSSING, CROSSING_ON_THE_ROUTE)
    path = path_of(limited("F2", others=both, repeats=[{"id": "F2", "other": "F3"}]).aspects)
    assert [(one.point, one.text) for one in path.limits] == [
        ("cycle_routes-other-f3", CROSSING_ON_THE_ROUTE.statement)
    ]
