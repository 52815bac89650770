"""Running APIs: with auth off, with two keys, with a generous limit; and settings for others."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
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


@pytest.fixture(scope="session")
def _servers(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, httpx.Client]]:
    """Three servers for all tests: starting one takes longer than most tests do."""
    with ExitStack() as stack:

        def start(name: str, key: str | None, **overrides: Any) -> httpx.Client:
            folder = tmp_path_factory.mktemp(name)
            settings = load_settings(redis_url=redis_url, trigpoint_data_dir=folder, **overrides)
            client = stack.enter_context(running_api(settings, key=key))
            client.data_dir = folder  # type: ignore[attr-defined]
            return client

        yield {
            "open": start("open", None),
            "keyed": start("keyed", KEY, api_keys=(KEY, OTHER_KEY)),
            "generous": start("generous", KEY, api_keys=(KEY,), api_rate_limit=100_000),
        }


@pytest.fixture
def api(_servers: dict[str, httpx.Client], clean_redis_url: str) -> httpx.Client:
    """Auth off."""
    return _emptied(_servers["open"])


@pytest.fixture
def keyed_api(_servers: dict[str, httpx.Client], clean_redis_url: str) -> httpx.Client:
    """Auth on, two keys; the client sends the first."""
    return _emptied(_servers["keyed"])


@pytest.fixture
def generous_api(_servers: dict[str, httpx.Client], clean_redis_url: str) -> httpx.Client:
    """Auth on, and a limit that no test reaches."""
    return _emptied(_servers["generous"])


def _emptied(client: httpx.Client) -> httpx.Client:
    shutil.rmtree(client.data_dir / "policy", ignore_errors=True)  # type: ignore[attr-defined]
    return client
