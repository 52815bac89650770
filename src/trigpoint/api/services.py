"""What the routes work with, made once when the application starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from redis.asyncio import Redis

from trigpoint.config import Settings
from trigpoint.jobs.batch import Batch
from trigpoint.jobs.letters import Letters
from trigpoint.jobs.queue import Queue
from trigpoint.jobs.reviews import Reviews
from trigpoint.jobs.webhooks import Outbox
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.policies.resolver import EffectiveDateResolver


@dataclass(frozen=True)
class Services:
    settings: Settings
    redis: Redis
    queue: Queue
    reviews: Reviews
    letters: Letters
    outbox: Outbox
    registry: PolicyRegistry
    resolver: EffectiveDateResolver

    @classmethod
    def on(cls, redis: Redis, settings: Settings, batch: Batch) -> Services:
        registry = PolicyRegistry(redis)
        return cls(
            settings=settings,
            redis=redis,
            queue=Queue(redis, lease_seconds=settings.job_lease_seconds),
            reviews=Reviews(redis, batch),
            letters=Letters(redis),
            outbox=Outbox(redis, max_retries=settings.webhook_max_retries),
            registry=registry,
            resolver=EffectiveDateResolver(registry),
        )


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Use = Annotated[Services, Depends(_services)]
