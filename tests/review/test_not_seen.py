"""Documents that the application names and that nobody has read are said, so that nobody asks for what is there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from review_samples import evidence_of_text

from trigpoint.reading.documents import Document, pages_by_form_feed
from trigpoint.review.agent import shown
from trigpoint.review.aspects import load_aspects
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.evidence import Evidence
from trigpoint.review.london import is_in_london
from trigpoint.review.not_seen import not_seen
from trigpoint.review.titles import title_of, titles_of


def _document(name: str, text: str) -> Document:
    return Document(id=name, name=name, text=text, source_kind="applicant", pages=pages_by_form_feed(text))


def _evidence(*documents: Document) -> Evidence:
    return replace(evidence_of_text("Nothing."), documents=documents)


STATEMENT = _document(
    "01_planning_statement.md",
    "# Planning Statement\n\nThe application is supported by a Transport Assessment and a Travel Plan.\n\n"
    "The Transport Assessment Addendum answers the points of the council.\n\n"
    "A Construction Traffic Management Plan will be submitted before work starts.\n",
)
ASSESSMENT = _document("02_TA.md", "# Transport Assessment\n\nThe site is flat.\n")


def test_documents_that_are_named_and_not_read_are_told_with_the_place_that_names_them() -> None:
    assert not_seen(_evidence(STATEMENT, ASSESSMENT)) == (
        "the Travel Plan (named in Planning Statement)",
        "the Transport Assessment Addendum (named in Planning Statement)",
    )
    plan = _document("03_framework_travel_plan.md", "# Framework Travel Plan\n\nTargets follow.\n")
    addendum = _document("04_addendum.md", "# Addendum to the Transport Assessment\n\nThe path is wider.\n")
    assert not_seen(_evidence(STATEMENT, ASSESSMENT, plan, addendum)) == ()


def test_pages_after_the_last_one_and_parts_that_are_missing_are_told() -> None:
    contents = "Contents\nIntroduction 2\nSite 2\nRevised layout 4\nRevised parking and cycle strategy 5\n"
    cut = _document("DESIGN_STATEMENT_PART_2_OF_3.pdf", f"{contents}\fThe site is flat.\fThe end of this part.\n")
    told = not_seen(_evidence(cut))
    assert told[0] == "parts 1, 3 of Design Statement"
    assert "pages 4 to 5 of Design Statement Part 2 of 3, which ends at page 3" in told[1]
    assert "Revised parking and cycle strategy" in told[1]
    whole = _document("statement.pdf", f"{contents}\fOne.\fTwo.\fThree.\fFour.\n")
    assert not_seen(_evidence(whole)) == ()


def test_a_document_whose_file_says_nothing_is_called_what_it_calls_itself() -> None:
    addendum = _document("PA_25_00973_A1-ADDENDUM-2294022.pdf", "Planning Statement\nAddendum\n\nThe site is flat.\n")
    spaced = _document("ADDENDUM_PART_1.pdf", "D E S I G N & A C C E S S A D D E N D U M\n\nThe site is flat.\n")
    report = Document(
        id="r",
        name="SOS_REFERRAL_-_ATTACHMENT.pdf",
        text="PLANNING COMMITTEE\n10 June 2026\nCase officer: A\n",
        source_kind="council",
    )
    assert title_of(addendum) == "Planning Statement Addendum"
    assert title_of(spaced) == "Design and Access Statement Addendum Part 1"
    assert title_of(report) == "Committee Report"
    assert titles_of([addendum, STATEMENT]) == {addendum.name: "Planning Statement Addendum"}
    assert "= Planning Statement Addendum (" in shown.application(
        ReviewDraft(_evidence(addendum), load_aspects()).orientation()
    )


def test_the_model_is_told_what_is_named_and_not_read() -> None:
    draft = ReviewDraft(_evidence(STATEMENT, ASSESSMENT), load_aspects())
    told = shown.application(draft.orientation())
    assert "Named in these documents, and not among them:\n- the Travel Plan (named in Planning Statement)" in told
    assert "02_TA.md = Transport Assessment (document, by the applicant" in told


@pytest.mark.parametrize(
    ("authority", "london"),
    [
        ("tower-hamlets", True),
        ("london-borough-of-camden", True),
        ("city-of-london", True),
        ("brentwood-borough-council", False),
        ("uttlesford-district-council", False),
        ("", False),
    ],
)
def test_the_london_plan_is_missed_in_london_only(authority: str, london: bool) -> None:
    assert is_in_london(authority) is london
