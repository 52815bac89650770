"""The outbox of webhooks: deliveries that are due, their outcome, their log, and sending one again.

Events get in by the scripts that change a review. Deliveries leave one at a time for each review, oldest first.
Sending itself is in delivery.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from redis.asyncio import Redis

from trigpoint.dates import micro_timestamp, now
from trigpoint.errors import DeliveryNotFound, DeliveryPending, shorten
from trigpoint.jobs.scripts import Scripts, answered, require_written

RETRY_SECONDS = (1, 2, 4, 8, 16, 60, 300, 900, 3600, 10_800, 21_600, 43_200)  # the last: about a day after the event
_LATER_RETRIES = 86_400
_LEASE_MS = 30_000  # longer than a delivery may take

DeliveryStatus = Literal["pending", "delivered", "failed"]


@dataclass(frozen=True)
class Delivery:
    """A claimed delivery: what to send, the receiver, and how often it was tried before."""

    review_id: str
    token: str
    delivery_id: str
    event: str
    body: str
    attempts: int
    url: str
    secret: str

    def __repr__(self) -> str:
        return f"Delivery({self.delivery_id}, {self.event}, review={self.review_id}, attempts={self.attempts})"


@dataclass(frozen=True)
class DeliveryRecord:
    """A line of the log."""

    delivery_id: str
    event: str
    status: DeliveryStatus
    attempts: int
    created_at: str
    last_attempt_at: str | None
    next_attempt_at: str | None
    delivered_at: str | None
    response_status: int | None
    error: str | None


@dataclass(frozen=True)
class Outcome:
    """The receiver's response. No `error`: it took the event."""

    response_status: int | None = None
    error: str | None = None


class Outbox:
    """All webhooks on one Redis."""

    def __init__(self, redis: Redis, *, max_retries: int = 12) -> None:
        self._redis = redis
        self._run = Scripts(redis)
        self._max_retries = max_retries

    async def configure(self, url: str | None, secret: str, events: Sequence[str]) -> None:
        """Set or remove (None) the webhook that gets the events of all reviews."""
        await self._run("webhook_for_all", url or "", secret, f"|{'|'.join(events)}|")

    async def claim(self) -> Delivery | None:
        """Return the next delivery that is due."""
        claimed = await self._run("webhook_claim", _LEASE_MS)
        if claimed is None:
            return None
        review_id, token, delivery_id, event, body, attempts, url, secret = claimed
        return Delivery(review_id, token, delivery_id, event, body, int(attempts), url, secret)

    async def wait(self, seconds: float) -> None:
        async with answered(self._redis):
            await self._redis.blpop(["webhooks:wake"], timeout=seconds)  # type: ignore[misc]

    async def settle(self, delivery: Delivery, outcome: Outcome) -> DeliveryStatus:
        """Record the outcome: done, tried again later, or given up, which lets the next event through."""
        status: DeliveryStatus = "delivered"
        wait = 0
        if outcome.error is not None:
            status = "pending" if delivery.attempts < self._max_retries else "failed"
            wait = retry_after(delivery.attempts)
        moment = now()
        following = micro_timestamp(moment + timedelta(seconds=wait)) if status == "pending" else ""
        await self._run(
            "webhook_settle",
            delivery.review_id,
            delivery.token,
            delivery.delivery_id,
            status,
            wait * 1000,
            micro_timestamp(moment),
            following,
            outcome.response_status or "",
            outcome.error or "",
        )
        return status

    async def log(self, review_id: str) -> list[DeliveryRecord]:
        """Return every delivery of a review, oldest first."""
        return [_record(row) for row in await self._run("webhook_log", review_id)]

    async def redeliver(self, review_id: str, delivery_id: str) -> None:
        """Send an event once more, under its old id. Raises DeliveryNotFound, DeliveryPending."""
        shown = shorten(delivery_id)
        answer = await self._run("webhook_redeliver", review_id, delivery_id)
        if answer == "missing":
            raise DeliveryNotFound(
                f"No delivery {shown} for review {review_id}", review_id=review_id, delivery_id=shown
            )
        if answer == "pending":
            raise DeliveryPending(
                f"Delivery {shown} is still being tried. Wait until it was delivered or has failed",
                review_id=review_id,
                delivery_id=shown,
            )
        await require_written(self._redis)


def retry_after(attempts: int) -> int:
    """Return the seconds to wait after the try that followed `attempts` others."""
    return RETRY_SECONDS[attempts] if attempts < len(RETRY_SECONDS) else _LATER_RETRIES


def _record(row: list[str | None]) -> DeliveryRecord:
    delivery_id, event, status, attempts, created, last, following, delivered, response, error = row
    return DeliveryRecord(
        delivery_id or "",
        event or "",
        status or "pending",  # type: ignore[arg-type]
        int(attempts or 0),
        created or "",
        last or None,
        following or None,
        delivered or None,
        int(response) if response else None,
        error or None,
    )
