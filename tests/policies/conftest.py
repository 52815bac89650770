"""A registry on an empty Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from trigpoint.policies.models import PolicyCategory
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.storage.redis import redis_client


@pytest.fixture
async def registry(clean_redis_url: str) -> AsyncIterator[PolicyRegistry]:
    client = redis_client(clean_redis_url)
    yield PolicyRegistry(client)
    await client.aclose()


@pytest.fixture
async def nppf(registry: PolicyRegistry) -> PolicyRegistry:
    await registry.create_policy("NPPF", "National Planning Policy Framework", PolicyCategory.NATIONAL_POLICY)
    return registry
