"""Health: whether this process serves, whether Redis answers, whether the stores are whole, whether there is space."""

from __future__ import annotations

import asyncio
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from redis.exceptions import RedisError

from trigpoint.api.outside import problems_of_parts
from trigpoint.config import Settings
from trigpoint.storage.redis import describe
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


@router.get("/api/v1/health", summary="Service health", openapi_extra={"security": []})
async def health(request: Request) -> Health:
    """No authentication. `degraded` while Redis is down, a store is damaged, or the disk is nearly full."""
    settings: Settings = request.app.state.settings
    connected, told = await asyncio.gather(
        _answers(request), request.app.state.pages.parts.get("problems", lambda: problems_of_parts(settings))
    )
    space = look(settings)
    problems = [] if connected else [f"{describe(request.app.state.redis)} cannot be reached"]
    problems += [f"New work is refused: {space.said}"] if space.is_low else []
    problems += [*request.app.state.problems, *told]
    return Health(
        status="degraded" if problems else "healthy",
        services=HealthServices(redis="connected" if connected else "disconnected"),
        version=request.app.state.version,
        problems=problems,
    )


router.add_api_route("/health", health, include_in_schema=False)


async def _answers(request: Request) -> bool:
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return bool(await request.app.state.redis.ping())
    except (RedisError, OSError, TimeoutError):
        return False
