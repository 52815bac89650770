"""Reviews led by somebody else's agent, kept among the other reviews. We fetch and read the documents; the agent judges,
over MCP. It holds the review's job by a code: if it says nothing for `REVIEW_AGENT_HOURS`, the lease runs out as that of
a dead worker would, and the review ends with that reason.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Any, Self

import orjson
from redis.asyncio import Redis

from trigpoint.config import Settings
from trigpoint.errors import InvalidInput, ReviewEnded, ReviewLedByAnother, shorten
from trigpoint.jobs.queue import Lease
from trigpoint.jobs.reviews import ACTIVE, Review, Reviews, check_id, missing
from trigpoint.jobs.scripts import Scripts, answered
from trigpoint.review.models import ReviewOptions, ReviewRequest

KIND = "led_review"
LONGEST_PAUSE_MINUTES = 10  # after a longer silence, another agent can take over without asking
_HANDLE = re.compile(r"(rev_[0-9A-Z]{26})-([0-9a-f]{8})", re.ASCII)


@dataclass(frozen=True)
class Handle:
    """The name by which an agent leads a review: `rev_01M7…-5f0c21ab`. The code after the dash proves that it leads."""

    review_id: str
    code: str

    @classmethod
    def new(cls, review_id: str) -> Self:
        return cls(review_id, secrets.token_hex(4))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the handle. Raises InvalidInput."""
        match = _HANDLE.fullmatch(text.strip())
        if match is None:
            raise InvalidInput(
                f"'{shorten(text)}' is not the name of an open review. Use `review` as open_review gave it"
            )
        return cls(match[1], match[2])

    def __str__(self) -> str:
        return f"{self.review_id}-{self.code}"

    @property
    def lease(self) -> Lease:
        """The lease under which the agent writes, once the application is ready to be judged."""
        return Lease(self.review_id, self.code, 1, KIND, {}, "")


@dataclass(frozen=True)
class LedReview:
    """A review as its agent finds it with a call. `judged_for`: seconds since its documents could be judged, if they can."""

    request: ReviewRequest
    status: str
    led_by: str
    judged_for: float | None

    @property
    def ready(self) -> bool:
        return self.judged_for is not None

    @property
    def active(self) -> bool:
        return self.status in ACTIVE


class LedReviews:
    """The reviews of one Redis that agents lead."""

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self._redis = redis
        self._run = Scripts(redis)
        self._reviews = Reviews(redis)
        self._silence_ms = int(settings.review_agent_hours * 3_600_000)

    async def open(self, request: ReviewRequest, led_by: str, *, request_id: str) -> Handle:
        """Record a review and queue its opening. Raises ReviewAlreadyExists while another is active."""
        handle = Handle.new(request.review_id)
        await self._reviews.create(
            request.application_ref,
            request.options,
            None,
            request_id=request_id,
            review_id=request.review_id,
            authority=request.authority,
            folder=request.folder,
            led_by=led_by,
            code=handle.code,
        )
        return handle

    async def take_over(self, review_id: str, led_by: str, *, force: bool) -> Handle:
        """Lead a review that an agent opened before. Raises ReviewLedByAnother, ReviewEnded, ReviewNotFound."""
        check_id(review_id)
        handle = Handle.new(review_id)
        pause_ms = LONGEST_PAUSE_MINUTES * 60_000
        answer = await self._run(
            "led_take_over", review_id, handle.code, led_by, pause_ms, self._silence_ms, "1" if force else ""
        )
        match answer:
            case None:
                raise missing(review_id)
            case ["taken", _]:
                return handle
            case ["busy", leader, silent_ms]:
                raise ReviewLedByAnother(
                    f"{leader} leads review {review_id}; its last call was {_ago(int(silent_ms))} ago. Wait until it has "
                    f"finished, or been silent for {LONGEST_PAUSE_MINUTES} minutes. If that was you, before a restart, or "
                    "the user wants you to go on in its place: open_review with this review and take_over=true"
                )
            case ["not_led", status]:
                raise ReviewLedByAnother(
                    f"Review {review_id} is {status} and was not opened by an agent: it is judged by Trigpoint itself. "
                    "Wait for it, or have the user cancel it"
                )
        raise ReviewEnded(f"Review {review_id} has ended: it is {answer[1]}. Open the application again for a new one")

    async def call(self, handle: Handle) -> LedReview:
        """Note a call of the agent. Raises ReviewNotFound, and ReviewLedByAnother once another agent has taken over."""
        answer = await self._run("led_call", handle.review_id, handle.code, self._silence_ms)
        if answer is None:
            raise missing(handle.review_id)
        status, led_by, leads, since_ms, options, ref, authority, folder = answer
        if not leads:
            raise ReviewLedByAnother(
                f"You no longer lead review {handle.review_id}: {led_by or 'nobody'} has taken it over and it is {status}. "
                "What you handed in before is kept. Stop, and tell the user"
            )
        parsed = ReviewOptions() if options == "null" else ReviewOptions.model_validate_json(options)
        request = ReviewRequest(handle.review_id, ref, parsed, authority or None, folder or None)
        return LedReview(request, status, led_by, int(since_ms) / 1000 if int(since_ms) >= 0 else None)

    async def active(self) -> list[Review]:
        """Return the reviews that agents lead at this moment, newest first."""
        led = []
        for status in reversed(ACTIVE):
            rows, _ = await self._reviews.list(status=status, limit=100, offset=0)
            led += [row.review_id for row in rows if row.model]
        return [await self._reviews.get(review_id) for review_id in led]

    async def is_ready(self, review_id: str) -> bool:
        async with answered(self._redis):
            return bool(await self._redis.hexists(f"review:{review_id}", "ready"))  # type: ignore[misc]

    async def leader(self, review_id: str) -> str | None:
        """Return the name of the agent that leads or led a review; None if none did."""
        async with answered(self._redis):
            name: str | None = await self._redis.hget(f"review:{review_id}", "led_by")  # type: ignore[misc]
        return name

    async def hand_over(self, lease: Lease) -> bool:
        """Give the job to the agent: the application can be judged. False: it was cancelled, or is another worker's."""
        return bool(await self._run("led_hand_over", lease.job_id, lease.token, self._silence_ms))

    async def load_draft(self, review_id: str) -> tuple[int, dict[str, Any] | None]:
        """Return the version of what was handed in so far, and the state itself. Version 0: nothing yet."""
        async with answered(self._redis):
            version, draft = await self._redis.hmget(  # type: ignore[misc]
                f"review:{review_id}:checkpoints", ["draft_version", "draft"]
            )
        return int(version or 0), orjson.loads(draft) if draft else None

    async def save_draft(self, handle: Handle, version: int, state: dict[str, Any]) -> bool:
        """Keep what was handed in. False: it has changed since that version. Raises ReviewEnded, ReviewLedByAnother."""
        kept = await self._run("led_save", handle.review_id, handle.code, str(version), orjson.dumps(state))
        if kept == "lost":
            led = await self.call(handle)
            raise ReviewEnded(f"Review {handle.review_id} has ended: it is {led.status}. Nothing was kept of this call")
        return bool(kept == "kept")


def _ago(milliseconds: int) -> str:
    seconds = milliseconds // 1000
    if seconds < 120:
        return f"{seconds} seconds"
    return f"{seconds // 60} minutes"
