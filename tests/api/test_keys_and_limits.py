"""Keys, the sliding window, and what they do to each other (E6, R13)."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis as sync_redis

from serving_api import KEY, OTHER_KEY, running_api
from trigpoint.api.ratelimit import RateLimiter
from trigpoint.config import Settings, load_settings
from trigpoint.errors import ConfigurationError
from trigpoint.jobs.batch import Batch
from trigpoint.storage.redis import redis_client

PATH = "/api/v1/reviews"


async def many(api: httpx.Client, number: int, **headers: str) -> list[httpx.Response]:
    limits = httpx.Limits(max_connections=50)
    async with httpx.AsyncClient(base_url=api.base_url, limits=limits, timeout=60, trust_env=False) as client:
        sent = dict(api.headers) | headers
        return list(await asyncio.gather(*(client.get(PATH, headers=sent) for _ in range(number))))


async def test_of_200_parallel_requests_at_limit_60_exactly_60_pass(
    keyed_api: httpx.Client, clean_redis_url: str
) -> None:
    with sync_redis.Redis.from_url(clean_redis_url) as redis:
        began = redis.time()[0]
        answers = await many(keyed_api, 200)
        windows = 1 + (redis.time()[0] - began) // 60  # one, unless the machine stands still
    passed = [answer for answer in answers if answer.status_code == 200]
    assert Counter(answer.status_code for answer in answers) == {200: len(passed), 429: 200 - len(passed)}
    assert 60 <= len(passed) <= 60 * windows
    assert {int(answer.headers["x-ratelimit-remaining"]) for answer in passed} == set(range(60))
    (other,) = await many(keyed_api, 1, authorization=f"Bearer {OTHER_KEY}")
    assert (other.status_code, other.headers["x-ratelimit-remaining"]) == (200, "59")


def test_a_refused_request_says_when_to_come_back(api_settings: Callable[..., Settings]) -> None:
    with running_api(api_settings(api_keys=(KEY,), api_rate_limit=2), key=KEY) as api:
        assert [api.get(PATH).headers["x-ratelimit-remaining"] for _ in range(2)] == ["1", "0"]
        answer = api.get(PATH)
        assert answer.status_code == 429
        wait = int(answer.headers["retry-after"])
        assert 1 <= wait <= 60
        assert answer.json() == {
            "error": {
                "code": "rate_limited",
                "message": "Too many requests. Please retry after the specified time.",
                "details": {"retry_after_seconds": wait},
            }
        }
        assert answer.headers["x-ratelimit-limit"] == "2"
        assert answer.headers["x-ratelimit-remaining"] == "0"
        assert int(answer.headers["x-ratelimit-reset"]) > 1_700_000_000
        assert api.get("/api/v1/health").status_code == 200  # exempt


async def test_the_window_slides_and_refused_requests_do_not_count(clean_redis_url: str) -> None:
    async with redis_client(clean_redis_url) as redis:
        limiter = RateLimiter(Batch(redis), 2, window_seconds=0.6)
        assert (await limiter.take("a", "here")).allowed
        await asyncio.sleep(0.3)
        assert (await limiter.take("a", "here")).allowed
        for _ in range(5):
            assert not (await limiter.take("a", "here")).allowed
        await asyncio.sleep(0.35)  # the first has left the window, the second has not
        assert (await limiter.take("a", "here")).allowed
        assert not (await limiter.take("a", "here")).allowed


def test_no_key_stands_in_redis(keyed_api: httpx.Client, clean_redis_url: str) -> None:
    keyed_api.get(PATH)
    with sync_redis.Redis.from_url(clean_redis_url, decode_responses=True) as client:
        names = client.keys("ratelimit:*")
    assert names
    assert not any(KEY in name for name in names)


async def test_failed_tries_are_limited_by_address_and_slow_the_right_key_too(
    keyed_api: httpx.Client, clean_redis_url: str
) -> None:
    """Otherwise the answer to the right guess would differ from all others."""
    answers = await many(keyed_api, 80, authorization="Bearer guess")
    assert Counter(answer.status_code for answer in answers) == {401: 60, 429: 20}
    (right,) = await many(keyed_api, 1)
    assert right.status_code == 429
    async with redis_client(clean_redis_url) as redis:
        limiter = RateLimiter(Batch(redis), 60)
        assert (
            await limiter.take(KEY, "192.0.2.7")
        ).remaining == 59  # the key itself has used nothing of its own limit


def test_keys_cannot_be_guessed_through_the_graph_either(api_settings: Callable[..., Settings]) -> None:
    """It takes the same keys, so its failed tries count with those of the REST API. Its readers have no limit."""
    with running_api(api_settings(api_keys=(KEY,), api_rate_limit=5), key=KEY) as api:
        assert {api.get("/api/entities").status_code for _ in range(10)} == {200}
        guess = {"Authorization": "Bearer guess"}
        tries = [api.get("/api/entities", headers=guess) for _ in range(8)]
        assert [answer.status_code for answer in tries] == [401] * 5 + [429] * 3
        assert tries[-1].json()["error"]["code"] == "RATE_LIMITED"
        assert 1 <= int(tries[-1].headers["retry-after"]) <= 60
        assert api.get("/api/entities").status_code == 429
        assert api.get(PATH).status_code == 429


def test_without_redis_the_graph_still_answers_those_who_have_a_key(
    tmp_path: Path, free_port: Callable[[], int]
) -> None:
    nowhere = f"redis://127.0.0.1:{free_port()}/0"
    settings = load_settings(trigpoint_data_dir=tmp_path, api_keys=(KEY,), redis_url=nowhere)
    with running_api(settings, key=KEY) as api:
        assert api.get("/api/entities").status_code == 200
        assert api.get("/api/entities", headers={"Authorization": "Bearer guess"}).status_code == 401


async def test_a_clock_that_goes_back_does_not_lock_anybody_out(clean_redis_url: str) -> None:
    async with redis_client(clean_redis_url) as redis:
        limiter = RateLimiter(Batch(redis), 2)
        await limiter.take("a", "here")
        (place,) = await redis.keys("ratelimit:*")
        await redis.zadd(place, {"from the future": 9e15, "another": 9e15})
        assert (await limiter.take("a", "here")).allowed


def test_with_auth_off_there_is_no_limit_and_no_such_header(api_settings: Callable[..., Settings]) -> None:
    with running_api(api_settings(api_rate_limit=1)) as api:
        for _ in range(5):
            answer = api.get(PATH)
            assert answer.status_code == 200
            assert not [name for name in answer.headers if name.startswith("x-ratelimit")]


@pytest.mark.parametrize(
    "sent",
    [b"", b"Bearer", b"bearer", KEY.encode(), b"Bearer " + KEY.encode()[:-1], b"Basic " + KEY.encode(),
     "Bearer sk-ключ".encode(), b"Bearer \xff\xfe", b"Bearer " + KEY.encode() + b" x"],
)  # fmt: skip
def test_what_is_not_a_key_is_unauthorized(keyed_api: httpx.Client, sent: bytes) -> None:
    answer = keyed_api.get(PATH, headers={b"Authorization": sent})
    assert answer.status_code == 401
    assert answer.json() == {"error": {"code": "unauthorized", "message": "Unauthorized"}}
    assert answer.headers["x-ratelimit-limit"] == "60"


def test_the_scheme_is_case_insensitive(keyed_api: httpx.Client) -> None:
    assert keyed_api.get(PATH, headers={"Authorization": f"bearer {KEY}"}).status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/v1/health/", "/docs/x", "/API/V1/HEALTH"])
def test_only_the_exempt_paths_themselves_are_open(keyed_api: httpx.Client, path: str) -> None:
    assert keyed_api.get(path, headers={"Authorization": ""}).status_code == 401


def test_keys_of_variable_and_file_are_united(api_settings: Callable[..., Settings], tmp_path: Path) -> None:
    """E6"""
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": ["from-file"]}))
    with running_api(api_settings(api_keys=("from-variable",), api_keys_file=file)) as api:
        for key, status in (("from-file", 200), ("from-variable", 200), ("other", 401)):
            assert api.get(PATH, headers={"Authorization": f"Bearer {key}"}).status_code == status


NAMED_KEYS = {
    "keys": [
        "plain",
        {"name": "dashboard", "key": "reader", "scopes": ["read"]},
        {"name": "robot", "key": "submitter", "scopes": ["read", "submit"], "expires": "2999-12-31"},
        {"name": "old", "key": "expired", "expires": "2020-01-01"},
    ]
}
SUBMISSION = {"application_ref": "25/01178/REM"}
NEW_POLICY = {"source": "NEW", "title": "New", "category": "national_policy"}


def test_a_key_may_do_what_its_scopes_say_until_it_expires(
    api_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(NAMED_KEYS))
    expected = {
        "plain": (200, 202, 201),
        "reader": (200, 403, 403),
        "submitter": (200, 409, 403),
        "expired": (401,) * 3,
    }
    with running_api(api_settings(api_keys_file=file)) as api:
        for key, codes in expected.items():
            sent = {"Authorization": f"Bearer {key}"}
            answers = (
                api.get(PATH, headers=sent),
                api.post(PATH, json=SUBMISSION, headers=sent),
                api.post("/api/v1/policies", json=NEW_POLICY, headers=sent),
            )
            assert tuple(answer.status_code for answer in answers) == codes, key
        for method, path, needed in (
            ("PUT", f"{PATH}/rev_x/letter", "submit"),
            ("POST", f"{PATH}/rev_x/cancel", "submit"),
            ("POST", "/api/v1/applications", "submit"),
            ("POST", f"{PATH}/rev_x/webhooks/whd_x/redeliver", "manage"),
            ("DELETE", "/api/v1/policies/NEW/revisions/rev_x", "manage"),
        ):
            refused = api.request(method, path, headers={"Authorization": "Bearer reader"}).json()["error"]
            assert refused["details"]["required_scope"] == needed, path
        refused = api.post(PATH, json=SUBMISSION, headers={"Authorization": "Bearer reader"}).json()["error"]
        assert refused["code"] == "forbidden"
        assert "'dashboard'" in refused["message"]
        assert refused["details"] == {"required_scope": "submit", "scopes": ["read"]}


def test_a_changed_keys_file_counts_without_a_restart_and_a_broken_one_changes_nothing(
    api_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    file = tmp_path / "keys.json"
    file.write_text('["first"]')

    def status(key: str) -> int:
        return api.get(PATH, headers={"Authorization": f"Bearer {key}"}).status_code

    def becomes(key: str, code: int) -> bool:
        return any(status(key) == code or time.sleep(0.1) for _ in range(40))

    with running_api(api_settings(api_keys_file=file, api_rate_limit=1000)) as api:
        assert (status("first"), status("second")) == (200, 401)
        file.write_text('["second"]')
        assert becomes("second", 200)
        assert status("first") == 401
        file.write_text("{ not json")
        time.sleep(1.2)
        assert (status("second"), status("first")) == (200, 401)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"name": "a"}, "needs a `name` and a `key`"),
        ({"name": "a", "key": "k", "scopes": ["write"]}, "expected a list out of read, submit, manage"),
        ({"name": "a", "key": "k", "scopes": [["read"]]}, "expected a list out of read, submit, manage"),
        ({"name": "a", "key": "k", "expires": "2027-02-30"}, "expected a date such as 2027-12-31"),
        ({"name": "a", "key": "k", "scope": ["read"]}, "these fields only: expires, key, name, scopes"),
    ],
)
def test_a_wrong_entry_is_named_by_its_place_and_never_shows_the_key(
    tmp_path: Path, entry: dict[str, Any], said: str
) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": ["sk-fine", entry]}))
    with pytest.raises(ConfigurationError, match="entry 2") as caught:
        load_settings(api_keys_file=file)
    assert said in caught.value.message
    assert "sk-fine" not in caught.value.message


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"keys": "x"}', "[1]", "not json", '["\\ud800"]', "[" * 100_000])
def test_a_bad_keys_file_stops_the_start(api_settings: Callable[..., Settings], tmp_path: Path, content: str) -> None:
    """E6: it never disables auth."""
    file = tmp_path / "keys.json"
    file.write_text(content)
    with pytest.raises(ConfigurationError, match="API_KEYS_FILE"):
        api_settings(api_keys_file=file)


@pytest.mark.parametrize("variable", ["API_KEYS", "GRAPH_WRITE_KEYS"])
@pytest.mark.parametrize("value", [",", " , ", ",,", "  "])
def test_a_list_of_keys_without_a_key_stops_the_start(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E6: it never disables auth."""
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=rf"^{variable}=\(hidden\): expected values"):
        load_settings()


def test_an_empty_list_of_keys_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEYS", "")
    assert not load_settings().rest_auth_on


def test_without_redis_health_is_degraded_and_the_rest_says_so(
    tmp_path: Path, free_port: Callable[[], int], api_settings: Callable[..., Settings]
) -> None:
    """R11, E11"""
    nowhere: dict[str, Any] = {"redis_url": f"redis://127.0.0.1:{free_port()}/0"}
    for keys in ((), (KEY,)):
        settings = load_settings(trigpoint_data_dir=tmp_path, api_keys=keys, **nowhere)
        with running_api(settings, key=KEY) as api:
            answer = api.get("/api/v1/health")
            assert answer.status_code == 200
            assert answer.json()["status"] == "degraded"
            assert answer.json()["services"] == {"redis": "disconnected"}
            for path in ("/api/v1/reviews", "/api/v1/reviews/rev_01JKXYZ1234567890ABCDEFGHJ", "/api/v1/policies"):
                answer = api.get(path)
                assert answer.status_code == 503
                assert answer.json()["error"]["code"] in ("store_unavailable", "registry_unavailable")
                assert "Redis" in answer.json()["error"]["message"]
