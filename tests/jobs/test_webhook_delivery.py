"""Webhooks: signed, in order, tried again, never to a private address in production (W1 to W4)."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import shutil
import socket
import subprocess
from contextlib import ExitStack
from typing import Any

import pytest
from receiver import Receiver, receiving
from redis.asyncio import Redis
from watched_pipeline import Broken, WatchedPipeline, until, until_status

from trigpoint.errors import DeliveryNotFound, DeliveryPending
from trigpoint.jobs import webhooks
from trigpoint.jobs.delivery import WebhookSender, is_public, sign
from trigpoint.jobs.events import DEFAULT_EVENTS, EVENTS
from trigpoint.jobs.queue import Queue
from trigpoint.jobs.reviews import Reviews, Webhook
from trigpoint.jobs.webhooks import Delivery, DeliveryRecord, Outbox
from trigpoint.review.models import PHASES

REF, SECRET = "25/01178/REM", "whsec_abc123"
REAL_RETRIES = webhooks.RETRY_SECONDS


@pytest.fixture
def outbox(redis: Redis) -> Outbox:
    return Outbox(redis)


@pytest.fixture(autouse=True)
def _quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "RETRY_SECONDS", (0, 0, 0, 0, 0))
    monkeypatch.setattr("trigpoint.jobs.worker._IDLE_SECONDS", 0.05)


async def submit(reviews: Reviews, receiver: Receiver, *events: str) -> str:
    webhook = Webhook(receiver.url, SECRET, events or DEFAULT_EVENTS)
    return (await reviews.create(REF, None, webhook, request_id="-")).review_id


async def all_settled(outbox: Outbox, review_id: str) -> list[DeliveryRecord] | None:
    log = await outbox.log(review_id)
    return None if not log or any(record.status == "pending" for record in log) else log


def verify_signature(body: bytes, secret: str, signature: str) -> bool:
    """As the contract tells receivers to do it."""
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, signature)


async def test_one_webhook_for_the_whole_installation_gets_the_events_of_every_review(
    reviews: Reviews, outbox: Outbox, working: Any
) -> None:
    async with receiving() as receiver:
        wanted = {"webhook_url": receiver.url, "webhook_secret": SECRET, "webhook_events": "review.completed"}
        async with working(**wanted):
            ids = [(await reviews.create(ref, None, None, request_id="-")).review_id for ref in (REF, "25/01502/F")]
            for review_id in ids:
                await until_status(reviews, review_id, "completed")
            await until(lambda: all_settled(outbox, "all"))
    assert sorted(event.json["review_id"] for event in receiver.received) == sorted(ids)
    assert {event.json["event"] for event in receiver.received} == {"review.completed"}
    for event in receiver.received:
        moment, signature = event.headers["x-webhook-signature-timestamped"].removeprefix("t=").split(",v1=")
        assert verify_signature(f"{moment}.".encode() + event.body, SECRET, signature)


async def test_a_cancelled_review_is_told_to_those_who_asked_for_it(
    reviews: Reviews, outbox: Outbox, working: Any
) -> None:
    async with receiving() as receiver:
        asked = await submit(reviews, receiver, *EVENTS)
        await reviews.cancel(asked)
        by_default = await submit(reviews, receiver)
        await reviews.cancel(by_default)
        async with working():
            await until(lambda: all_settled(outbox, asked))
    assert [(event.json["event"], event.json["review_id"]) for event in receiver.received] == [
        ("review.cancelled", asked)
    ]


async def test_all_events_of_a_review_arrive_signed_and_in_order(
    reviews: Reviews, outbox: Outbox, working: Any
) -> None:
    async with receiving() as receiver, working():
        review_id = await submit(reviews, receiver)
        await until_status(reviews, review_id, "completed")
        log = await until(lambda: all_settled(outbox, review_id))
    names = ["review.started", *["review.progress"] * 5, "review.completed"]
    assert [event.json["event"] for event in receiver.received] == names
    assert [event.headers["x-webhook-event"] for event in receiver.received] == names
    assert [event.headers["x-webhook-delivery-id"] for event in receiver.received] == [r.delivery_id for r in log]
    for event in receiver.received:
        assert verify_signature(event.body, SECRET, event.headers["x-webhook-signature"])
        assert event.headers["content-type"] == "application/json"
        assert event.headers["x-webhook-timestamp"].isdigit()
        assert event.path == "/hooks/review"
        assert event.json["review_id"] == review_id
        assert event.json["application_ref"] == REF
    phases = [event.json["progress"]["phase"] for event in receiver.received[1:6]]
    assert phases == [phase.name for phase in PHASES]
    assert set(receiver.received[1].json["progress"]) == {
        *("phase", "phase_number", "total_phases", "percent_complete", "detail")
    }
    assert receiver.received[-1].json["overall_rating"] == "amber"
    assert receiver.received[-1].json["links"] == {
        "review": f"/api/v1/reviews/{review_id}",
        "download": f"/api/v1/reviews/{review_id}/download",
    }
    assert list(receiver.received[0].json) == ["event", "review_id", "application_ref", "timestamp"]


async def test_a_failed_review_says_why(
    reviews: Reviews, outbox: Outbox, working: Any, pipeline: WatchedPipeline
) -> None:
    pipeline.raises = Broken("No evidence")
    async with receiving() as receiver, working():
        review_id = await submit(reviews, receiver, "review.failed")
        await until(lambda: all_settled(outbox, review_id))
    (event,) = receiver.received
    assert event.json["error"] == {"code": "analysis_failed", "message": "No evidence"}


async def test_only_the_events_that_were_asked_for_are_sent(reviews: Reviews, outbox: Outbox, working: Any) -> None:
    async with receiving() as receiver, working():
        review_id = await submit(reviews, receiver, "review.completed")
        await until(lambda: all_settled(outbox, review_id))
    assert [event.json["event"] for event in receiver.received] == ["review.completed"]


async def test_a_receiver_that_fails_three_times_gets_the_same_delivery_until_it_takes_it(
    reviews: Reviews, outbox: Outbox, working: Any
) -> None:
    async with receiving(500, 503, "close") as receiver, working():
        review_id = await submit(reviews, receiver, "review.started", "review.completed")
        log = await until(lambda: all_settled(outbox, review_id))
    ids = [event.headers["x-webhook-delivery-id"] for event in receiver.received]
    assert ids == [log[0].delivery_id] * 4 + [log[1].delivery_id]
    assert len({event.body for event in receiver.received[:4]}) == 1
    assert [(record.status, record.attempts) for record in log] == [("delivered", 4), ("delivered", 1)]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("redirect", "redirects are not followed"),
        (404, "status 404"),
        ("close", "RemoteProtocolError"),
        (5.0, "no answer within 0.2 s"),
    ],
)
async def test_whatever_is_not_a_2xx_in_time_is_a_failure(answer: Any, problem: str) -> None:
    sender = WebhookSender(public_only=False, timeout=0.2)
    async with receiving(answer) as receiver:
        outcome = await sender.send(delivery(receiver.url))
        assert len(receiver.received) == 1
    await sender.close()
    assert problem in (outcome.error or "")


@pytest.mark.parametrize("status", [200, 201, 204, 299])
async def test_any_2xx_is_success(status: int) -> None:
    sender = WebhookSender(public_only=False)
    async with receiving(status) as receiver:
        outcome = await sender.send(delivery(receiver.url))
    await sender.close()
    assert (outcome.response_status, outcome.error) == (status, None)


def delivery(url: str) -> Delivery:
    return Delivery("rev_x", "1", "whd_1", "review.started", '{"event":"review.started"}', 0, url, SECRET)


async def test_after_the_last_retry_a_delivery_has_failed_and_the_next_one_goes_on(
    reviews: Reviews, redis: Redis, outbox: Outbox, working: Any
) -> None:
    async with receiving(500, 500, 500) as receiver, working(webhook_max_retries=2):
        review_id = await submit(reviews, receiver, "review.started", "review.completed")
        log = await until(lambda: all_settled(outbox, review_id))
    assert [(r.event, r.status, r.attempts, r.response_status) for r in log] == [
        ("review.started", "failed", 3, 500),
        ("review.completed", "delivered", 1, 200),
    ]
    assert log[0].error is not None


async def test_a_delivery_can_be_sent_again_under_its_id(reviews: Reviews, outbox: Outbox, working: Any) -> None:
    async with receiving() as receiver, working():
        review_id = await submit(reviews, receiver, "review.completed")
        (record,) = await until(lambda: all_settled(outbox, review_id))
        await outbox.redeliver(review_id, record.delivery_id)
        await until(lambda: all_settled(outbox, review_id))
        await until(lambda: _count(receiver, 2))
    assert receiver.received[0].body == receiver.received[1].body
    ids = {event.headers["x-webhook-delivery-id"] for event in receiver.received}
    assert ids == {record.delivery_id}


async def _count(receiver: Receiver, number: int) -> bool:
    return len(receiver.received) >= number


async def test_redelivery_is_refused_while_it_is_tried_and_for_ids_that_are_not_there(
    reviews: Reviews, outbox: Outbox, redis: Redis
) -> None:
    receiver = Receiver(port=9)
    review_id = await submit(reviews, receiver)
    with pytest.raises(DeliveryNotFound):
        await outbox.redeliver(review_id, "whd_none")
    lease = await Queue(redis).claim("test")
    assert lease is not None
    await reviews.start(lease)
    (record,) = await outbox.log(review_id)
    with pytest.raises(DeliveryPending):
        await outbox.redeliver(review_id, record.delivery_id)


async def test_a_sender_that_died_is_followed_by_another_that_sends_the_same(
    reviews: Reviews, redis: Redis, outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W1: at least once."""
    monkeypatch.setattr(webhooks, "_LEASE_MS", 500)
    review_id = await submit(reviews, Receiver(port=9))
    lease = await Queue(redis).claim("test")
    assert lease is not None
    await reviews.start(lease)
    first = await outbox.claim()
    assert first is not None
    assert await outbox.claim() is None
    second = await until(outbox.claim)
    assert second.delivery_id == first.delivery_id
    await outbox.settle(first, webhooks.Outcome(200))  # too late: it does not count
    assert (await outbox.log(review_id))[0].status == "pending"
    await outbox.settle(second, webhooks.Outcome(200))
    assert (await outbox.log(review_id))[0].status == "delivered"


def test_retries_come_after_1_2_4_8_16_seconds_then_minutes_up_to_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """W1"""
    monkeypatch.setattr(webhooks, "RETRY_SECONDS", REAL_RETRIES)
    waits = [webhooks.retry_after(n) for n in range(12)]
    assert waits[:5] == [1, 2, 4, 8, 16]
    assert all(minute >= 60 for minute in waits[5:])
    assert waits == sorted(waits)
    assert 0.9 * 86_400 <= sum(waits) <= 86_400


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
     "::1", "fe80::1", "fd00::1", "fec0::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::",
     "::7f00:1", "64:ff9b:1::7f00:1", "::ffff:0:7f00:1", "::", "ff02::1", "fe80::1%eth0"],
)  # fmt: skip
def test_private_loopback_and_link_local_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "[fe80::1%25lo]"])
async def test_in_production_nothing_is_sent_to_this_machine_however_it_is_written(host: str) -> None:
    """W3: at connection time, whatever was said at submission."""
    sender = WebhookSender(public_only=True, timeout=3)
    async with receiving() as receiver:
        outcome = await sender.send(delivery(f"http://{host}:{receiver.port}/hooks"))
    await sender.close()
    assert outcome.error is not None
    assert receiver.received == []


async def test_a_name_that_changes_its_address_after_the_check_gains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """W3: the address that was checked is the one that is connected to."""
    asked = []
    async with receiving() as receiver:
        loop = asyncio.get_running_loop()

        async def rebinding(host: str, port: int, **_: Any) -> Any:
            asked.append(host)
            return [(2, 1, 6, "", ("127.0.0.1", port))]

        monkeypatch.setattr(loop, "getaddrinfo", rebinding)
        sender = WebhookSender(public_only=False)
        outcome = await sender.send(delivery(f"http://hooks.example:{receiver.port}/x"))
        await sender.close()
    assert outcome.error is None
    assert asked == ["hooks.example"]  # one question, and the connection goes to its answer
    assert receiver.received[0].headers["host"] == f"hooks.example:{receiver.port}"


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    async def answer(host: str, port: int, **_: Any) -> Any:
        return [(socket.AF_INET6 if ":" in a else socket.AF_INET, 1, 6, "", (a, port)) for a in addresses]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", answer)


async def test_all_addresses_of_a_receiver_are_tried_until_one_takes_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """W1: a name often has an IPv6 address that its server does not listen on."""
    async with receiving() as receiver:
        resolving(monkeypatch, "::1", "127.0.0.2", "127.0.0.1")
        sender = WebhookSender(public_only=False)
        outcome = await sender.send(delivery(f"http://hooks.example:{receiver.port}/x"))
        assert (outcome.response_status, outcome.error) == (200, None)
        resolving(monkeypatch, "::1", "127.0.0.2")
        refused = await sender.send(delivery(f"http://hooks.example:{receiver.port}/x"))
        await sender.close()
    assert "ConnectError" in (refused.error or "")
    assert len(receiver.received) == 1


async def test_a_silent_address_leaves_time_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.2", 0), backlog=0) as full, ExitStack() as waiting:
        port = full.getsockname()[1]
        for _ in range(2):  # a queue that is full: further connections get no answer
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.2", port))
        receiver = Receiver(port=port)
        server = await asyncio.start_server(receiver.handle, "127.0.0.1", port)
        resolving(monkeypatch, "127.0.0.2", "127.0.0.1")
        sender = WebhookSender(public_only=False, timeout=1)
        outcome = await sender.send(delivery(f"http://hooks.example:{port}/x"))
        await sender.close()
        server.close()
    assert (outcome.response_status, outcome.error) == (200, None)


async def test_an_answer_is_an_answer_and_no_other_address_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A receiver may have taken an event that it broke off on."""
    async with receiving("close", 200) as receiver:
        resolving(monkeypatch, "127.0.0.1", "localhost")
        sender = WebhookSender(public_only=False)
        outcome = await sender.send(delivery(f"http://hooks.example:{receiver.port}/x"))
        await sender.close()
    assert "RemoteProtocolError" in (outcome.error or "")
    assert len(receiver.received) == 1


async def test_the_secret_is_in_no_log_and_no_repr(
    reviews: Reviews, outbox: Outbox, working: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """W4"""
    caplog.set_level(logging.DEBUG)
    async with receiving(500) as receiver, working():
        review_id = await submit(reviews, receiver)
        await until(lambda: all_settled(outbox, review_id))
    assert SECRET not in caplog.text
    assert SECRET not in repr(Webhook(receiver.url, SECRET, EVENTS))
    assert SECRET not in repr(delivery(receiver.url))
    assert SECRET not in repr(await outbox.log(review_id))


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
def test_the_signature_is_what_a_javascript_receiver_computes() -> None:
    body = '{"event":"review.started","detail":"Gavray Drive – 200 dwellings"}'
    script = (
        'const c=require("crypto");const [b,s]=process.argv.slice(1);'
        'console.log(c.createHmac("sha256",s).update(b).digest("hex"))'
    )
    shown = subprocess.run(["node", "-e", script, body, SECRET], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == sign(body.encode(), SECRET)
