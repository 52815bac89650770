"""`POST /api/v1/applications`: documents that a person has, and reviews of applications in other registers."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pymupdf
import pytest

from serving_api import running_api
from trigpoint.config import Settings

DAY = {"date_validated": "2025-05-21", "authority": "york"}


def pdf(text: str) -> bytes:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), text)
        return document.tobytes()


def submit(
    api: httpx.Client, files: dict[str, bytes], headers: dict[str, str] | None = None, **fields: Any
) -> httpx.Response:
    sent = [("files", (name, content)) for name, content in files.items()]
    return api.post("/api/v1/applications", files=sent, data=fields, headers=headers)


def folders(api: httpx.Client) -> list[Path]:
    root: Path = api.data_dir / "applications"  # type: ignore[attr-defined]
    return sorted(root.iterdir()) if root.exists() else []


def test_files_become_a_queued_review_with_an_account(api: httpx.Client) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("Plans/Layout.pdf", pdf("layout"))
    files = {"TA.pdf": pdf("ta"), "copy.pdf": pdf("ta"), "x.msg": b"\0\1", "papers.zip": packed.getvalue()}
    files["copy.pdf"] = files["TA.pdf"]
    answer = submit(api, files, application_ref="24/00593/FUL", address="1 High Street", **DAY)
    assert answer.status_code == 202, answer.text
    accepted = answer.json()
    assert (accepted["application_ref"], accepted["authority"], accepted["status"]) == (
        "24/00593/FUL",
        "york",
        "queued",
    )
    assert [(one["name"], one["outcome"]) for one in accepted["files"]] == [
        ("TA.pdf", "kept"),
        ("copy.pdf", "duplicate"),
        ("x.msg", "unreadable"),
        ("papers.zip", "unpacked"),
        ("Layout.pdf", "kept"),
    ]
    review = api.get(accepted["links"]["self"]).json()
    assert (review["status"], review["application_ref"]) == ("queued", "24/00593/FUL")
    folder = api.data_dir / "applications" / accepted["review_id"]  # type: ignore[attr-defined]
    assert sorted(path.name for path in folder.iterdir()) == ["Layout.pdf", "TA.pdf", "application.json"]


def test_an_archive_that_cannot_be_read_goes_by_the_name_it_was_given(api: httpx.Client) -> None:
    """The reason called it by the number under which it was stored while it was taken in."""
    files = {"TA.pdf": pdf("ta"), "cut.zip": b"PK\x03\x04 and then nothing"}
    answer = submit(api, files, application_ref="24/00593/FUL", address="1 High Street", **DAY)
    cut = answer.json()["files"][1]
    assert (cut["name"], cut["reason"]) == ("cut.zip", "The archive cannot be read: File is not a zip file")


def test_what_is_missing_is_named_by_field_and_nothing_is_kept(api: httpx.Client) -> None:
    before = folders(api)
    answer = submit(api, {"TA.pdf": pdf("ta")})
    assert answer.status_code == 422
    errors = answer.json()["error"]["details"]["errors"]
    assert [one["field"] for one in errors] == ["body.date_validated", "body.authority"]
    assert "decides which policy applies" in errors[0]["message"]
    assert folders(api) == before


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"date_validated": "21/05/2025"}, "body.date_validated"),
        ({"options": '{"focus_areas": ["x"]}'}, "body.options.focus_areas"),
        ({"options": "{"}, "body.options"),
        ({"colour": "red"}, "body.colour"),
    ],
)
def test_wrong_fields_are_422(fields: dict[str, str], field: str, api: httpx.Client) -> None:
    answer = submit(api, {"TA.pdf": pdf("ta")}, **(DAY | fields))
    assert answer.status_code == 422
    assert answer.json()["error"]["details"]["errors"][0]["field"] == field


def test_text_instead_of_a_file_and_no_file_at_all_are_422(api: httpx.Client) -> None:
    assert api.post("/api/v1/applications", data={"files": "text", **DAY}).status_code == 422
    assert api.post("/api/v1/applications", data=DAY).status_code == 422


def test_unreadable_files_a_bad_reference_and_a_bomb_say_what_is_wrong(api: httpx.Client) -> None:
    for files, fields, said in (
        ({"x.xyz": b"\0\1"}, DAY, "None of the 1 files can be read"),
        ({"a.pdf": pdf("a")}, DAY | {"application_ref": "../../x"}, "Invalid application reference"),
    ):
        answer = submit(api, files, **fields)
        assert (answer.status_code, said in answer.text) == (422, True), answer.text


def test_sending_again_with_the_same_key_makes_one_review(api: httpx.Client) -> None:
    key = {"Idempotency-Key": "one-submission"}
    content = {"TA.pdf": pdf("ta")}
    first = submit(api, content, headers=key, application_ref="24/00593/FUL", **DAY)
    again = submit(api, content, headers=key, application_ref="24/00593/FUL", **DAY)
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json() == again.json()
    assert again.headers["idempotent-replayed"] == "true"
    assert api.get("/api/v1/reviews").json()["total"] == 1


def test_a_set_of_files_that_is_too_large_is_413(api_settings: Callable[..., Settings]) -> None:
    with running_api(api_settings(max_application_mb=1)) as api:
        answer = submit(api, {"a.pdf": b"%PDF-" + b"x" * (2 << 20)}, **DAY)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "payload_too_large")


def test_submitting_files_needs_the_scope_submit(api_settings: Callable[..., Settings], tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": [{"name": "reader", "key": "k" * 20, "scopes": ["read"]}]}))
    with running_api(api_settings(api_keys_file=keys), key="k" * 20) as api:
        answer = submit(api, {"a.pdf": pdf("a")}, **DAY)
    assert (answer.status_code, answer.json()["error"]["details"]["required_scope"]) == (403, "submit")


# --- other registers


def test_an_authority_relaxes_the_pattern_of_references(api: httpx.Client) -> None:
    body = {"application_ref": "pa24/00001", "authority": "Cornwall Council"}
    assert api.post("/api/v1/reviews", json={"application_ref": "PA24/00001"}).status_code == 422
    accepted = api.post("/api/v1/reviews", json=body)
    assert (accepted.status_code, accepted.json()["application_ref"]) == (202, "PA24/00001")
    assert api.post("/api/v1/reviews", json=body).status_code == 409


def test_reviews_are_listed_by_any_registers_reference(api: httpx.Client) -> None:
    api.post("/api/v1/reviews", json={"application_ref": "PA24/00001", "authority": "cornwall"})
    api.post("/api/v1/reviews", json={"application_ref": "25/01178/REM"})
    for reference, total in (("PA24/00001", 1), ("25/01178/REM", 1), ("UTT/25/2203/SO", 0), ("no reference at all", 0)):
        answer = api.get("/api/v1/reviews", params={"application_ref": reference})
        assert (answer.status_code, answer.json()["total"]) == (200, total), reference


def test_councils_with_the_same_reference_do_not_block_each_other(api: httpx.Client) -> None:
    for authority in ("york", "leeds", None):
        sent = {"application_ref": "24/00593/FUL"} | ({"authority": authority} if authority else {})
        assert api.post("/api/v1/reviews", json=sent).status_code == 202, authority


@pytest.mark.parametrize(
    ("body", "field", "said"),
    [
        ({"application_ref": "1/2/3", "authority": "york"}, "application_ref", "Expected one such as 24/00593/FUL"),
        ({"application_ref": "24/00593/FUL", "authority": "atlantis"}, "authority", "No register is known"),
        ({"application_ref": "2026/04938/PA", "authority": "birmingham"}, "authority", "cannot be read by Trigpoint"),
    ],
)
def test_what_no_register_can_have_is_422_with_the_way_out(
    body: dict[str, str], field: str, said: str, api: httpx.Client
) -> None:
    answer = api.post("/api/v1/reviews", json=body)
    error = answer.json()["error"]["details"]["errors"][0]
    assert (answer.status_code, error["field"]) == (422, f"body.{field}")
    assert said in error["message"]
