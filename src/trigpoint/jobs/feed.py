"""The feed of events: everything that webhooks send, in order, for clients that would rather ask than be called."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any

import orjson
from redis.asyncio import Redis

from trigpoint.errors import InvalidInput, shorten
from trigpoint.jobs.scripts import answered

STREAM = "events"
FROM_START = "0-0"
_CURSOR = re.compile(r"[0-9]{1,15}-[0-9]{1,15}", re.ASCII)
_BLOCK_MS = 1000


@dataclass(frozen=True)
class FeedEvent:
    """One event. `cursor` is the place to continue after it."""

    cursor: str
    body: dict[str, Any]


@dataclass(frozen=True)
class FeedPage:
    """Events after a cursor. `missed`: others are no longer kept, so the reader has to look at the lists again."""

    events: tuple[FeedEvent, ...]
    cursor: str
    missed: bool


class Feed:
    """The newest 10,000 events or so of all reviews on one Redis."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def latest(self) -> str:
        """Return the cursor of now: only what happens from here on comes after it. Raises StoreUnavailable."""
        return (await self._bounds())[1]

    async def read(self, after: str, *, limit: int, wait_seconds: float = 0) -> FeedPage:
        """Return what came after a cursor; if nothing has, wait so long for it. Raises InvalidInput, StoreUnavailable.

        A cursor newer than every event is from before Redis lost some of them: reading continues with the next event.
        """
        check_cursor(after)
        oldest, newest = await self._bounds()
        if _order(after) > _order(newest):
            return FeedPage((), newest, missed=True)
        missed = after != FROM_START and _order(after) < _order(oldest)
        loop = asyncio.get_running_loop()
        until = loop.time() + wait_seconds
        events = await self._after(after, limit, block=False)
        while not events and loop.time() < until:
            events = await self._after(after, limit, block=True)
        return FeedPage(events, events[-1].cursor if events else after, missed)

    async def _after(self, cursor: str, limit: int, *, block: bool) -> tuple[FeedEvent, ...]:
        async with answered(self._redis):
            found = await self._redis.xread({STREAM: cursor}, count=limit, block=_BLOCK_MS if block else None)
        entries = found[0][1] if found else []
        return tuple(FeedEvent(str(ident), orjson.loads(fields["body"])) for ident, fields in entries)

    async def _bounds(self) -> tuple[str, str]:
        """Return the cursors of the oldest and the newest event that are kept."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.xrange(STREAM, count=1)
        pipe.xrevrange(STREAM, count=1)
        async with answered(self._redis):
            ends = await pipe.execute()
        oldest, newest = (str(entries[0][0]) if entries else FROM_START for entries in ends)
        return oldest, newest


def check_cursor(cursor: str) -> None:
    """Raise InvalidInput for what no answer ever had as its cursor."""
    if not _CURSOR.fullmatch(cursor):
        raise InvalidInput(f"Invalid cursor '{shorten(cursor)}'. Use one from an earlier answer, or leave it out")


def _order(cursor: str) -> tuple[int, int]:
    moment, _, number = cursor.partition("-")
    return int(moment), int(number)
