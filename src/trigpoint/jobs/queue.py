"""The queue: jobs are claimed under a lease, kept by heartbeats, and taken up again when their worker falls silent.

Every step is a Lua script, so that a job and the record it belongs to change together. A lease carries a token:
a worker that lost it can no longer write anything about the job.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import orjson
from redis.asyncio import Redis

from trigpoint.jobs.scripts import Scripts, answered, require_written

Verdict = Literal["held", "cancelled", "lost"]


@dataclass(frozen=True)
class Lease:
    """A claimed job. `tries` counts this one."""

    job_id: str
    token: str
    tries: int
    kind: str
    payload: dict[str, Any]
    request_id: str


class LeaseLost(Exception):
    """The job was cancelled, or another worker has it: whatever we know about it no longer counts."""


class Queue:
    """Jobs on one Redis, shared by any number of workers."""

    def __init__(self, redis: Redis, *, lease_seconds: float = 30) -> None:
        self._redis = redis
        self._run = Scripts(redis)
        self._lease_ms = int(lease_seconds * 1000)

    async def enqueue(self, job_id: str, kind: str, payload: dict[str, Any], *, holds: str, request_id: str) -> bool:
        """Queue a job that alone holds the key `holds` until it ends. Return False if another job holds it.

        Raises StoreUnavailable if a restart of Redis would lose the job.
        """
        queued = bool(await self._run("enqueue", job_id, kind, orjson.dumps(payload), holds, request_id))
        await require_written(self._redis)
        return queued

    async def claim(self, worker: str) -> Lease | None:
        """Return the next job: one whose worker died, else the oldest that waits."""
        claimed = await self._run("claim", worker, self._lease_ms)
        if claimed is None:
            return None
        job_id, token, tries, kind, payload, request_id = claimed
        return Lease(job_id, token, int(tries), kind, orjson.loads(payload), request_id)

    async def claim_job(self, job_id: str, worker: str) -> Lease | None:
        """Return this very job, if nobody has it."""
        claimed = await self._run("claim_job", job_id, worker, self._lease_ms)
        if claimed is None:
            return None
        token, tries, kind, payload, request_id = claimed
        return Lease(job_id, token, int(tries), kind, orjson.loads(payload), request_id)

    async def wait(self, seconds: float) -> None:
        """Wait until a job was queued, or for so many seconds."""
        async with answered(self._redis):
            await self._redis.blpop(["jobs:wake"], timeout=seconds)  # type: ignore[misc]

    async def ping(self) -> None:
        async with answered(self._redis):
            await self._redis.ping()  # type: ignore[misc]

    async def heartbeat(self, lease: Lease) -> Verdict:
        verdict: Verdict = await self._run("heartbeat", lease.job_id, lease.token, self._lease_ms)
        return verdict

    async def done(self, lease: Lease) -> None:
        await self._run("settle", lease.job_id, lease.token, "done", 0)

    async def hand_back(self, lease: Lease) -> None:
        """Put a job back to its old place in the queue, as if it had not been claimed."""
        await self._run("settle", lease.job_id, lease.token, "back", 0)

    async def try_again(self, lease: Lease, after_seconds: float) -> None:
        await self._run("settle", lease.job_id, lease.token, "again", int(after_seconds * 1000))

    async def holder(self, holds: str) -> str | None:
        """Return the job that holds the key at this moment."""
        async with answered(self._redis):
            job_id: str | None = await self._redis.get(holds)
        return job_id

    async def cancel_holder(self, holds: str) -> str | None:
        """Cancel the job that holds the key. Returns its id."""
        job_id: str | None = await self._run("job_cancel", holds)
        return job_id

    async def exists(self, job_id: str) -> bool:
        async with answered(self._redis):
            return bool(await self._redis.exists(f"job:{job_id}"))
