"""Who may see the pages, where forms may come from, what every answer carries, and how errors look."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from page_samples import NOWHERE, browser

from serving_api import serving
from trigpoint.api.app import create_app
from trigpoint.api.web.sessions import Sessions, safe_next
from trigpoint.config import Settings, load_settings
from trigpoint.keys import KeyRing
from trigpoint.storage.redis import redis_client

KEY = "sk-pages-key-1"
PAGES = ("/", "/reviews", "/policies", "/policies/search", "/graph", "/status", "/nothing-here")


@pytest.fixture
def locked_site(site_settings: Callable[..., Settings]) -> Iterator[httpx.Client]:
    settings = site_settings(api_keys=(KEY, "sk-pages-key-2"), api_rate_limit=8)
    with serving(create_app(settings)) as address, browser(address) as client:
        yield client


@pytest.fixture(scope="module")
def open_site(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """One for all tests that only look."""
    folder = tmp_path_factory.mktemp("open")
    settings = load_settings(redis_url=redis_url, trigpoint_data_dir=folder, cherwell_portal_url=NOWHERE)
    with serving(create_app(settings)) as address, browser(address) as client:
        yield client


def sign_in(site: httpx.Client, key: str = KEY, then: str = "/") -> httpx.Response:
    return site.post("/sign-in", data={"key": key, "next": then})


@pytest.mark.parametrize("path", PAGES)
def test_every_page_carries_the_strict_policy_and_keeps_it(open_site: httpx.Client, path: str) -> None:
    answer = open_site.get(path)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert not re.search(r"<[^>]+\s(?:style|on[a-z]+)=", answer.text)
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style", answer.text)
    assert not re.search(r'(?:src|href|action)="(?:https?:)?//', answer.text)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_landmarks_a_title_a_language_and_a_way_past_the_header(
    open_site: httpx.Client, path: str
) -> None:
    shown = open_site.get(path).text
    assert '<html lang="en">' in shown
    assert '<a class="skip" href="#main">' in shown
    assert '<main id="main"' in shown
    assert '<nav aria-label="Main">' in shown
    assert shown.count("<h1") == 1
    assert "<title>" in shown


def test_static_files_are_kept_by_the_browser_until_they_change(open_site: httpx.Client) -> None:
    address = re.search(r'href="(/static/site\.css\?v=[0-9a-f]+)"', open_site.get("/").text)
    assert address is not None
    answer = open_site.get(address[1])
    assert answer.headers["cache-control"].endswith("immutable")
    assert answer.headers["content-type"].startswith("text/css")
    assert open_site.get("/static/..%2fapp.py").status_code == 404
    assert open_site.get("/static/none.css").status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_a_form_from_elsewhere_changes_nothing(site: httpx.Client, headers: dict[str, str]) -> None:
    answer = site.post("/reviews", data={"application_ref": "25/01178/REM"}, headers=headers)
    assert answer.status_code == 403
    assert "not sent from one of our own pages" in answer.text
    assert site.get("/api/v1/reviews").json()["total"] == 0


def test_what_says_nothing_about_where_it_comes_from_is_refused(site: httpx.Client) -> None:
    with httpx.Client(base_url=site.base_url, trust_env=False) as plain:
        assert plain.post("/reviews", data={"application_ref": "25/01178/REM"}).status_code == 403


def test_errors_are_pages_for_people_and_envelopes_for_programs(open_site: httpx.Client) -> None:
    for path in ("/reviews/rev_nope", "/policies/NOPE", "/nowhere"):
        answer = open_site.get(path)
        assert answer.status_code == 404
        assert "<h1>Not found</h1>" in answer.text
    program = open_site.get("/api/v1/reviews/rev_nope")
    assert program.json()["error"]["code"] == "review_not_found"
    assert "content-security-policy" not in program.headers
    assert open_site.get("/nowhere", headers={"Accept": "*/*"}).json()["error"]["code"] == "not_found"
    assert open_site.post("/reviews/compare").status_code == 405


def test_a_form_beyond_the_limit_is_refused(site_settings: Callable[..., Settings]) -> None:
    with serving(create_app(site_settings(max_upload_mb=1))) as address, browser(address) as site:
        site.post("/api/v1/policies", json={"source": "NPPF", "title": "NPPF", "category": "national_policy"})
        answer = site.post("/policies/NPPF/revisions", files={"file": ("a.pdf", b"%PDF-" + b"x" * 1_500_000)})
        assert answer.status_code == 413
        assert "<h1>" in answer.text


def test_with_keys_set_every_page_asks_to_sign_in(locked_site: httpx.Client) -> None:
    answer = locked_site.get("/reviews?status=queued")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=/reviews%3Fstatus%3Dqueued"
    assert locked_site.get("/sign-in").status_code == 200
    assert locked_site.get("/static/site.css").status_code == 200
    assert locked_site.post("/reviews", data={"application_ref": "25/01178/REM"}).headers["location"] == "/sign-in"


def test_a_key_opens_a_session_that_holds_no_key(locked_site: httpx.Client) -> None:
    answer = sign_in(locked_site, then="/policies")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/policies"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert KEY not in cookie
    shown = locked_site.get("/policies")
    assert shown.status_code == 200
    assert "Sign out" in shown.text
    assert locked_site.post("/sign-out").headers["location"] == "/sign-in"
    assert locked_site.get("/policies").status_code == 303


def test_the_cookie_is_no_key_to_the_rest_api(locked_site: httpx.Client) -> None:
    sign_in(locked_site)
    assert locked_site.get("/api/v1/reviews").status_code == 401


def test_wrong_keys_are_refused_and_counted(locked_site: httpx.Client) -> None:
    answer = sign_in(locked_site, "wrong")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    codes = [sign_in(locked_site, "wrong").status_code for _ in range(8)]
    assert codes[-1] == 429


def test_signing_out_ends_the_session_on_the_server(locked_site: httpx.Client) -> None:
    cookie = sign_in(locked_site).cookies["trigpoint_session"]
    locked_site.post("/sign-out")
    locked_site.cookies.set("trigpoint_session", cookie)  # a copy of the cookie that somebody kept
    assert locked_site.get("/policies").status_code == 303


def test_a_key_that_may_only_read_can_look_but_not_submit(
    site_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    file = tmp_path / "keys.json"
    file.write_text('{"keys": [{"name": "reader", "key": "sk-reader", "scopes": ["read"]}]}')
    with serving(create_app(site_settings(api_keys_file=file))) as address, browser(address) as site:
        sign_in(site, "sk-reader")
        assert site.get("/policies").status_code == 200
        status = site.get("/status").text
        assert "reader</th><td>read</td><td>Never</td>" in status
        assert "sk-reader" not in status
        refused = site.post("/reviews", data={"application_ref": "25/01178/REM"})
        assert refused.status_code == 403
        assert "lacks the scope" in refused.text
        assert site.post("/sign-out").headers["location"] == "/sign-in"


async def test_a_session_cannot_be_forged_or_kept_beyond_its_key_or_time(clean_redis_url: str) -> None:
    ring = KeyRing([KEY])
    sessions = Sessions(ring)
    key = sessions.key(KEY)
    assert key is not None
    async with redis_client(clean_redis_url) as redis:
        cookie = await sessions.open(redis, key)
        assert await sessions.holder(redis, cookie) == key
        assert await sessions.holder(redis, cookie[:-1] + ("0" if cookie[-1] != "0" else "1")) is None
        assert await sessions.holder(redis, "") is None
        assert await Sessions(KeyRing(["another"])).holder(redis, cookie) is None
        (place,) = await redis.keys("session:*")
        assert cookie not in place
        assert 0 < await redis.ttl(place) <= 12 * 3600
        await redis.delete(place)
        assert await sessions.holder(redis, cookie) is None


@pytest.mark.parametrize("path", ["//evil.example", "https://evil.example", "/\\evil.example", "", "/a\nb", "x"])
def test_signing_in_never_leads_to_another_site(path: str) -> None:
    assert safe_next(path) == "/"


ODD = (
    "",
    "0",
    "-1",
    "%00",
    "%ff",
    "%ed%a0%80",
    "x" * 3000,
    "..%2f..%2fetc",
    "%27%22<>",
    "2024-02-30",
    "{{7*7}}",
    "%0a",
    "☃",
)
ODD_PLACES = (
    "/reviews?status={}",
    "/reviews?application_ref={}",
    "/reviews?page={}",
    "/reviews/{}",
    "/reviews/{}/events",
    "/reviews/{}/evidence/{}",
    "/reviews/{}/documents/{}",
    "/reviews/compare?review={}&review=1",
    "/policies?date={}",
    "/policies/{}",
    "/policies/{}/compare?old={}",
    "/policies/search?date={}",
    "/graph?project={}",
    "/graph?search={}&page={}",
    "/graph/{}",
    "/static/{}",
    "/sign-in?next={}",
    "/{}",
)


@pytest.mark.parametrize("place", ODD_PLACES)
def test_no_address_however_odd_breaks_a_page(open_site: httpx.Client, place: str) -> None:
    """E3."""
    codes = {odd: open_site.get(place.replace("{}", odd)).status_code for odd in ODD}
    assert {odd: code for odd, code in codes.items() if code >= 500} == {}


@pytest.mark.parametrize("path", ["/reviews", "/policies/NPPF/revisions", "/sign-out", "/reviews/rev_x/cancel"])
@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=x", "application/json", "text/plain"]
)
def test_no_body_however_odd_breaks_a_form(open_site: httpx.Client, path: str, kind: str) -> None:
    answer = open_site.post(path, content=b"--x\xff\x00=&", headers={"Content-Type": kind})
    assert answer.status_code < 500
