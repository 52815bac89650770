"""Who members of the public are does not enter a review; roles, figures and offsets do."""

from __future__ import annotations

import re
import time

import pytest
from benchmarks.masking_score import score
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from scripted_servers import Servers

from trigpoint.reading.profile import Application
from trigpoint.review.aspects import aspect
from trigpoint.review.gather import EvidenceRequest, gather_evidence
from trigpoint.review.people import MASK, is_public_comment, name_without_people, without_people

COMMENT = """Comment submitted by: Jane Q. Example
Address: 14 Orchard Close, Bicester OX26 1AB
Dear Mr Planner,
I object. My name is Jane Example and I live at 14 Orchard Close. The path is 1.5 m wide and 200 homes are proposed.
Call me on 07700 900123 or write to jane.example@mail.example.
Yours sincerely,

J Example
"""


def test_a_comment_keeps_its_argument_and_loses_its_author() -> None:
    shown = without_people(COMMENT, "public")
    for secret in ("Jane", "Example", "Orchard", "OX26", "07700", "900123", "mail.example"):
        assert secret not in shown, secret
    assert "Dear Mr Planner," in shown  # the officer to whom it is written
    assert "I object." in shown
    assert "The path is 1.5 m wide and 200 homes are proposed." in shown
    assert len(shown) == len(COMMENT)
    assert [line == "" for line in shown.splitlines()] == [line == "" for line in COMMENT.splitlines()]
    assert MASK in shown


def test_a_form_keeps_the_site_and_loses_contact_details() -> None:
    form = "Site: 14 Orchard Close\nApplicant: Ms Ann Other\nEmail: ann@x.example Tel 01865 123456\nDwellings: 200"
    shown = without_people(form, "applicant", form=True)
    assert "14 Orchard Close" in shown
    assert "Dwellings: 200" in shown
    for secret in ("Ann Other", "ann@x", "01865"):
        assert secret not in shown


FORM = """Application for Planning Permission. Town and Country Planning Act 1990
1. Site Address
Address line 1: Ploughley Road
2. Applicant Details
First name: Alasdair
Surname: Fenwick
Email: alasdair@example.com
4. Description of the Proposal
Erection of 12 dwellings with 12 cycle spaces
"""
STATEMENT = """Planning Statement in support of an application for planning permission
Prepared by Sunita Rao for Keystone Planning Ltd, email: s.rao@example.co.uk
The applicant details the cycle parking in section 4.
"""


async def _no_progress(share: float, detail: str) -> None:
    return None


@pytest.mark.parametrize(
    ("name", "text", "masked"),
    [
        ("Application Form.pdf", FORM, True),
        ("4711.pdf", FORM, True),
        ("Transport Statement.pdf", STATEMENT, False),
        ("4712.pdf", STATEMENT, False),
    ],
)
async def test_a_review_reads_a_form_without_its_people_whatever_type_the_store_gave_it(
    name: str, text: str, masked: bool
) -> None:
    stored = {"file_path": f"/d/{name}", "document_type": "other", "text": text, "pages": []}
    wanted = EvidenceRequest(
        Application(reference="25/01178/REM", proposal="12 dwellings"), "2025-05-21", (aspect("cycle_parking"),)
    )
    evidence = await gather_evidence(Servers(get_document_text=stored), wanted, _no_progress)
    (read,) = evidence.documents
    assert len(read.text) == len(text)
    if not masked:
        assert read.text == text
        return
    for secret in ("Alasdair", "Fenwick", "alasdair@example.com"):
        assert secret not in read.text, secret
    assert "Ploughley Road" in read.text
    assert "12 dwellings with 12 cycle spaces" in read.text


@pytest.mark.parametrize("kind", ["applicant", "consultee", "council"])
def test_other_documents_are_read_as_they_are(kind: str) -> None:
    assert without_people(COMMENT, kind) == COMMENT


def test_comments_are_not_named_after_their_authors() -> None:
    assert name_without_people("Jane Example.pdf", "public", "25_01178_REM_a1b2c3") == "Public comment a1b2c3.pdf"
    masked = name_without_people("03_Jane_Example.md", "public", "03_Jane_Example.md")
    assert re.fullmatch(r"Public comment [0-9a-f]{6}\.md", masked)
    council = "04_Stoke_Gifford_Parish_Council.md"
    assert name_without_people(council, "public", council) == "Public comment Stoke Gifford Parish Council.md"
    group = "04_Objection_Portmarsh_Cycling_Campaign.md"
    assert name_without_people(group, "public", group) == "Public comment Portmarsh Cycling Campaign.md"
    assert name_without_people("Mr Hall of the Society.pdf", "public", "x_a1") == "Public comment a1.pdf"
    assert name_without_people("Transport Assessment.pdf", "applicant", "x_1") == "Transport Assessment.pdf"
    assert is_public_comment("Public comment a1b2c3.pdf")
    assert not is_public_comment("Planning Statement.pdf")


@pytest.mark.parametrize(("half", "recall", "over_masked"), [("first", 0.98, 0.02), ("second", 0.90, 0.02)])
def test_personal_items_go_and_officers_places_and_figures_stay(half: str, recall: float, over_masked: float) -> None:
    found = score(half, without_people)
    assert found.recall >= recall, f"{len(found.missed)} of {found.personal} are left"
    assert found.over_masked <= over_masked, f"{len(found.lost)} of {found.kept} are gone"


PIECES = st.sampled_from(
    [
        "Mr ",
        "Ann ",
        "Name: ",
        "| ",
        "\n",
        "  ",
        "Yours sincerely\n",
        "OX1 2AB",
        "12 High Street",
        "@x.example",
        "\f",
        "é",
        ",",
        "01865",
    ]
)


@examples(max_examples=200, deadline=None)
@given(
    st.lists(PIECES | st.text(max_size=8), max_size=30),
    st.sampled_from([("public", False), ("applicant", True)]),
)
def test_masking_never_moves_a_sign(pieces: list[str], kind: tuple[str, bool]) -> None:
    text = "".join(pieces)
    masked = without_people(text, kind[0], form=kind[1])
    assert len(masked) == len(text)
    assert all(new in (old, MASK) for old, new in zip(text, masked, strict=True))


@pytest.mark.parametrize("piece", ["a", "A. ", "Mr A\n", "my wife ", "12 Aa ", "x@", "\n", "Name | "])
def test_no_text_takes_long(piece: str) -> None:
    began = time.process_time()
    without_people(piece * (60_000 // len(piece)), "public")
    assert time.process_time() - began < 60  # it takes less than a second; a pattern that backtracks takes hours
