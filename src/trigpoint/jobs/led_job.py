"""The opening of a review that somebody else's agent leads, as a job; and its end, if that agent falls silent."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from trigpoint.config import Settings
from trigpoint.errors import ReviewFailed, ReviewNotFound
from trigpoint.jobs.led import LedReviews
from trigpoint.jobs.queue import Lease, LeaseLost
from trigpoint.jobs.review_job import GIVEN_UP, StoredCheckpoints, recorder
from trigpoint.jobs.reviews import Reviews, StartedReview
from trigpoint.jobs.scripts import patiently
from trigpoint.jobs.tools import McpTools
from trigpoint.review.models import ReviewRequest, Tools
from trigpoint.review.pipeline import ReviewRun

log = logging.getLogger(__name__)

OpenTools = Callable[[], AbstractAsyncContextManager[Tools]]


class LedReviewJob:
    """Runs jobs of kind `led_review`: fetch and read the documents, then leave the judging to the agent."""

    def __init__(
        self, reviews: Reviews, led: LedReviews, settings: Settings, *, open_tools: OpenTools | None = None
    ) -> None:
        self._reviews = reviews
        self._led = led
        self._settings = settings
        self._open_tools: OpenTools = open_tools or (lambda: McpTools(settings))

    async def run(self, lease: Lease) -> None:
        """Run the job. Raises only errors that justify another try."""
        started = await patiently(lambda: self._reviews.start(lease), what="starting the review")
        if started is None:
            raise LeaseLost
        if await patiently(lambda: self._led.is_ready(lease.job_id), what="looking at the review"):
            await self._end_silent(lease, started.application_ref)
            return
        try:
            await self._open(lease, started)
        except ReviewFailed as error:
            log.warning("review %s failed: %s: %s", lease.job_id, error.code, error.message)
            await self._fail(lease, started.application_ref, error.code, error.message)
            return
        ready = await patiently(lambda: self._led.hand_over(lease), what="handing the review to its agent")
        log.info("review %s %s", lease.job_id, "can be judged" if ready else "ended elsewhere")

    async def give_up(self, lease: Lease, problem: str) -> None:
        """Record, after the last try, `failed` with `internal_error`."""
        try:
            ref = await self._reviews.application_ref(lease.job_id)
        except ReviewNotFound:
            return
        await self._reviews.fail(lease, ref, "internal_error", problem or GIVEN_UP)

    async def _open(self, lease: Lease, started: StartedReview) -> None:
        request = ReviewRequest(
            lease.job_id, started.application_ref, started.options, started.authority, started.folder
        )
        report = recorder(self._reviews, lease, started)
        async with self._open_tools() as tools:
            checkpoints = StoredCheckpoints(self._reviews, lease)
            await ReviewRun(request, tools, checkpoints, report, self._settings).open()

    async def _end_silent(self, lease: Lease, ref: str) -> None:
        leader = await patiently(lambda: self._led.leader(lease.job_id), what="looking at the review")
        hours = self._settings.review_agent_hours
        message = (
            f"{leader or 'The agent'}, which led this review, made no call for {hours:g} hours, so the review was ended. "
            "Open it again with your agent, or submit it to be judged by Trigpoint"
        )
        await self._fail(lease, ref, "analysis_failed", message)

    async def _fail(self, lease: Lease, ref: str, code: str, message: str) -> None:
        await patiently(lambda: self._reviews.fail(lease, ref, code, message), what="recording the failure")
