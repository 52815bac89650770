"""Ends tasks that run until they are told to stop."""

from __future__ import annotations

import asyncio
from typing import Any

_AGAIN_SECONDS = 0.5


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, again and again until each has ended; what they raise meanwhile is dropped.

    One cancellation is not enough: a time-out that is over at that very moment, such as those of `asyncio.wait_for` before
    Python 3.12 and of a Redis client, can take it for its own, and a loop around it would run forever. Not for work that
    needs time to put something right when it is cancelled.
    """
    running = {task for task in tasks if not task.done()}
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=_AGAIN_SECONDS)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # seen
