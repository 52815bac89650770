"""Whose letter a document is, and that it is no report, is told by its first page as well as by its name."""

from __future__ import annotations

import pytest
from benchmarks.reading.applications import own_applications
from written_samples import written_evidence

from trigpoint.reading.documents import Document
from trigpoint.reading.sources import source_kind_of
from trigpoint.review.agent.shown import application
from trigpoint.review.draft import ReviewDraft
from trigpoint.text.classify import DocumentClassifier
from trigpoint.text.letters import letter_writer

WRITER = {
    "Response": "consultee",
    "County_Highways": "consultee",
    "Comment": "public",
    "Campaign": "public",
    "Resident": "public",
    "Parish_Council": "public",
    "Town_Council": "public",
    "Objection": "public",
    "Representation": "public",
    "Committee_Report": "council",
    "Officer_Note": "council",
}
DOCUMENTS = [(one.name, document) for one in own_applications() for document in one.documents]
NAMED = pytest.mark.parametrize("named", [True, False], ids=["named", "named Document 7.pdf"])


def _writer(name: str) -> str:
    return next((kind for word, kind in WRITER.items() if word in name), "applicant")


@NAMED
@pytest.mark.parametrize("document", [one for _, one in DOCUMENTS], ids=[f"{a}/{d.name}" for a, d in DOCUMENTS])
def test_letters_are_told_from_the_applicants_documents(document: Document, named: bool) -> None:
    name = document.name if named else "Document 7.pdf"
    wanted = _writer(document.name)
    assert source_kind_of(name, document.text) == wanted
    found = DocumentClassifier().classify(name, document.text).document_type
    assert found == "other" or wanted == "applicant"
    if named and ("Transport" in document.name or "Travel_Plan" in document.name):
        assert found == "transport_assessment"


@pytest.mark.parametrize(
    ("text", "writer"),
    [
        (
            "Thank you for consulting us.\nOur ref: 12. The site location plan and the flood risk assessment are noted.",
            "consultee",
        ),
        (
            "MEMORANDUM\nTo: Planning. From: Highways Officer\nConsultation response: no objection. Location plan seen.",
            "consultee",
        ),
        ("Little Barton Parish Council\nDear Sir, flood risk, flood risk, flood zone. The council objects.", "public"),
        ("Dear Sir or Madam,\nI object to the extension. The location plan is wrong.", "public"),
        (
            "# Barton Cycling Forum\nDear Mr Hale,\nWe have read the location plan. A white line is not enough.",
            "public",
        ),
        (
            "Barton Community Council\nTo: Planning, Barton City Council\nMembers resolved to offer qualified support.",
            "public",
        ),
        ("Barton Housing Association\nDear Sir,\nwe enclose the planning statement and the location plan.", None),
        ("Dear Sir,\nOn behalf of our client we submit the planning statement and the location plan.", None),
        ("Transport Assessment\nPrepared for Barton Homes. Our ref: 77. Submitted to Barton County Council.", None),
        ("Flood Risk Assessment\n1 Introduction. The Environment Agency was consulted.", None),
    ],
)
def test_a_letter_is_known_by_its_first_page(text: str, writer: str | None) -> None:
    assert letter_writer(text) == writer
    if writer:
        assert DocumentClassifier().classify("Scan 4.pdf", text).document_type == "other"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Planning officer's note to file\nCase officer: J Mills\nThe transport statement says 40 spaces.", "council"),
        ("Urban Design Officer: note to case officer\nWestmarsh Council\nThe store is behind the bins.", "council"),
        ("Update for members\nPlanning Committee 9 July, item 6\nThe highway authority has replied.", "council"),
        ("Minutes of the Planning Committee\nMembers resolved to defer the application.", "council"),
        ("Notice of decision\nThe council grants planning permission subject to conditions.", "council"),
        ("Screening opinion\nThe local planning authority is of the opinion that no EIA is required.", "council"),
        ("Pre-application advice\nDear Mr Hall\nThe principle is acceptable. Without prejudice.", "council"),
        ("File note\nFrom: Parking Services\nTo: Case officer\nWe counted 31 cars on Mill Lane.", "council"),
        ("Memorandum\nTo: Case officer\nFrom: Tree Officer\nThe oak should stay.", "consultee"),
        ("Sustainable Travel Officer\nNorthshire County Council\nComments on application 26/41", "consultee"),
        ("Request for a screening opinion\nPrepared by Hale Planning for Barr Homes", "applicant"),
        ("Technical note\nResponse to Northshire County Council's consultation response of 3 May", "applicant"),
        ("Statement of Community Involvement\nOne resident wrote: we object to the traffic.", "applicant"),
        ("Planning note to the council\nPrepared by Hale Planning on behalf of Barr Homes", "applicant"),
    ],
)
def test_who_wrote_a_paper_is_read_from_its_title_and_its_head(text: str, kind: str) -> None:
    assert source_kind_of("Document 7.pdf", text) == kind
    if kind != "applicant":
        assert DocumentClassifier().classify("Document 7.pdf", text).document_type == "other"


def test_the_model_is_told_what_a_letter_is_and_who_sent_it() -> None:
    shown = application(ReviewDraft(written_evidence("barn-tithe-lane"), ()).orientation())
    assert "03_Highways_Consultation_Response.md (consultation response, by the consultee" in shown
    assert "04_Parish_Council_Comment.md (representation, by the public" in shown


@pytest.mark.parametrize(
    ("text", "writer"),
    [
        (
            "# Marlow & District Cycle Campaign\nComments on AB/26/00417/FUL\n\nWe are a group of 210 members. "
            "We do, however, object to the scheme as it stands.",
            "public",
        ),
        (
            "From: Pedal Marlow <us@pedal.example>\nTo: planning comments\nSent: 14 April 2026\nSubject: objection\n\n"
            "Hello,\n\nPlease take this as our group's comment.",
            "public",
        ),
        (
            "**MARLOW TOWN COUNCIL**\n*Extract from the minutes of the Planning Committee held on 13 April 2026*\n\n"
            "It was RESOLVED that the Town Council OBJECTS to the application.",
            "public",
        ),
        (
            "**MEMORANDUM**\n\nFrom: Transport Development\nTo: Planning case officer\n\nPosition: not agreed.",
            "consultee",
        ),
        ("# Planning Statement\n\nThe site is next to the Town Council's offices. Sixty homes are proposed.", None),
    ],
)
def test_the_writer_of_a_letter_is_known_by_its_head(text: str, writer: str | None) -> None:
    assert letter_writer(text) == writer


def test_an_addendum_is_no_document_that_it_only_mentions() -> None:
    mentions = "# Addendum, April 2026\n\nThis note replaces page 3 of the Design and Access Statement.\n"
    assert DocumentClassifier().classify("05_addendum.md", mentions).document_type == "other"
    own = "# Addendum to the Transport Assessment\n\nThe Design and Access Statement is unchanged.\n"
    assert DocumentClassifier().classify("05_addendum.md", own).document_type == "transport_assessment"
