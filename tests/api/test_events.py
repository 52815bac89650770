"""The feed: everything that webhooks send, in order, page by page or as a stream."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import httpx
import pytest
from rest_envelope import error

from serving_api import running_api
from trigpoint.config import Settings, load_settings
from trigpoint.errors import ConfigurationError
from trigpoint.jobs.feed import Feed, FeedPage
from trigpoint.storage.redis import redis_client

REFS = ("25/01178/REM", "25/01502/F", "25/00001/F")


def submit_and_cancel(api: httpx.Client, ref: str) -> str:
    review_id = str(api.post("/api/v1/reviews", json={"application_ref": ref}).json()["review_id"])
    assert api.post(f"/api/v1/reviews/{review_id}/cancel").status_code == 200
    return review_id


def test_events_come_in_order_and_a_cursor_continues_after_them(api: httpx.Client) -> None:
    ids = [submit_and_cancel(api, ref) for ref in REFS]
    page = api.get("/api/v1/events", params={"limit": 2}).json()
    assert [event["body"]["review_id"] for event in page["events"]] == ids[:2]
    assert {event["body"]["event"] for event in page["events"]} == {"review.cancelled"}
    assert page["missed"] is False
    rest = api.get("/api/v1/events", params={"after": page["cursor"]}).json()
    assert [event["body"]["review_id"] for event in rest["events"]] == ids[2:]
    end = api.get("/api/v1/events", params={"after": rest["cursor"]}).json()
    assert end == {"events": [], "cursor": rest["cursor"], "missed": False}


def test_a_reader_waits_for_the_next_event(api: httpx.Client) -> None:
    later = threading.Timer(0.4, submit_and_cancel, (api, REFS[0]))
    later.start()
    started = time.monotonic()
    page = api.get("/api/v1/events", params={"after": "latest", "wait": 10}).json()
    later.join()
    assert [event["body"]["event"] for event in page["events"]] == ["review.cancelled"]
    assert time.monotonic() - started < 5


def test_a_stream_sends_what_is_there_and_continues_after_the_last_id(api: httpx.Client) -> None:
    first, second = submit_and_cancel(api, REFS[0]), submit_and_cancel(api, REFS[1])
    asked = {"Accept": "text/event-stream"}

    def ids_and_data(headers: dict[str, str], wanted: int) -> tuple[list[str], list[str]]:
        with api.stream("GET", "/api/v1/events", headers=headers) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            ids, data = [], []
            for line in answer.iter_lines():
                ids += [line[4:]] if line.startswith("id: ") else []
                data += [line] if line.startswith("data: ") else []
                if len(data) == wanted:
                    return ids, data
        raise AssertionError("the stream ended early")

    ids, data = ids_and_data(asked, 2)
    assert [first in data[0], second in data[1]] == [True, True]
    _, rest = ids_and_data({**asked, "Last-Event-ID": ids[0]}, 1)
    assert second in rest[0]


@pytest.mark.parametrize("cursor", ["x", "1-", "1-1-1", "-1", "9" * 30])
def test_a_cursor_that_is_none_is_refused_and_its_place_named(api: httpx.Client, cursor: str) -> None:
    asked = {"Accept": "text/event-stream", "Last-Event-ID": cursor}
    for place, answer in (
        ("query.after", api.get("/api/v1/events", params={"after": cursor})),
        ("header.Last-Event-ID", api.get("/api/v1/events", params={"after": "latest"}, headers=asked)),
    ):
        assert error(answer, 422)["details"]["errors"][0]["field"] == place


@pytest.mark.parametrize("query", ["limit=1.0", "limit=+5", "limit=%2B5", "limit=1_0", "limit=٣", "wait=1.0", "wait="])
def test_a_number_is_written_in_digits(api: httpx.Client, query: str) -> None:
    found = error(api.get(f"/api/v1/events?{query}"), 422)
    assert found["details"]["errors"][0]["field"] == f"query.{query.partition('=')[0]}"


async def test_a_reader_who_is_too_far_behind_is_told(clean_redis_url: str) -> None:
    async with redis_client(clean_redis_url) as redis:
        first = await redis.xadd("events", {"body": "{}"})
        for _ in range(3):
            await redis.xadd("events", {"body": "{}"})
        feed = Feed(redis)
        assert (await feed.read(first, limit=10)).missed is False
        await redis.xtrim("events", maxlen=1, approximate=False)
        page = await feed.read(first, limit=10)
        assert (page.missed, len(page.events)) == (True, 1)


async def test_a_cursor_from_before_events_were_lost_does_not_wait_for_ever(clean_redis_url: str) -> None:
    """As after a restored backup: the reader is told, and gets what happens next."""
    async with redis_client(clean_redis_url) as redis:
        lost = await redis.xadd("events", {"body": "{}"}, id="9999999999999-0")
        await redis.delete("events")
        feed = Feed(redis)
        assert await feed.read(lost, limit=10, wait_seconds=5) == FeedPage((), "0-0", missed=True)
        await redis.xadd("events", {"body": '{"event": "a"}'})
        page = await feed.read(lost, limit=10, wait_seconds=5)
        assert page.missed
        await redis.xadd("events", {"body": '{"event": "b"}'})
        after = await feed.read(page.cursor, limit=10)
        assert ([event.body for event in after.events], after.missed) == ([{"event": "b"}], False)


def test_who_connects_again_before_an_event_came_misses_nothing(api: httpx.Client) -> None:
    """Browsers send the last id that they saw, and otherwise would begin with `latest` once more."""
    submit_and_cancel(api, REFS[0])
    latest = api.get("/api/v1/events", params={"after": "latest"}).json()["cursor"]
    asked = {"Accept": "text/event-stream"}
    with api.stream("GET", "/api/v1/events", params={"after": "latest"}, headers=asked) as answer:
        lines = answer.iter_lines()
        assert [next(lines), next(lines)] == [": still here", f"id: {latest}"]
    between = submit_and_cancel(api, REFS[1])
    asked["Last-Event-ID"] = latest
    with api.stream("GET", "/api/v1/events", params={"after": "latest"}, headers=asked) as answer:
        assert between in next(line for line in answer.iter_lines() if line.startswith("data: "))


def test_a_stream_says_that_there_is_a_gap(api: httpx.Client) -> None:
    submit_and_cancel(api, REFS[0])
    asked = {"Accept": "text/event-stream", "Last-Event-ID": "1-1"}
    with api.stream("GET", "/api/v1/events", headers=asked) as answer:
        lines = answer.iter_lines()
        assert next(lines) == "event: missed"
        assert any(line == "event: review.cancelled" for line in lines)


def test_a_webhook_for_everything_needs_a_secret_and_https_in_production(
    api_settings: Callable[..., Settings],
) -> None:
    with pytest.raises(ConfigurationError, match="WEBHOOK_SECRET"):
        load_settings(webhook_url="http://127.0.0.1/x")
    with pytest.raises(ConfigurationError, match="https"):
        load_settings(webhook_url="http://127.0.0.1/x", webhook_secret="s", environment="production")
    with running_api(api_settings(webhook_url="http://127.0.0.1/x", webhook_secret="s")) as api:
        assert api.get("/health").status_code == 200
