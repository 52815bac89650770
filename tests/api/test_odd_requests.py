"""No input, however odd, gives a 500, a traceback or a hang; every error has the envelope (E3)."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import redis

from serving_api import running_api
from trigpoint.api.app import rest_app
from trigpoint.config import Settings
from trigpoint.jobs.events import EVENTS
from trigpoint.jobs.reviews import STATUSES
from trigpoint.review.models import FOCUS_AREAS

REVIEWS = "/api/v1/reviews"
JSON = {"Content-Type": "application/json"}


def envelope(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    error: dict[str, Any] = answer.json()["error"]
    assert error["code"]
    assert error["message"]
    assert answer.headers["x-request-id"]
    assert answer.headers["x-api-version"] == "1.0.0"
    return error


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"null", b"[]", b'"x"', b"[" * 50_000, b'{"a":' * 50_000, b"\xff\xfe", b'{"application_ref": NaN}',
     b'{"application_ref": "\\ud800"}', b"{}" * 2, b'{"application_ref": "25/01178/REM", "extra": 1}',
     b'{"application_ref": "25/01178/REM", "options": []}',
     b'{"application_ref": "25/01178/REM", "options": {"focus_areas": ["nope"]}}',
     b'{"application_ref": "25/01178/REM", "options": {"output_format": "pdf"}}',
     b'{"application_ref": "25/01178/REM", "options": {"include_policy_matrix": "yes"}}',
     b'{"application_ref": "25/01178/REM", "options": {"include_suggested_conditions": 1}}',
     b'{"application_ref": "25/01178/REM", "webhook": {"url": "ftp://x", "secret": "s"}}',
     b'{"application_ref": "25/01178/REM", "webhook": {"url": "https://", "secret": "s"}}',
     b'{"application_ref": "25/01178/REM", "webhook": {"url": "https://x", "secret": ""}}',
     b'{"application_ref": "25/01178/REM", "webhook": {"url": "http://[::1", "secret": "s"}}',
     b'{"application_ref": "25/01178/REM", "webhook": {"url": "http://x:99999/", "secret": "s"}}',
     b'{"application_ref": "25/01178/REM", "webhook": {"url": "https://x", "secret": "s", "events": ["review.no"]}}'],
)  # fmt: skip
def test_a_body_that_cannot_be_is_422(api: httpx.Client, body: bytes) -> None:
    error = envelope(api.post(REVIEWS, content=body, headers=JSON), 422)
    assert error["code"] == "validation_error"
    assert error["details"]["errors"]
    assert api.get(REVIEWS).json()["total"] == 0


def test_an_unknown_focus_area_lists_the_valid_ones(api: httpx.Client) -> None:
    """R8"""
    body = {"application_ref": "25/01178/REM", "options": {"focus_areas": ["parking"]}}
    message = envelope(api.post(REVIEWS, json=body), 422)["details"]["errors"][0]["message"]
    assert "parking" in message
    assert "cycle_parking" in message


@pytest.mark.parametrize(
    ("body", "field"),
    [([], "body"), ({"options": []}, "body.options"), ({"options": {"focus_areas": "junctions"}}, "body.options.focus_areas"),
     ({"webhook": {"url": "https://x", "secret": "s", "events": "review.started"}}, "body.webhook.events")],
)  # fmt: skip
def test_a_422_speaks_of_json_and_not_of_python(api: httpx.Client, body: Any, field: str) -> None:
    sent = {"application_ref": "25/01178/REM"} | body if isinstance(body, dict) else body
    (problem,) = envelope(api.post(REVIEWS, json=sent), 422)["details"]["errors"]
    assert problem["field"] == field
    assert problem["message"] in ("Input should be an object", "Input should be a list")


@pytest.mark.parametrize("value", [None, True, ["25/01178/REM"], {"a": None}, 25])
def test_what_is_no_text_is_not_quoted_as_python_writes_it(api: httpx.Client, value: Any) -> None:
    policy = {"source": value, "title": "A", "category": "local_plan"}
    revision = "/api/v1/policies/X/revisions/rev_X_2024_01"
    for answer in (
        api.post(REVIEWS, json={"application_ref": value}),
        api.post("/api/v1/policies", json=policy),
        api.patch(revision, json={"effective_from": value}),
    ):
        (problem,) = envelope(answer, 422)["details"]["errors"]
        assert problem["message"] == "Input should be a valid string"


def test_an_unknown_event_is_422(api: httpx.Client) -> None:
    """W4"""
    webhook = {"url": "https://example.com", "secret": "hush-hush", "events": ["review.paused"]}
    answer = api.post(REVIEWS, json={"application_ref": "25/01178/REM", "webhook": webhook})
    assert "review.paused" in envelope(answer, 422)["details"]["errors"][0]["message"]
    assert "hush-hush" not in answer.text


def test_a_body_without_the_json_type_is_422(api: httpx.Client) -> None:
    envelope(
        api.post(REVIEWS, content=b'{"application_ref": "25/01178/REM"}', headers={"Content-Type": "text/plain"}), 422
    )


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nowhere", 404), ("GET", "/api/v1", 404), ("GET", "/api/v1/reviews/", 404), ("PUT", REVIEWS, 405),
     ("DELETE", REVIEWS, 405), ("POST", "/api/v1/reviews/x/status", 405), ("GET", "/%00", 404),
     ("GET", "/api/v1/reviews/%2e%2e%2f", 404), ("GET", "/api/v1/reviews/%00/status", 404),
     ("GET", "/api/v1/policies/%F0%9F%9A%B2", 404), ("GET", "/api/v1/policies/" + "A" * 3000, 404)],
)  # fmt: skip
def test_paths_and_methods_that_are_not_there(api: httpx.Client, method: str, path: str, status: int) -> None:
    envelope(api.request(method, path), status)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/api/v1/reviews/x/status", "GET, HEAD, OPTIONS"), (REVIEWS, "GET, HEAD, POST, OPTIONS"), ("/api/v1/policies/NPPF", "GET, HEAD, PATCH, OPTIONS"),
     ("/api/v1/policies/NPPF/revisions/rev_x", "DELETE, GET, HEAD, PATCH, OPTIONS")],
)  # fmt: skip
def test_a_405_says_what_is_allowed(api: httpx.Client, path: str, allowed: str) -> None:
    assert envelope(answer := api.put(path), 405)["code"] == "method_not_allowed"
    assert answer.headers["allow"] == allowed


def test_a_large_body_is_refused_by_its_declared_and_by_its_real_length(api: httpx.Client) -> None:
    declared = api.post(REVIEWS, content=b"[" + b" " * 2_000_000, headers=JSON)
    assert envelope(declared, 413)["code"] == "payload_too_large"

    def chunks() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * 65_536

    streamed = api.post(REVIEWS, content=chunks(), headers=JSON)
    assert envelope(streamed, 413)["code"] == "payload_too_large"


def test_nobody_can_send_much_before_signing_in(keyed_api: httpx.Client) -> None:
    sent = {"Sec-Fetch-Site": "same-origin", "Authorization": ""}
    assert keyed_api.post("/sign-in", data={"key": "x" * 1000}, headers=sent).status_code == 401
    assert keyed_api.post("/sign-in", data={"key": "x" * 100_000}, headers=sent).status_code == 413


def test_an_upload_over_the_limit_is_refused_while_it_streams(
    api_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    """P10"""
    with running_api(api_settings(max_upload_mb=1)) as api:
        policy = {"source": "NPPF", "title": "x", "category": "national_policy"}
        api.post("/api/v1/policies", json=policy)
        data = {"version_label": "v", "effective_from": "2024-12-12"}
        url = "/api/v1/policies/NPPF/revisions"
        for size in (1024 * 1024 + 1, 3 * 1024 * 1024):
            answer = api.post(url, files={"file": ("x.pdf", b"%PDF-" + b"x" * (size - 5))}, data=data)
            assert envelope(answer, 413)["code"] == "payload_too_large"
        assert api.get("/api/v1/policies/NPPF").json()["revision_count"] == 0
        assert not list((tmp_path / "data").rglob("*.pdf"))
        at_the_limit = api.post(url, files={"file": ("x.pdf", b"%PDF-" + b"x" * (1024 * 1024 - 5))}, data=data)
        assert at_the_limit.status_code == 202


@pytest.mark.parametrize(
    "name",
    ["../../../etc/passwd.pdf", "..\\..\\x.pdf", "/etc/cron.d/x.pdf", "C:\\x.pdf", ".hidden.pdf", "a" * 400 + ".pdf", "..",
     "con.pdf", "{revision_id}.pdf", "x\u202egpj.pdf", "a/b/c.pdf"],
)  # fmt: skip
def test_a_file_name_cannot_leave_its_folder(api: httpx.Client, name: str) -> None:
    """P10"""
    api.post("/api/v1/policies", json={"source": "NPPF", "title": "x", "category": "national_policy"})
    answer = api.post(
        "/api/v1/policies/NPPF/revisions",
        files={"file": (name, b"%PDF-1.7")},
        data={"version_label": "v", "effective_from": "2024-12-12"},
    )
    assert answer.status_code == 202, answer.text
    revision_id = answer.json()["revision_id"]
    stored = Path(api.get(f"/api/v1/policies/NPPF/revisions/{revision_id}").json()["file_path"])
    assert stored.parent == api.data_dir / "policy" / "NPPF" / revision_id  # type: ignore[attr-defined]
    assert stored.read_bytes() == b"%PDF-1.7"


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"", "multipart/form-data"), (b"x", "multipart/form-data; boundary=x"), (b"--x\r\n", "multipart/form-data; boundary=x"),
     (b"{}", "application/json"), (b"a=b", "application/x-www-form-urlencoded"),
     (b"--x\r\nContent-Disposition: form-data\r\n\r\nv\r\n--x--\r\n", "multipart/form-data; boundary=x")],
)  # fmt: skip
def test_broken_forms_are_the_clients_error(api: httpx.Client, content: bytes, kind: str) -> None:
    api.post("/api/v1/policies", json={"source": "NPPF", "title": "x", "category": "national_policy"})
    answer = api.post("/api/v1/policies/NPPF/revisions", content=content, headers={"Content-Type": kind})
    assert answer.status_code in (400, 422)
    envelope(answer, answer.status_code)


@pytest.mark.parametrize("given", ["a", "trace 1", "~" * 128])
def test_a_request_id_that_is_short_and_printable_is_echoed(api: httpx.Client, given: str) -> None:
    assert api.get("/health", headers={"X-Request-ID": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["a" * 129, "naïve", "tab\there", ""])
def test_a_request_id_that_is_not_short_and_printable_is_replaced(api: httpx.Client, given: str) -> None:
    shown = api.get("/health", headers={b"X-Request-ID": given.encode()}).headers["x-request-id"]
    assert shown != given
    assert re.fullmatch(r"[0-9a-f-]{36}", shown)


def test_an_unexpected_error_is_a_500_with_the_envelope_and_no_traceback(
    api_settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("something private")

    monkeypatch.setattr("trigpoint.jobs.reviews.Reviews.list", broken)
    with running_api(api_settings(api_keys=("k",)), key="k") as api:
        answer = api.get(REVIEWS)
    error = envelope(answer, 500)
    assert error["code"] == "internal_error"
    assert "private" not in answer.text
    assert answer.headers["x-ratelimit-remaining"] == "59"


def test_bytes_that_are_no_http_get_an_answer_and_the_server_goes_on(api: httpx.Client) -> None:
    parts = urlsplit(str(api.base_url))
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=5) as sock:
        sock.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        assert sock.recv(100).startswith(b"HTTP/1.1 400")
    assert api.get("/health").status_code == 200


def test_in_production_webhooks_must_be_https_and_public(api_settings: Callable[..., Settings]) -> None:
    """W3"""
    with running_api(api_settings(environment="production")) as api:
        for url in ("http://example.com/x", "https://127.0.0.1/x", "https://localhost/x", "https://[::1]/x",
                    "https://10.0.0.8/x", "https://169.254.169.254/latest", "https://[fe80::1%25eth0]/x", "https://[fec0::1]/x",
                    "https://[::7f00:1]/x"):  # fmt: skip
            body = {"application_ref": "25/01178/REM", "webhook": {"url": url, "secret": "s"}}
            errors = envelope(api.post(REVIEWS, json=body), 422)["details"]["errors"]
            assert errors[0]["field"] == "body.webhook.url"
        body["webhook"] = {"url": "https://93.184.215.14/x", "secret": "s"}
        assert api.post(REVIEWS, json=body).status_code == 202


def test_in_development_http_and_loopback_are_allowed(api: httpx.Client) -> None:
    body = {"application_ref": "25/01178/REM", "webhook": {"url": "http://127.0.0.1:9/x", "secret": "s"}}
    assert api.post(REVIEWS, json=body).status_code == 202


def test_a_webhook_url_may_have_letters_beyond_ascii_and_is_kept_as_it_goes_over_the_wire(
    api: httpx.Client, clean_redis_url: str
) -> None:
    for url in ("https://☃.net/", "https://mün\u202echen.de/", "https://mün chen.de/"):
        body = {"application_ref": "25/01178/REM", "webhook": {"url": url, "secret": "s"}}
        envelope(api.post(REVIEWS, json=body), 422)
    body["webhook"] = {"url": "https://münchen.de/häuser?für=uns", "secret": "s"}
    answer = api.post(REVIEWS, json=body)
    assert answer.status_code == 202
    with redis.Redis.from_url(clean_redis_url, decode_responses=True) as client:
        kept = client.hget(f"review:{answer.json()['review_id']}:webhook", "url")
    assert kept == "https://xn--mnchen-3ya.de/h%C3%A4user?f%C3%BCr=uns"


@pytest.mark.parametrize("path", ["/docs", "/redoc"])
def test_the_docs_pages_are_whole_and_name_no_outside_address(api: httpx.Client, path: str) -> None:
    answer = api.get(path)
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert not re.search(r"""(src|href|url\()\s*=?\s*["']?(https?:)?//""", answer.text)
    for operation in ("/api/v1/reviews/{review_id}/status", "/api/v1/policies/effective", "ReviewSubmission"):
        assert operation in answer.text


def test_openapi_documents_every_route_of_the_contract(api_settings: Callable[..., Settings]) -> None:
    document = rest_app(api_settings()).openapi()
    documented = {(m.upper(), path) for path, item in document["paths"].items() for m in item}
    revision = "/api/v1/policies/{source}/revisions/{revision_id}"
    assert documented >= {
        ("GET", "/api/v1/health"),
        ("POST", REVIEWS),
        ("GET", REVIEWS),
        ("GET", f"{REVIEWS}/{{review_id}}"),
        ("GET", f"{REVIEWS}/{{review_id}}/status"),
        ("POST", f"{REVIEWS}/{{review_id}}/cancel"),
        ("GET", f"{REVIEWS}/{{review_id}}/download"),
        ("GET", f"{REVIEWS}/{{review_id}}/webhooks"),
        ("POST", f"{REVIEWS}/{{review_id}}/webhooks/{{delivery_id}}/redeliver"),
        ("POST", "/api/v1/policies"),
        ("GET", "/api/v1/policies"),
        ("GET", "/api/v1/policies/effective"),
        ("GET", "/api/v1/policies/{source}"),
        ("PATCH", "/api/v1/policies/{source}"),
        ("POST", "/api/v1/policies/{source}/revisions"),
        *((method, revision) for method in ("GET", "PATCH", "DELETE")),
        ("GET", f"{revision}/status"),
        ("POST", f"{revision}/reindex"),
    }
    assert document["info"]["version"] == "1.0.0"
    for path, item in document["paths"].items():
        for operation in item.values():
            if path.startswith("/api/v1/") and path != "/api/v1/health":
                assert {"401", "403", "422", "429", "500"} <= set(operation["responses"]), path


def test_openapi_names_bounds_and_values_and_what_may_be_null(api_settings: Callable[..., Settings]) -> None:
    document = rest_app(api_settings()).openapi()
    query = {p["name"]: p["schema"] for p in document["paths"][REVIEWS]["get"]["parameters"]}
    assert (query["limit"]["minimum"], query["limit"]["maximum"], query["limit"]["default"]) == (1, 100, 20)
    assert (query["offset"]["minimum"], query["offset"]["default"]) == (0, 0)
    assert query["status"]["anyOf"][0]["enum"] == list(STATUSES)
    schemas = document["components"]["schemas"]
    events = schemas["WebhookConfig"]["properties"]["events"]["anyOf"][0]
    assert events["items"]["enum"] == list(EVENTS)
    areas = schemas["ReviewOptions"]["properties"]["focus_areas"]["anyOf"][0]
    assert areas["items"]["enum"] == list(FOCUS_AREAS)
    nullable = {
        (name, field)
        for name in ("PolicyUpdate", "RevisionUpdate")
        for field, schema in schemas[name]["properties"].items()
        if {"type": "null"} in schema.get("anyOf", ())
    }
    assert nullable == {
        ("PolicyUpdate", "description"),
        ("RevisionUpdate", "effective_to"),
        ("RevisionUpdate", "notes"),
    }


def test_openapi_names_one_server_wherever_it_is_read(api: httpx.Client) -> None:
    """Its paths begin with `/api/v1`: a server that ended with it would double them."""
    for path in ("/openapi.json", "/api/v1/openapi.json"):
        assert [server["url"] for server in api.get(path).json()["servers"]] == ["/"]


def test_openapi_is_typed_to_the_last_field(api_settings: Callable[..., Settings]) -> None:
    """Only the details of an error are left open: each code has its own."""

    def untyped(part: Any, place: str) -> Iterator[str]:
        if isinstance(part, dict):
            is_open = part.get("type") == "object" and not part.keys() & {"properties", "additionalProperties"}
            if is_open or part.get("additionalProperties") is True:
                yield place
            for name, inner in part.items():
                yield from untyped(inner, f"{place}/{name}")
        elif isinstance(part, list):
            for inner in part:
                yield from untyped(inner, place)

    document = rest_app(api_settings()).openapi()
    parts = {"paths": document["paths"], "schemas": document["components"]["schemas"], "hooks": document["webhooks"]}
    assert list(untyped(parts, "")) == ["/schemas/ErrorBody/properties/details/anyOf"]
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert named == parts["schemas"].keys()


def test_openapi_names_the_limits_and_the_key_that_makes_a_post_repeatable(
    api_settings: Callable[..., Settings],
) -> None:
    document = rest_app(api_settings(api_rate_limit=17, max_upload_mb=23, max_application_mb=42)).openapi()
    said = " ".join(document["info"]["description"].split())
    assert "17 requests in any 60 seconds" in said
    assert (
        "JSON bodies of up to 1 MB, a policy's PDF of up to 23 MB, the files of an application of up to 42 MB" in said
    )
    for path, item in document["paths"].items():
        for method, operation in item.items():
            headers = [p["name"] for p in operation.get("parameters", ()) if p["in"] == "header"]
            assert ("Idempotency-Key" in headers) == (method == "post"), path


@pytest.mark.parametrize("path", [REVIEWS, "/health", "/api/v1/policies", "/openapi.json", "/docs", "/"])
def test_head_works_wherever_get_does(api: httpx.Client, path: str) -> None:
    got, head = api.get(path), api.head(path)
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert head.headers["content-type"] == got.headers["content-type"]


def test_options_names_the_methods_of_a_path(api: httpx.Client) -> None:
    answer = api.options(REVIEWS)
    assert answer.status_code == 204
    assert answer.headers["allow"] == "GET, HEAD, POST, OPTIONS"
    assert api.put(REVIEWS).headers["allow"] == answer.headers["allow"]


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/api/entities", "GET, HEAD, POST, OPTIONS"), ("/api/relationships", "DELETE, POST, OPTIONS"),
     ("/api/entities/9b2c1f7e-0000-4000-8000-000000000000", "GET, HEAD, PATCH, OPTIONS"), ("/status", "GET, HEAD, OPTIONS"),
     ("/sign-in", "GET, HEAD, POST, OPTIONS"), ("/sign-out", "POST, OPTIONS")],
)  # fmt: skip
def test_the_graph_and_the_pages_say_what_is_allowed_too(api: httpx.Client, path: str, allowed: str) -> None:
    asked = api.options(path)
    assert (asked.status_code, asked.headers["allow"]) == (204, allowed)
    refused = api.put(path, headers={"Sec-Fetch-Site": "same-origin"})
    assert (refused.status_code, refused.headers["allow"]) == (405, allowed)


def test_a_head_never_begins_a_stream(api: httpx.Client) -> None:
    """Its client takes the next answer on the connection for that of its next request."""
    for accepted in ("text/event-stream", "text/event-stream, */*", "text/html, Text/Event-Stream;q=0.5"):
        answer = api.head("/api/v1/events", headers={"Accept": accepted}, timeout=5)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
        assert api.get("/health", timeout=5).status_code == 200


@pytest.mark.parametrize("field", ["title", "description"])
def test_a_nul_in_a_text_is_refused_and_named(api: httpx.Client, field: str) -> None:
    body = {"source": "NUL_TEST", "title": "A", "category": "local_plan", field: "a\x00b"}
    answer = api.post("/api/v1/policies", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "validation_error"
    assert "NUL" in answer.text


def test_a_nul_in_a_reference_is_refused(api: httpx.Client) -> None:
    for body in ({"application_ref": "25/0\x001/F"}, {"application_ref": "25/1/F", "authority": "cher\x00well"}):
        assert api.post("/api/v1/reviews", json=body).status_code == 422
