"""Who members of the public are does not enter a review; roles, figures and offsets do."""

from __future__ import annotations

import pytest

from trigpoint.review.people import MASK, name_without_people, without_people

COMMENT = """Comment submitted by: Jane Q. Example
Address: 14 Orchard Close, Bicester OX26 1AB
Dear Mr Planner,
I object. My name is Jane Example and I live at 14 Orchard Close. The path is 1.5 m wide and 200 homes are proposed.
Call me on 07700 900123 or write to jane.example@mail.example.
Yours sincerely,

J Example
"""


def test_a_comment_keeps_its_argument_and_loses_its_author() -> None:
    shown = without_people(COMMENT, "public", "other")
    for secret in ("Jane", "Example", "Orchard", "OX26", "07700", "900123", "mail.example", "Planner"):
        assert secret not in shown, secret
    assert "I object." in shown
    assert "The path is 1.5 m wide and 200 homes are proposed." in shown
    assert len(shown) == len(COMMENT)
    assert [line == "" for line in shown.splitlines()] == [line == "" for line in COMMENT.splitlines()]
    assert MASK in shown


def test_a_form_keeps_the_site_and_loses_contact_details() -> None:
    form = "Site: 14 Orchard Close\nApplicant: Ms Ann Other\nEmail: ann@x.example Tel 01865 123456\nDwellings: 200"
    shown = without_people(form, "applicant", "application_form")
    assert "14 Orchard Close" in shown
    assert "Dwellings: 200" in shown
    for secret in ("Ann Other", "ann@x", "01865"):
        assert secret not in shown


@pytest.mark.parametrize("kind", ["applicant", "consultee", "council"])
def test_other_documents_are_read_as_they_are(kind: str) -> None:
    assert without_people(COMMENT, kind, "transport_assessment") == COMMENT


def test_comments_are_not_named_after_their_authors() -> None:
    assert name_without_people("Jane Example.pdf", "public", "25_01178_REM_a1b2c3") == "Public comment a1b2c3.pdf"
    assert name_without_people("Transport Assessment.pdf", "applicant", "x_1") == "Transport Assessment.pdf"
