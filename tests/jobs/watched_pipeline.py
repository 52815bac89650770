"""A pipeline that can be watched and held in each phase, and ways to wait for something to become true."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from trigpoint.errors import ReviewFailed
from trigpoint.jobs.reviews import Reviews
from trigpoint.review.models import PHASES, Progress
from trigpoint.review.result import ReviewResult

RESULT = ReviewResult(
    application={"reference": "25/01178/REM"},
    review={"overall_rating": "amber", "summary": "…", "full_markdown": "# Cycle Advocacy Review: 25/01178/REM\n"},
    metadata={"model": "rules"},
)


class WatchedPipeline:
    """The five phases with checkpoints, as the real one has them; waits in `hold_in` until it is let go."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []
        self.entered: dict[str, asyncio.Event] = {phase.name: asyncio.Event() for phase in PHASES}
        self.finishing = asyncio.Event()
        self.hold_in: str | None = None
        self.go_on = asyncio.Event()
        self.raises: Exception | None = None
        self.stopped: list[str] = []
        self.calls = 0

    async def __call__(self, request: Any, *, tools: Any, checkpoints: Any, report: Any, settings: Any) -> ReviewResult:
        self.calls += 1
        percent = 0
        for phase in PHASES:
            await report(Progress(phase.name, phase.number, len(PHASES), percent, f"in {phase.name}"))
            percent += phase.weight
            if await checkpoints.load(phase.name) is not None:
                continue
            self.entered[phase.name].set()
            try:
                if self.hold_in == phase.name:
                    await self.go_on.wait()
            except asyncio.CancelledError:
                self.stopped.append(request.review_id)
                raise
            if self.raises is not None:
                raise self.raises
            self.done.append((request.review_id, phase.name))
            await checkpoints.save(phase.name, {"seconds": 0})
        self.finishing.set()
        return RESULT


async def until(question: Callable[[], Any], *, seconds: float = 15) -> Any:
    """The first true answer of an async question."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        answer = await question()
        if answer:
            return answer
        if asyncio.get_running_loop().time() > deadline:
            raise AssertionError(f"still {answer!r} after {seconds} s")
        await asyncio.sleep(0.02)


async def until_status(reviews: Reviews, review_id: str, *statuses: str, seconds: float = 15) -> str:
    async def reached() -> str | None:
        status = (await reviews.get(review_id)).status
        return status if status in statuses else None

    return str(await until(reached, seconds=seconds))


class Broken(ReviewFailed):
    code = "analysis_failed"
