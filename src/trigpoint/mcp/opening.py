"""Opens what a server's tools need. A store that cannot be opened does not keep the server from starting: its tools and
its health say why, and it is tried again until it can be."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from trigpoint.errors import StoreError, StoreInUse, StoreUnavailable

log = logging.getLogger(__name__)

Lifespan = Callable[[], AbstractAsyncContextManager[Any]]

_AGAIN_SECONDS = 2.0


class Opening:
    """The state of a server, once it could be opened; until then the `problem`."""

    def __init__(self, name: str, lifespan: Lifespan) -> None:
        self._name = name
        self._open = lifespan
        self.state: Any = None
        self.problem: StoreError | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Raise what is wrong for good, such as a setting; return after the first try otherwise."""
        tried, leaving = asyncio.get_running_loop().create_future(), asyncio.Event()
        owner = asyncio.create_task(self._own(tried, leaving))
        try:
            await asyncio.wait({owner, tried}, return_when=asyncio.FIRST_COMPLETED)
            if owner.done():
                owner.result()
            yield
        finally:
            leaving.set()
            await asyncio.wait({owner})
            if not owner.cancelled() and (error := owner.exception()) is not None:
                log.warning("%s was not closed cleanly: %r", self._name, error)

    async def _own(self, tried: asyncio.Future[None], leaving: asyncio.Event) -> None:
        """Open, hold until the end, and close, all in one task."""
        while not leaving.is_set():
            try:
                async with self._open() as self.state:
                    if self.problem is not None:
                        log.info("%s: its store can be used again", self._name)
                    self.problem = None
                    _settle(tried)
                    await leaving.wait()
            except Exception as error:
                if leaving.is_set() or (not tried.done() and not _is_away(error)):
                    raise
                self._note(error)
                _settle(tried)
                await _first(leaving, _AGAIN_SECONDS)
            finally:
                self.state = None

    def _note(self, error: Exception) -> None:
        problem = error if isinstance(error, StoreError) else StoreUnavailable(f"{type(error).__name__}: {error}")
        if self.problem is None or self.problem.message != problem.message:
            log.error("%s: %s. Its tools say so until it can be used", self._name, problem.message)
        self.problem = problem


def _is_away(error: Exception) -> bool:
    """Return whether a store cannot be used now, as opposed to errors that keep a server from starting.

    Those are a wrong setting, or a store of an older version.
    """
    return isinstance(error, StoreError) and not isinstance(error, StoreInUse)


def _settle(tried: asyncio.Future[None]) -> None:
    if not tried.done():
        tried.set_result(None)


async def _first(event: asyncio.Event, seconds: float) -> None:
    """Return when the event is set, or after so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
