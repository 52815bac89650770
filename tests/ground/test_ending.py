"""Tasks end for certain, even if something takes their cancellation for its own."""

from __future__ import annotations

import asyncio

from trigpoint.ending import end


async def _deaf(times: int, seen: list[int]) -> None:
    """A loop whose step swallows a cancellation so many times, as a time-out that is over at that moment does."""
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append(1)
            if len(seen) > times:
                raise


async def test_a_task_that_swallows_cancellations_is_cancelled_until_it_ends() -> None:
    seen: list[int] = []
    task = asyncio.create_task(_deaf(2, seen))
    await asyncio.sleep(0)
    await asyncio.wait_for(end(task), 20)
    assert task.cancelled()
    assert len(seen) == 3


async def test_a_task_that_fails_when_it_is_cancelled_has_ended() -> None:
    async def fails() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            raise ValueError("the store is away")

    task, done = asyncio.create_task(fails()), asyncio.create_task(asyncio.sleep(0))
    await asyncio.sleep(0.01)
    await asyncio.wait_for(end(task, done), 20)
    assert isinstance(task.exception(), ValueError)
