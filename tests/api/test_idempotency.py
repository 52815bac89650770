"""Sending a request twice creates one thing: `Idempotency-Key` on every POST."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from serving_api import KEY, OTHER_KEY, running_api
from trigpoint.api.form_hash import FormHash
from trigpoint.config import Settings
from trigpoint.errors import StoreUnavailable
from trigpoint.jobs.reviews import Reviews
from trigpoint.jobs.scripts import Scripts
from trigpoint.storage.redis import redis_client

PATH = "/api/v1/reviews"
BODY = {"application_ref": "25/01178/REM"}


def send(api: httpx.Client, key: str, body: Any = BODY, path: str = PATH, **headers: str) -> httpx.Response:
    return api.post(path, json=body, headers={"Idempotency-Key": key, **headers})


def reviews_in_all(api: httpx.Client) -> int:
    return int(api.get(PATH).json()["total"])


def test_the_second_request_gets_the_first_answer_byte_for_byte(api: httpx.Client) -> None:
    first, second = send(api, "one"), send(api, "one")
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.content == second.content
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert api.get(PATH).json()["total"] == 1


async def test_of_many_at_once_one_creates_and_the_others_wait_or_get_its_answer(api: httpx.Client) -> None:
    async with httpx.AsyncClient(base_url=api.base_url, trust_env=False, timeout=30) as client:
        answers = await asyncio.gather(
            *(client.post(PATH, json=BODY, headers={"Idempotency-Key": "same"}) for _ in range(20))
        )
    created = {answer.json()["review_id"] for answer in answers if answer.status_code == 202}
    others = {answer.json()["error"]["code"] for answer in answers if answer.status_code != 202}
    assert len(created) == 1
    assert others <= {"idempotency_in_progress"}
    assert reviews_in_all(api) == 1


def test_an_error_of_the_caller_is_repeated_too(api: httpx.Client) -> None:
    wrong = {"application_ref": "nonsense"}
    first, second = send(api, "wrong", wrong), send(api, "wrong", wrong)
    assert first.status_code == second.status_code == 422
    assert first.content == second.content


@pytest.mark.parametrize("path", ["/api/v1/events", "/api/seo/search-performance"])
def test_a_method_that_is_not_allowed_always_says_which_are(api: httpx.Client, path: str) -> None:
    for _ in range(2):
        answer = send(api, "one", path=path)
        assert (answer.status_code, answer.headers.get("allow")) == (405, "GET, HEAD, OPTIONS")


def test_a_key_for_another_request_is_refused(api: httpx.Client) -> None:
    send(api, "one")
    answer = send(api, "one", {"application_ref": "25/01502/F"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert api.get(PATH).json()["total"] == 1


def test_the_same_key_of_another_caller_or_path_is_another_key(generous_api: httpx.Client) -> None:
    policy = {"source": "NEW", "title": "New", "category": "national_policy"}
    assert send(generous_api, "one").status_code == 202
    assert send(generous_api, "one", policy, "/api/v1/policies").status_code == 201
    assert send(generous_api, "one", policy, "/api/v1/policies").headers["idempotent-replayed"] == "true"


def test_keys_of_callers_do_not_meet(api_settings: Callable[..., Settings]) -> None:
    with running_api(api_settings(api_keys=(KEY, OTHER_KEY)), key=KEY) as api:
        assert send(api, "one").status_code == 202
        other = send(api, "one", Authorization=f"Bearer {OTHER_KEY}")
        assert other.status_code == 409  # not a replay: for this caller the request is new, and a review is active
        assert other.json()["error"]["code"] == "review_already_exists"


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "é"])
def test_a_key_that_cannot_be_used_is_refused(api: httpx.Client, key: str) -> None:
    answer = api.post(PATH, json=BODY, headers={"Idempotency-Key": key.encode()})
    assert answer.status_code == 422
    assert answer.json()["error"]["details"]["errors"][0]["field"] == "header.Idempotency-Key"


@pytest.mark.parametrize(
    ("path", "body"), [(PATH, BODY), ("/api/entities", {"entityType": "concept", "title": "A", "slug": "a"})]
)
def test_a_request_that_broke_off_does_not_take_the_key_of_the_whole_one(
    api: httpx.Client, path: str, body: dict[str, str]
) -> None:
    """The key is there for this: the connection is lost, and the client sends the request again."""
    whole = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nIdempotency-Key: lost\r\n"
    for sent, length in ((whole[:9], len(whole)), (whole, len(whole) + 9)):
        with socket.create_connection((api.base_url.host, api.base_url.port or 80)) as connection:
            connection.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode() + sent)
            time.sleep(0.2)
        time.sleep(0.2)
    again = send(api, "lost", body, path)
    assert again.status_code in (201, 202)
    assert "idempotent-replayed" not in again.headers


async def test_a_crash_between_creating_and_answering_creates_nothing_twice(
    api: httpx.Client, clean_redis_url: str
) -> None:
    """The state that a process leaves behind that died after making the review: its key is busy, with a reserved id."""
    first = send(api, "one").json()
    async with redis_client(clean_redis_url) as redis:
        (place,) = await redis.keys("idempotency:*")
        await redis.hset(place, mapping={"state": "running", "busy_until": 0})  # type: ignore[misc]
        await redis.hdel(place, "status", "type", "body")  # type: ignore[misc]
    again = send(api, "one")
    assert again.status_code == 202
    assert again.json() == first
    assert reviews_in_all(api) == 1


async def test_while_the_first_is_being_answered_the_second_is_told_to_wait(
    api: httpx.Client, clean_redis_url: str
) -> None:
    send(api, "one")
    async with redis_client(clean_redis_url) as redis:
        (place,) = await redis.keys("idempotency:*")
        await redis.hset(place, mapping={"state": "running", "busy_until": 10**15})  # type: ignore[misc]
    answer = send(api, "one")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "idempotency_in_progress")
    assert answer.headers["retry-after"]


def test_a_conflict_names_the_review_that_is_active(api: httpx.Client) -> None:
    first = api.post(PATH, json=BODY).json()["review_id"]
    error = api.post(PATH, json=BODY).json()["error"]
    assert error["details"] == {"application_ref": "25/01178/REM", "review_id": first}


async def test_creating_the_same_review_again_returns_it_as_it_is_now(clean_redis_url: str) -> None:
    async with redis_client(clean_redis_url) as redis:
        reviews = Reviews(redis)
        ident = "rev_" + "0" * 26
        await reviews.create("25/01178/REM", None, None, request_id="-", review_id=ident)
        await reviews.cancel(ident)
        again = await reviews.create("25/01178/REM", None, None, request_id="-", review_id=ident)
        assert (again.review_id, again.status) == (ident, "cancelled")
        statuses = Counter(row.status for row in (await reviews.list(limit=10, offset=0))[0])
    assert statuses == {"cancelled": 1}


ENTITY = {"entityType": "concept", "title": "A meeting", "slug": "a-meeting"}


def graph_total(api: httpx.Client) -> int:
    return int(api.get("/api/entities").json()["pagination"]["total"])


def test_the_graph_creates_nothing_twice_and_refuses_in_its_own_words(api: httpx.Client) -> None:
    before = graph_total(api)
    first, second = (send(api, "entity", ENTITY, "/api/entities") for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert second.headers["idempotent-replayed"] == "true"
    assert graph_total(api) == before + 1
    elsewhere = send(api, "entity", ENTITY, "/api/entities", **{"x-project-slug": "elsewhere"})
    assert (elsewhere.status_code, elsewhere.json()["error"]["code"]) == (400, "BAD_REQUEST")
    other = send(api, "entity", ENTITY | {"title": "Another"}, "/api/entities")
    assert (other.status_code, other.json()["error"]["code"]) == (400, "BAD_REQUEST")
    assert "was used for another request" in other.json()["error"]["message"]
    unusable = send(api, "a b", ENTITY, "/api/entities")
    assert (unusable.status_code, unusable.json()["error"]["code"]) == (400, "BAD_REQUEST")
    assert "printable ASCII" in unusable.json()["error"]["message"]


REVISIONS = "/api/v1/policies/NEW/revisions"


def upload(api: httpx.Client, key: str, content: bytes, query: str = "") -> httpx.Response:
    """Each call sends a form with a boundary of its own."""
    return api.post(
        REVISIONS + query,
        data={"version_label": "One", "effective_from": "2025-01-01"},
        files={"file": ("a.pdf", content)},
        headers={"Idempotency-Key": key},
    )


def test_a_form_is_told_from_another_of_the_same_length(api: httpx.Client) -> None:
    send(api, "policy", {"source": "NEW", "title": "New", "category": "national_policy"}, "/api/v1/policies")
    first, second = upload(api, "one", b"%PDF-1.4 a" * 30_000), upload(api, "one", b"%PDF-1.4 a" * 30_000)
    assert first.status_code == 202
    assert first.content == second.content
    assert second.headers["idempotent-replayed"] == "true"
    other = upload(api, "one", b"%PDF-1.4 b" * 30_000)
    assert (other.status_code, other.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert api.get("/api/v1/policies/NEW").json()["revision_count"] == 1


@pytest.mark.parametrize("path", [REVISIONS, "/api/v1/nowhere"])
def test_a_form_is_the_same_with_a_boundary_of_another_length(api: httpx.Client, path: str) -> None:
    """Firefox and Apache's client choose its length at random; a form that is refused unread is known by its length only."""
    send(api, "policy", {"source": "NEW", "title": "New", "category": "national_policy"}, "/api/v1/policies")

    def sent(boundary: str, label: str = "One") -> httpx.Response:
        return api.post(
            path,
            data={"version_label": label, "effective_from": "2025-01-01"},
            files={"file": ("a.pdf", b"%PDF-1.4")},
            headers={"Idempotency-Key": "one", "Content-Type": f"multipart/form-data; boundary={boundary}"},
        )

    first = sent("a" * 30)
    if path == REVISIONS:
        assert first.status_code == 202
        assert sent("b" * 40).content == first.content
    assert sent("c" * 30).content == first.content
    assert sent("d" * 30, "Two and more").json()["error"]["code"] == "idempotency_key_reused"


def test_the_same_request_with_another_query_is_another_request(api: httpx.Client) -> None:
    send(api, "policy", {"source": "NEW", "title": "New", "category": "national_policy"}, "/api/v1/policies")
    assert upload(api, "one", b"%PDF-1.4").status_code == 202
    other = upload(api, "one", b"%PDF-1.4", "?replace=rev_NEW_2025_01")
    assert (other.status_code, other.json()["error"]["code"]) == (422, "idempotency_key_reused")


async def test_an_answer_that_cannot_be_kept_is_given_all_the_same(
    api: httpx.Client, clean_redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The review has been made: a 503, or half an answer, would be untrue. Sent again, the request finds it."""
    run = Scripts.__call__

    async def refuse_the_end(self: Scripts, name: str, *args: Any) -> Any:
        if name == "idempotency_end":
            raise StoreUnavailable("Redis refuses changes for now")
        return await run(self, name, *args)

    with monkeypatch.context() as patch:
        patch.setattr(Scripts, "__call__", refuse_the_end)
        first = send(api, "one")
    assert first.status_code == 202
    assert reviews_in_all(api) == 1
    assert send(api, "one").json()["error"]["code"] == "idempotency_in_progress"
    async with redis_client(clean_redis_url) as redis:
        (place,) = await redis.keys("idempotency:*")
        left = int(await redis.hget(place, "busy_until")) - int(await redis.hget("clock", "steady"))  # type: ignore[misc]
        assert left <= 30_000  # a key is not blocked for longer by a server that died
        await redis.hset(place, "busy_until", 0)  # type: ignore[misc]
    assert send(api, "one").json()["review_id"] == first.json()["review_id"]


async def test_a_key_stays_busy_while_its_request_is_being_answered(
    api: httpx.Client, clean_redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trigpoint.api.idempotency._RENEWED_SECONDS", 0.05)
    create = Reviews.create

    async def slowly(self: Reviews, *args: Any, **more: Any) -> Any:
        async with redis_client(clean_redis_url) as redis:
            (place,) = await redis.keys("idempotency:*")
            await redis.hset(place, "busy_until", 1)  # type: ignore[misc]
            for _ in range(100):
                if int(await redis.hget(place, "busy_until")) > 1:  # type: ignore[misc]
                    return await create(self, *args, **more)
                await asyncio.sleep(0.05)
        raise AssertionError("the key was not renewed")

    monkeypatch.setattr(Reviews, "create", slowly)
    assert send(api, "one").status_code == 202


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_the_hash_of_a_form_depends_on_neither_boundary_nor_packets(size: int) -> None:
    def hashed(boundary: bytes, content: bytes) -> str:
        body = b"--%b\r\nContent-Disposition: form-data\r\n\r\n%b\r\n--%b--\r\n" % (boundary, content, boundary)
        form = FormHash(boundary, str(len(body)))
        for start in range(0, len(body), size):
            form.take(body[start : start + size])
        form._is_whole = True
        return form.digest()

    assert hashed(b"aaab", b"content") == hashed(b"0123", b"content") == hashed(b"01234567", b"content")
    assert hashed(b"aaab", b"content") != hashed(b"aaab", b"contend")
