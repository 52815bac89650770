"""A claim that says more than its words is sent back once for other words, and never dropped for that; findings that agree or differ."""

from __future__ import annotations

from typing import Any

import pytest
from review_samples import document, make_evidence
from test_draft import finding, quote
from test_held_findings import ASPECTS

from trigpoint.reading.profile import Application
from trigpoint.review.draft import ReviewDraft

TEXT = (
    "1 Proposed development\n\nThe shared path along Mill Lane will be lit, subject to the agreement of the landowner.\n\n"
    "All homes will have a cycle store.\n\nA shared path 2.5 m wide will be built along Mill Lane.\n\n"
    "The seven side roads will have raised tables.\n\nThe houses will have 2 cycle spaces each and the flats 1 cycle space each.\n"
)
LETTER = (
    "Dear Sir, thank you for consulting the highway authority. The path along Mill Lane is too narrow. Yours faithfully"
)
OTHER: dict[str, Any] = {"question": None, "requirement": "Good paths", "recommendation": None}


def draft_of() -> ReviewDraft:
    documents = document(TEXT), document(LETTER, 2, name="Highway authority response.pdf")
    application = Application(reference="25/01178/REM", proposal="Erection of 200 dwellings", authority="cherwell")
    return ReviewDraft(make_evidence(documents, application), ASPECTS)


def reasons(words: str, statement: str, outcome: str = "failed", document: str = "D1") -> str:
    given = finding(**OTHER, statement=statement, outcome=outcome, evidence=[quote(words) | {"document": document}])
    [answer] = draft_of().submit_findings([given])
    return " ".join(answer.reasons)


LIT = "The shared path along Mill Lane will be lit"
BUILT = "A shared path 2.5 m wide will be built along Mill Lane"


@pytest.mark.parametrize(
    ("words", "right", "too_much"),
    [
        (BUILT, "A path 2.5 m wide is proposed along Mill Lane.", "All shared paths are 2.5 m wide."),
        (BUILT, "A path 2.5 m wide is proposed along Mill Lane.", "The path is 2.5 m wide throughout."),
        ("All homes will have a cycle store", "Every home has a cycle store.", ""),
        ("The seven side roads will have raised tables", "All seven side roads have raised tables.", ""),
        (LIT, "The path along Mill Lane will be lit if the landowner agrees.", "The path along Mill Lane will be lit."),
    ],
)  # fmt: skip
def test_a_word_of_the_whole_or_a_hedge_left_out_is_sent_back(words: str, right: str, too_much: str) -> None:
    assert reasons(words, right) == ""
    assert not too_much or reasons(words, too_much) != ""


def test_a_consultees_view_is_told_as_theirs() -> None:
    words = "The path along Mill Lane is too narrow"
    assert "say whose view it is" in reasons(words, "The path along Mill Lane is too narrow.", "failed", "D2")
    told = "The highway authority says that the path along Mill Lane is too narrow."
    assert "whose view" not in reasons(words, told, "failed", "D2")


def test_what_says_too_much_is_not_dropped_for_it_and_the_second_reader_decides() -> None:
    draft = draft_of()
    given = finding(**OTHER, statement="The path is 2.5 m wide throughout.", evidence=[quote(BUILT)])
    assert [one.verdict for one in draft.submit_findings([given])] == ["returned"]
    draft.settle()
    assert list(draft.verified()) == ["F1"]


SPACES = "The houses will have 2 cycle spaces each and the flats 1 cycle space each"


def test_what_the_flats_lack_does_not_contradict_what_the_houses_have() -> None:
    draft = draft_of()
    parking: dict[str, Any] = {"aspect": "cycle_parking", "question": "long_stay", "recommendation": None, "evidence": [quote(SPACES)]}  # fmt: skip
    houses = finding(**parking, outcome="met", statement="The houses have 2 cycle spaces each.")
    flats = finding(**parking, outcome="failed", statement="The flats have 1 cycle space each, not 2.")
    same = finding(**parking, outcome="failed", statement="The houses have too little with 2 cycle spaces each.")
    verdicts = draft.submit_findings([houses, flats, same])
    assert [one.verdict for one in verdicts] == ["verified", "verified", "returned"]
    assert "contradicts F1" in verdicts[2].reasons[0]


def test_two_findings_of_an_aspect_from_the_same_words_are_one_and_the_fuller_stays() -> None:
    draft = draft_of()
    short = finding(**OTHER, statement="The path proposed along Mill Lane would be narrow.", evidence=[quote(BUILT)])  # fmt: skip
    full = finding(**OTHER, statement="A narrow path 2.5 m wide is proposed along Mill Lane.", evidence=[quote(BUILT)])
    draft.submit_findings([short, full])
    assert list(draft.verified()) == ["F2"]
    tables = finding(
        **OTHER,
        statement="Side roads have raised tables.",
        evidence=[quote("The seven side roads will have raised tables")],
    )
    draft.submit_findings([tables])
    assert list(draft.verified()) == ["F2", "F3"]
