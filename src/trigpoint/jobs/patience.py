"""The one way in which a worker tries again: with growing pauses, for as long as the error is worth it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")

FOR_EVER = float("inf")


async def try_again(
    call: Callable[[], Awaitable[T]],
    *,
    what: str,
    patience: Callable[[Exception], float],
    first_wait: float = 0.2,
    longest_wait: float = 2.0,
) -> T:
    """Return the call's answer. `patience` says for how many seconds since the first failure an error is waited out.

    Raises the last error once that time is over; 0 seconds: at once. The lease of the job is kept meanwhile.
    """
    wait, since = first_wait, 0.0
    while True:
        try:
            answer = await call()
        except Exception as error:
            since = since or time.monotonic()
            if time.monotonic() - since + wait > patience(error):
                raise
            if wait == first_wait:
                log.warning("%s: %s; trying again", what, error)
            await asyncio.sleep(wait)
            wait = min(wait * 2, longest_wait)
        else:
            if since:
                log.info("%s: works again after %.0f s", what, time.monotonic() - since)
            return answer
