"""The worker: claims jobs, keeps their leases alive, stops them when they are cancelled, hands them back when it stops.

Next to its jobs it empties the webhooks' outbox and removes reviews that are past their time. Any number of workers
may share one Redis; one that dies is noticed by its silence.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import uuid
from collections.abc import Callable, Coroutine, Mapping
from datetime import timedelta
from typing import Any, Protocol

from redis.asyncio import Redis

from trigpoint.config import Settings
from trigpoint.ending import end
from trigpoint.jobs import alive, led, revisions
from trigpoint.jobs.delivery import WebhookSender
from trigpoint.jobs.events import DEFAULT_EVENTS
from trigpoint.jobs.led_job import LedReviewJob
from trigpoint.jobs.pausing import has_space
from trigpoint.jobs.queue import Lease, LeaseLost, Queue, Verdict
from trigpoint.jobs.review_job import ReviewJob
from trigpoint.jobs.reviews import Reviews
from trigpoint.jobs.scripts import AWAY, patiently
from trigpoint.jobs.watching import keep_watching
from trigpoint.jobs.webhooks import Delivery, Outbox
from trigpoint.logs import request_id
from trigpoint.metrics import JOBS, WEBHOOKS
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.registers.retention import remove_old_documents
from trigpoint.storage.redis import open_redis

log = logging.getLogger(__name__)

MAX_TRIES = 3
_DELIVERIES_AT_ONCE = 16
_IDLE_SECONDS = 1.0
_HEARTBEAT_SECONDS = 1.0  # also how soon a cancellation is noticed
_RENEWAL_SECONDS = 2.5  # when Redis is back after a while, leases are renewed before anybody claims
_RETRY_SECONDS = 2.0
_PURGE_EVERY_SECONDS = 600.0
_ORPHANS_EVERY_SECONDS = 60.0
_STOP_SECONDS = 10.0
_RESTART_SECONDS = 5.0  # before a loop that broke off is started again


class JobKind(Protocol):
    """A kind of job that a worker can run."""

    async def run(self, lease: Lease) -> None: ...

    async def give_up(self, lease: Lease, problem: str) -> None: ...


class Worker:
    """Runs until `stop` is set: `await Worker(redis, settings).run(stop)`."""

    def __init__(self, redis: Redis, settings: Settings, kinds: Mapping[str, JobKind] | None = None) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:6]}"
        self._settings = settings
        self._redis = redis
        self._queue = Queue(redis, lease_seconds=settings.job_lease_seconds)
        self._reviews = Reviews(redis)
        self._outbox = Outbox(redis, max_retries=settings.webhook_max_retries)
        self._kinds = dict(kinds) if kinds is not None else job_kinds(redis, settings)
        self._beat_seconds = min(_HEARTBEAT_SECONDS, settings.job_lease_seconds / 3)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop; then hand back what is not finished."""
        log.info("worker %s: %d jobs at once", self.name, self._settings.worker_concurrency)
        if not await _unless(stop, patiently(self._configure_webhook, what="configuring webhooks")):
            return
        sender = WebhookSender(public_only=self._settings.environment == "production")
        loops = [
            asyncio.create_task(_kept_running(what, loop))
            for what, loop in {
                "delivering webhooks": lambda: self._deliver(stop, sender),
                "removing old reviews": self._purge,
                "removing old documents": self._remove_old_documents,
                "watching registers": lambda: keep_watching(self._settings),
                "looking for ingestions without a job": self._take_up_orphans,
                "showing that the worker is alive": lambda: alive.show_alive(self._redis, self.name),
            }.items()
        ]
        try:
            await self._work(stop)
        finally:
            await end(*loops)
            await sender.close()
            await alive.forget(self._redis, self.name)
        log.info("worker %s has stopped", self.name)

    async def _configure_webhook(self) -> None:
        settings = self._settings
        secret = settings.webhook_secret.get_secret_value() if settings.webhook_secret else ""
        await self._outbox.configure(settings.webhook_url, secret, settings.webhook_events or DEFAULT_EVENTS)

    async def _work(self, stop: asyncio.Event) -> None:
        running: set[asyncio.Task[None]] = set()
        stopped = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                if len(running) >= self._settings.worker_concurrency:
                    await asyncio.wait({*running, stopped}, return_when=asyncio.FIRST_COMPLETED)
                else:
                    lease = await self._next_unless(stopped)
                    if lease is not None:
                        running.add(asyncio.create_task(self.hold(lease)))
                running = {task for task in running if not task.done()}
        finally:
            stopped.cancel()
            for task in running:
                task.cancel()
            if running:
                await asyncio.wait(running, timeout=_STOP_SECONDS)

    async def _next_unless(self, stopped: asyncio.Task[bool]) -> Lease | None:
        claiming = asyncio.create_task(self._next())
        await asyncio.wait({claiming, stopped}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({claiming}, timeout=2 * _IDLE_SECONDS)  # a claim under way must not be lost
        if not claiming.done():
            claiming.cancel()
            return None
        return claiming.result()

    async def _next(self) -> Lease | None:
        """Return a claimed job; or None after a while without one."""
        try:
            await has_space(self._settings, what="claiming jobs")
            lease = await self._queue.claim(self.name)
            if lease is None:
                await self._queue.wait(_IDLE_SECONDS)
            return lease
        except AWAY:
            await patiently(self._queue.ping, what="claiming jobs")
            await asyncio.sleep(_RENEWAL_SECONDS)
            return None
        except Exception:
            log.exception("claiming jobs broke off; it is tried again")
            await asyncio.sleep(_RESTART_SECONDS)
            return None

    async def hold(self, lease: Lease) -> None:
        """Run one job to its end, under its lease."""
        request_id.set(lease.request_id or "-")
        kind = self._kinds.get(lease.kind)
        if kind is None:
            log.error("job %s is of the unknown kind %s", lease.job_id, lease.kind)
            await patiently(lambda: self._queue.done(lease), what="dropping a job")
            return
        work = asyncio.create_task(self._attempt(kind, lease))
        beat = asyncio.create_task(self._keep(lease))
        try:
            await asyncio.wait({work, beat}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                verdict = beat.result() if beat.exception() is None else "lost"
                log.info("job %s was %s; stopping it", lease.job_id, verdict, exc_info=beat.exception())
                await _cancel(work)
                if verdict == "cancelled":
                    await patiently(lambda: self._queue.done(lease), what="letting a cancelled job go")
        except asyncio.CancelledError:
            await _cancel(work)
            log.info("job %s is handed back", lease.job_id)
            async with asyncio.timeout(_STOP_SECONDS):
                await patiently(lambda: self._queue.hand_back(lease), what="handing a job back")
            raise
        finally:
            await end(beat)

    async def _attempt(self, kind: JobKind, lease: Lease) -> None:
        try:
            if lease.tries > MAX_TRIES:
                await patiently(lambda: kind.give_up(lease, ""), what="giving a job up")
            else:
                await kind.run(lease)
            await patiently(lambda: self._queue.done(lease), what="finishing a job")
            JOBS.labels(lease.kind, "done").inc()
        except LeaseLost:
            JOBS.labels(lease.kind, "lost").inc()
            log.info("job %s is no longer ours", lease.job_id)
            await patiently(lambda: self._queue.done(lease), what="letting a job go")
        except Exception as error:
            JOBS.labels(lease.kind, "broke off").inc()
            log.exception("job %s, try %d of %d, broke off", lease.job_id, lease.tries, MAX_TRIES)
            problem = f"Unexpected {type(error).__name__} after {MAX_TRIES} tries; see the worker's log"
            if lease.tries >= MAX_TRIES:
                await patiently(lambda: kind.give_up(lease, problem), what="giving a job up")
                await patiently(lambda: self._queue.done(lease), what="finishing a job")
            else:
                await patiently(lambda: self._queue.try_again(lease, _RETRY_SECONDS), what="putting a job back")

    async def _keep(self, lease: Lease) -> Verdict:
        """Send heartbeats until the job is cancelled or lost."""
        while True:
            await asyncio.sleep(self._beat_seconds)
            verdict = await patiently(lambda: self._queue.heartbeat(lease), what="heartbeat", longest_wait=0.5)
            if verdict != "held":
                return verdict

    async def _deliver(self, stop: asyncio.Event, sender: WebhookSender) -> None:
        """Send what is in the outbox, several receivers at once."""
        sending: set[asyncio.Task[None]] = set()
        try:
            while not stop.is_set():
                sending = {task for task in sending if not task.done()}
                if len(sending) >= _DELIVERIES_AT_ONCE:
                    await asyncio.wait(sending, return_when=asyncio.FIRST_COMPLETED)
                    continue
                try:
                    delivery = await self._outbox.claim()
                    if delivery is None:
                        await self._outbox.wait(_IDLE_SECONDS)
                        continue
                except AWAY:
                    await patiently(self._queue.ping, what="webhooks")
                    await asyncio.sleep(_IDLE_SECONDS)  # it may answer and still refuse changes
                    continue
                sending.add(asyncio.create_task(self._send(sender, delivery)))
        finally:
            for task in sending:
                task.cancel()

    async def _send(self, sender: WebhookSender, delivery: Delivery) -> None:
        outcome = await sender.send(delivery)
        status = await patiently(lambda: self._outbox.settle(delivery, outcome), what="recording a delivery")
        WEBHOOKS.labels("tried again" if status == "pending" else status).inc()
        log.info("%s: %s%s", delivery, status, f" ({outcome.error})" if outcome.error else "")

    async def _purge(self) -> None:
        days = self._settings.review_result_ttl_days
        while days is not None:
            try:
                removed = await self._reviews.purge(timedelta(days=days))
            except AWAY as error:
                log.warning("purge: %s", error)
                removed = 0
            if removed:
                log.info("removed %d reviews that ended more than %d days ago", removed, days)
                continue
            await asyncio.sleep(_PURGE_EVERY_SECONDS)

    async def _remove_old_documents(self) -> None:
        while True:
            try:
                removed = await asyncio.to_thread(remove_old_documents, self._settings)
            except OSError as error:
                log.warning("documents that are no longer kept could not be removed: %s", error)
                removed = 0
            if removed:
                log.info("removed the documents of %d applications that are no longer kept", removed)
            await asyncio.sleep(_PURGE_EVERY_SECONDS)

    async def _take_up_orphans(self) -> None:
        kind = self._kinds.get(revisions.KIND)
        while isinstance(kind, revisions.IngestionJob):
            try:
                await kind.take_up_orphans()
            except AWAY as error:
                log.warning("looking for ingestions without a job: %s", error)
            await asyncio.sleep(_ORPHANS_EVERY_SECONDS)


async def _kept_running(what: str, loop: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a loop to its end. If it breaks off, log why and start it again: nobody would miss it until much later."""
    while True:
        try:
            await loop()
            return
        except Exception:
            log.exception("%s broke off; it is started again", what)
            await asyncio.sleep(_RESTART_SECONDS)


async def _unless(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Return whether the work was done before we were told to stop."""
    working, stopped = asyncio.create_task(work), asyncio.create_task(stop.wait())
    await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not working.done():
        working.cancel()
        return False
    working.result()
    return True


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task}, timeout=_STOP_SECONDS)


def job_kinds(redis: Redis, settings: Settings) -> dict[str, JobKind]:
    """Return every kind of job that can be queued."""
    queue = Queue(redis, lease_seconds=settings.job_lease_seconds)
    return {
        "review": ReviewJob(Reviews(redis), settings),
        led.KIND: LedReviewJob(Reviews(redis), led.LedReviews(redis, settings), settings),
        revisions.KIND: revisions.IngestionJob(PolicyRegistry(redis), queue, settings),
    }


async def run_worker(settings: Settings, stop: asyncio.Event) -> None:
    """Run a worker on the configured Redis, from start to a clean stop."""
    async with open_redis(settings, insist=False) as redis:
        await Worker(redis, settings).run(stop)
