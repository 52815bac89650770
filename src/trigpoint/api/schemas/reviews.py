"""Reviews over the wire: submission, status, lists, results, webhook deliveries."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, WithJsonSchema, field_validator

from trigpoint.api.schemas.values import NO_NUL, one_of
from trigpoint.errors import InvalidReference, shorten
from trigpoint.ids import parse_application_ref
from trigpoint.jobs.events import DEFAULT_EVENTS, EVENTS
from trigpoint.jobs.reviews import ReviewStatus
from trigpoint.review.findings import Assessed
from trigpoint.review.models import PhaseName, ReviewOptions
from trigpoint.review.result import Application, Metadata, ReviewBody

_AnyReference = WithJsonSchema({"type": "string", "maxLength": 100, "examples": ["25/01178/REM"]})


class WebhookConfig(BaseModel):
    """The receiver of events, and the secret that signs them."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(max_length=2048, description="Callback URL (`https://` required in production)")
    secret: Annotated[str, NO_NUL] = Field(
        min_length=1, max_length=512, description="HMAC-SHA256 signing secret", repr=False
    )
    events: list[Annotated[str, one_of(EVENTS)]] | None = Field(
        None, min_length=1, max_length=20, description=f"Default: {', '.join(DEFAULT_EVENTS)}"
    )

    @field_validator("url")
    @classmethod
    def _has_scheme_and_host(cls, given: str) -> str:
        try:
            url = given if given.isascii() else str(httpx.URL(given))  # other letters as they go over the wire
            parts = urlsplit(url)
            usable = parts.port is None or parts.port > 0
        except (ValueError, httpx.InvalidURL):
            raise ValueError(f"Webhook URL cannot be read: {shorten(given)}") from None
        if not given.isprintable() or " " in given or not usable:
            raise ValueError(f"Webhook URL cannot be read: {shorten(given)}")
        if parts.scheme not in ("http", "https"):
            raise ValueError(f"Webhook URL must start with http:// or https://: {shorten(url)}")
        if not parts.hostname:
            raise ValueError(f"Webhook URL must include a host: {shorten(url)}")
        return url

    @field_validator("events")
    @classmethod
    def _known_events(cls, events: list[str] | None) -> list[str] | None:
        unknown = [event for event in events or () if event not in EVENTS]
        if unknown:
            raise ValueError(f"Unknown webhook event: {shorten(unknown[0])}. Valid ones: {', '.join(EVENTS)}")
        return events


class ReviewSubmission(BaseModel):
    """An application to review."""

    model_config = ConfigDict(extra="forbid")

    authority: Annotated[str, NO_NUL] | None = Field(
        None,
        max_length=100,
        description="Slug or name of the authority whose register has the application. Default: the installation's own register",
    )
    application_ref: Annotated[str, NO_NUL, _AnyReference] = Field(
        max_length=100,
        description="Reference in the default register, format `YY/NNNNN/XXX`; with `authority`, as that authority writes it",
    )
    options: ReviewOptions | None = Field(None, description="Review configuration")
    webhook: WebhookConfig | None = Field(None, description="Webhook callback configuration")

    @field_validator("application_ref", mode="before")
    @classmethod
    def _of_the_default_register(cls, value: object, info: ValidationInfo) -> object:
        """Check a reference without authority by the contract's pattern; with one, its register decides."""
        if info.data.get("authority") is not None or not isinstance(value, str):
            return value
        try:
            return parse_application_ref(value)
        except InvalidReference as error:
            raise ValueError(error.message) from None


class ReviewLinks(BaseModel):
    self: str
    status: str
    cancel: str


class ReviewAccepted(BaseModel):
    review_id: str
    application_ref: str
    status: ReviewStatus
    created_at: str
    estimated_duration_seconds: int
    links: ReviewLinks


class ReviewProgress(BaseModel):
    phase: PhaseName
    phase_number: int
    total_phases: int
    percent_complete: int
    detail: str


class ReviewError(BaseModel):
    code: Literal["scraper_error", "ingestion_failed", "analysis_failed", "internal_error"]
    message: str


class ReviewDetail(BaseModel):
    """A review; `application`, `review` and `metadata` are filled once it is completed."""

    review_id: str
    application_ref: str
    status: ReviewStatus
    created_at: str
    started_at: str | None
    completed_at: str | None
    progress: ReviewProgress | None
    application: Application | None
    review: ReviewBody | None
    metadata: Metadata | None
    error: ReviewError | None


class BriefProgress(BaseModel):
    phase: PhaseName
    percent_complete: int


class ReviewStatusAnswer(BaseModel):
    """`progress` is null unless the review is being processed."""

    review_id: str
    status: ReviewStatus
    progress: BriefProgress | None


class ReviewSummary(BaseModel):
    review_id: str
    application_ref: str
    status: ReviewStatus
    overall_rating: str | None
    created_at: str
    completed_at: str | None
    assessed: Assessed | None = None
    model: str | None = Field(
        None, description="Who judged: `rules`, a model, or the name of the agent that leads the review over MCP"
    )


class ReviewPage(BaseModel):
    reviews: list[ReviewSummary]
    total: int
    limit: int
    offset: int


class WebhookDelivery(BaseModel):
    """One event and what became of it."""

    delivery_id: str
    event: str
    status: Literal["pending", "delivered", "failed"]
    attempts: int
    created_at: str
    last_attempt_at: str | None
    next_attempt_at: str | None
    delivered_at: str | None
    response_status: int | None
    error: str | None


class WebhookDeliveries(BaseModel):
    review_id: str
    deliveries: list[WebhookDelivery]
    total: int


class RedeliveryAccepted(BaseModel):
    review_id: str
    delivery_id: str
    status: Literal["pending"]
