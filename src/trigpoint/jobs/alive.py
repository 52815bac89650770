"""The workers that are alive: each says so every few seconds, and is forgotten when it is silent."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from redis.asyncio import Redis

from trigpoint.errors import StoreUnavailable
from trigpoint.jobs.scripts import answered

_NAMES = "workers"
_EVERY_SECONDS = 5.0
_FORGOTTEN_SECONDS = 30


async def show_alive(redis: Redis, name: str) -> None:
    """Say again and again that a worker lives, until cancelled. A store that is away is tried again."""
    while True:
        with suppress(StoreUnavailable):  # the next heartbeat tries again
            async with answered(redis):
                await redis.set(_worker_key(name), "1", ex=_FORGOTTEN_SECONDS)
                await redis.sadd(_NAMES, name)  # type: ignore[misc]
        await asyncio.sleep(_EVERY_SECONDS)


async def forget(redis: Redis, name: str) -> None:
    """Take back the sign of a worker that stops. If the store is away, it fades by itself."""
    with suppress(StoreUnavailable):
        async with answered(redis):
            await redis.delete(_worker_key(name))
            await redis.srem(_NAMES, name)  # type: ignore[misc]


async def workers_alive(redis: Redis) -> list[str]:
    """Return the names of the workers that have shown themselves within half a minute. Raises StoreUnavailable."""
    async with answered(redis):
        names = sorted(await redis.smembers(_NAMES))  # type: ignore[misc]
        shown = {name for name in names if await redis.exists(_worker_key(name))}
    gone = [name for name in names if name not in shown]
    if gone:
        with suppress(StoreUnavailable):  # reading goes on while changes are refused
            async with answered(redis):
                await redis.srem(_NAMES, *gone)  # type: ignore[misc]
    return [name for name in names if name in shown]


def _worker_key(name: str) -> str:
    return f"worker:{name}"
