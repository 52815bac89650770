"""Threads in which the calls of a server wait for its stores, so that its event loop never does."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Threads(ThreadPoolExecutor):
    """A few threads for one kind of work: reads have their own, so that no search waits behind an ingest."""

    async def run(self, work: Callable[[], T]) -> T:
        """Run the work with the request's id. When the caller is cancelled, the work learns it from its `cancelled`."""
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self, context.run, work)
