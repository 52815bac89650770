"""Health: whether this process serves, whether Redis answers, whether the stores are whole, whether there is space."""

from __future__ import annotations

import asyncio
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field
from redis.asyncio import Redis

from trigpoint import __version__
from trigpoint.api.outside import problems_of_parts
from trigpoint.api.services import Use
from trigpoint.errors import StoreUnavailable
from trigpoint.jobs.scripts import answered
from trigpoint.storage.space import look

_PATIENCE_SECONDS = 2.0

router = APIRouter(tags=["Health"])


class HealthServices(BaseModel):
    redis: Literal["connected", "disconnected"]


class Health(BaseModel):
    status: Literal["healthy", "degraded"]
    services: HealthServices
    version: str
    problems: list[str] | None = Field(
        None, description="Why it is degraded; left out if it is not", exclude_if=lambda problems: not problems
    )


@router.get("/health", summary="Service health", openapi_extra={"security": []})
async def health(use: Use) -> Health:
    """Report this server's health, without authentication.

    `degraded` while Redis is down, a store is damaged, or the disk is nearly full.
    """
    problem, told = await asyncio.gather(
        _problem_of(use.redis), use.resources.parts.get("problems", lambda: problems_of_parts(use.settings))
    )
    space = look(use.settings)
    problems = [problem] if problem else []
    problems += [f"New work is refused: {space.said}"] if space.is_low else []
    problems += [*use.problems, *told]
    return Health(
        status="degraded" if problems else "healthy",
        services=HealthServices(redis="disconnected" if problem else "connected"),
        version=__version__,
        problems=problems,
    )


async def _problem_of(redis: Redis) -> str | None:
    """Return why Redis cannot be used: it does not answer soon, or takes no changes."""
    try:
        async with answered(redis, _PATIENCE_SECONDS):
            await redis.ping()  # type: ignore[misc]
    except StoreUnavailable as error:
        return error.message
    return None
