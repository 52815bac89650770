"""The services that routes, pages and middleware work with, made once when the application starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from redis.asyncio import Redis
from starlette.requests import Request
from starlette.types import Scope

from trigpoint.api.ratelimit import RateLimiter
from trigpoint.api.web.resources import Resources
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
    """All that a request may need. `problems`: what was found damaged when the application started."""

    settings: Settings
    redis: Redis
    queue: Queue
    reviews: Reviews
    letters: Letters
    outbox: Outbox
    registry: PolicyRegistry
    resolver: EffectiveDateResolver
    limiter: RateLimiter
    resources: Resources
    problems: tuple[str, ...]

    @classmethod
    def on(cls, redis: Redis, resources: Resources, problems: tuple[str, ...]) -> Services:
        settings, batch = resources.settings, Batch(redis)
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
            limiter=RateLimiter(batch, settings.api_rate_limit),
            resources=resources,
            problems=problems,
        )


def services_in(scope: Scope) -> Services:
    """Return the services of the application that answers this request."""
    services: Services = scope["state"]["services"]
    return services


async def _services(request: Request) -> Services:
    return services_in(request.scope)


Use = Annotated[Services, Depends(_services)]
