"""A demo portal of the test's own, a client that is quick with it, and small applications to serve."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from portal_samples import INTERVAL, register

from trigpoint.config import Settings, load_settings
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import Served
from trigpoint.registers.directory import open_register
from trigpoint.registers.register import WebRegister


@pytest.fixture
def portal() -> Iterator[Callable[..., DemoPortal]]:
    """Starts portals; they stop with the test."""
    with ExitStack() as running:

        def start(*documents: Served, **options: Any) -> DemoPortal:
            return running.enter_context(DemoPortal(register(*documents), **options))

        yield start


@pytest.fixture
def to_portal(tmp_path: Path) -> Callable[..., Settings]:
    """Settings that lead to a portal, in this test's data folder."""

    def make(portal: DemoPortal, **overrides: Any) -> Settings:
        values: dict[str, Any] = {
            "trigpoint_data_dir": tmp_path / "data",
            "cherwell_portal_url": portal.url,
            "scraper_rate_limit": INTERVAL,
            "scraper_timeout": 5,
        }
        return load_settings(**values | overrides)

    return make


@pytest.fixture
async def client_of(to_portal: Callable[..., Settings]) -> AsyncIterator[Callable[..., WebRegister]]:
    """Clients of a portal; they close with the test."""
    opened: list[WebRegister] = []

    def make(portal: DemoPortal, *, max_document_bytes: int | None = None, **overrides: Any) -> WebRegister:
        limits = {} if max_document_bytes is None else {"max_document_bytes": max_document_bytes}
        opened.append(open_register(to_portal(portal, **overrides), **limits))
        return opened[-1]

    yield make
    for client in opened:
        await client.__aexit__(None, None, None)
