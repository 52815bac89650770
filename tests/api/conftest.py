"""A running API with auth off, and one with two keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving_api import KEY, OTHER_KEY, running_api

from trigpoint.config import Settings, load_settings


@pytest.fixture
def api_settings(clean_redis_url: str, tmp_path: Path) -> Callable[..., Settings]:
    def make(**overrides: Any) -> Settings:
        return load_settings(redis_url=clean_redis_url, trigpoint_data_dir=tmp_path / "data", **overrides)

    return make


@pytest.fixture
def api(api_settings: Callable[..., Settings]) -> Iterator[httpx.Client]:
    """Auth off."""
    with running_api(api_settings()) as client:
        yield client


@pytest.fixture
def keyed_api(api_settings: Callable[..., Settings]) -> Iterator[httpx.Client]:
    """Auth on, two keys; the client sends the first."""
    with running_api(api_settings(api_keys=(KEY, OTHER_KEY)), key=KEY) as client:
        yield client
