"""The reviews that agents lead, as one reviewer server holds them: openings under way, and the drafts that are in use.

Whatever an agent hands in is stored before it gets its answer: server and agent may end between any two calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from redis.asyncio import Redis

from trigpoint.config import Settings
from trigpoint.errors import ReviewEnded, ReviewNotReady, first_error
from trigpoint.jobs.led import KIND, Handle, LedReview, LedReviews
from trigpoint.jobs.led_job import LedReviewJob
from trigpoint.jobs.queue import Queue
from trigpoint.jobs.reviews import Reviews
from trigpoint.jobs.tools import McpTools
from trigpoint.jobs.worker import Worker
from trigpoint.mcp.local_servers import local_servers
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.models import Progress, ReviewRequest
from trigpoint.review.pipeline import Opened, ReviewRun
from trigpoint.review.policy_desk import PolicyDesk
from trigpoint.review.submitted import DraftConclusion

log = logging.getLogger(__name__)

_DRAFTS_AT_HAND = 4
_PATIENCE_SECONDS = 20.0  # an agent waits for each answer


@dataclass
class Judging:
    """A review in the hands of its agent: the draft, and what this agent has been shown of it."""

    led: LedReview
    opened: Opened
    draft: ReviewDraft
    run: ReviewRun
    version: int = 0
    code: str = ""
    steps_shown: int = 0
    pages_shown: list[str] = field(default_factory=list)
    rest_of_page: tuple[str, int | None, int] | None = None
    conclusion: DraftConclusion | None = None

    @property
    def policy(self) -> PolicyDesk:
        """The policy of the application's date and place. Nobody can ask for another."""
        evidence = self.draft.evidence
        return PolicyDesk(self.run.tools, evidence.effective_date, evidence.profile.authority)

    def to_state(self) -> dict[str, Any]:
        return {
            "draft": self.draft.to_state(),
            "code": self.code,
            "steps_shown": self.steps_shown,
            "pages_shown": list(self.pages_shown),
            "rest_of_page": self.rest_of_page,
            "conclusion": self.conclusion.model_dump(mode="json") if self.conclusion else None,
        }

    def show_to(self, code: str) -> None:
        """Begin to show everything from the start if another agent, or another conversation, leads now."""
        if code != self.code:
            self.code, self.steps_shown, self.pages_shown, self.rest_of_page = code, 0, [], None


class Desk:
    """All that the tools of one server share. `alone`: a client started this server, and nothing else may be running."""

    def __init__(self, redis: Redis, settings: Settings) -> None:
        self.settings = settings
        self.reviews = Reviews(redis)
        self.led = LedReviews(redis, settings)
        self._queue = Queue(redis, lease_seconds=settings.job_lease_seconds)
        self._servers = _Servers(settings)
        self._redis = redis
        self._openings: dict[str, asyncio.Task[None]] = {}
        self._loads: dict[str, asyncio.Task[Judging]] = {}
        self._at_hand: OrderedDict[str, Judging] = OrderedDict()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def close(self) -> None:
        """Hand openings back, so that another process can go on with them."""
        tasks = [*self._openings.values(), *self._loads.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._servers.close()

    # --- opening

    async def open(self, request: ReviewRequest, client: str, *, alone: bool, request_id: str) -> Handle:
        """Record the review and begin to fetch and read its documents. Raises ReviewAlreadyExists."""
        handle = await self.led.open(request, client, request_id=request_id)
        await self.go_on_opening(handle.review_id, alone=alone)
        return handle

    async def go_on_opening(self, review_id: str, *, alone: bool) -> None:
        """Take up an opening that nobody is busy with: a new one, or one that a dead server left behind."""
        if review_id in self._openings:
            return
        job = LedReviewJob(self.reviews, self.led, self.settings, open_tools=lambda: self._servers.opened(alone=alone))
        worker = Worker(self._redis, self.settings, {KIND: job})
        if await self.led.is_ready(review_id):
            return
        lease = await self._queue.claim_job(review_id, worker.name)
        if lease is not None:
            task = self._openings[review_id] = asyncio.create_task(worker.hold(lease))
            task.add_done_callback(lambda _: self._openings.pop(review_id, None))

    # --- judging

    async def look(self, handle: Handle, *, alone: bool) -> LedReview:
        """Return the state of a review, and see to it that its opening goes on."""
        led = await self.led.call(handle)
        if led.active and not led.ready:
            await self.go_on_opening(handle.review_id, alone=alone)
        return led

    @asynccontextmanager
    async def judging(self, handle: Handle, *, alone: bool) -> AsyncIterator[Judging]:
        """Yield the review, to read or to change. A change is stored at the end of the context, or the caller is told.

        Raises ReviewNotReady, ReviewEnded, ReviewLedByAnother.
        """
        turn = self._turns.setdefault(handle.review_id, asyncio.Lock())
        async with turn:
            led = await self.look(handle, alone=alone)
            if not led.active:
                raise ReviewEnded(f"Review {handle.review_id} has ended: it is {led.status}. See review_status")
            if not led.ready:
                raise ReviewNotReady(
                    "The documents are still being fetched and read. Call read_next to see how far that is"
                )
            judging = await self._take_up(handle, led, alone=alone)
            before = judging.to_state()
            try:
                yield judging
                if judging.to_state() != before:
                    await self._store(handle, judging)
            except BaseException:
                if judging.to_state() != before:  # what is in memory is not what is stored
                    self.forget(handle.review_id)
                raise

    async def can_be_judged(self, handle: Handle, led: LedReview, *, alone: bool) -> bool:
        """Return whether the documents are ready and in memory. Begins to read them if they are not."""
        return led.ready and await self._loaded(handle, led, patience=0.0, alone=alone) is not None

    async def tools(self, *, alone: bool) -> McpTools:
        return await self._servers.tools(alone=alone)

    def forget(self, review_id: str) -> None:
        self._at_hand.pop(review_id, None)

    async def _store(self, handle: Handle, judging: Judging) -> None:
        if not await self.led.save_draft(handle, judging.version, judging.to_state()):
            raise ReviewNotReady(
                "Another call has changed this review at the same moment. Nothing was kept; call again"
            )
        judging.version += 1
        await self.reviews.progress(handle.lease, judging.led.request.application_ref, _progress(judging))

    async def _take_up(self, handle: Handle, led: LedReview, *, alone: bool) -> Judging:
        judging = await self._loaded(handle, led, patience=_PATIENCE_SECONDS, alone=alone)
        if judging is None:
            raise ReviewNotReady("The documents are being read, which takes a while for many pages. Call again soon")
        judging.led = led
        judging.show_to(handle.code)
        self._at_hand[handle.review_id] = judging
        self._at_hand.move_to_end(handle.review_id)
        while len(self._at_hand) > _DRAFTS_AT_HAND:
            self._at_hand.popitem(last=False)
        return judging

    async def _loaded(self, handle: Handle, led: LedReview, *, patience: float, alone: bool) -> Judging | None:
        """Return the review if it is in memory as it was stored, or within so many seconds. Reading goes on meanwhile."""
        review_id = handle.review_id
        version, state = await self.led.load_draft(review_id)
        at_hand = self._at_hand.get(review_id)
        if at_hand is not None and at_hand.version == version:
            return at_hand
        task = self._loads.get(review_id)
        if task is None:
            load = self._load(handle, led, version, state or {}, alone=alone)
            task = self._loads[review_id] = asyncio.create_task(load)
        await asyncio.wait({task}, timeout=patience)
        if not task.done():
            return None
        self._loads.pop(review_id, None)
        loaded = self._at_hand[review_id] = task.result()
        return loaded if loaded.version == version else None

    async def _load(
        self, handle: Handle, led: LedReview, version: int, state: dict[str, Any], *, alone: bool
    ) -> Judging:
        """Read the documents again, which gives the same every time, and put on top what was handed in."""
        tools = await self.tools(alone=alone)
        run = ReviewRun(led.request, tools, _FinishedPhases(self.reviews, handle.review_id), _nowhere, self.settings)
        opened = await run.open()
        evidence = await run.evidence(opened.found, opened.ingested, _no_step)
        aspects = run.chosen_aspects
        if not state:
            return Judging(led, opened, await asyncio.to_thread(ReviewDraft, evidence, aspects), run)
        draft = await asyncio.to_thread(ReviewDraft.from_state, evidence, aspects, state["draft"])
        rest = state["rest_of_page"]
        return Judging(
            led=led,
            opened=opened,
            draft=draft,
            run=run,
            version=version,
            code=state["code"],
            steps_shown=state["steps_shown"],
            pages_shown=state["pages_shown"],
            rest_of_page=(rest[0], rest[1], rest[2]) if rest else None,
            conclusion=DraftConclusion.model_validate(state["conclusion"]) if state["conclusion"] else None,
        )


class _FinishedPhases:
    """The checkpoints of the opening. Later phases leave none: an agent may change its mind until the review is stored."""

    def __init__(self, reviews: Reviews, review_id: str) -> None:
        self._reviews = reviews
        self._review_id = review_id

    async def load(self, phase: str) -> dict[str, Any] | None:
        return await self._reviews.load_checkpoint(self._review_id, phase)

    async def save(self, phase: str, data: dict[str, Any]) -> None:
        return None


class _Servers:
    """The servers that a review needs: those that run, or, for a server that a client started, ones of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._running = McpTools(settings, patience=_PATIENCE_SECONDS)
        self._own: asyncio.Future[McpTools] | None = None
        self._owner: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    @asynccontextmanager
    async def opened(self, *, alone: bool) -> AsyncIterator[McpTools]:
        yield await self.tools(alone=alone)

    async def tools(self, *, alone: bool) -> McpTools:
        configured = (
            self._settings.cherwell_scraper_url,
            self._settings.document_store_url,
            self._settings.policy_kb_url,
        )
        if not alone or any(configured):
            return self._running
        if self._own is None or self._owner is None or self._owner.done():
            self._own = asyncio.get_running_loop().create_future()
            self._owner = asyncio.create_task(self._serve(self._own))
        return await asyncio.shield(self._own)

    async def close(self) -> None:
        self._closing.set()
        if self._owner is not None:
            await asyncio.gather(self._owner, return_exceptions=True)
        await self._running.__aexit__(None, None, None)

    async def _serve(self, ready: asyncio.Future[McpTools]) -> None:
        """Open the servers and close them in this one task, as their library wants."""
        try:
            async with local_servers(self._settings) as (tools, _):
                ready.set_result(tools)
                await self._closing.wait()
        except Exception as error:  # the waiting caller must learn of any error
            if ready.done():
                log.warning("the servers of this process ended: %s", first_error(error))
            else:
                ready.set_exception(first_error(error))


def _progress(judging: Judging) -> Progress:
    quality = judging.draft.quality()
    asked = sum(len(one.questions) for one in judging.draft.orientation().aspects)
    share = min(1.0, quality.verified / max(1, asked))
    detail = f"{judging.led.led_by} judges: {quality.verified} findings verified, {quality.pages_read} pages read"
    return Progress("analysing_application", 4, 5, 55 + int(29 * share), detail)


async def _nowhere(progress: Progress) -> None:
    """Ignore progress: an agent sees it in the answers it gets."""


async def _no_step(share: float, detail: str) -> None:
    """Ignore a step's progress, as `_nowhere` does."""


@contextlib.asynccontextmanager
async def open_desk(settings: Settings, redis: Redis) -> AsyncIterator[Desk]:
    desk = Desk(redis, settings)
    try:
        yield desk
    finally:
        await desk.close()
