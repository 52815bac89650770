"""Reviews in Redis: one hash each, indexes by status, by reference and by both, checkpoints, the webhook's settings.

Every change of a review is one Lua script: its record, its place in the queue, its indexes and the event in the
outbox change together or not at all. Reading a page of a list is one round trip, whatever its filters.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any, Literal, get_args

import orjson
from redis.asyncio import Redis

from trigpoint.dates import micro_timestamp, now
from trigpoint.errors import CannotCancel, ReviewAlreadyExists, ReviewNotFound, shorten
from trigpoint.ids import new_review_id
from trigpoint.jobs import events
from trigpoint.jobs.batch import Batch
from trigpoint.jobs.queue import Lease
from trigpoint.jobs.scripts import Scripts, answered, require_written
from trigpoint.review.models import PHASES, Progress, ReviewOptions
from trigpoint.review.result import Application, Metadata, ReviewBody, ReviewResult

ReviewStatus = Literal["queued", "processing", "completed", "failed", "cancelled"]
STATUSES: tuple[ReviewStatus, ...] = get_args(ReviewStatus)
ACTIVE: tuple[ReviewStatus, ...] = ("queued", "processing")

_FULL = ("review_id", "application_ref", "status", "created_at", "started_at", "completed_at", "progress",
         "application", "review", "metadata", "error", "options", "authority", "folder")  # fmt: skip
_PURGED_AT_ONCE = 200
_RESULTS_AT_HAND = 8
_REVIEW_ID = re.compile(r"rev_[0-9A-Z]{26}", re.ASCII)


@dataclass(frozen=True)
class Webhook:
    """The receiver of a review's events. The secret signs them; it is never shown again."""

    url: str
    secret: str
    events: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Webhook(url={self.url!r}, events={self.events!r})"


@dataclass(frozen=True)
class Review:
    """A review as it is stored. JSON parts are kept as raw JSON text until somebody asks for them."""

    review_id: str
    application_ref: str
    status: ReviewStatus
    created_at: str
    started_at: str | None = None
    completed_at: str | None = None
    progress: str | None = None
    application: str | None = None
    review: str | None = None
    metadata: str | None = None
    error: str | None = None
    options: str | None = None
    authority: str | None = None
    folder: str | None = None

    def result(self) -> ReviewResult:
        """Return what a completed review found. Only for `status == "completed"`."""
        return _parsed(self.application or "{}", self.review or "{}", self.metadata or "{}")


@lru_cache(maxsize=_RESULTS_AT_HAND)
def _parsed(application: str, review: str, metadata: str) -> ReviewResult:
    """Return the parsed result, remembered: parsing takes 20 ms, and whoever reads a review asks for it page by page."""
    return ReviewResult(
        application=Application.model_validate_json(application),
        review=ReviewBody.model_validate_json(review),
        metadata=Metadata.model_validate_json(metadata),
    )


@dataclass(frozen=True)
class ReviewRow:
    """A line of a list."""

    review_id: str
    application_ref: str
    status: ReviewStatus
    overall_rating: str | None
    created_at: str
    completed_at: str | None
    assessed: str | None = None
    model: str | None = None

    @property
    def shown_rating(self) -> str | None:
        return "not assessed" if self.assessed == "no" else self.overall_rating


@dataclass(frozen=True)
class ReviewOutline:
    """A line of a list with the application it is about, once that is known, and the progress of a running review."""

    row: ReviewRow
    application: Application | None
    authority: str | None
    percent: int | None

    @classmethod
    def of(cls, row: ReviewRow, application: str | None, authority: str | None, progress: str | None) -> ReviewOutline:
        known = Application.model_validate_json(application) if application else None
        running = orjson.loads(progress) if progress else {}
        return cls(row, known, authority, running.get("percent_complete"))

    def matches(self, words: Sequence[str]) -> bool:
        """Return whether reference, address, proposal, applicant or authority contain each of the words."""
        about = self.application
        known = (about.address, about.proposal, about.applicant, about.authority_name, about.ward) if about else ()
        text = " ".join(part for part in (self.row.application_ref, self.authority, *known) if part).casefold()
        return all(word in text for word in words)


@dataclass(frozen=True)
class StartedReview:
    """A review as a worker takes it up, with the progress of an earlier try."""

    application_ref: str
    options: ReviewOptions
    phase_number: int
    percent: int
    authority: str | None = None
    folder: str | None = None


class Reviews:
    """All reviews on one Redis."""

    def __init__(self, redis: Redis, batch: Batch | None = None) -> None:
        self._redis = redis
        self._run = Scripts(redis)
        self._batch = batch or Batch(redis)

    async def create(
        self,
        application_ref: str,
        options: ReviewOptions | None,
        webhook: Webhook | None,
        *,
        request_id: str,
        review_id: str | None = None,
        authority: str | None = None,
        folder: str | None = None,
        led_by: str = "",
        code: str = "",
    ) -> Review:
        """Record and queue a review in one step. Raises ReviewAlreadyExists while another is active.

        Calling again with the same `review_id` has no further effect, and returns that review as it is now. A review
        that is `led_by` somebody's agent is judged by the agent that has the code (see `led`).
        """
        moment = now()
        review = Review(review_id or new_review_id(), application_ref, "queued", micro_timestamp(moment))
        active = await self._run(
            "review_create",
            review.review_id,
            application_ref,
            review.created_at,
            int(moment.timestamp() * 1_000_000),
            options.model_dump_json() if options else "null",
            *((webhook.url, webhook.secret, f"|{'|'.join(webhook.events)}|") if webhook else ("", "", "")),
            request_id,
            authority or "",
            folder or "",
            led_by,
            code,
        )
        if active != review.review_id:
            raise ReviewAlreadyExists(
                f"A review for application {application_ref} is already queued or processing",
                application_ref=application_ref,
                review_id=active,
            )
        await require_written(self._redis)
        return await self.get(review.review_id) if review_id else review

    async def get(self, review_id: str) -> Review:
        """Return a review. Raises ReviewNotFound."""
        values = await self._fields(review_id, _FULL)
        return Review(*values)  # type: ignore[arg-type]

    async def status(self, review_id: str) -> tuple[str, str | None, str | None]:
        """Return status, phase and percent, and nothing else: the cheap question. Raises ReviewNotFound."""
        _, status, phase, percent = await self._fields(review_id, ("review_id", "status", "phase", "percent"))
        return status or "", phase, percent

    async def _fields(self, review_id: str, names: tuple[str, ...]) -> list[str | None]:
        check_id(review_id)
        async with answered(self._redis):
            values: list[str | None] = await self._batch.ask("HMGET", f"review:{review_id}", *names)
        if values[0] is None:
            raise missing(review_id)
        return values

    async def list(
        self, *, status: str | None = None, application_ref: str | None = None, limit: int, offset: int
    ) -> tuple[list[ReviewRow], int]:
        """Return a page of reviews, newest first, and their total number."""
        parts = ["reviews"]
        parts += ["ref", application_ref] if application_ref else []
        parts += ["status"] if status and not application_ref else []
        parts += [status] if status else []
        index = ":".join(parts) if len(parts) > 1 else "reviews:all"
        total, rows = await self._run("review_list", index, offset, offset + limit - 1)
        return [ReviewRow(*row) for row in rows], int(total)

    async def outlines(self, rows: Sequence[ReviewRow]) -> tuple[ReviewOutline, ...]:
        """Return what a list tells of each review beyond its row: what it is about, and how far it has come."""
        names = ("application", "authority", "progress")
        async with answered(self._redis):
            asked = (self._batch.ask("HMGET", f"review:{row.review_id}", *names) for row in rows)
            answers = await asyncio.gather(*asked)
        return tuple(ReviewOutline.of(row, *values) for row, values in zip(rows, answers, strict=True))

    async def cancel(self, review_id: str) -> None:
        """Cancel a review: from here on it stays `cancelled`. Raises ReviewNotFound, CannotCancel."""
        moment = micro_timestamp(now())
        event = events.cancelled(review_id, await self.application_ref(review_id), moment)
        answer = await self._run("review_cancel", review_id, moment, event.delivery_id, event.body)
        if answer is None:
            raise missing(review_id)
        if not answer[0]:
            raise CannotCancel(
                f"Cannot cancel review with status '{answer[1]}'", review_id=review_id, current_status=answer[1]
            )

    async def start(self, lease: Lease) -> StartedReview | None:
        """Make `queued` into `processing`; a second try finds it there already. Return None if it is no longer ours."""
        moment = micro_timestamp(now())
        ref = (await self._fields(lease.job_id, ("application_ref",)))[0] or ""
        event = events.started(lease.job_id, ref, moment)
        first = Progress(PHASES[0].name, PHASES[0].number, len(PHASES), 0, "Starting")
        answer = await self._run(
            "review_start",
            lease.job_id,
            lease.token,
            moment,
            event.delivery_id,
            event.body,
            first.phase,
            orjson.dumps(first),
        )
        if answer == "lost":
            return None
        _, options, phase_number, percent, authority, folder = answer
        parsed = ReviewOptions() if options == "null" else ReviewOptions.model_validate_json(options)
        return StartedReview(ref, parsed, int(phase_number), int(percent), authority or None, folder or None)

    async def progress(self, lease: Lease, application_ref: str, progress: Progress) -> bool:
        """Record how far the review is. Return False if it is no longer ours."""
        moment = micro_timestamp(now())
        event = events.progressed(lease.job_id, application_ref, moment, progress)
        kept = await self._run(
            "review_progress",
            lease.job_id,
            lease.token,
            moment,
            progress.phase,
            progress.phase_number,
            progress.percent_complete,
            orjson.dumps(progress),
            event.delivery_id,
            event.body,
        )
        return bool(kept == "kept")

    async def complete(self, lease: Lease, application_ref: str, result: ReviewResult) -> bool:
        """Store the result. False: the review was cancelled or taken up by another worker meanwhile."""
        moment = micro_timestamp(now())
        event = events.completed(lease.job_id, application_ref, moment, result.review.overall_rating)
        fields: dict[str, str | int | bytes] = {
            "completed_at": moment,
            "application": result.application.model_dump_json(),
            "review": result.review.model_dump_json(),
            "metadata": result.metadata.model_dump_json(),
            "percent": 100,
            "overall_rating": result.review.overall_rating,
            "assessed": result.review.assessed,
            "model": result.metadata.model,
        }
        return await self._end(lease, "completed", moment, event, fields)

    async def fail(self, lease: Lease, application_ref: str, code: str, message: str) -> bool:
        moment = micro_timestamp(now())
        error = {"code": code, "message": message}
        event = events.failed(lease.job_id, application_ref, moment, error)
        return await self._end(lease, "failed", moment, event, {"error": orjson.dumps(error)})

    async def _end(
        self, lease: Lease, status: str, moment: str, event: events.Event, fields: dict[str, str | int | bytes]
    ) -> bool:
        flat = [part for pair in fields.items() for part in pair]
        ended = await self._run(
            "review_end", lease.job_id, lease.token, status, moment, event.delivery_id, event.name, event.body, *flat
        )
        return bool(ended)

    async def application_ref(self, review_id: str) -> str:
        return (await self._fields(review_id, ("application_ref",)))[0] or ""

    async def load_checkpoint(self, review_id: str, phase: str) -> dict[str, Any] | None:
        async with answered(self._redis):
            stored = await self._redis.hget(f"review:{review_id}:checkpoints", phase)  # type: ignore[misc]
        return orjson.loads(stored) if stored else None

    async def save_checkpoint(self, lease: Lease, phase: str, data: dict[str, Any]) -> bool:
        return bool(await self._run("review_checkpoint", lease.job_id, lease.token, phase, orjson.dumps(data)))

    async def purge(self, older_than: timedelta) -> int:
        """Remove reviews that ended longer ago than that (`REVIEW_RESULT_TTL_DAYS`)."""
        before = int((now() - older_than).timestamp() * 1000)
        return int(await self._run("review_purge", before, _PURGED_AT_ONCE))


def check_id(review_id: str) -> None:
    """Raise ReviewNotFound for an id of another form, which must not become a part of a key."""
    if _REVIEW_ID.fullmatch(review_id) is None:
        raise missing(review_id)


def missing(review_id: str) -> ReviewNotFound:
    shown = shorten(review_id)
    return ReviewNotFound(f"No review found with ID {shown}", review_id=shown)
