"""`/metrics` for Prometheus: this process's counts, and what Redis knows of reviews, jobs and webhooks. Needs a key when auth is on."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from redis.exceptions import RedisError

from trigpoint.api.services import Services, Use
from trigpoint.jobs.reviews import STATUSES
from trigpoint.metrics import CONTENT_TYPE, exposition
from trigpoint.storage.redis import LONGEST_SECONDS

router = APIRouter()


@router.get("/metrics", include_in_schema=False)
async def metrics(use: Use) -> Response:
    """Return the metrics at one round trip to Redis.

    Without it: the process's own counts, and `trigpoint_redis_up 0`.
    """
    return Response(exposition() + await _shared(use), media_type=CONTENT_TYPE)


async def _shared(use: Services) -> bytes:
    registry = CollectorRegistry()
    up = Gauge("trigpoint_redis_up", "Whether Redis answered.", registry=registry)
    reviews = Gauge("trigpoint_reviews", "Reviews by status.", ("status",), registry=registry)
    queued = Gauge("trigpoint_jobs_queued", "Jobs that wait for a worker.", registry=registry)
    running = Gauge("trigpoint_jobs_running", "Jobs that a worker holds.", registry=registry)
    due = Gauge("trigpoint_webhooks_waiting", "Reviews whose webhooks are still to be delivered.", registry=registry)
    pipe = use.redis.pipeline(transaction=False)
    for status in STATUSES:
        pipe.zcard(f"reviews:status:{status}")
    for key in ("jobs:queued", "jobs:leases", "webhooks:due"):
        pipe.zcard(key)
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            *by_status, waiting, held, outbox = await pipe.execute()
    except (RedisError, OSError):
        up.set(0)
        return generate_latest(registry)
    up.set(1)
    for status, count in zip(STATUSES, by_status, strict=True):
        reviews.labels(status).set(count)
    queued.set(waiting)
    running.set(held)
    due.set(outbox)
    return generate_latest(registry)
