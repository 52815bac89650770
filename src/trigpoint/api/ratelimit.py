"""The rate limit: a sliding window over a sorted set in Redis, decided and counted in one step."""

from __future__ import annotations

import hashlib
import itertools
import os
from dataclasses import dataclass

from redis.exceptions import RedisError

from trigpoint.jobs.batch import Batch
from trigpoint.jobs.scripts import unavailable

WINDOW_SECONDS = 60

# The caller's requests, the failed tries of its address; limit, window in microseconds, a name for this request
# -> {allowed, remaining, when the window resets, microseconds to wait}
# A refused request is not counted. An address with too many failed tries is refused whatever key it sends, so that
# guessing is slowed for the right key as well. A window resets when its oldest request leaves it. No caller ('') counts
# nothing: only the failed tries of its address matter.
_SCRIPT = """
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function used(key)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - window)
  redis.call('ZREMRANGEBYSCORE', key, now + 1, '+inf')
  return redis.call('ZCARD', key)
end
local counted, allowed = KEYS[1], 0
if KEYS[2] ~= counted and used(KEYS[2]) >= limit then counted = KEYS[2] end
if counted == '' then return {1, limit, 0, 0} end
local before = used(counted)
if before < limit then
  allowed, before = 1, before + 1
  redis.call('ZADD', counted, now, ARGV[3])
  redis.call('PEXPIRE', counted, math.ceil(window / 1000))
end
local oldest = redis.call('ZRANGE', counted, 0, 0, 'WITHSCORES')
local wait = oldest[2] + window - now
return {allowed, limit - before, math.ceil((now + wait) / 1000000), math.ceil(wait / 1000000)}
"""


@dataclass(frozen=True)
class Window:
    """The rest of a caller's limit after this request."""

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
    """Counts requests by key, and failed tries by address. Neither is stored, only its hash."""

    def __init__(self, batch: Batch, limit: int, *, window_seconds: float = WINDOW_SECONDS) -> None:
        self._batch = batch
        self._limit = limit
        self._window = int(window_seconds * 1_000_000)
        self._names = map("{}:{}".format, itertools.repeat(os.urandom(6).hex()), itertools.count())

    async def take(self, key: str | None, address: str) -> Window:
        """Count a request made with this key, or a failed try of this address (None), or refuse it.

        Raises StoreUnavailable: without Redis nothing can be counted, and nothing is let through uncounted.
        """
        failures = _hashed(f"address:{address}")
        return await self._count(failures if key is None else _hashed(f"key:{key}"), failures)

    async def admit(self, address: str) -> Window:
        """Return whether an address may call at all, which it may not after too many failed tries. Counts nothing."""
        return await self._count("", _hashed(f"address:{address}"))

    async def _count(self, counted: str, failures: str) -> Window:
        try:
            allowed, remaining, reset, wait = await self._batch.run(
                _SCRIPT, [counted, failures], self._limit, self._window, next(self._names)
            )
        except (RedisError, OSError) as error:
            raise unavailable(error, self._batch.redis) from error
        return Window(bool(allowed), self._limit, remaining, reset, max(1, wait))


def _hashed(who: str) -> str:
    return f"ratelimit:{hashlib.sha256(who.encode()).hexdigest()}"
