"""Events over the wire: the bodies that webhooks get and that the feed repeats."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from trigpoint.api.schemas.reviews import ReviewError, ReviewProgress


class _ReviewEvent(BaseModel):
    review_id: str
    application_ref: str
    timestamp: str


class ReviewStartedEvent(_ReviewEvent):
    event: Literal["review.started"]


class ReviewProgressEvent(_ReviewEvent):
    event: Literal["review.progress"]
    progress: ReviewProgress


class CompletedLinks(BaseModel):
    review: str
    download: str


class ReviewCompletedEvent(_ReviewEvent):
    event: Literal["review.completed"]
    overall_rating: str | None
    links: CompletedLinks


class ReviewFailedEvent(_ReviewEvent):
    event: Literal["review.failed"]
    error: ReviewError


class ReviewCancelledEvent(_ReviewEvent):
    event: Literal["review.cancelled"]


ReviewEvent = Annotated[
    ReviewStartedEvent | ReviewProgressEvent | ReviewCompletedEvent | ReviewFailedEvent | ReviewCancelledEvent,
    Field(discriminator="event"),
]
EVENT_MODELS: dict[str, type[BaseModel]] = {
    "review.started": ReviewStartedEvent,
    "review.progress": ReviewProgressEvent,
    "review.completed": ReviewCompletedEvent,
    "review.failed": ReviewFailedEvent,
    "review.cancelled": ReviewCancelledEvent,
}


class EventEntry(BaseModel):
    """One event: its body as a webhook gets it, and the cursor from which to continue after it."""

    cursor: str
    body: ReviewEvent


class EventPage(BaseModel):
    events: list[EventEntry]
    cursor: str = Field(description="Pass it as `after` to continue")
    missed: bool = Field(description="Events after the given cursor are no longer kept; read the lists again")
