"""Runs the steps of registry.lua, and turns what it refuses into errors of the policy tree."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from importlib.resources import files
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from trigpoint.dates import micro_timestamp, now
from trigpoint.errors import (
    CannotDeleteSoleRevisionError,
    InvalidInput,
    JobLostRevision,
    NoFilePath,
    PolicyNotFound,
    RegistryUnavailable,
    RevisionNotFound,
    RevisionOverlapError,
    shorten,
)
from trigpoint.storage.redis import LONGEST_SECONDS, describe


@cache
def _script() -> str:
    return files("trigpoint.policies").joinpath("registry.lua").read_text(encoding="utf-8")


class RegistryScript:
    """The registry's script in one Redis. Raises RegistryUnavailable if that does not answer."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._run = redis.register_script(_script())

    async def step(self, step: str, **arguments: Any) -> dict[str, Any]:
        """Run one step and return its reply, which may be a refusal (see `raise_refusal`)."""
        payload = json.dumps({**arguments, "now": micro_timestamp(now())})
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                reply: dict[str, Any] = json.loads(await self._run(args=[step, payload]))
        except (RedisError, OSError) as error:
            raise self._unavailable(error) from error
        return reply

    async def command(self, *words: str) -> Any:
        """Run one command of Redis, for a plain read."""
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                return await self._redis.execute_command(*words)  # type: ignore[no-untyped-call]
        except (RedisError, OSError) as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> RegistryUnavailable:
        reason = str(error) or f"no answer within {LONGEST_SECONDS:.0f} s"
        return RegistryUnavailable(
            f"The policy registry cannot be reached ({shorten(reason)}). {describe(self._redis)} does not answer"
        )


def raise_refusal(reply: dict[str, Any], source: str, revision_id: str = "") -> None:
    """Raise the error that a refusal of the script means; return if the step was done."""
    match reply.get("refused"):
        case None:
            return
        case "no_policy":
            raise PolicyNotFound(source)
        case "no_revision":
            raise RevisionNotFound(source, revision_id)
        case "overlap":
            raise RevisionOverlapError(source, reply["detail"], reply["effective_from"])
        case "reversed":
            raise reversed_dates(*reply["detail"].split(" to "))
        case "sole":
            raise CannotDeleteSoleRevisionError(source, revision_id)
        case "no_file":
            raise NoFilePath(source, revision_id)
        case "held":
            raise JobLostRevision(f"Revision {revision_id} is held by job {reply['detail']}")
        case "failed":
            raise JobLostRevision(f"Revision {revision_id} has failed. Reindex it to try again")
        case other:
            raise RuntimeError(f"registry.lua gave a refusal that is not known: {other}")


def reversed_dates(start: str, end: str) -> InvalidInput:
    """Return the error of a revision that would end before it begins."""
    message = f"effective_to ({shorten(end)}) is before effective_from ({shorten(start)})"
    return InvalidInput(message, field="effective_to")
