"""Words elsewhere that turn a point: shown to the second reader, and what they overtake is left out of the review."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from review_samples import document, evidence_of_text
from test_draft import finding, quote

from trigpoint.review.agent import shown
from trigpoint.review.agent.shown_claims import claim
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.elsewhere import MOST_SHOWN, pages_that_secure
from trigpoint.review.submitted import DraftConclusion, SummarySentence

PLAN = (
    "1 Access\n\nAn uncontrolled crossing of Mill Lane with a refuge 1.5 m deep is proposed.\n\nTrees line the green.\n"
)
ANSWER = (
    "1 Response to the county council\n\nThe uncontrolled crossing of Mill Lane is replaced by a toucan crossing.\f"
    "2 Recommended conditions\n\n3. The toucan crossing shall be open before the first home is occupied.\n"
)
CROSSING: dict[str, Any] = {
    "aspect": "junctions", "question": None, "requirement": "Refuges deep enough for a cycle", "outcome": "failed",
    "statement": "An uncontrolled crossing of Mill Lane with a refuge 1.5 m deep is proposed.", "recommendation": None,
    "evidence": [quote("An uncontrolled crossing of Mill Lane with a refuge 1.5 m deep is proposed")],
}  # fmt: skip
TOUCAN: dict[str, Any] = {
    "aspect": "junctions", "question": None, "requirement": "Crossings that suit the road", "outcome": "met",
    "statement": "The uncontrolled crossing of Mill Lane is replaced by a toucan crossing.", "recommendation": None,
    "evidence": [quote("The uncontrolled crossing of Mill Lane is replaced by a toucan crossing") | {"document": "D2"}],
}  # fmt: skip


def draft_of(*texts: str) -> ReviewDraft:
    return ReviewDraft(evidence_of_text(*texts), ("junctions",))


def test_the_second_reader_sees_what_another_document_says_of_the_same() -> None:
    draft = draft_of(PLAN, ANSWER)
    draft.submit_findings([finding(**CROSSING)])
    said = [hit.text for hit in draft.also_said(draft.state.held["F1"])]
    assert said[0] == "The uncontrolled crossing of Mill Lane is replaced by a toucan crossing."
    assert not any("refuge" in one for one in said)  # what the finding quotes itself
    told = claim("F1", draft.verified()["F1"], draft)
    assert "   also said: D2 p1 “The uncontrolled crossing of Mill Lane is replaced by a toucan crossing.”" in told


def test_of_many_statements_on_the_same_no_more_than_two_of_a_document_are_shown() -> None:
    repeated = "1 Access\n\n" + "".join(f"The crossing of Mill Lane has refuge number {n}.\n\n" for n in range(9))
    draft = draft_of(PLAN, repeated, ANSWER)
    draft.submit_findings([finding(**CROSSING)])
    hits = draft.also_said(draft.state.held["F1"])
    assert [hit.label for hit in hits].count("D2") == 2
    assert "D3" in [hit.label for hit in hits]
    assert len(hits) <= MOST_SHOWN


def test_the_judge_is_told_where_conditions_are_listed() -> None:
    draft = draft_of(PLAN, ANSWER)
    assert list(pages_that_secure(draft.sheets)) == [("D2", (2,))]
    assert shown.secured(draft.sheets) == "Conditions and obligations are listed in D2 page 2."
    assert shown.secured(draft_of(PLAN).sheets) == ""


def test_the_second_reader_is_told_which_quotations_come_from_ocr() -> None:
    scanned = document(PLAN)
    pages = tuple(page.model_copy(update={"by_ocr": True}) for page in scanned.pages)
    for read in (scanned, scanned.model_copy(update={"pages": pages})):
        draft = ReviewDraft(replace(evidence_of_text(PLAN), documents=(read,)), ("junctions",))
        draft.submit_findings([finding(**CROSSING)])
        told = claim("F1", draft.verified()["F1"], draft)
        assert ("page [1], read by OCR: “An uncontrolled" in told) == (read is not scanned)


def test_a_finding_that_another_one_overtakes_is_left_out_with_all_that_rests_on_it() -> None:
    draft = draft_of(PLAN, ANSWER)
    draft.submit_findings([finding(**CROSSING), finding(**TOUCAN)])
    assert set(draft.verified()) == {"F1", "F2"}
    given = DraftConclusion(
        summary=(
            SummarySentence(text="A toucan crossing of Mill Lane is proposed.", rests_on=("F2",)),
            SummarySentence(text="The refuge is 1.5 m deep.", rests_on=("F1",)),
        ),
        stance="comment",
        overtaken=("F1",),
    )
    [wrong] = draft.check_conclusion(given)
    assert (wrong.id, wrong.reasons) == ("summary 2", ("F1 is not a finding that counts",))
    judged = draft.conclude(given, model="test")
    [crossing] = [one for aspect in judged.aspects for one in aspect.findings if "-f" in one.check]
    assert crossing.text == TOUCAN["statement"]
    assert judged.conclusion is not None
    assert [one.text for one in judged.conclusion.summary] == ["A toucan crossing of Mill Lane is proposed."]
    quality = draft.quality()
    assert [(one.id, one.by, one.why) for one in quality.left_out] == [
        ("F1", "conclusion", "words that another finding quotes answer or replace it")
    ]
    assert quality.submitted == quality.verified + quality.merged + quality.dropped
