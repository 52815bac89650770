"""Which project a request is about, who may call, and that a read key reaches no write."""

from __future__ import annotations

from typing import Any

import pytest

DEFAULT = "00000000-0000-4000-a000-000000000001"
MISSING = "9b2c1f7e-0000-4000-8000-000000000000"
SCOPED = ("/api/entities", "/api/seo/search-performance", "/api/quotable-blocks")
READ_PATHS = ("/api/projects", *SCOPED, f"/api/entities/{MISSING}", f"/api/entities/{MISSING}/graph")
WRITES = [
    ("POST", "/api/projects"),
    ("POST", "/api/entities"),
    ("PATCH", f"/api/entities/{MISSING}"),
    *(
        ("POST", f"/api/entities/{MISSING}/{a}")
        for a in ("request-publish", "publish", "reject", "archive", "verify-freshness")
    ),
    ("POST", "/api/relationships"),
    ("DELETE", "/api/relationships"),
    ("DELETE", f"/api/relationships/{MISSING}"),
    ("POST", "/api/quotable-blocks"),
    ("POST", "/api/seo/search-performance/ingest"),
]


@pytest.fixture
def two(api) -> dict[str, str]:
    """Two projects and one entity in each, and the default project with one more."""
    made = {slug: api.project(slug) for slug in ("alpha", "beta")}
    for slug, ident in made.items():
        api.entity(f"of-{slug}", project=ident)
    api.entity("of-default")
    return made


def slugs(api: Any, headers: dict[str, str]) -> list[str]:
    return [e["slug"] for e in api.get("/api/entities", headers=headers)["data"]]


def test_the_id_header_wins_then_the_slug_then_the_cookie_then_the_default(api, two):
    cookie = {"cookie": f"projectId={two['beta']}"}
    assert slugs(api, {}) == ["of-default"]
    assert slugs(api, cookie) == ["of-beta"]
    assert slugs(api, cookie | {"x-project-slug": "alpha"}) == ["of-alpha"]
    assert slugs(api, cookie | {"x-project-slug": "alpha", "x-project-id": DEFAULT}) == ["of-default"]
    assert slugs(api, {"x-project-slug": "psymetric"}) == ["of-default"]
    assert slugs(api, {"x-project-id": "", "x-project-slug": "beta"}) == ["of-beta"]


def test_a_stale_cookie_falls_through_silently(api, two):
    for stale in (MISSING, "nonsense", "", two["alpha"][:-1]):
        assert slugs(api, {"cookie": f"projectId={stale}"}) == ["of-default"]


@pytest.mark.parametrize("path", SCOPED)
def test_a_malformed_header_is_400_and_an_unknown_project_404_in_constant_words(api, two, path):
    for headers in (
        {"x-project-id": "nonsense", "x-project-slug": "alpha"},
        {"x-project-slug": "Alpha"},
        {"x-project-slug": "a b"},
    ):
        assert api.get(path, headers=headers, status=400)["error"]["code"] == "BAD_REQUEST"
    for headers in (
        {"x-project-id": MISSING},
        {"x-project-slug": "no-such"},
        {"x-project-id": MISSING, "x-project-slug": "alpha"},
    ):
        assert api.get(path, headers=headers, status=404) == {
            "error": {"code": "NOT_FOUND", "message": "Project not found"}
        }


def test_another_projects_entity_is_404_exactly_as_a_missing_one(api, two):
    (theirs,) = (e["id"] for e in api.get("/api/entities", project=two["alpha"])["data"])
    for path in ("/api/entities/{}", "/api/entities/{}/graph", "/api/entities/{}/graph?depth=2"):
        foreign = api.get(path.format(theirs), project=two["beta"], status=404)
        assert foreign == api.get(path.format(MISSING), project=two["beta"], status=404)
        assert foreign["error"]["code"] == "NOT_FOUND"
    for path in ("/api/quotable-blocks", "/api/seo/search-performance"):
        assert api.get(f"{path}?entityId={theirs}", project=two["beta"])["data"] == []


def test_auth_on_needs_a_key_everywhere_and_a_write_key_for_writes(open_api):
    api = open_api(api_keys=("reader", "réader-ü"), graph_write_keys=("writer",))
    for token in (None, "", "nobody", "readerx", "Reader"):
        for method, path in (
            [("GET", p) for p in READ_PATHS] + WRITES + [("GET", "/api/nowhere"), ("PUT", "/api/entities")]
        ):
            answer = api.call(method, path, token=token)
            assert answer.status_code == 401
            assert answer.json() == {"error": {"code": "UNAUTHORIZED", "message": "Unauthorized"}}
    for path in READ_PATHS:
        assert api.call("GET", path, token="reader").status_code in (200, 404)
        assert api.call("GET", path, token="writer").status_code in (200, 404)
    assert api.call("GET", "/api/projects", headers={"authorization": "Basic reader"}).status_code == 401
    assert api.call("GET", "/api/projects", headers={"authorization": "bearer reader"}).status_code == 200


def test_a_read_key_reaches_no_write_by_any_route_and_method(open_api):
    api = open_api(api_keys=("reader",), graph_write_keys=("writer",))
    before = api.get("/api/projects", token="reader")
    paths = {path for _, path in WRITES} | set(READ_PATHS) | {"/api/seo/search-performance/compare"}
    for path in sorted(paths):
        for method in ("POST", "PUT", "PATCH", "DELETE", "TRACE", "MERGE"):
            answer = api.call(
                method,
                path,
                token="reader",
                json={"slug": "new", "name": "New"},
                headers={"x-http-method-override": method},
            )
            assert answer.status_code == 403
            assert answer.json()["error"]["code"] == "FORBIDDEN"
        for method in ("GET", "HEAD", "OPTIONS"):
            answer = api.call(
                method,
                path,
                token="reader",
                json={"slug": "new", "name": "New"},
                headers={"x-http-method-override": "POST"},
            )
            assert answer.status_code in (200, 204, 400, 404, 405)
    assert api.get("/api/projects", token="reader") == before
    assert api.call("POST", "/api/projects", token="writer", json={"slug": "new", "name": "New"}).status_code == 201


def test_without_write_keys_nobody_writes_when_auth_is_on(open_api):
    api = open_api(api_keys=("reader",))
    assert api.call("POST", "/api/projects", token="reader", json={"slug": "new", "name": "New"}).status_code == 403


def test_a_page_of_another_site_cannot_write(api):
    body = {"slug": "new", "name": "New"}
    assert api.call("POST", "/api/projects", json=body, headers={"origin": "https://evil.test"}).status_code == 403
    assert api.call("POST", "/api/projects", content="{}", headers={"content-type": "text/plain"}).status_code == 400
    assert api.call("POST", "/api/projects", json=body, headers={"origin": "http://graph.test"}).status_code == 201


def test_unknown_routes_and_methods_have_the_envelope(api):
    for method, path, status in (
        ("GET", "/api/nowhere", 404),
        ("GET", "/api/entities/", 404),
        ("PUT", "/api/entities", 405),
        ("DELETE", f"/api/entities/{MISSING}", 405),
    ):
        answer = api.call(method, path)
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"code", "message"}
        assert answer.json()["error"]["code"].isupper()


def test_a_database_that_is_gone_is_500_in_the_envelope(tmp_path):
    from starlette.testclient import TestClient

    from trigpoint.api.routes.graph import graph_app
    from trigpoint.config import load_settings

    gone = load_settings(database_url="postgresql://nobody@127.0.0.1:9/none", trigpoint_data_dir=tmp_path)
    answer = TestClient(graph_app(gone)).get("/api/projects")
    assert answer.status_code == 500
    assert answer.json() == {"error": {"code": "SERVER_ERROR", "message": "The graph's database cannot be reached"}}
