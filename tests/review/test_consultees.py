"""What consultees recommend: the latest answer of each, whole, and none that was withdrawn."""

from __future__ import annotations

from dataclasses import replace

import pytest
from review_samples import evidence_of_text, result_of

from trigpoint.reading.documents import Document
from trigpoint.reading.vocabulary import SourceKind
from trigpoint.review.citing import name_in_title_case
from trigpoint.review.consultees import Recommendation, recommendations
from trigpoint.review.evidence import Evidence
from trigpoint.review.letter_draft import draft_letter
from trigpoint.review.letter_files import letter_text

HEAD = "# Essex County Council\n\n## Highways consultation response\n\n**Date:** {day}\n\n"
HOLDING = "The Highway Authority raises a holding objection to the application. Further information is required.\n"
CONTENT = "The Highway Authority raises no objection to the application, subject to conditions.\n"


def _document(name: str, text: str, kind: SourceKind = "consultee") -> Document:
    return Document(id=name, name=name, text=text, source_kind=kind)


def _said(*documents: Document) -> tuple[Recommendation, ...]:
    evidence: Evidence = replace(evidence_of_text("Nothing."), documents=documents)
    return recommendations(evidence)


def test_the_latest_answer_of_a_body_counts_whatever_the_order_of_the_files() -> None:
    first = _document("Z_Highways.md", HEAD.format(day="3 March 2026") + HOLDING)
    second = _document("A_Highways.md", HEAD.format(day="12 June 2026") + CONTENT)
    (said,) = _said(second, first)
    assert (said.position, said.date) == ("no objection", "2026-06-12")


def test_two_answers_of_which_nobody_knows_the_later_are_not_quoted() -> None:
    first = _document("1.md", HEAD.format(day="") + HOLDING)
    second = _document("2.md", HEAD.format(day="") + CONTENT)
    assert _said(first, second) == ()


@pytest.mark.parametrize(
    "words",
    [
        "Essex County Council has withdrawn its holding objection, and would like a condition.",
        "The response of 3 March is superseded by an email to the case officer.",
        "The highway authority no longer objects, having seen the revised drawings.",
        "ECC now raises no objection.",
    ],
)
def test_an_answer_that_a_later_document_calls_withdrawn_is_not_quoted(words: str) -> None:
    letter = _document("Highways.md", HEAD.format(day="3 March 2026") + HOLDING)
    report = _document("Report.md", f"# Update to committee\n\n9 July 2026\n\n{words}\n", "council")
    assert _said(letter, report) == ()


@pytest.mark.parametrize(
    "words",
    [
        "We trust that Essex County Council will withdraw its holding objection.",
        "The highway authority’s objection has not been withdrawn.",
        "Essex County Council has withdrawn its bus subsidy. The parish council maintains its objection.",
        "Natural England no longer objects.",
    ],
)
def test_an_answer_that_stands_is_quoted(words: str) -> None:
    letter = _document("Highways.md", HEAD.format(day="3 March 2026") + HOLDING)
    note = _document("Note.md", f"# Technical note\n\n9 July 2026\n\n{words}\n", "applicant")
    (said,) = _said(letter, note)
    assert said.position == "against"


def test_a_letter_quotes_the_answer_whole_with_what_limits_it() -> None:
    letter = _document("ECC_Highways_Response.md", HEAD.format(day="3 March 2026") + HOLDING)
    evidence = replace(evidence_of_text("Nothing."), documents=(letter,))
    result = result_of(evidence)
    review = result.review.model_copy(update={"consultees": recommendations(evidence)})
    printed = " ".join(letter_text(draft_letter(result.model_copy(update={"review": review}))).split())
    assert (
        "Essex County Council wrote on 3 March 2026: “The Highway Authority raises a holding objection to the application. "
        "Further information is required” (ECC Highways Response)."
    ) in printed


def test_a_long_answer_is_never_cut_within_a_sentence() -> None:
    long = (
        "The Highway Authority raises a holding objection to the application because the junction of the site access with "
        "the main road has been assessed with traffic counts of a day on which the school was closed and the road was "
        "partly shut for works to the gas main, so that the queues that drivers and bus passengers would meet cannot be told."
    )
    (said,) = _said(
        _document("Highways.md", f"{HEAD.format(day='3 March 2026')}{long} Further information is required.\n")
    )
    assert said.quote.startswith(long)
    assert said.quote.endswith("required.")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("VALE OF KETTERBY DISTRICT COUNCIL", "Vale of Ketterby District Council"),
        ("stratford upon avon and the fens council", "Stratford upon Avon and the Fens Council"),
    ],
)
def test_small_words_of_a_name_stay_small(name: str, shown: str) -> None:
    assert name_in_title_case(name) == shown
