"""What is partly met names what is lacking, and something shows it: quoted words, or a search in a named place."""

from __future__ import annotations

from typing import Any

import pytest
from review_samples import HOMES, REF, document, evidence_of_text, make_evidence
from test_draft import finding, quote

from trigpoint.reading.documents import Document
from trigpoint.reading.profile import Application
from trigpoint.review.assemble import NO_PROVISION, compliance_rows
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.drafted import finding_of
from trigpoint.review.findings import Finding
from trigpoint.review.rating import overall_rating, rate
from trigpoint.review.result import AspectReview
from trigpoint.review.submitted import DraftFinding, Quote, Verdict

TEXT = (
    "1 Proposed development\n\nThe proposed shared path along Mill Lane will be 2.5 m wide.\n\n"
    "Vouchers for electric cycles will be offered to each household.\n\n"
    "A link to Pound Farm could be explored in future.\n\n"
    "The county council asks for a path of 3 m.\f"
    "2 Conditions\n\nCondition 5: The shared path along Mill Lane shall be open before first occupation.\n\n"
    "Condition 6: Street lighting shall be installed along the shared path.\n"
)
VOUCHERS: dict[str, Any] = {
    "aspect": "travel_planning", "question": None, "requirement": "Measures that are secured", "outcome": "partly",
    "statement": "Vouchers for electric cycles will be offered to each household.",
    "evidence": [quote("Vouchers for electric cycles will be offered to each household")],
    "lacking": "We did not find the vouchers in the conditions.", "looked_for": ["vouchers electric cycles"],
    "looked_in": [{"document": "D1", "first": 2, "last": 2}], "recommendation": "Secure the vouchers by a condition",
}  # fmt: skip
PATH = {"lacking": "It is narrower than the 3 m that the county council asks for.",
        "evidence": [quote("shared path along Mill Lane will be 2.5 m wide"), quote("county council asks for a path of 3 m")]}  # fmt: skip


def draft_of(text: str = TEXT) -> ReviewDraft:
    return ReviewDraft(evidence_of_text(text), ("cycle_routes", "travel_planning"))


def submit(draft: ReviewDraft, **changes: Any) -> Verdict:
    [answer] = draft.submit_findings([finding(**{"outcome": "partly"} | changes)])
    return answer


def reason_of(draft: ReviewDraft, name: str = "F1") -> str:
    point = draft.state.held[name].open_point
    return point.reason if point is not None else ""


def test_a_promise_that_another_place_does_not_secure_is_partly_met() -> None:
    draft = draft_of()
    assert submit(draft, **VOUCHERS).verdict == "verified"
    [kept] = draft.verified().values()
    assert kept.text == f"{VOUCHERS['statement']} {VOUCHERS['lacking']}"
    assert (kept.outcome, kept.lacking, kept.provided) == ("partly", VOUCHERS["lacking"], VOUCHERS["statement"])


def test_a_lack_is_searched_for_in_the_place_that_it_names_and_accepted_when_what_is_there_was_seen() -> None:
    draft = draft_of(f"{TEXT}\nCondition 7: Vouchers for electric cycles shall be offered.\n")
    first = submit(draft, **VOUCHERS)
    assert first.verdict == "returned"
    assert "D1 page 2: “Condition 7: Vouchers for electric cycles shall be offered.” has the words" in first.reasons[0]
    assert submit(draft, **VOUCHERS, id="F1").verdict == "verified"
    elsewhere = VOUCHERS | {"looked_in": [{"document": "D1", "first": 9, "last": 9}]}
    assert "no such page with text" in " ".join(submit(draft_of(), **elsewhere).reasons)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "`partly` needs `lacking`"),
        (
            {"lacking": "No condition names a width.", "looked_for": ["width in metres"]},
            "Word `lacking` as your search",
        ),
        ({"lacking": "We did not find a segregated track."}, "name it in `looked_for`"),
        ({"lacking": "It is 1.1 m too narrow."}, "1.1"),
    ],
)
def test_partly_without_a_lack_that_is_shown_is_returned_once(changes: dict[str, Any], reason: str) -> None:
    draft = draft_of()
    first = submit(draft, **changes)
    assert first.verdict == "returned"
    assert reason in " ".join(first.reasons)


@pytest.mark.parametrize("changes", [{}, {"lacking": "It is 1.1 m too narrow."}])
def test_what_stays_partly_met_without_a_lack_is_an_open_point_with_its_quotations(changes: dict[str, Any]) -> None:
    draft = draft_of()
    submit(draft, **changes)
    draft.settle()
    assert draft.verified() == {}
    assert (
        reason_of(draft)
        == "The shared path along Mill Lane is 2.5 m wide. From that alone we could not tell whether it is met."
    )
    point = draft.state.held["F1"].open_point
    assert point is not None
    assert [one.quote for one in point.evidence] == ["The proposed shared path along Mill Lane will be 2.5 m wide."]
    assert point.request == "Widen the shared path along Mill Lane"


def test_an_open_point_does_not_print_a_recommendation_that_was_refused() -> None:
    draft = draft_of()
    first = submit(draft, recommendation="Widen the shared path along Mill Lane and plant 77 lamps")
    assert "recommendation: 77" in first.reasons[0]
    draft.settle()
    point = draft.state.held["F1"].open_point
    assert point is not None
    assert point.request is None


def test_an_absence_in_other_words_than_a_search_is_told_in_ours() -> None:
    draft = draft_of()
    wrong = VOUCHERS | {"lacking": "No condition mentions the vouchers."}
    submit(draft, **wrong)
    assert submit(draft, **wrong, id="F1").verdict == "verified"
    [kept] = draft.verified().values()
    assert kept.lacking is not None
    assert kept.lacking.startswith("We looked for vouchers electric cycles in ")
    assert kept.lacking.endswith(", page 2 and did not find it.")


def test_what_names_a_lack_is_not_met() -> None:
    draft = draft_of()
    submit(draft, **PATH, outcome="met")
    assert [one.outcome for one in draft.verified().values()] == ["partly"]


def test_the_second_reader_judges_statement_and_lack_apart() -> None:
    draft = draft_of()
    submit(draft, **VOUCHERS)
    draft.record_support(
        "F1", "supported", "", outcome="partly", lack_instead="We did not find the vouchers in condition 5 or 6."
    )
    assert draft.verified()["F1"].lacking == "We did not find the vouchers in condition 5 or 6."
    assert draft.verified()["F1"].provided == VOUCHERS["statement"]


def test_what_is_lacking_and_not_asked_for_is_an_open_point_next_to_what_is_met() -> None:
    """The second reader is not told the outcome: it finds that nobody asks for what was not found."""
    draft = draft_of()
    submit(draft, **VOUCHERS)
    draft.record_support("F1", "supported", "nobody asks for a condition", outcome="met")
    assert [(one.outcome, one.text) for one in draft.verified().values()] == [("met", VOUCHERS["statement"])]
    points = [one.open_point for one in draft.state.held.values() if one.counts and one.open_point is not None]
    assert [one.reason for one in points] == [VOUCHERS["lacking"]]


def test_what_the_question_itself_names_stays_lacking_whatever_the_second_reader_says() -> None:
    draft = draft_of()
    submit(draft, **VOUCHERS | {"requirement": "Measures that are secured by conditions"})
    draft.record_support("F1", "supported", "", outcome="met")
    assert [one.outcome for one in draft.verified().values()] == ["partly"]


def test_readers_of_whom_one_calls_a_point_failed_and_the_other_met_settle_nothing() -> None:
    draft = draft_of()
    submit(draft, outcome="failed")
    draft.record_support("F1", "supported", "it is wide enough", outcome="met")
    assert (draft.verified(), reason_of(draft)) == ({}, "The shared path along Mill Lane is 2.5 m wide.")


REFUSED: dict[str, Any] = {
    "question": None, "requirement": "The width that the county council asks for", "outcome": "noted",
    "statement": "The county council asks for a path of 3 m; it will be 2.5 m wide.",
    "evidence": [quote("shared path along Mill Lane will be 2.5 m wide"), quote("county council asks for a path of 3 m")],
}  # fmt: skip


def test_what_is_true_and_decides_nothing_is_read_a_second_time_and_published_without_a_verdict() -> None:
    draft = draft_of()
    assert submit(draft, **REFUSED).verdict == "verified"
    assert [one.outcome for one in draft.verified().values()] == ["noted"]  # so that the second reader sees it
    draft.record_support("F1", "supported", "", outcome="noted")
    assert (draft.verified(), reason_of(draft)) == ({}, REFUSED["statement"])
    judged = draft.conclude(None, model="test")
    points = [one for aspect in judged.aspects for one in aspect.not_assessed if one.check == "other"]
    assert [(one.reason, one.request) for one in points] == [
        (REFUSED["statement"], "Widen the shared path along Mill Lane")
    ]
    assert not [one for aspect in judged.aspects for one in aspect.findings if one.outcome == "noted"]


def test_nothing_is_asked_for_because_of_what_is_noted_unless_the_judge_recommends_it() -> None:
    draft = draft_of()
    submit(draft, **REFUSED | {"recommendation": None})
    draft.record_support("F1", "supported", "", outcome="noted")
    judged = draft.conclude(None, model="test")
    assert [one.request for aspect in judged.aspects for one in aspect.noted] == [None]


def test_what_is_noted_needs_words_for_its_figures_like_everything_else() -> None:
    draft = draft_of()
    wrong = REFUSED | {"statement": "The county council asks for a path of 3.7 m; it will be 2.5 m wide."}
    assert submit(draft, **wrong).verdict == "returned"
    assert submit(draft, **wrong, id="F1").verdict == "dropped"


def test_what_is_noted_and_never_read_a_second_time_is_an_open_point_all_the_same() -> None:
    draft = draft_of()
    submit(draft, **REFUSED)
    draft.settle()
    assert [one.outcome for one in draft.verified().values()] == ["noted"]
    draft.open_noted()
    assert (draft.verified(), reason_of(draft)) == ({}, REFUSED["statement"])


def test_a_shortfall_that_nobody_asks_for_keeps_its_lack_as_a_noted_point() -> None:
    draft = draft_of()
    submit(draft, **PATH)
    draft.record_support("F1", "supported", "a wish", outcome="noted")
    assert draft.verified() == {}
    assert reason_of(draft).endswith("It is narrower than the 3 m that the county council asks for.")


def test_readers_who_both_see_a_shortfall_agree() -> None:
    draft = draft_of()
    submit(draft, outcome="failed")
    draft.record_support("F1", "supported", "", outcome="partly", lack_instead="It is narrower than the 3 m asked for.")
    [kept] = draft.verified().values()
    assert (kept.outcome, kept.lacking) == ("failed", None)


def test_two_accounts_that_agree_by_the_second_reader_are_no_contradiction() -> None:
    draft = draft_of()
    sides = [quote("shared path along Mill Lane will be 2.5 m wide"), quote("county council asks for a path of 3 m")]
    draft.submit_findings([finding(outcome="contradicted", question=None, requirement="Widths that agree", evidence=sides,
                                   statement="The path will be 2.5 m wide; the county council asks for 3 m.")])  # fmt: skip
    assert draft.record_support("F1", "supported", "one is a request", outcome="met").verdict == "returned"
    draft.settle()
    assert draft.verified() == {}


def test_words_elsewhere_that_turn_a_point_are_quoted_with_it() -> None:
    draft = draft_of()
    submit(draft, outcome="failed")
    lit = Quote(document="D1", page=2, words="Street lighting shall be installed")
    nowhere = Quote(document="D1", page=2, words="words that are nowhere in it")
    draft.record_support("F1", "supported", "", outcome="failed", also=[lit, nowhere])
    assert "Street lighting shall be installed" in [one.quote for one in draft.verified()["F1"].evidence]
    assert len(draft.state.held["F1"].given.evidence) == 2


def test_a_lack_that_the_second_reader_strikes_leaves_an_open_point_or_what_it_calls_met() -> None:
    draft = draft_of()
    submit(draft, **VOUCHERS)
    draft.record_support("F1", "supported", "a condition has them", lack="not_shown")
    assert draft.verified() == {}
    assert reason_of(draft).startswith(
        "Vouchers for electric cycles will be offered to each household. From that alone"
    )
    draft = draft_of()
    submit(draft, **VOUCHERS)
    draft.record_support("F1", "supported", "a condition has them", outcome="met", lack="not_shown")
    assert [(one.outcome, one.text) for one in draft.verified().values()] == [("met", VOUCHERS["statement"])]


def test_partly_is_not_raised_to_met_next_to_a_shortfall_on_the_same_question() -> None:
    draft = draft_of()
    submit(draft, **PATH)
    lit = {"statement": "The shared path will be lit.", "evidence": [quote("Street lighting shall be installed", 2)]}
    submit(draft, **lit, outcome="failed", recommendation=None)
    assert set(draft.verified()) == {"F1", "F2"}
    draft.record_support("F1", "supported", "nothing is lacking", outcome="met", lack="not_shown")
    assert set(draft.verified()) == {"F2"}
    assert reason_of(draft) == "The shared path along Mill Lane is 2.5 m wide."


def test_a_possibility_is_an_open_point_if_the_second_reader_says_so() -> None:
    draft = draft_of()
    possible = {"statement": "A link to Pound Farm could be explored in future.", "question": None, "requirement": "Links",
                "lacking": "It is left for the future.", "evidence": [quote("A link to Pound Farm could be explored")]}  # fmt: skip
    assert submit(draft, **possible).verdict == "verified"
    draft.record_support("F1", "supported", "a possibility", outcome="not_shown")
    assert (draft.verified(), draft.quality().reworded) == ({}, 1)
    assert reason_of(draft) == "A link to Pound Farm could be explored in future."  # the lack says nothing more


def test_what_is_lowered_to_partly_without_a_lack_goes_back_to_the_judge() -> None:
    draft = draft_of()
    submit(draft, outcome="met", recommendation=None)
    less = "The shared path along Mill Lane will be 2.5 m wide."
    answer = draft.record_support("F1", "overstated", "less", less, "partly")
    assert answer.verdict == "returned"
    draft = draft_of()
    submit(draft, outcome="met", recommendation=None)
    draft.record_support("F1", "overstated", "less", less, "partly", lack_instead="It is 2.5 m wide and not more.")
    assert [(one.outcome, one.provided) for one in draft.verified().values()] == [("partly", less)]


def test_a_sum_that_the_new_words_do_not_use_goes() -> None:
    draft = draft_of()
    told = PATH["evidence"]
    submit(draft, outcome="failed", evidence=told, calculations=["3 - 2.5 = 0.5"],
           statement="At 2.5 m the path is 0.5 m narrower than the county council asks.")  # fmt: skip
    assert len(draft.verified()["F1"].calculations) == 1
    draft.record_support("F1", "overstated", "less", "The path will be 2.5 m wide; the county council asks for 3 m.")
    assert draft.verified()["F1"].calculations == ()


def test_a_contradiction_keeps_its_policy_and_has_a_row_whether_or_not_it_cites_one() -> None:
    draft = draft_of()
    sides = [quote("shared path along Mill Lane will be 2.5 m wide"), quote("county council asks for a path of 3 m")]
    label, passage = next((k, p) for k, p in draft.labels.by_label.items() if "3.0 m" in p.text or "3 m" in p.text)
    words = next(line for line in passage.text.splitlines()[1:] if len(line.split()) > 5).split(". ")[0]
    given = {"outcome": "contradicted", "question": "width", "evidence": sides, "recommendation": None,
             "statement": "The path will be 2.5 m wide; the county council asks for 3 m."}  # fmt: skip
    draft.submit_findings([finding(**given, policy=[{"policy": label, "words": words}])])
    draft.settle()
    [kept] = draft.verified().values()
    assert [one.quote for one in kept.policy] == [words]
    assert kept.essential
    plain = kept.model_copy(update={"policy": (), "text": "Another one."})
    rows = compliance_rows((kept, plain))
    assert [(row.outcome, row.policy_source) for row in rows] == [
        ("contradicted", kept.policy[0].source),
        ("contradicted", NO_PROVISION),
    ]


def _judged(outcome: Any, aspect: str, *, essential: bool = True) -> Finding:
    return Finding(check=f"{aspect}-x-f1", requirement="R", outcome=outcome, text="T", essential=essential)


def _aspect(name: str, *outcomes: Any) -> AspectReview:
    findings = tuple(_judged(outcome, name) for outcome in outcomes)
    return AspectReview(id=name, name=name, rating=rate(findings), key_issue="", findings=findings)


def test_an_essential_contradiction_or_lack_is_not_green_and_three_essential_failures_are_red() -> None:
    assert rate([_judged("met", "a")]) == "green"
    assert rate([_judged("met", "a"), _judged("contradicted", "a")]) == "amber"
    assert rate([_judged("met", "a"), _judged("partly", "a")]) == "amber"
    assert rate([_judged("failed", "a"), _judged("contradicted", "a")]) == "red"
    assert rate([_judged("failed", "a"), _judged("partly", "a")]) == "red"
    assert rate([_judged("failed", "a"), _judged("met", "a"), _judged("partly", "a")]) == "amber"
    core = frozenset(("a", "b"))
    spread = [_aspect("a", "failed", "failed", "met", "met", "met"), _aspect("b", "failed", "met", "met")]
    assert [one.rating for one in spread] == ["amber", "amber"]
    assert overall_rating(spread, core) == "red"
    two = [_aspect("a", "failed", "met", "met"), _aspect("b", "failed", "met", "met")]
    assert overall_rating(two, core) == "amber"


def test_a_lack_that_the_statement_has_told_is_not_told_twice() -> None:
    statement = "The shared path along Mill Lane is 2.5 m wide, where 3.0 m are asked for."
    given = DraftFinding(
        aspect="cycle_routes", outcome="partly", statement=statement, lacking="The path is 2.5 m wide where 3.0 m are asked for."
    )  # fmt: skip
    assert finding_of(given, None, (), (), ()).text == statement
    added = given.model_copy(update={"lacking": "No date for its opening is given."})
    assert finding_of(added, None, (), (), ()).text == f"{statement} No date for its opening is given."


STATEMENT = (
    "1 Proposed development\n\nVouchers for electric cycles will be offered to each household.\n\n"
    "The measures are set out in the Travel Plan that has been submitted with the application.\f"
    "2 Heads of terms\n\nA contribution to bus services will be made.\n"
)
REPORT = (
    "Planning Committee: officer report\n\nRecommendation: grant permission.\n\n"
    "Conditions\n\nCondition 5: Street lighting shall be installed before first occupation.\n"
)
NOT_LISTED = VOUCHERS | {"lacking": "We did not find the vouchers in the heads of terms."}


def settled(*documents: Document, **changes: Any) -> ReviewDraft:
    application = Application(reference=REF, proposal=HOMES, authority="cherwell")
    draft = ReviewDraft(make_evidence(documents, application), ("cycle_routes", "travel_planning"))
    assert submit(draft, **NOT_LISTED | changes).verdict == "verified"
    draft.open_unsettled()
    return draft


def test_what_the_applicants_own_list_lacks_is_left_open_if_a_plan_that_it_names_was_not_read() -> None:
    draft = settled(document(STATEMENT, name="Planning Statement.pdf"))
    assert draft.verified() == {}
    assert reason_of(draft) == f"{VOUCHERS['statement']} {NOT_LISTED['lacking']}"


def test_what_the_councils_conditions_lack_is_a_shortfall_though_a_plan_was_not_read() -> None:
    report = document(REPORT, 2, name="Officer Report.pdf")
    place = {"looked_in": [{"document": "D2", "first": 1, "last": 1}]}
    draft = settled(document(STATEMENT, name="Planning Statement.pdf"), report, **place)
    assert [one.outcome for one in draft.verified().values()] == ["partly"]


def test_if_all_that_is_named_was_read_a_search_shows_a_lack() -> None:
    plan = document("Travel Plan\n\nA coordinator will be appointed.\n", 2, name="Travel Plan.pdf")
    draft = settled(document(STATEMENT, name="Planning Statement.pdf"), plan)
    assert [one.outcome for one in draft.verified().values()] == ["partly"]
