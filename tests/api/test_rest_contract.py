"""Every example of the REST contract against a running server: request, status, body, headers, each error."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import httpx
import pytest
from filling import completed, failed, processing
from rest_envelope import error

from serving_api import KEY
from trigpoint import __version__

REF = "25/01178/REM"
MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z")


@pytest.fixture
def api(generous_api: httpx.Client) -> httpx.Client:
    """As the contract's curl examples call it: with a key."""
    return generous_api


def submit(api: httpx.Client, ref: str = REF, **more: Any) -> str:
    answer = api.post("/api/v1/reviews", json={"application_ref": ref, **more})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["review_id"])


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
