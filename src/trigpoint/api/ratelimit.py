"""The rate limit: a sliding window over a sorted set in Redis, decided and counted in one step (R13)."""

from __future__ import annotations

import hashlib
import itertools
import os
from dataclasses import dataclass

from redis.exceptions import RedisError

from trigpoint.jobs.batch import Batch
from trigpoint.jobs.scripts import unavailable

WINDOW_SECONDS = 60

# key, limit, window in microseconds, a name for this request -> {allowed, remaining, seconds, microseconds to wait}
# A refused request is not counted. The window resets when its oldest request leaves it.
_SCRIPT = """
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
local used = redis.call('ZCARD', KEYS[1])
local allowed = 0
if used < limit then
  allowed, used = 1, used + 1
  redis.call('ZADD', KEYS[1], now, ARGV[3])
  redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000))
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local wait = oldest[2] + window - now
return {allowed, limit - used, math.ceil((now + wait) / 1000000), math.ceil(wait / 1000000)}
"""


@dataclass(frozen=True)
class Window:
    """Where a caller stands after this request."""

    allowed: bool
    limit: int
    remaining: int
    reset: int
    retry_after: int

    def headers(self) -> list[tuple[bytes, bytes]]:
        return [
            (b"x-ratelimit-limit", str(self.limit).encode()),
            (b"x-ratelimit-remaining", str(self.remaining).encode()),
            (b"x-ratelimit-reset", str(self.reset).encode()),
        ]


class RateLimiter:
    """`take(who)` counts a request of somebody, or refuses it. Nobody's name is stored, only its hash."""

    def __init__(self, batch: Batch, limit: int, *, window_seconds: float = WINDOW_SECONDS) -> None:
        self._batch = batch
        self._limit = limit
        self._window = int(window_seconds * 1_000_000)
        self._names = map("{}:{}".format, itertools.repeat(os.urandom(6).hex()), itertools.count())

    async def take(self, who: str) -> Window:
        """Raises StoreUnavailable: without Redis nothing can be counted, and nothing is let through uncounted."""
        key = f"ratelimit:{hashlib.sha256(who.encode()).hexdigest()}"
        try:
            allowed, remaining, reset, wait = await self._batch.run(
                _SCRIPT, [key], self._limit, self._window, next(self._names)
            )
        except (RedisError, OSError) as error:
            raise unavailable(error) from error
        return Window(bool(allowed), self._limit, remaining, reset, max(1, wait))
