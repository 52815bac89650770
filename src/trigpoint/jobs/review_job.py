"""A review as a job: takes up the record, runs the pipeline over MCP tools, stores what came of it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol

from trigpoint.config import Settings
from trigpoint.errors import ReviewFailed, ReviewNotFound
from trigpoint.jobs.queue import Lease, LeaseLost
from trigpoint.jobs.reviews import Reviews, StartedReview
from trigpoint.jobs.scripts import patiently
from trigpoint.jobs.tools import McpTools
from trigpoint.review.models import Checkpoints, Progress, ReviewRequest, Tools
from trigpoint.review.pipeline import run_review
from trigpoint.review.result import ReviewResult

log = logging.getLogger(__name__)

GIVEN_UP = "The review was interrupted three times and has been given up. Submit it again"


class Pipeline(Protocol):
    """`run_review`, or what a test puts in its place."""

    async def __call__(
        self,
        request: ReviewRequest,
        *,
        tools: Tools,
        checkpoints: Checkpoints,
        report: Callable[[Progress], Awaitable[None]],
        settings: Settings,
    ) -> ReviewResult: ...


class ReviewJob:
    """Runs reviews (`kind == "review"`; the job's id is the review's)."""

    def __init__(self, reviews: Reviews, settings: Settings, *, pipeline: Pipeline = run_review) -> None:
        self._reviews = reviews
        self._settings = settings
        self._pipeline = pipeline

    async def run(self, lease: Lease) -> None:
        """Run the job. Raises only errors that justify another try."""
        started = await patiently(lambda: self._reviews.start(lease), what="starting the review")
        if started is None:
            raise LeaseLost
        request = ReviewRequest(
            lease.job_id, started.application_ref, started.options, started.authority, started.folder
        )
        log.info("review %s of %s starts, try %d", lease.job_id, started.application_ref, lease.tries)
        try:
            async with McpTools(self._settings) as tools:
                result = await self._pipeline(
                    request,
                    tools=tools,
                    checkpoints=StoredCheckpoints(self._reviews, lease),
                    report=recorder(self._reviews, lease, started),
                    settings=self._settings,
                )
        except ReviewFailed as error:
            log.warning("review %s failed: %s: %s", lease.job_id, error.code, error.message)
            code, message = error.code, error.message
            await patiently(
                lambda: self._reviews.fail(lease, started.application_ref, code, message), what="recording the failure"
            )
            return
        kept = await patiently(
            lambda: self._reviews.complete(lease, started.application_ref, result), what="storing the result"
        )
        log.info("review %s %s", lease.job_id, "completed" if kept else "ended elsewhere; the result is dropped")

    async def give_up(self, lease: Lease, problem: str) -> None:
        """Record, after the last try, `failed` with `internal_error`."""
        try:
            ref = await self._reviews.application_ref(lease.job_id)
        except ReviewNotFound:
            return
        await self._reviews.fail(lease, ref, "internal_error", problem or GIVEN_UP)


def recorder(reviews: Reviews, lease: Lease, started: StartedReview) -> Callable[[Progress], Awaitable[None]]:
    """Return what records the progress of a review. It raises LeaseLost once the review is no longer ours."""
    percent = started.percent

    async def report(progress: Progress) -> None:
        nonlocal percent
        percent = max(percent, min(progress.percent_complete, 99))
        shown = replace(progress, percent_complete=percent)
        if not await patiently(
            lambda: reviews.progress(lease, started.application_ref, shown), what="recording progress"
        ):
            raise LeaseLost

    return report


class StoredCheckpoints:
    """The results of finished phases, kept with the review."""

    def __init__(self, reviews: Reviews, lease: Lease) -> None:
        self._reviews = reviews
        self._lease = lease

    async def load(self, phase: str) -> dict[str, Any] | None:
        return await patiently(
            lambda: self._reviews.load_checkpoint(self._lease.job_id, phase), what="reading a checkpoint"
        )

    async def save(self, phase: str, data: dict[str, Any]) -> None:
        if not await patiently(
            lambda: self._reviews.save_checkpoint(self._lease, phase, data), what="saving a checkpoint"
        ):
            raise LeaseLost
