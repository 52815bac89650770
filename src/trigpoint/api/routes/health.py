"""Health: whether this process serves, and whether Redis answers (R11)."""

from __future__ import annotations

import asyncio
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel
from redis.exceptions import RedisError

_PATIENCE_SECONDS = 2.0

router = APIRouter(tags=["Health"])


class HealthServices(BaseModel):
    redis: Literal["connected", "disconnected"]


class Health(BaseModel):
    status: Literal["healthy", "degraded"]
    services: HealthServices
    version: str


@router.get("/api/v1/health", summary="Service health", openapi_extra={"security": []})
async def health(request: Request) -> Health:
    """No authentication. `degraded` when Redis is out."""
    connected = await _answers(request)
    return Health(
        status="healthy" if connected else "degraded",
        services=HealthServices(redis="connected" if connected else "disconnected"),
        version=request.app.state.version,
    )


router.add_api_route("/health", health, include_in_schema=False)


async def _answers(request: Request) -> bool:
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return bool(await request.app.state.redis.ping())
    except (RedisError, OSError, TimeoutError):
        return False
