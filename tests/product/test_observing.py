"""What an operator sees: one request's id in every part's log, counts for Prometheus, and who may read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from trigpoint.demo.portal import DemoPortal
from trigpoint_process import SMALL, Running, environment, finished, submitted

pytestmark = pytest.mark.slow

TRACE = "trace-me-1178"


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory, portal: DemoPortal) -> Iterator[Running]:
    env = environment(
        tmp_path_factory.mktemp("observing") / "data",
        CHERWELL_PORTAL_URL=portal.url,
        SCRAPER_RATE_LIMIT="0",
        LOG_FORMAT="json",
    )
    with Running("up", env=env) as up:
        finished(up, submitted(up, SMALL, **{"X-Request-ID": TRACE}))
        yield up


def log_lines(up: Running) -> list[dict[str, Any]]:
    return [json.loads(line) for line in up.output.splitlines() if line.startswith("{")]


def test_a_requests_id_is_in_the_log_lines_of_api_worker_and_tools(reviewed: Running) -> None:
    ours = [line for line in log_lines(reviewed) if line["request_id"] == TRACE]
    loggers = {line["logger"] for line in ours}
    assert {"trigpoint.http.context", "trigpoint.jobs.review_job", "trigpoint.mcp.server"} <= loggers
    told = " ".join(line["message"] for line in ours if line["logger"] == "trigpoint.mcp.server")
    for tool in ("get_application_details", "download_all_documents", "ingest_document", "get_provisions"):
        assert f"{tool} ok" in told


def test_every_line_of_a_json_log_has_time_level_and_message(reviewed: Running) -> None:
    lines = log_lines(reviewed)
    assert len(lines) > 10
    assert all({"time", "level", "logger", "request_id", "message"} <= line.keys() for line in lines)


def test_metrics_count_requests_reviews_tools_jobs_and_pages(reviewed: Running) -> None:
    reviewed.get("/api/v1/reviews/rev_01JZZZZZZZZZZZZZZZZZZZZZZZ/status")
    answer = reviewed.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    for expected in (
        'trigpoint_http_request_seconds_count{method="POST",route="/api/v1/reviews",status="202"} 1.0',
        'route="/api/v1/reviews/{review_id}/status",status="404"',
        'trigpoint_reviews{status="completed"} 1.0',
        "trigpoint_jobs_queued 0.0",
        'trigpoint_jobs_total{kind="review",outcome="done"} 1.0',
        'tool="ingest_document"',
        'trigpoint_ingested_pages_total{method="text_layer",store="documents"}',
        "trigpoint_redis_up 1.0",
    ):
        assert expected in answer.text, expected
    assert SMALL not in answer.text
    assert "rev_" not in answer.text


def test_an_mcp_server_shows_its_own_counts(reviewed: Running) -> None:
    answer = httpx.get(f"{reviewed.url('DOCUMENT_STORE')}/metrics", timeout=10)
    assert 'trigpoint_tool_call_seconds_count{outcome="ok"' in answer.text


def test_metrics_need_a_key_when_auth_is_on(tmp_path_factory: pytest.TempPathFactory) -> None:
    env = environment(tmp_path_factory.mktemp("keys") / "data", API_KEYS="sesame", MCP_API_KEY="open", HOST="127.0.0.1")
    with Running("serve", "api", "document-store", env=env, wait_for=("API", "DOCUMENT_STORE")) as up:
        store = f"{up.url('DOCUMENT_STORE')}/metrics"
        assert up.get("/metrics").status_code == 401
        assert httpx.get(store, timeout=10).status_code == 401
        assert up.get("/metrics", headers={"Authorization": "Bearer sesame"}).status_code == 200
        assert httpx.get(store, headers={"Authorization": "Bearer open"}, timeout=10).status_code == 200
