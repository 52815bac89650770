"""The Lua scripts in `lua/`, each run by Redis as one step, and patience for a Redis that is down or refuses writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from redis.asyncio import Redis
from redis.exceptions import BusyLoadingError, OutOfMemoryError, ReadOnlyError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from trigpoint.errors import RegistryUnavailable, StoreUnavailable, shorten
from trigpoint.jobs.patience import FOR_EVER, try_again
from trigpoint.storage.redis import LONGEST_SECONDS, describe

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
_REFUSALS = ("MISCONF", "NOREPLICAS", "MASTERDOWN")  # replies of a Redis that answers, but takes no changes for now


class Scripts:
    """`await scripts("claim", worker, 30_000)` runs `lua/claim.lua`. Raises StoreUnavailable."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._registered: dict[str, Any] = {}

    async def __call__(self, name: str, *args: str | int | float | bytes) -> Any:
        script = self._registered.get(name)
        if script is None:
            script = self._registered[name] = self._redis.register_script(_lua_source(name))
        async with answered(self._redis):
            return await script(args=args)


@asynccontextmanager
async def answered(redis: Redis, longest_seconds: float = LONGEST_SECONDS) -> AsyncIterator[None]:
    """Raise StoreUnavailable unless Redis soon does what it is asked within the context."""
    try:
        async with asyncio.timeout(longest_seconds):
            yield
    except AWAY as error:
        raise unavailable(error, redis) from error
    except ResponseError as error:
        if not _refuses_changes(error):
            raise
        raise unavailable(error, redis) from error


async def require_written(redis: Redis) -> None:
    """Raise StoreUnavailable if Redis keeps a log of changes and could not write to it: a restart would lose them."""
    async with answered(redis):
        state = await redis.info("persistence")
    if state.get("aof_enabled") and state.get("aof_last_write_status") != "ok":
        raise unavailable(ResponseError("MISCONF The last write to its log failed"), redis)


def unavailable(error: BaseException, redis: Redis) -> StoreUnavailable:
    """Return the error to raise for a Redis that does not answer, or that answers and takes no changes."""
    if isinstance(error, StoreUnavailable):
        return error
    if not _refuses_changes(error):
        return StoreUnavailable(f"{describe(redis)} cannot be reached or used ({type(error).__name__})")
    way_out = "Make space; it goes on by itself" if "MISCONF" in str(error) else "It goes on by itself"
    return StoreUnavailable(f"{describe(redis)} refuses changes for now ({shorten(error, 120)}). {way_out}")


def _refuses_changes(error: BaseException) -> bool:
    return isinstance(error, ResponseError) and any(code in str(error) for code in _REFUSALS)


async def patiently(call: Callable[[], Awaitable[T]], *, what: str, longest_wait: float = 2.0) -> T:
    """Return the call's answer, however long Redis is down: a worker does not throw away what it has done."""

    def patience(error: Exception) -> float:
        return FOR_EVER if isinstance(error, AWAY) else 0

    return await try_again(call, what=what, patience=patience, longest_wait=longest_wait)


@cache
def _lua_source(name: str) -> str:
    folder = files(__package__) / "lua"
    return (folder / "ground.lua").read_text(encoding="utf-8") + (folder / f"{name}.lua").read_text(encoding="utf-8")
