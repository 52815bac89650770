"""The events of a review: a name, a body that is signed byte for byte, a delivery id.

The first four are the contract's, and what a webhook gets by default. `review.cancelled` is sent to those who ask for it.
"""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from trigpoint.review.models import Progress

DEFAULT_EVENTS = ("review.started", "review.progress", "review.completed", "review.failed")
EVENTS = (*DEFAULT_EVENTS, "review.cancelled")


@dataclass(frozen=True)
class Event:
    """One event on its way into the outbox. The delivery id stays the same across retries."""

    name: str
    body: bytes
    delivery_id: str


def started(review_id: str, application_ref: str, at: str) -> Event:
    return _event("review.started", review_id, application_ref, at)


def progressed(review_id: str, application_ref: str, at: str, progress: Progress) -> Event:
    return _event("review.progress", review_id, application_ref, at, progress=asdict(progress))


def completed(review_id: str, application_ref: str, at: str, overall_rating: str | None) -> Event:
    review = f"/api/v1/reviews/{review_id}"
    return _event(
        "review.completed",
        review_id,
        application_ref,
        at,
        overall_rating=overall_rating,
        links={"review": review, "download": f"{review}/download"},
    )


def failed(review_id: str, application_ref: str, at: str, error: dict[str, str]) -> Event:
    return _event("review.failed", review_id, application_ref, at, error=error)


def cancelled(review_id: str, application_ref: str, at: str) -> Event:
    return _event("review.cancelled", review_id, application_ref, at)


def _event(name: str, review_id: str, application_ref: str, at: str, **more: Any) -> Event:
    body = {"event": name, "review_id": review_id, "application_ref": application_ref, "timestamp": at} | more
    return Event(name, orjson.dumps(body), f"whd_{uuid.uuid4().hex}")
