"""A review while it is judged: reading, searching, and the verdicts on what is handed in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from review_samples import evidence_of_text

from trigpoint.errors import InvalidInput
from trigpoint.review.agent.instructions import CONCLUDE
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.evidence import PolicyPassage
from trigpoint.review.submitted import (
    Cited,
    Dismissal,
    DraftConclusion,
    DraftFact,
    DraftFinding,
    PolicyQuote,
    ProfileCorrection,
    Quote,
    SummarySentence,
)
from trigpoint.review.verify import verify

TEXT = (
    "1 Proposed development\n\nThe proposed shared path along Mill Lane will be 2.5 m wide and 400 m long.\n\n"
    "Secure and covered cycle parking for 250 cycles will be provided in the basement.\n\n"
    "National Cycle Route 51 runs along Station Road, 300 m from the site.\f"
    "2 Policy\n\nLTN 1/20 says that shared routes should be at least 3.0 m wide.\n\n"
    "3 Existing conditions\n\nThe existing bus stop on Mill Lane is 17 minutes from the site on foot.\n"
)
ASPECTS = ("cycle_parking", "cycle_routes")


def draft_of(*texts: str, aspects: tuple[str, ...] = ASPECTS) -> ReviewDraft:
    return ReviewDraft(evidence_of_text(*(texts or (TEXT,))), aspects)


def finding(**changes: Any) -> DraftFinding:
    given: dict[str, Any] = {
        "aspect": "cycle_routes",
        "question": "width",
        "outcome": "failed",
        "statement": "The shared path along Mill Lane is 2.5 m wide.",
        "evidence": [
            {"document": "D1", "page": 1, "words": "The proposed shared path along Mill Lane will be 2.5 m wide"}
        ],
        "recommendation": "Widen the shared path along Mill Lane",
    }
    return DraftFinding.model_validate(given | changes)


def quote(words: str, page: int | None = 1) -> dict[str, Any]:
    return {"document": "D1", "page": page, "words": words}


def verdict(draft: ReviewDraft, **changes: Any) -> tuple[str, str]:
    [answer] = draft.submit_findings([finding(**changes)])
    return answer.verdict, " ".join(answer.reasons)


def test_the_orientation_asks_only_what_applies_to_the_development() -> None:
    homes = draft_of().orientation()
    assert [(one.label, one.pages) for one in homes.documents] == [("D1", 2)]
    asked = {question.id for one in homes.aspects for question in one.questions}
    assert {"long_stay", "width"} <= asked
    assert "facilities" not in asked  # showers are not asked of homes
    assert all(question.policy for one in homes.aspects for question in one.questions)


def test_pages_are_read_whole_and_noted() -> None:
    draft = draft_of()
    before = [sheet.key for sheet in draft.unread()]
    window = draft.read("D1", 1)
    assert window.text.startswith("[D1 page 1]")
    assert "300 m from the site." in window.text
    assert "LTN 1/20" not in window.text
    assert [sheet.key for sheet in draft.unread()] == [key for key in before if key != "D1:1"]


def test_a_window_ends_with_a_sentence_and_goes_on_where_it_ended() -> None:
    sentences = [f"Sentence number {n} is about the cycle route." for n in range(400)]
    draft = draft_of(" ".join(sentences))
    seen, page, offset = "", 1, 0
    for _ in range(100):
        window = draft.read("D1", page, offset=offset, most=2_000)
        assert len(window.text) < 2_100
        assert window.text.endswith(".")
        seen += " " + window.text
        if window.next_page is None:
            break
        page, offset = window.next_page, window.next_offset
    assert " ".join(seen.replace("[D1 page 1]", " ").split()) == " ".join(sentences)


def test_a_page_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="no page 9"):
        draft_of().read("D1", 9)
    with pytest.raises(InvalidInput, match="There are D1"):
        draft_of().read("25/99999/F", 1)
    with pytest.raises(InvalidInput, match="last page, 1, is before the first, 2"):
        draft_of().read("D1", 2, to=1)


def test_search_finds_statements_by_their_words() -> None:
    hits = draft_of().search("width of the shared path on Mill Lane")
    assert (hits[0].label, hits[0].page) == ("D1", 1)
    assert "2.5 m wide" in hits[0].text


def test_a_finding_with_words_on_the_page_counts() -> None:
    draft = draft_of()
    assert verdict(draft) == ("verified", "")
    [held] = draft.verified().values()
    assert held.evidence[0].pages == (1,)
    assert held.policy[0].ref.startswith("LTN 1/20")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"evidence": [quote("The proposed shared path will be 3.5 m wide")]}, "not in D1"),
        ({"evidence": [quote("path along Mill Lane") | {"document": "D7"}]}, "no document 'D7'"),
        ({"statement": "The shared path is 2.8 m wide."}, "2.8"),
        ({"statement": "The bus stop is 17 m away.", "evidence": [quote("17 minutes from the site", 2)]}, "17 minute"),
        ({"outcome": "met", "evidence": [quote("shared routes should be at least 3.0 m wide", 2)],
          "statement": "The path is at least 3.0 m wide."}, "policy"),
        ({"question": "colour"}, "no question 'colour'"),
        ({"question": None}, "requirement"),
        ({"evidence": []}, "not_shown"),
        ({"statement": "The documents do not provide lighting on Mill Lane."}, "claims an absence"),
        ({"calculations": ["3.0 - 2.5 = 0.7"], "statement": "It is 0.7 m short."}, "0.5, not 0.7"),
        ({"calculations": ["3.0 - 2.9 = 0.1"], "statement": "It is 0.1 m short."}, "2.9"),
        ({"outcome": "contradicted"}, "both of its sides"),
    ],
)  # fmt: skip
def test_what_cannot_be_proved_is_returned_with_the_reason_and_then_dropped(
    changes: dict[str, Any], reason: str
) -> None:
    draft = draft_of()
    first, said = verdict(draft, **changes)
    assert first == "returned"
    assert reason in said
    assert verdict(draft, **changes, id="F1")[0] == "dropped"
    assert draft.verified() == {}


def test_products_are_written_as_documents_write_them() -> None:
    assert draft_of().calculate("77 x 2").result == 154
    assert draft_of().calculate("0.75 × 262").result == 196.5


def test_a_returned_finding_counts_once_it_is_mended() -> None:
    draft = draft_of()
    assert verdict(draft, statement="The shared path is 2.8 m wide.")[0] == "returned"
    assert verdict(draft, id="F1")[0] == "verified"
    assert (draft.quality().corrected, draft.quality().dropped) == (1, 0)


def test_a_wrong_page_is_corrected_and_said() -> None:
    draft = draft_of()
    [answer] = draft.submit_findings([finding(evidence=[quote("will be 2.5 m wide", 2)])])
    assert answer.verdict == "verified"
    assert "page 1, not 2" in answer.remarks[0]


def test_a_name_with_a_number_is_no_figure_from_nowhere() -> None:
    said = "The 2.5 m shared path does not reach National Cycle Route 51."
    assert verdict(draft_of(), statement=said)[0] == "verified"


def test_a_derived_figure_needs_its_calculation() -> None:
    draft = draft_of()
    assert verdict(draft, statement="The path is 0.5 m narrower than the 3.0 m asked for.")[0] == "returned"
    calculated = {
        "statement": "The path is 0.5 m narrower than the 3.0 m asked for.",
        "calculations": ["3.0 - 2.5 = 0.5"],
    }
    assert verdict(draft, **calculated, id="F1")[0] == "verified"


def test_a_finding_that_repeats_or_contradicts_another_is_returned() -> None:
    draft = draft_of()
    assert verdict(draft)[0] == "verified"
    assert "repeats F1" in verdict(draft, statement="The shared path along Mill Lane is 2.5 m wide only.")[1]
    assert "contradicts F1" in verdict(draft, outcome="met", statement="A wide path of 2.5 m follows Mill Lane.")[1]


def test_an_absence_that_a_certain_statement_answers_is_told_with_that_statement() -> None:
    draft = draft_of()
    absent = {"outcome": "not_shown", "aspect": "cycle_parking", "question": "long_stay", "evidence": [],
              "statement": "We did not find a number of spaces.", "looked_for": ["cycle parking spaces"]}  # fmt: skip
    first, said = verdict(draft, **absent)
    assert (first, "do speak of it" in said) == ("returned", True)
    assert verdict(draft, **absent, id="F1")[0] == "verified"
    point = draft.state.held["F1"].open_point
    assert point is not None
    assert "did not find" not in point.reason
    assert "“Secure and covered cycle parking for 250 cycles will be provided in the basement.”" in point.reason


def test_an_absence_that_quotes_what_is_there_keeps_its_words_although_a_certain_statement_is_near() -> None:
    draft = draft_of()
    told = "Parking for 250 cycles is proposed; we did not find the number of homes that it is for."
    absent = {"outcome": "not_shown", "aspect": "cycle_parking", "question": "long_stay", "statement": told,
              "evidence": [quote("cycle parking for 250 cycles will be provided", 2)], "looked_for": ["bedrooms of the homes"]}  # fmt: skip
    verdict(draft, **absent)
    assert verdict(draft, **absent, id="F1")[0] == "verified"
    point = draft.state.held["F1"].open_point
    assert point is not None
    assert point.reason == told


def test_what_was_not_shown_becomes_an_open_point_and_never_a_failure() -> None:
    draft = draft_of()
    draft.read("D1", 1, to=2)
    answer = verdict(
        draft, aspect="cycle_parking", question="larger_cycles", outcome="not_shown", evidence=[], recommendation=None,
        statement="We looked for room for cargo bikes and found none.", looked_for=["cargo bikes", "adapted cycles"],
    )  # fmt: skip
    assert answer == ("verified", "")
    judgement = draft.conclude(None, model="test")
    parking = judgement.aspects[0]
    [point] = [one for one in parking.not_assessed if one.check == "larger_cycles"]
    assert point.reason == "We looked for room for cargo bikes and found none."
    assert all(one.outcome != "failed" for one in parking.findings)


def test_an_open_point_keeps_what_was_said_of_it_and_what_is_asked_for() -> None:
    draft = draft_of()
    draft.read("D1", 1, to=2)
    assert verdict(draft)[0] == "verified"
    open_point = {"question": None, "requirement": "The collision record", "outcome": "not_shown",
                  "looked_for": ["collision survey"], "recommendation": "Survey the path within six months, from 07:00 to 19:00.",
                  "statement": "The path along Mill Lane is 2.5 m wide. The plans do not show a survey."}  # fmt: skip
    first, reason = verdict(draft, **open_point)
    assert (first, reason.startswith("Tell each absence as your search")) == ("returned", True)
    assert verdict(draft, **open_point, id="F2") == ("verified", "")
    points = [one for aspect in draft.conclude(None, model="test").aspects for one in aspect.not_assessed]
    [point] = [one for one in points if one.check == "other"]
    assert point.reason.startswith("We looked for collision survey and found nothing that settles it")
    assert point.reason.endswith("The path along Mill Lane is 2.5 m wide.")
    assert point.request == "Survey the path within six months, from 07:00 to 19:00"


def test_one_question_may_be_met_for_some_and_fail_for_others() -> None:
    draft = draft_of()
    assert verdict(draft, outcome="failed", statement="At 2.5 m the path is too narrow.")[0] == "verified"
    words = "Secure and covered cycle parking for 250 cycles will be provided in the basement"
    other = {"outcome": "met", "statement": "In the basement 250 cycles find room.", "evidence": [quote(words)]}
    assert "contradicts" not in verdict(draft, **other)[1]


def test_an_absence_is_not_accepted_before_the_page_was_read() -> None:
    text = f"{TEXT}\fCargo bikes and adapted cycles can use two larger bays at the entrance.\n"
    draft = draft_of(text)
    given = {"aspect": "cycle_parking", "question": "larger_cycles", "outcome": "not_shown", "evidence": []}
    answer = verdict(draft, **given, looked_for=["cargo bikes adapted cycles"])
    assert answer[0] == "returned"
    assert "You have not read D1 page 3" in answer[1]


def test_facts_are_kept_if_their_words_are_on_the_page() -> None:
    draft = draft_of()
    good = DraftFact(
        topic="cycle_parking.long_stay", status="proposed", polarity="provides",
        quote=Quote(document="D1", page=1, words="cycle parking for 250 cycles will be provided"),
    )  # fmt: skip
    bad = good.model_copy(update={"quote": Quote(document="D1", page=1, words="cycle parking for 900 cycles")})
    assert [one.verdict for one in draft.submit_facts([good, bad])] == ["verified", "dropped"]
    assert [(fact.reader, fact.source.page) for fact in draft.state.facts] == [("model", 1)]


def test_the_readers_own_status_counts_against_its_finding() -> None:
    draft = draft_of()
    words = "Secure and covered cycle parking for 250 cycles will be provided in the basement"
    fact = DraftFact(
        topic="cycle_parking.long_stay", status="other_scheme", quote=Quote(document="D1", page=1, words=words)
    )
    draft.submit_facts([fact])
    given = {"aspect": "cycle_parking", "question": "quality", "outcome": "met", "statement": "Parking is covered."}
    assert "other scheme" in verdict(draft, **given, evidence=[quote(words)])[1]


async def test_policy_found_by_a_search_can_be_cited_with_its_words() -> None:
    draft = draft_of()
    passage = PolicyPassage(
        "X1", "Shared paths beside Mill Lane must be lit.", "LTN_1_20", "rev_LTN_1_20_2020_07", "2020", "9.9", 1
    )

    async def ask(query: str) -> list[PolicyPassage]:
        return [passage]

    [label] = await draft.search_policy("lighting", ask)
    assert "without its words" in verdict(draft, policy=[{"policy": label}])[1]
    cited = PolicyQuote(policy=label, words="Shared paths beside Mill Lane must be lit")
    assert verdict(draft, policy=[cited.model_dump()], id="F1")[0] == "verified"
    again = ReviewDraft.from_state(evidence_of_text(TEXT), ASPECTS, json.loads(json.dumps(draft.to_state())))
    assert again.labels.find(label) == passage
    assert again.verified() == draft.verified()


def test_a_second_reader_sends_a_finding_back_once_and_then_it_is_gone() -> None:
    draft = draft_of()
    verdict(draft)
    assert draft.record_support("F1", "overstated", "the path is only part of it").verdict == "returned"
    assert verdict(draft, id="F1")[0] == "verified"
    assert draft.record_support("F1", "not_supported", "still").verdict == "dropped"
    assert draft.verified() == {}


def test_discrepancies_are_reported_unless_a_reader_dismisses_them() -> None:
    text = "A total of 144 cycle parking spaces is proposed, comprising 127 spaces in racks and 7 spaces on stands."
    draft = draft_of(text)
    [candidate] = draft.orientation().candidates
    kept = [f.outcome for one in draft.conclude(None, model="test").aspects for f in one.findings]
    assert "contradicted" in kept
    assert [one.verdict for one in draft.dismiss([Dismissal(candidate="C9", why="no such one")])] == ["dropped"]
    draft.dismiss([Dismissal(candidate=candidate.id, why="Ten more are described on the next page")])
    left = [f.outcome for one in draft.conclude(None, model="test").aspects for f in one.findings]
    assert "contradicted" not in left


def test_the_profile_is_corrected_by_words_of_the_documents() -> None:
    draft = draft_of()
    wrong = ProfileCorrection(uses=("office",), quote=Quote(document="D1", page=1, words="an office block"))
    assert draft.correct_profile(wrong).verdict == "dropped"
    right = ProfileCorrection(uses=("dwellings", "office"), quote=Quote(document="D1", page=1, words="in the basement"))
    assert draft.correct_profile(right).verdict == "verified"
    asked = {question.id for one in draft.orientation().aspects for question in one.questions}
    assert "facilities" in asked


def test_a_conclusion_keeps_only_sentences_that_rest_on_what_counts() -> None:
    draft = draft_of()
    verdict(draft)
    given = DraftConclusion(
        summary=(
            SummarySentence(text="Two hundred homes are proposed."),
            SummarySentence(text="The shared path along Mill Lane is 2.5 m wide.", rests_on=("F1",)),
            SummarySentence(text="It narrows to 1.2 m.", rests_on=("F1",)),
            SummarySentence(text="Lighting is poor.", rests_on=("F9",)),
            SummarySentence(text="The layout is dangerous for everybody.", part="decides"),
            SummarySentence(text="The layout is excellent for walking.", part="good"),
        ),
        recommendations=(
            Cited(text="Widen the shared path along Mill Lane.", rests_on=("F1",)),
            Cited(text="Do more."),
        ),
        conditions=(
            Cited(text="The path shall be widened before any home is occupied.", rests_on=("F1",)),
            Cited(text="The path shall be widened where possible.", rests_on=("F1",)),
        ),
        stance="object",
        main=("F1", "F9"),
    )
    dropped = {one.id for one in draft.check_conclusion(given)}
    assert dropped == {
        "summary 3", "summary 4", "summary 5", "summary 6", "recommendations 2", "conditions 2",
    }  # fmt: skip
    judgement = draft.conclude(given, model="test")
    conclusion = judgement.conclusion
    assert conclusion is not None
    assert [one.text for one in conclusion.summary][1] == "The shared path along Mill Lane is 2.5 m wide."
    assert len(conclusion.summary) == 2
    assert (len(conclusion.recommendations), len(conclusion.conditions)) == (1, 1)
    assert len(conclusion.main) == 1


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("Widen the shared path.", True),
        ("Mill Lane: provide a wider route.", True),
        ("Widen it to 3.0 m.", True),
        ("Do more about this.", False),
        ("The proposals should be strengthened.", False),
    ],
)
def test_a_recommendation_names_something_that_its_findings_speak_of(text: str, holds: bool) -> None:
    draft = draft_of()
    verdict(draft)
    given = DraftConclusion(
        summary=(SummarySentence(text="Two hundred homes are proposed."),),
        recommendations=(Cited(text=text, rests_on=("F1",)),),
        stance="comment",
    )
    reasons = [reason for one in draft.check_conclusion(given) for reason in one.reasons]
    assert (not reasons) is holds, reasons
    assert holds or "name the place" in reasons[0]


def test_ratings_follow_from_outcomes_and_pass_the_final_verification() -> None:
    draft = draft_of()
    verdict(draft, outcome="failed")
    judgement = draft.conclude(None, model="test")
    after, count = verify(judgement, draft.evidence)
    assert count.dropped == 0, count.notes
    routes = after.aspects[1]
    assert routes.findings == judgement.aspects[1].findings
    assert (routes.rating, routes.assessed) == (judgement.aspects[1].rating, judgement.aspects[1].assessed)


@pytest.mark.parametrize(
    ("sentence", "holds"),
    [
        ("LTN 1/20, Table 6-3 asks for shared routes at least 3.0 m wide.", True),
        ("LTN 1/20, Table 99-9 asks for shared routes at least 3.0 m wide.", False),
        ("NPPF, paragraph 999 asks for wide paths.", False),
    ],
)
def test_a_sentence_names_only_sections_that_were_looked_up(sentence: str, holds: bool) -> None:
    draft = draft_of()
    draft.submit_findings([finding()])
    given = DraftConclusion(summary=(SummarySentence(text=sentence, rests_on=("F1",)),), stance="comment")
    left_out = draft.check_conclusion(given)
    assert [one.id for one in left_out] == ([] if holds else ["summary 1"])


def test_the_limits_that_a_conclusion_is_told_are_those_that_are_enforced() -> None:
    enforced = DraftConclusion.model_json_schema()["properties"]
    for part in ("summary", "recommendations", "conditions", "main", "letter"):
        most = enforced[part]["maxItems"] - (part == "letter")  # one more entry welcomes what is good
        assert f"- `{part}`: at most {most} " in CONCLUDE.replace(",", " "), part
    assert "One more entry of the letter may welcome what is good" in CONCLUDE
