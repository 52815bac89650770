"""A web page that rebinds its name to this machine reaches neither the REST API, nor the graph, nor the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest

from serving_api import KEY, running_api
from trigpoint.config import Settings

PATHS = ("/", "/reviews", "/api/v1/reviews", "/api/projects", "/openapi.json", "/metrics", "/static/site.css")
REBOUND = {"Host": "evil.example"}


@pytest.mark.parametrize("path", PATHS)
def test_a_rebound_name_is_refused_with_the_way_out(api: httpx.Client, path: str) -> None:
    answer = api.get(path, headers=REBOUND)
    assert answer.status_code == 421
    assert answer.json()["error"]["code"] == "invalid_host"
    assert "MCP_ALLOWED_HOSTS" in answer.json()["error"]["message"]
    assert answer.headers["x-request-id"]
    assert api.get(path).status_code == 200


@pytest.mark.parametrize(
    "host", ["localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8080", "[::2]", "@"]
)
def test_a_name_that_only_looks_like_ours_is_refused(api: httpx.Client, host: str) -> None:
    assert api.get("/api/v1/reviews", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080"])
def test_every_name_of_this_machine_is_answered(api: httpx.Client, host: str) -> None:
    assert api.get("/api/v1/reviews", headers={"Host": host}).status_code == 200


def test_a_page_of_another_site_submits_nothing(api: httpx.Client) -> None:
    body = {"application_ref": "25/01178/REM"}
    for origin in ("https://evil.example", "null"):
        answer = api.post("/api/v1/reviews", json=body, headers={"Origin": origin})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "invalid_origin")
    assert api.get("/api/v1/reviews").json()["total"] == 0
    assert api.post("/api/v1/reviews", json=body, headers={"Origin": "http://localhost:5173"}).status_code == 202


def test_health_answers_to_any_name(api: httpx.Client) -> None:
    assert api.get("/health", headers=REBOUND).status_code == 200


@pytest.fixture(
    params=[
        {"mcp_allowed_hosts": "evil.example"},
        {"mcp_allowed_hosts": "*"},
        {"host": "0.0.0.0"},
        {"api_keys": (KEY,)},
    ],
    ids=["named", "any", "bound to all", "with keys"],
)
def lenient(request: pytest.FixtureRequest, api_settings: Callable[..., Settings]) -> Iterator[httpx.Client]:
    with running_api(api_settings(**request.param), key=KEY) as client:
        yield client


def test_a_host_is_answered_that_is_named_or_whose_callers_are_checked_or_let_in_otherwise(
    lenient: httpx.Client,
) -> None:
    assert lenient.get("/api/v1/reviews", headers=REBOUND).status_code == 200
