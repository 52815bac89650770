"""The Lua scripts beside this file, each run by Redis as one step, and patience for a Redis that is away."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from redis.asyncio import Redis
from redis.exceptions import BusyLoadingError, OutOfMemoryError, ReadOnlyError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from trigpoint.errors import RegistryUnavailable, StoreUnavailable
from trigpoint.storage.redis import LONGEST_SECONDS

log = logging.getLogger(__name__)

T = TypeVar("T")

AWAY = (
    RedisConnectionError,
    RedisTimeoutError,
    BusyLoadingError,
    OutOfMemoryError,
    ReadOnlyError,
    StoreUnavailable,
    RegistryUnavailable,
    OSError,
)


class Scripts:
    """`await scripts("claim", worker, 30_000)` runs `lua/claim.lua`. Raises StoreUnavailable."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._registered: dict[str, Any] = {}

    async def __call__(self, name: str, *args: str | int | float | bytes) -> Any:
        script = self._registered.get(name)
        if script is None:
            script = self._registered[name] = self._redis.register_script(_text(name))
        async with answered():
            return await script(args=args)


@asynccontextmanager
async def answered() -> AsyncIterator[None]:
    """What is asked of Redis within is answered soon, or StoreUnavailable is raised."""
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            yield
    except AWAY as error:
        raise unavailable(error) from error


def unavailable(error: BaseException) -> StoreUnavailable:
    return StoreUnavailable(f"Redis cannot be reached or used ({type(error).__name__}). Check REDIS_URL and its server")


async def patiently(call: Callable[[], Awaitable[T]], *, what: str, longest_wait: float = 2.0) -> T:
    """The call's answer, however long Redis is away: what a worker has done is not thrown away for that."""
    wait, since = 0.2, 0.0
    while True:
        try:
            answer = await call()
        except AWAY as error:
            if not since:
                since = time.monotonic()
                log.warning("%s: Redis is away (%s); trying again until it is back", what, error)
            await asyncio.sleep(wait)
            wait = min(wait * 2, longest_wait)
        else:
            if since:
                log.info("%s: Redis is back after %.0f s", what, time.monotonic() - since)
            return answer


@cache
def _text(name: str) -> str:
    folder = files(__package__) / "lua"
    return (folder / "ground.lua").read_text(encoding="utf-8") + (folder / f"{name}.lua").read_text(encoding="utf-8")
