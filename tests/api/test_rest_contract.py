"""Every example of the REST contract against a running server: request, status, body, headers, each error."""

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
from filling import completed, failed, processing

from serving_api import KEY, running_api
from trigpoint import __version__
from trigpoint.config import Settings

REF = "25/01178/REM"
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


def submit(api: httpx.Client, ref: str = REF, **more: Any) -> str:
    answer = api.post("/api/v1/reviews", json={"application_ref": ref, **more})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["review_id"])


def error(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert list(body) == ["error"]
    assert set(body["error"]) <= {"code", "message", "details"}
    found: dict[str, Any] = body["error"]
    return found


# Authentication, headers, health


def test_unauthorized(api: httpx.Client) -> None:
    for headers in ({"Authorization": ""}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {KEY}"}):
        answer = api.get("/api/v1/reviews", headers=headers)
        assert answer.status_code == 401
        assert answer.json() == {"error": {"code": "unauthorized", "message": "Unauthorized"}}


@pytest.mark.parametrize("path", ["/api/v1/health", "/health", "/docs", "/redoc", "/openapi.json"])
def test_exempt_paths_need_no_key(api: httpx.Client, path: str) -> None:
    answer = api.get(path, headers={"Authorization": ""})
    assert answer.status_code == 200
    assert "x-ratelimit-limit" not in answer.headers


def test_every_answer_has_version_and_request_id(api: httpx.Client) -> None:
    for path in ("/api/v1/health", "/api/v1/reviews", "/api/v1/reviews/rev_nonexistent", "/nowhere"):
        answer = api.get(path)
        assert answer.headers["x-api-version"] == "1.0.0"
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", answer.headers["x-request-id"])
    assert api.get("/health", headers={"X-Request-ID": "trace-42"}).headers["x-request-id"] == "trace-42"


def test_authenticated_answers_have_rate_limit_headers(api: httpx.Client) -> None:
    for path in ("/api/v1/reviews", "/api/v1/reviews/rev_nonexistent", "/nowhere", "/api/v1/reviews?limit=x"):
        headers = api.get(path).headers
        assert headers["x-ratelimit-limit"] == "100000"
        assert headers["x-ratelimit-remaining"].isdigit()
        assert headers["x-ratelimit-reset"].isdigit()


def test_health(api: httpx.Client) -> None:
    expected = {"status": "healthy", "services": {"redis": "connected"}, "version": __version__}
    assert api.get("/api/v1/health").json() == expected
    assert api.get("/health").json() == expected


# Reviews


def test_submit_review(api: httpx.Client) -> None:
    body = {
        "application_ref": REF,
        "options": {
            "focus_areas": ["cycle_parking", "cycle_routes"],
            "output_format": "markdown",
            "include_policy_matrix": True,
            "include_suggested_conditions": True,
        },
        "webhook": {
            "url": "https://example.com/hooks/review",
            "secret": "whsec_abc123",
            "events": ["review.started", "review.completed", "review.failed"],
        },
    }
    answer = api.post("/api/v1/reviews", json=body)
    assert answer.status_code == 202
    shown = answer.json()
    review_id = shown["review_id"]
    assert re.fullmatch(r"rev_[0-9A-Z]{26}", review_id)
    assert MOMENT.fullmatch(shown["created_at"])
    assert shown == {
        "review_id": review_id,
        "application_ref": REF,
        "status": "queued",
        "created_at": shown["created_at"],
        "estimated_duration_seconds": 180,
        "links": {
            "self": f"/api/v1/reviews/{review_id}",
            "status": f"/api/v1/reviews/{review_id}/status",
            "cancel": f"/api/v1/reviews/{review_id}/cancel",
        },
    }
    assert "whsec_abc123" not in answer.text
    assert "whsec_abc123" not in api.get(f"/api/v1/reviews/{review_id}").text


def test_a_second_submission_conflicts(api: httpx.Client) -> None:
    active = submit(api)
    assert error(api.post("/api/v1/reviews", json={"application_ref": REF}), 409) == {
        "code": "review_already_exists",
        "message": "A review for application 25/01178/REM is already queued or processing",
        "details": {"application_ref": REF, "review_id": active},
    }


async def test_of_twenty_concurrent_submissions_one_is_accepted(api: httpx.Client) -> None:
    async with httpx.AsyncClient(base_url=api.base_url, headers=api.headers, trust_env=False) as client:
        body = {"application_ref": REF}
        answers = await asyncio.gather(*(client.post("/api/v1/reviews", json=body) for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [202] + [409] * 19


def test_a_wrong_reference_is_a_validation_error(api: httpx.Client) -> None:
    assert error(api.post("/api/v1/reviews", json={"application_ref": "ABC"}), 422) == {
        "code": "validation_error",
        "message": "Request validation failed",
        "details": {
            "errors": [
                {
                    "field": "body.application_ref",
                    "message": "Value error, Invalid application reference format: ABC. "
                    "Expected format: YY/NNNNN/XXX (e.g., 25/01178/REM)",
                    "type": "value_error",
                }
            ]
        },
    }


@pytest.mark.parametrize("ref", ["25/01178/REM", "23/01421/TCA", "08/00707/F", "25/1234/F"])
def test_references_of_the_contract_are_accepted(api: httpx.Client, ref: str) -> None:
    submit(api, ref)


@pytest.mark.parametrize(
    "ref", ["25/01178/rem", "25/01178/REM\n", "2٥/01178/REM", "25/011789/REM", "25/01178/TOOLONG", "", None, 7, ["x"]]
)
def test_references_that_only_look_right_are_refused(api: httpx.Client, ref: Any) -> None:
    found = error(api.post("/api/v1/reviews", json={"application_ref": ref}), 422)
    assert found["details"]["errors"][0]["field"] == "body.application_ref"


def test_get_review_queued(api: httpx.Client) -> None:
    review_id = submit(api)
    shown = api.get(f"/api/v1/reviews/{review_id}").json()
    nulls = dict.fromkeys(("started_at", "completed_at", "progress", "application", "review", "metadata", "error"))
    assert shown == {
        "review_id": review_id,
        "application_ref": REF,
        "status": "queued",
        "created_at": shown["created_at"],
        **nulls,
    }


def test_get_review_processing(api: httpx.Client, clean_redis_url: str) -> None:
    review_id = submit(api)
    processing(clean_redis_url)
    shown = api.get(f"/api/v1/reviews/{review_id}").json()
    assert shown["status"] == "processing"
    assert MOMENT.fullmatch(shown["started_at"])
    assert shown["completed_at"] is None
    assert shown["progress"] == {
        "phase": "downloading_documents",
        "phase_number": 2,
        "total_phases": 5,
        "percent_complete": 10,
        "detail": "Downloading 5 documents",
    }
    assert [shown[name] for name in ("application", "review", "metadata", "error")] == [None] * 4


def test_get_review_completed(api: httpx.Client, clean_redis_url: str) -> None:
    review_id = submit(api)
    result = completed(clean_redis_url)
    shown = api.get(f"/api/v1/reviews/{review_id}").json()
    assert list(shown) == [
        *("review_id", "application_ref", "status", "created_at", "started_at", "completed_at"),
        *("progress", "application", "review", "metadata", "error"),
    ]
    assert (shown["status"], shown["progress"], shown["error"]) == ("completed", None, None)
    assert MOMENT.fullmatch(shown["completed_at"])
    given = result.model_dump(mode="json")
    assert [shown[part] for part in given] == list(given.values())
    assert set(shown["application"]) >= {
        *("reference", "address", "proposal", "applicant", "status", "consultation_end"),
        *("documents_fetched", "documents_ingested"),
    }
    assert set(shown["review"]) >= {
        *("overall_rating", "summary", "aspects", "policy_compliance", "recommendations"),
        *("suggested_conditions", "full_markdown"),
    }
    assert set(shown["review"]["aspects"][0]) >= {"name", "rating", "key_issue", "detail", "policy_refs"}
    assert set(shown["metadata"]) >= {
        *("model", "total_tokens_used", "processing_time_seconds", "documents_analysed"),
        *("policy_sources_referenced", "policy_effective_date", "policy_revisions_used"),
    }


def test_get_review_failed(api: httpx.Client, clean_redis_url: str) -> None:
    review_id = submit(api, "25/99999/F")
    failed(clean_redis_url)
    shown = api.get(f"/api/v1/reviews/{review_id}").json()
    assert (shown["status"], shown["completed_at"], shown["progress"]) == ("failed", None, None)
    assert shown["error"] == {
        "code": "scraper_error",
        "message": "Application not found on Cherwell planning portal",
    }


@pytest.mark.parametrize("path", ["", "/status", "/download", "/webhooks"])
def test_an_unknown_review_is_not_found(api: httpx.Client, path: str) -> None:
    assert error(api.get(f"/api/v1/reviews/rev_nonexistent{path}"), 404) == {
        "code": "review_not_found",
        "message": "No review found with ID rev_nonexistent",
        "details": {"review_id": "rev_nonexistent"},
    }


def test_status_is_light(api: httpx.Client, clean_redis_url: str) -> None:
    """R3"""
    review_id = submit(api)
    assert api.get(f"/api/v1/reviews/{review_id}/status").json() == {
        "review_id": review_id,
        "status": "queued",
        "progress": None,
    }
    processing(clean_redis_url)
    assert api.get(f"/api/v1/reviews/{review_id}/status").json() == {
        "review_id": review_id,
        "status": "processing",
        "progress": {"phase": "downloading_documents", "percent_complete": 10},
    }


def test_status_of_a_completed_review(api: httpx.Client, clean_redis_url: str) -> None:
    review_id = submit(api)
    completed(clean_redis_url)
    expected = {"review_id": review_id, "status": "completed", "progress": None}
    assert api.get(f"/api/v1/reviews/{review_id}/status").json() == expected


def test_list_reviews(api: httpx.Client, clean_redis_url: str) -> None:
    first = submit(api)
    rating = completed(clean_redis_url).review.overall_rating
    second = submit(api, "24/03456/F")
    page = api.get("/api/v1/reviews").json()
    assert page == {
        "reviews": [
            {
                "review_id": second,
                "application_ref": "24/03456/F",
                "status": "queued",
                "overall_rating": None,
                "created_at": page["reviews"][0]["created_at"],
                "completed_at": None,
                "assessed": None,
                "model": None,
            },
            {
                "review_id": first,
                "application_ref": REF,
                "status": "completed",
                "overall_rating": rating,
                "created_at": page["reviews"][1]["created_at"],
                "completed_at": page["reviews"][1]["completed_at"],
                "assessed": "no",
                "model": "rules",
            },
        ],
        "total": 2,
        "limit": 20,
        "offset": 0,
    }
    assert MOMENT.fullmatch(page["reviews"][1]["completed_at"])
    filtered = api.get("/api/v1/reviews", params={"status": "completed", "limit": 5}).json()
    assert ([row["review_id"] for row in filtered["reviews"]], filtered["total"], filtered["limit"]) == ([first], 1, 5)
    by_ref = api.get("/api/v1/reviews", params={"application_ref": REF, "status": "queued"}).json()
    assert (by_ref["reviews"], by_ref["total"]) == ([], 0)
    beyond = api.get("/api/v1/reviews", params={"offset": 1, "limit": 1}).json()
    assert ([row["review_id"] for row in beyond["reviews"]], beyond["total"]) == ([first], 2)


def test_an_unknown_status_is_400(api: httpx.Client) -> None:
    """R12"""
    assert error(api.get("/api/v1/reviews?status=bogus"), 400) == {
        "code": "invalid_status",
        "message": "Invalid status: bogus",
        "details": {"valid_statuses": ["queued", "processing", "completed", "failed", "cancelled"]},
    }


@pytest.mark.parametrize(
    ("query", "field"),
    [("limit=0", "limit"), ("limit=101", "limit"), ("limit=٣", "limit"), ("limit=1_0", "limit"), ("limit=", "limit"),
     ("offset=-1", "offset"), ("offset=x", "offset"), ("offset=" + "9" * 400, "offset"),
     (f"application_ref={'A' * 101}", "application_ref")],
)  # fmt: skip
def test_other_bad_values_in_a_list_are_422(api: httpx.Client, query: str, field: str) -> None:
    """R12"""
    found = error(api.get(f"/api/v1/reviews?{query}"), 422)
    assert found["code"] == "validation_error"
    assert found["details"]["errors"][0]["field"] == f"query.{field}"


def test_cancel_review(api: httpx.Client) -> None:
    review_id = submit(api)
    answer = api.post(f"/api/v1/reviews/{review_id}/cancel")
    assert answer.status_code == 200
    assert answer.json() == {"review_id": review_id, "status": "cancelled", "progress": None}
    assert error(api.post(f"/api/v1/reviews/{review_id}/cancel"), 409)["message"] == (
        "Cannot cancel review with status 'cancelled'"
    )


def test_cannot_cancel_a_completed_review(api: httpx.Client, clean_redis_url: str) -> None:
    review_id = submit(api)
    completed(clean_redis_url)
    assert error(api.post(f"/api/v1/reviews/{review_id}/cancel"), 409) == {
        "code": "cannot_cancel",
        "message": "Cannot cancel review with status 'completed'",
        "details": {"review_id": review_id, "current_status": "completed"},
    }


# Downloads


def test_download_formats(api: httpx.Client, clean_redis_url: str) -> None:
    review_id = submit(api)
    result = completed(clean_redis_url)
    forms = {
        "markdown": ("text/markdown", "md"),
        "json": ("application/json", "json"),
        "pdf": ("application/pdf", "pdf"),
    }
    for form, (kind, suffix) in forms.items():
        answer = api.get(f"/api/v1/reviews/{review_id}/download", params={"format": form})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == kind
        assert answer.headers["content-disposition"] == f'attachment; filename="review-{review_id}.{suffix}"'
        if form == "pdf":
            assert answer.content.startswith(b"%PDF-")
        if form == "json":
            assert answer.json() == result.model_dump(mode="json")
        if form == "markdown":
            rating = result.review.shown_rating.upper()
            assert answer.text.startswith(f"# Cycle Advocacy Review: 25/01178/REM\n\n## Overall Rating: {rating}\n")
    by_default = api.get(f"/api/v1/reviews/{review_id}/download")
    assert by_default.headers["content-type"] == "text/markdown"


def test_download_of_an_incomplete_review(api: httpx.Client, clean_redis_url: str) -> None:
    review_id = submit(api)
    processing(clean_redis_url)
    assert error(api.get(f"/api/v1/reviews/{review_id}/download"), 400) == {
        "code": "review_incomplete",
        "message": "Cannot download review with status 'processing'. Wait for completion.",
        "details": {"review_id": review_id, "status": "processing"},
    }


def test_an_unknown_format_is_422(api: httpx.Client) -> None:
    assert error(api.get("/api/v1/reviews/rev_nonexistent/download?format=odt"), 422)["code"] == "validation_error"


# Policies

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


# Revisions (what needs no policy server; the rest is in test_policy_revisions.py)


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
