"""Loads the shipped policies into a data folder that does not have them yet."""

from __future__ import annotations

import asyncio
import fcntl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.policies.seed import Ingester, Seeder, SeedPolicy, load_seed
from trigpoint.storage.files import data_folder
from trigpoint.storage.redis import open_redis


async def seed_missing(settings: Settings, ingest: Ingester) -> None:
    """Load the shipped policies that have no passages yet: official texts that were fetched, digests for the others.

    Of several processes that start on an empty data folder, one loads them and the others wait for it.
    """
    async with open_redis(settings) as redis, _alone(data_folder(settings) / "seeding.lock"):
        registry = PolicyRegistry(redis)
        missing = await _missing(registry, load_seed(settings.policy_set))
        if missing:
            async for _ in Seeder(settings, registry, ingest, digest=True).seed(missing):
                await asyncio.sleep(0)


@asynccontextmanager
async def _alone(path: Path) -> AsyncIterator[None]:
    """Hold a lock that the kernel drops however this process ends."""
    with path.open("ab") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(0.1)
        yield


async def _missing(registry: PolicyRegistry, wanted: Sequence[SeedPolicy]) -> tuple[SeedPolicy, ...]:
    there = {(r.source, r.effective_from) for p in await registry.list_policies() for r in p.revisions if r.queryable}
    return tuple(p for p in wanted if not all((p.source, r.effective_from) in there for r in p.revisions))
