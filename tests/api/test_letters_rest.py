"""The letter of a review over REST: a draft, versions, a conflict that loses nothing, and its files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from review_states import complete
from serving_api import running_api
from trigpoint.config import Settings
from trigpoint.review.result import ReviewResult


def result(**application: Any) -> ReviewResult:
    finding = {
        "check": "cycle_parking.long_stay",
        "requirement": "Long-stay cycle parking",
        "outcome": "failed",
        "essential": True,
        "text": "Long-stay cycle parking is below the minimum of 1 per bedroom (LTN 1/20:Table 11-1): 0.5 per dwelling",
        "evidence": [
            {
                "document": "Transport_Assessment.pdf",
                "document_id": "25_01178_REM_0a495d",
                "pages": [11],
                "passage_id": "p1",
                "quote": "Each house has 0.5 spaces.",
            }
        ],
        "policy": [
            {
                "passage_id": "t",
                "source": "LTN_1_20",
                "revision_id": "r",
                "version_label": "July 2020",
                "section_ref": "Table 11-1",
                "ref": "LTN 1/20:Table 11-1",
                "quote": "Suggested minimum",
            }
        ],
        "recommendation": "Provide one space per bedroom",
    }
    aspect = {
        "id": "cycle_parking",
        "name": "Cycle Parking",
        "rating": "red",
        "key_issue": "Too few",
        "findings": [finding],
    }
    return ReviewResult.model_validate(
        {
            "application": {"reference": "25/01178/REM", "address": "Gavray Drive", **application},
            "review": {"overall_rating": "red", "summary": "Too few.", "aspects": [aspect], "assessed": "yes"},
            "metadata": {},
        }
    )


@pytest.fixture
def place(api: httpx.Client, clean_redis_url: str) -> str:
    answer = api.post("/api/v1/reviews", json={"application_ref": "25/01178/REM"})
    complete(clean_redis_url, result(authority_name="Cherwell District Council"))
    return f"/api/v1/reviews/{answer.json()['review_id']}"


def test_the_first_draft_is_version_0_and_is_addressed_to_the_registers_council(api: httpx.Client, place: str) -> None:
    answer = api.get(f"{place}/letter").json()
    letter = answer["letter"]
    assert (answer["version"], answer["saved_at"], letter["stance"]) == (0, None, "object")
    assert letter["council"]["name"] == "Cherwell District Council"
    assert letter["suggestion"] == {"stance": "object", "why": "The overall rating is red. Rated red: cycle parking."}
    assert "(LTN 1/20, table 11-1)" in letter["grounds"][0]["text"]
    assert "The Transport Assessment says (page 11): “Each house has 0.5 spaces.”" in letter["grounds"][0]["text"]
    assert 0.1 <= answer["pages"] <= 2
    assert api.get(f"{place}/letter/versions").json()["versions"] == []


def test_versions_are_saved_listed_read_and_restored(api: httpx.Client, place: str) -> None:
    letter = api.get(f"{place}/letter").json()["letter"]
    signed = letter | {"sender": {"name": "A. Writer"}}
    saved = api.put(f"{place}/letter", json={"based_on": 0, "letter": signed})
    assert (saved.status_code, saved.json()["version"]) == (200, 1)
    api.put(f"{place}/letter", json={"based_on": 1, "letter": signed | {"opening": "Dear all."}}).raise_for_status()
    first = api.get(f"{place}/letter/versions/1").json()
    assert (first["letter"]["opening"], first["current"]) == ("", False)
    restored = api.put(f"{place}/letter", json={"based_on": 2, "letter": first["letter"]}).json()
    assert (restored["version"], restored["letter"]) == (3, first["letter"])
    listed = api.get(f"{place}/letter/versions").json()
    assert ([row["version"] for row in listed["versions"]], listed["total"]) == ([3, 2, 1], 3)


def test_of_two_editors_the_second_gets_409_and_both_texts_are_kept(api: httpx.Client, place: str) -> None:
    letter = api.get(f"{place}/letter").json()["letter"]
    api.put(f"{place}/letter", json={"based_on": 0, "letter": letter | {"opening": "Theirs."}}).raise_for_status()
    refused = api.put(f"{place}/letter", json={"based_on": 0, "letter": letter | {"opening": "Mine."}})
    assert refused.status_code == 409
    error = refused.json()["error"]
    assert error["code"] == "letter_changed"
    assert (error["details"]["current_version"], error["details"]["kept_version"]) == (1, 2)
    assert api.get(f"{place}/letter/versions/2").json()["letter"]["opening"] == "Mine."
    assert api.get(f"{place}/letter").json()["letter"]["opening"] == "Theirs."


def test_files_are_of_the_current_version(api: httpx.Client, place: str) -> None:
    letter = api.get(f"{place}/letter").json()["letter"]
    edited = letter | {"opening": "The lane floods every winter."}
    api.put(f"{place}/letter", json={"based_on": 0, "letter": edited}).raise_for_status()
    text = api.get(f"{place}/download", params={"format": "text"})
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert "The lane floods every winter." in text.text
    word = api.get(f"{place}/download", params={"format": "docx"})
    assert word.headers["content-disposition"].endswith('-letter.docx"')
    with zipfile.ZipFile(io.BytesIO(word.content)) as archive:
        assert b"The lane floods every winter." in archive.read("word/document.xml")
    assert api.get(f"{place}/download", params={"format": "letter"}).content.startswith(b"%PDF")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"based_on": 0},
        {"based_on": -1, "letter": {"stance": "object"}},
        {"based_on": "0", "letter": {"stance": "object"}},
        {"based_on": 0.0, "letter": {"stance": "object"}},
        {"based_on": False, "letter": {"stance": "object"}},
        {"based_on": 0, "letter": {"stance": "shout"}},
        {"based_on": 0, "letter": {"stance": "object", "grounds": [{"id": "../x", "text": "a"}]}},
        {"based_on": 0, "letter": {"stance": "object", "opening": "a" * 7000}},
        {"based_on": 0, "letter": {"stance": "object"}, "more": 1},
    ],
)
def test_a_letter_of_another_form_is_refused_and_nothing_is_saved(
    api: httpx.Client, place: str, body: dict[str, Any]
) -> None:
    assert api.put(f"{place}/letter", json=body).status_code == 422
    assert api.get(f"{place}/letter/versions").json()["total"] == 0


@pytest.mark.parametrize("version", ["1.0", "+1", "1_0", "١"])
def test_a_version_is_written_in_digits(api: httpx.Client, place: str, version: str) -> None:
    assert api.get(f"{place}/letter/versions/{version}").status_code == 422


def test_there_is_no_letter_of_a_review_that_is_not_finished(api: httpx.Client) -> None:
    review_id = api.post("/api/v1/reviews", json={"application_ref": "25/01178/REM"}).json()["review_id"]
    answer = api.get(f"/api/v1/reviews/{review_id}/letter")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "review_incomplete")
    assert api.get("/api/v1/reviews/rev_00000000000000000000000000/letter").status_code == 404


def test_versions_survive_a_restart_between_two_saves(
    api_settings: Callable[..., Settings], clean_redis_url: str
) -> None:
    with running_api(api_settings(), key=None) as before:
        review_id = before.post("/api/v1/reviews", json={"application_ref": "25/01178/REM"}).json()["review_id"]
        complete(clean_redis_url, result())
        place = f"/api/v1/reviews/{review_id}/letter"
        letter = before.get(place).json()["letter"]
        before.put(place, json={"based_on": 0, "letter": letter | {"opening": "One."}}).raise_for_status()
    with running_api(api_settings(), key=None) as after:
        assert after.get(place).json()["letter"]["opening"] == "One."
        second = after.put(place, json={"based_on": 1, "letter": letter | {"opening": "Two."}})
        assert (second.status_code, second.json()["version"]) == (200, 2)
