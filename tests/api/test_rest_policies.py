"""The contract of the REST API for policies and their revisions."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from rest_envelope import error

from serving_api import running_api
from trigpoint.config import Settings

MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z")
PDF = b"%PDF-1.7\n% a small one\n"


@pytest.fixture
def api(generous_api: httpx.Client) -> httpx.Client:
    """As the contract's curl examples call it: with a key."""
    return generous_api


@pytest.fixture
def data_dir(api: httpx.Client) -> Path:
    folder: Path = api.data_dir  # type: ignore[attr-defined]
    return folder


LTN = {
    "source": "LTN_1_20",
    "title": "Cycle Infrastructure Design (LTN 1/20)",
    "description": "Department for Transport guidance on designing high-quality cycle infrastructure",
    "category": "national_guidance",
}


def test_create_policy(api: httpx.Client) -> None:
    answer = api.post("/api/v1/policies", json=LTN)
    assert answer.status_code == 201
    shown = answer.json()
    assert MOMENT.fullmatch(shown["created_at"])
    assert shown == {
        **LTN,
        "revisions": [],
        "current_revision": None,
        "revision_count": 0,
        "created_at": shown["created_at"],
        "updated_at": None,
    }
    assert error(api.post("/api/v1/policies", json=LTN), 409) == {
        "code": "policy_already_exists",
        "message": "A policy with source 'LTN_1_20' already exists",
        "details": {"source": "LTN_1_20"},
    }


@pytest.mark.parametrize(
    "wrong", [{"source": "ltn_1_20"}, {"source": "LTN__1"}, {"category": "bylaw"}, {"title": None}]
)
def test_a_wrong_policy_is_422(api: httpx.Client, wrong: dict[str, Any]) -> None:
    found = error(api.post("/api/v1/policies", json=LTN | wrong), 422)
    assert found["details"]["errors"][0]["field"] == f"body.{next(iter(wrong))}"


def test_list_and_filter_policies(api: httpx.Client) -> None:
    """P14: sorted by slug."""
    for source, category in (("NPPF", "national_policy"), ("LTN_1_20", "national_guidance")):
        api.post("/api/v1/policies", json=LTN | {"source": source, "category": category})
    page = api.get("/api/v1/policies").json()
    assert ([policy["source"] for policy in page["policies"]], page["total"]) == (["LTN_1_20", "NPPF"], 2)
    assert page["policies"][0] == {
        "source": "LTN_1_20",
        "title": LTN["title"],
        "category": "national_guidance",
        "current_revision": None,
        "revision_count": 0,
    }
    only = api.get("/api/v1/policies", params={"category": "national_policy"}).json()
    assert ([policy["source"] for policy in only["policies"]], only["total"]) == (["NPPF"], 1)
    only = api.get("/api/v1/policies", params={"source": "LTN_1_20"}).json()
    assert [policy["source"] for policy in only["policies"]] == ["LTN_1_20"]
    assert error(api.get("/api/v1/policies?category=bylaw"), 422)["code"] == "validation_error"


def test_get_and_update_policy(api: httpx.Client) -> None:
    assert error(api.get("/api/v1/policies/NONEXISTENT"), 404) == {
        "code": "policy_not_found",
        "message": "No policy found with source 'NONEXISTENT'",
        "details": {"source": "NONEXISTENT"},
    }
    api.post("/api/v1/policies", json=LTN)
    change = {"title": "Updated Policy Title", "description": "Updated description", "category": "local_guidance"}
    answer = api.patch("/api/v1/policies/LTN_1_20", json=change)
    assert answer.status_code == 200
    shown = answer.json()
    assert {name: shown[name] for name in change} == change
    assert MOMENT.fullmatch(shown["updated_at"])
    assert api.get("/api/v1/policies/LTN_1_20").json() == shown
    assert api.patch("/api/v1/policies/LTN_1_20", json={"description": None}).json()["description"] is None
    for field in ("title", "category"):
        found = error(api.patch("/api/v1/policies/LTN_1_20", json={field: None}), 422)["details"]["errors"]
        assert [problem["field"] for problem in found] == [f"body.{field}"]
    assert error(api.patch("/api/v1/policies/NOPE", json=change), 404)["code"] == "policy_not_found"


def test_effective_policies_need_a_real_date(api: httpx.Client) -> None:
    assert api.get("/api/v1/policies/effective?date=2024-01-15").json() == {
        "effective_date": "2024-01-15",
        "policies": [],
        "policies_not_yet_effective": [],
    }
    for query in ("", "date=2024-02-30", "date=15/01/2024", "date=20240115", "date=2024-01-15T00:00:00"):
        assert error(api.get(f"/api/v1/policies/effective?{query}"), 422)["code"] == "validation_error"


# Revisions, as far as they need no policy server


def upload(api: httpx.Client, source: str = "NPPF", content: bytes = PDF, **fields: str) -> httpx.Response:
    data = {"version_label": "December 2024", "effective_from": "2024-12-15"} | fields
    name = fields.pop("filename", "nppf-dec-2024.pdf")
    data.pop("filename", None)
    kind = "image/png" if name.endswith("png") else "application/pdf"
    return api.post(f"/api/v1/policies/{source}/revisions", files={"file": (name, content, kind)}, data=data)


@pytest.fixture
def nppf(api: httpx.Client) -> httpx.Client:
    api.post("/api/v1/policies", json=LTN | {"source": "NPPF", "category": "national_policy"})
    return api


def test_upload_revision(nppf: httpx.Client, data_dir: Path) -> None:
    answer = upload(nppf)
    assert answer.status_code == 202
    shown = answer.json()
    assert re.fullmatch(r"job_[0-9a-f]{12}", shown["ingestion_job_id"])
    this = "/api/v1/policies/NPPF/revisions/rev_NPPF_2024_12"
    assert shown == {
        "source": "NPPF",
        "revision_id": "rev_NPPF_2024_12",
        "version_label": "December 2024",
        "effective_from": "2024-12-15",
        "effective_to": None,
        "status": "processing",
        "ingestion_job_id": shown["ingestion_job_id"],
        "links": {"self": this, "status": f"{this}/status", "policy": "/api/v1/policies/NPPF"},
        "side_effects": None,
    }
    detail = nppf.get(this).json()
    path = data_dir / "policy" / "NPPF" / "rev_NPPF_2024_12" / "nppf-dec-2024.pdf"
    assert detail == {
        "revision_id": "rev_NPPF_2024_12",
        "source": "NPPF",
        "version_label": "December 2024",
        "effective_from": "2024-12-15",
        "effective_to": None,
        "status": "processing",
        "file_path": str(path),
        "file_size_bytes": len(PDF),
        "page_count": None,
        "chunk_count": None,
        "notes": None,
        "created_at": detail["created_at"],
        "ingested_at": None,
        "error": None,
    }
    assert path.read_bytes() == PDF
    assert nppf.get(f"{this}/status").json() == {
        "revision_id": "rev_NPPF_2024_12",
        "status": "processing",
        "progress": {"phase": "pending", "percent_complete": 0, "chunks_processed": 0},
    }
    assert error(nppf.post(f"{this}/reindex"), 409) == {
        "code": "cannot_reindex",
        "message": "Revision is already processing",
        "details": {"source": "NPPF", "revision_id": "rev_NPPF_2024_12", "status": "processing"},
    }


def test_a_later_upload_supersedes_and_says_so(nppf: httpx.Client) -> None:
    upload(nppf, version_label="September 2023", effective_from="2023-09-01")
    assert upload(nppf).json()["side_effects"] == {
        "superseded_revision": "rev_NPPF_2023_09",
        "superseded_effective_to": "2024-12-14",
    }


def test_a_revision_may_end_on_the_last_day_that_there_is(nppf: httpx.Client) -> None:
    """E3: nothing comes after it, so that no gap is to be warned of."""
    upload(nppf, version_label="September 2023", effective_from="2023-09-01")
    answer = upload(nppf, effective_to="9999-12-31")
    assert answer.status_code == 202, answer.text
    assert answer.json()["effective_to"] == "9999-12-31"
    assert "warning" not in answer.json()["side_effects"]


@pytest.mark.parametrize("broken", ["trigpoint.api.uploads._move", "trigpoint.jobs.queue.Queue.enqueue"])
def test_an_upload_that_breaks_off_gives_the_predecessor_its_dates_back(
    nppf: httpx.Client, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P5: at once, and not when the revision's hold has run out."""
    upload(nppf, version_label="September 2023", effective_from="2023-09-01")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(broken, fail)
        assert error(upload(nppf), 500)["code"] == "internal_error"
    new, old = nppf.get("/api/v1/policies/NPPF").json()["revisions"]
    assert (new["revision_id"], new["status"]) == ("rev_NPPF_2024_12", "failed")
    assert (old["status"], old["effective_to"]) == ("processing", None)
    this = nppf.get("/api/v1/policies/NPPF/revisions/rev_NPPF_2024_12").json()
    assert this["error"] == "The upload broke off on our side. Upload the file again"
    assert upload(nppf).status_code == 202


def test_a_409_changes_nothing(nppf: httpx.Client, data_dir: Path) -> None:
    """P5"""
    upload(nppf)
    before = (nppf.get("/api/v1/policies/NPPF").json(), sorted(data_dir.rglob("*")))
    found = error(upload(nppf, effective_from="2024-01-01", version_label="January 2024"), 409)
    assert found == {
        "code": "revision_overlap",
        "message": "Revision dates overlap with existing revision rev_NPPF_2024_12",
        "details": {"source": "NPPF", "effective_from": "2024-01-01"},
    }
    assert (nppf.get("/api/v1/policies/NPPF").json(), sorted(data_dir.rglob("*"))) == before


async def test_of_ten_concurrent_uploads_for_one_date_one_is_accepted(nppf: httpx.Client, data_dir: Path) -> None:
    """P4, P5"""
    async with httpx.AsyncClient(base_url=nppf.base_url, headers=nppf.headers, trust_env=False) as client:

        def one(number: int) -> Any:
            return client.post(
                "/api/v1/policies/NPPF/revisions",
                files={"file": (f"{number}.pdf", PDF)},
                data={"version_label": str(number), "effective_from": "2024-12-15"},
            )

        answers = await asyncio.gather(*(one(number) for number in range(10)))
    assert sorted(answer.status_code for answer in answers) == [202] + [409] * 9
    assert len(list(data_dir.rglob("*.pdf"))) == 1  # noqa: ASYNC240


def test_what_a_crash_left_of_an_upload_is_removed_at_the_next_start(
    api_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    incoming = tmp_path / "data" / "policy" / ".incoming"
    incoming.mkdir(parents=True)
    for name, age in (("old.pdf", 100_000), ("new.pdf", 10)):
        (incoming / name).touch()
        os.utime(incoming / name, (time.time() - age,) * 2)
    with running_api(api_settings()):
        assert [path.name for path in incoming.iterdir()] == ["new.pdf"]


def test_a_file_that_is_no_pdf_is_refused_whatever_it_is_called(nppf: httpx.Client, data_dir: Path) -> None:
    """P10"""
    assert error(upload(nppf, content=b"\x89PNG\r\n", filename="screenshot.png"), 422) == {
        "code": "unsupported_file_type",
        "message": "Only PDF files are supported",
        "details": {"content_type": "image/png", "filename": "screenshot.png"},
    }
    assert error(upload(nppf, content=b"not a pdf", filename="x.pdf"), 422)["code"] == "unsupported_file_type"
    assert upload(nppf, filename="screenshot.png").status_code == 202  # its bytes say PDF


def test_uploads_that_cannot_be(nppf: httpx.Client) -> None:
    assert error(upload(nppf, source="NOPE"), 404)["code"] == "policy_not_found"
    reversed_range = error(upload(nppf, effective_to="2024-12-01"), 422)
    assert reversed_range["code"] == "validation_error"
    assert reversed_range["details"]["errors"][0]["field"] == "body.effective_to"
    for field, value in (("effective_from", "2024-02-30"), ("effective_to", "soon"), ("version_label", "  ")):
        found = error(upload(nppf, **{field: value}), 422)
        assert found["details"]["errors"][0]["field"] == f"body.{field}"
    missing = nppf.post("/api/v1/policies/NPPF/revisions", data={"version_label": "x", "effective_from": "2024-01-01"})
    assert error(missing, 422)["details"]["errors"][0]["field"] == "body.file"
    text = nppf.post(
        "/api/v1/policies/NPPF/revisions",
        data={"version_label": "x", "effective_from": "2024-01-01", "file": "a.pdf"},
        files={"notes": (None, "a form with parts")},
    )
    assert error(text, 422)["details"]["errors"] == [
        {
            "field": "body.file",
            "message": "Value error, Send the PDF as a file, with a file name",
            "type": "value_error",
        }
    ]


def test_a_field_of_an_upload_that_is_not_known_is_refused(nppf: httpx.Client) -> None:
    found = error(upload(nppf, effective_until="2025-01-01"), 422)["details"]["errors"]
    assert found == [
        {"field": "body.effective_until", "message": "Extra inputs are not permitted", "type": "extra_forbidden"}
    ]
    assert nppf.get("/api/v1/policies/NPPF").json()["revision_count"] == 0
    assert upload(nppf, effective_to="2025-12-31", notes="all of the known ones").status_code == 202


def test_a_revision_can_be_changed_and_its_dates_are_checked(nppf: httpx.Client) -> None:
    """P7"""
    upload(nppf)
    this = "/api/v1/policies/NPPF/revisions/rev_NPPF_2024_12"
    change = {
        "version_label": "December 2024 (Corrected)",
        "effective_to": "2025-12-31",
        "notes": "Corrected page count metadata",
    }
    shown = nppf.patch(this, json=change).json()
    assert {name: shown[name] for name in change} == change
    assert nppf.patch(this, json={"effective_to": None}).json()["effective_to"] is None
    for change, field in (
        ({"effective_to": "2020-01-01"}, "effective_to"),
        ({"version_label": None}, "version_label"),
        ({"effective_from": None}, "effective_from"),
    ):
        found = error(nppf.patch(this, json=change), 422)
        assert found["code"] == "validation_error"
        assert [problem["field"] for problem in found["details"]["errors"]] == [f"body.{field}"]
    assert error(nppf.patch(this, json={"effective_to": "2025-13-01"}), 422)["code"] == "validation_error"
    nppf.patch(this, json={"effective_to": "2025-12-31"})
    upload(nppf, version_label="2026", effective_from="2026-01-01")
    found = error(nppf.patch(this, json={"effective_to": "2026-06-30"}), 409)
    assert found["code"] == "revision_overlap"
    assert found["details"] == {"source": "NPPF", "effective_from": "2024-12-15"}


def test_unknown_revisions_say_what_is_missing(nppf: httpx.Client) -> None:
    for method, path in (("GET", ""), ("GET", "/status"), ("PATCH", ""), ("DELETE", ""), ("POST", "/reindex")):
        body = {"json": {"notes": "x"}} if method == "PATCH" else {}
        answer = nppf.request(method, f"/api/v1/policies/NPPF/revisions/rev_none{path}", **body)
        assert error(answer, 404)["code"] == "revision_not_found"
        answer = nppf.request(method, f"/api/v1/policies/NOPE/revisions/rev_none{path}", **body)
        assert error(answer, 404)["code"] == "policy_not_found"
