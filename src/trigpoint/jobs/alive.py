"""The workers that are alive: each says so every few seconds, and is forgotten when it is silent."""

from __future__ import annotations

import asyncio

from redis.asyncio import Redis

from trigpoint.jobs.scripts import AWAY

_NAMES = "workers"
_EVERY_SECONDS = 5.0
_FORGOTTEN_SECONDS = 30


async def show_alive(redis: Redis, name: str) -> None:
    """Say again and again that a worker lives, until cancelled. A store that is away is tried again."""
    while True:
        try:
            await redis.set(_key(name), "1", ex=_FORGOTTEN_SECONDS)
            await redis.sadd(_NAMES, name)  # type: ignore[misc]
        except AWAY:
            pass  # the next heartbeat tries again
        await asyncio.sleep(_EVERY_SECONDS)


async def forget(redis: Redis, name: str) -> None:
    """Take back the sign of a worker that stops. If the store is away, it fades by itself."""
    try:
        await redis.delete(_key(name))
        await redis.srem(_NAMES, name)  # type: ignore[misc]
    except AWAY:
        return


async def workers_alive(redis: Redis) -> list[str]:
    """Return the names of the workers that have shown themselves within half a minute."""
    names = sorted(await redis.smembers(_NAMES))  # type: ignore[misc]
    shown = [await redis.exists(_key(name)) for name in names]
    gone = [name for name, there in zip(names, shown, strict=True) if not there]
    if gone:
        await redis.srem(_NAMES, *gone)  # type: ignore[misc]
    return [name for name, there in zip(names, shown, strict=True) if there]


def _key(name: str) -> str:
    return f"worker:{name}"
