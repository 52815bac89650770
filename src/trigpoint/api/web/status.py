"""Status: whether each part answers, what waits in the queue, what went wrong lately."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any, get_args

import httpx
import orjson
from redis.exceptions import RedisError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trigpoint.api.outside import look_at_model, look_at_register, told_problems
from trigpoint.api.services import Services
from trigpoint.api.web.asking import Part, address, site_of
from trigpoint.api.web.resources import Resources
from trigpoint.api.web.templating import page
from trigpoint.http.certificates import certificates
from trigpoint.jobs.alive import workers_alive
from trigpoint.policies.models import RevisionStatus

_PATIENCE_SECONDS = 2.0
_RECENT = 8
_NAMES = {
    "scraper": "Scraper",
    "document-store": "Document store",
    "policy-kb": "Policies",
    "library": "Library",
    "graph": "Graph bridge",
    "reviewer": "Reviewer",
}


@dataclass(frozen=True)
class _Health:
    name: str
    where: str
    up: bool
    milliseconds: int
    said: str


@dataclass(frozen=True)
class _Trouble:
    """Something that failed, and the page that tells more."""

    when: str
    what: str
    href: str
    message: str


async def overview(request: Request) -> Response:
    services: Services = request.scope["services"]
    redis = await _health_of_redis(services)
    async with httpx.AsyncClient(timeout=_PATIENCE_SECONDS, trust_env=False, verify=certificates()) as client:
        parts = await asyncio.gather(*(_health_of_part(client, services, part) for part in get_args(Part)))
    outside = await _outside(request, services)
    worker = await _worker(services) if redis.up else None
    shown = [redis, *([worker] if worker else []), *parts, *outside]
    counts, troubles = ({}, []) if not redis.up else (await _queue(services), await _troubles(services))
    return page(
        request,
        "status.html",
        healths=shown,
        parts_down=[health.name for health in shown if not health.up],
        counts=counts,
        troubles=troubles,
        storage=_storage(services),
        keys=services.settings.key_ring.all(),
        keys_problem=services.settings.key_ring.problem,
    )


async def _health_of_redis(services: Services) -> _Health:
    where = "REDIS_URL" if services.settings.redis_url else "embedded"
    started = time.perf_counter()
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await services.redis.ping()  # type: ignore[misc]
        return _Health("Redis", where, True, _since(started), "connected")
    except (RedisError, OSError, TimeoutError) as error:
        return _Health("Redis", where, False, _since(started), str(error) or type(error).__name__)


async def _worker(services: Services) -> _Health:
    started = time.perf_counter()
    names = await workers_alive(services.redis)
    said = (
        f"{len(names)} running"
        if names
        else "none is running, so queued jobs wait. `trigpoint up` or `trigpoint serve worker` starts one"
    )
    return _Health("Worker", ", ".join(name.rsplit(":", 1)[0] for name in names), bool(names), _since(started), said)


async def _outside(request: Request, services: Services) -> list[_Health]:
    """Return the register and the model, asked at most once a minute; a model that has answered, every ten minutes."""
    resources: Resources = request.scope["resources"]
    started = time.perf_counter()
    register, model = await asyncio.gather(
        resources.outside.get("register", lambda: look_at_register(services.settings)),
        resources.outside.get("model", lambda: look_at_model(services.settings, resources.model)),
    )
    seen = [("Register", register)] + ([("Model", model)] if model is not None else [])
    return [_Health(name, one.where, one.ok, _since(started), one.said) for name, one in seen]


async def _health_of_part(client: httpx.AsyncClient, services: Services, part: Part) -> _Health:
    where = address(services.settings, part)
    started = time.perf_counter()
    try:
        answer = await client.get(f"{site_of(where)}/health")
        problems = told_problems(answer)
        said = " ".join(problems) or ("answers" if answer.is_success else f"answers {answer.status_code}")
        return _Health(_NAMES[part], where, answer.is_success and not problems, _since(started), said)
    except httpx.HTTPError as error:
        reason = "does not answer in time" if isinstance(error, httpx.TimeoutException) else "cannot be reached"
        return _Health(_NAMES[part], where, False, _since(started), reason)


async def _queue(services: Services) -> dict[str, int]:
    waiting, leased = await asyncio.gather(services.redis.zcard("jobs:queued"), services.redis.zcard("jobs:leases"))
    _, running = await services.reviews.list(status="processing", limit=1, offset=0)
    _, total = await services.reviews.list(limit=1, offset=0)
    return {"Jobs waiting": waiting, "Jobs with a worker": leased, "Reviews running": running, "Reviews in all": total}


async def _troubles(services: Services) -> list[_Trouble]:
    rows, _ = await services.reviews.list(status="failed", limit=_RECENT, offset=0)
    failed = [await services.reviews.get(row.review_id) for row in rows]
    troubles = [
        _Trouble(
            review.created_at,
            f"Review of {review.application_ref}",
            f"/reviews/{review.review_id}",
            _message(review.error),
        )
        for review in failed
    ]
    for policy in await services.registry.list_policies():
        troubles += [
            _Trouble(
                revision.created_at.isoformat(),
                f"Revision {revision.version_label} of {policy.source}",
                f"/policies/{policy.source}",
                revision.error or "It could not be read.",
            )
            for revision in policy.revisions
            if revision.status is RevisionStatus.FAILED
        ]
    return sorted(troubles, key=lambda trouble: trouble.when, reverse=True)[:_RECENT]


def _message(error: str | None) -> str:
    told: dict[str, Any] = orjson.loads(error) if error else {}
    return str(told.get("message", "No reason was recorded."))


def _storage(services: Services) -> dict[str, str]:
    settings = services.settings
    return {
        "Data folder": str(settings.data_dir),
        "Vectors": "Chroma server" if settings.chroma_url else "embedded",
        "Graph": "PostgreSQL" if settings.database_url else "SQLite",
        "Library": "Qdrant" if settings.qdrant_url else "SQLite",
        "Analyser": settings.trigpoint_model or "rules",
        "Sign-in": "on" if settings.rest_auth_on else "off",
    }


def _since(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)


ROUTES = [Route("/status", overview)]
