"""Whatever is done to reviews in whatever order, records, indexes, queue and holds agree, and an end is an end."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

import redis as sync_redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis
from watched_pipeline import RESULT

from trigpoint.errors import CannotCancel, ReviewAlreadyExists
from trigpoint.jobs.queue import Lease, Queue
from trigpoint.jobs.reviews import STATUSES, Reviews
from trigpoint.review.models import Progress
from trigpoint.storage.redis import redis_client

REFS = ("25/00001/F", "25/00002/F")
ENDS = ("completed", "failed", "cancelled")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["create", "claim", "start", "progress", "complete", "fail", "cancel", "expire", "back", "again", "done"]
        ),
        st.integers(0, 5),
    ),
    max_size=30,
)


@dataclass
class World:
    redis: Redis
    reviews: Reviews
    queue: Queue
    ids: list[str] = field(default_factory=list)
    leases: list[Lease] = field(default_factory=list)
    ended: dict[str, str] = field(default_factory=dict)

    async def step(self, name: str, number: int) -> None:
        if name == "create":
            with contextlib.suppress(ReviewAlreadyExists):
                made = await self.reviews.create(REFS[number % 2], None, None, request_id="-")
                self.ids.append(made.review_id)
        elif name == "claim":
            if (lease := await self.queue.claim("w")) is not None:
                self.leases.append(lease)
        elif name == "cancel" and self.ids:
            with contextlib.suppress(CannotCancel):
                await self.reviews.cancel(self.ids[number % len(self.ids)])
        elif name == "expire":
            for job_id in await self.redis.zrange("jobs:leases", 0, -1):
                await self.redis.zadd("jobs:leases", {job_id: 0})
        elif self.leases:
            await self.report(name, self.leases[number % len(self.leases)])

    async def report(self, name: str, lease: Lease) -> None:
        """By whoever holds a lease, or once did."""
        match name:
            case "start":
                await self.reviews.start(lease)
            case "progress":
                await self.reviews.progress(lease, REFS[0], Progress("ingesting_documents", 3, 5, 30, ""))
            case "complete":
                await self.reviews.complete(lease, REFS[0], RESULT)
            case "fail":
                await self.reviews.fail(lease, REFS[0], "internal_error", "x")
            case "back":
                await self.queue.hand_back(lease)
            case "again":
                await self.queue.try_again(lease, 0)
            case "done":
                if lease.job_id in self.ended:  # a worker lets a job go only after the review has ended
                    await self.queue.done(lease)

    async def check(self) -> None:
        active: dict[str, str] = {}
        for review_id in self.ids:
            review = await self.reviews.get(review_id)
            if review_id in self.ended:
                assert review.status == self.ended[review_id]
            elif review.status in ENDS:
                self.ended[review_id] = review.status
            ref = review.application_ref
            for status in STATUSES:
                listed = await self.redis.zscore(f"reviews:status:{status}", review_id) is not None
                by_both = await self.redis.zscore(f"reviews:ref:{ref}:{status}", review_id) is not None
                assert listed == by_both == (status == review.status)
            assert (review.completed_at is not None) == (review.status == "completed")
            assert (review.review is not None) == (review.status == "completed")
            if review.status not in ENDS:
                assert ref not in active, "two active reviews of one application"
                active[ref] = review_id
                waiting = await self.redis.zscore("jobs:queued", review_id) is not None
                leased = await self.redis.zscore("jobs:leases", review_id) is not None
                assert waiting != leased, "an active review is in the queue or under a lease, not both, not neither"
            else:
                assert await self.redis.zscore("jobs:queued", review_id) is None
        for ref in REFS:
            assert await self.redis.get(f"reviews:active:{ref}") == active.get(ref)
        _, total = await self.reviews.list(limit=1, offset=0)
        assert total == len(self.ids)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(steps=STEPS)
def test_records_indexes_queue_and_holds_agree_after_every_step(redis_url: str, steps: list[tuple[str, int]]) -> None:
    async def play() -> None:
        async with redis_client(redis_url) as redis:
            world = World(redis, Reviews(redis), Queue(redis))
            for name, number in steps:
                await world.step(name, number)
                await world.check()

    with sync_redis.Redis.from_url(redis_url) as client:
        client.flushall()
    asyncio.run(play())
