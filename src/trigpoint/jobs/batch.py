"""Sends the commands of many requests in one round trip: those asked while a batch is under way go with the next."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import NoScriptError

from trigpoint.storage.redis import LONGEST_SECONDS


class Batch:
    """`await batch.ask("HMGET", key, "status")`. Under load a command costs a fraction of what it costs alone."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        self._waiting: list[tuple[tuple[Any, ...], asyncio.Future[Any]]] = []
        self._sender: asyncio.Task[None] | None = None

    async def ask(self, *command: Any) -> Any:
        """Return the reply. Raises what Redis or the connection says, or TimeoutError."""
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, reply))
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())
        return await reply

    async def run(self, script: str, keys: list[str], *args: Any) -> Any:
        """Run a Lua script by its hash; its text is sent only if the server does not know it."""
        rest = (len(keys), *keys, *args)
        try:
            return await self.ask("EVALSHA", _sha1(script), *rest)
        except NoScriptError:
            return await self.ask("EVAL", script, *rest)

    async def _send(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._send_one(batch)
        finally:
            self._sender = None

    async def _send_one(self, batch: list[tuple[tuple[Any, ...], asyncio.Future[Any]]]) -> None:
        pipe = self.redis.pipeline(transaction=False)
        for command, _ in batch:
            pipe.execute_command(*command)
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                replies = await pipe.execute(raise_on_error=False)
        except Exception as error:
            batch += self._waiting  # they have waited just as long for the same answer
            self._waiting = []
            replies = [error] * len(batch)
        for (_, future), reply in zip(batch, replies, strict=True):
            if future.done():  # the caller has gone
                continue
            if isinstance(reply, Exception):
                future.set_exception(reply)
            else:
                future.set_result(reply)


_SHA1: dict[str, str] = {}


def _sha1(script: str) -> str:
    if script not in _SHA1:
        _SHA1[script] = hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()
    return _SHA1[script]
