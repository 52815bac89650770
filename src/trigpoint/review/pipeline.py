"""The review from reference to result, in the contract's five phases. Each is checkpointed with the time it took:
a second try does not fetch or ingest again. Servers are reached through `Tools` only.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from trigpoint.config import Settings
from trigpoint.dates import parse_day, today
from trigpoint.errors import AnalysisFailed, IngestionFailed, ReviewFailed, ScraperError, TrigpointError
from trigpoint.review.models import (
    FOCUS_AREAS,
    PHASES,
    Checkpoints,
    Phase,
    Progress,
    ReviewOptions,
    ReviewRequest,
    ReviewResult,
    Server,
    ToolProgress,
    Tools,
)

__all__ = [
    "FOCUS_AREAS",
    "PHASES",
    "Checkpoints",
    "Phase",
    "Progress",
    "ReviewFailed",
    "ReviewOptions",
    "ReviewRequest",
    "ReviewResult",
    "Server",
    "ToolProgress",
    "Tools",
    "run_review",
]

NOT_FOUND = "Application not found on Cherwell planning portal"

Report = Callable[[Progress], Awaitable[None]]
Step = Callable[[float, str], Awaitable[None]]


@dataclass
class _Run:
    """One run of the pipeline: what the phases share."""

    request: ReviewRequest
    tools: Tools
    checkpoints: Checkpoints
    report: Report
    settings: Settings

    async def phase(
        self, number: int, work: Callable[[Step], Awaitable[dict[str, Any]]]
    ) -> tuple[dict[str, Any], float]:
        """What the phase left behind, from its checkpoint or by doing it now; and the seconds it took."""
        phase = PHASES[number - 1]
        before = sum(p.weight for p in PHASES[: number - 1])

        async def step(share: float, detail: str) -> None:
            percent = min(99, before + int(phase.weight * min(1.0, max(0.0, share))))
            await self.report(Progress(phase.name, number, len(PHASES), percent, detail))

        kept = await self.checkpoints.load(phase.name)
        if kept is not None:
            await step(1.0, "Taken up again after this phase")
            return kept["data"], float(kept["seconds"])
        started = time.monotonic()
        data = await work(step)
        seconds = round(time.monotonic() - started, 3)
        await self.checkpoints.save(phase.name, {"data": data, "seconds": seconds})
        await step(1.0, "Done")
        return data, seconds


async def run_review(
    request: ReviewRequest, *, tools: Tools, checkpoints: Checkpoints, report: Report, settings: Settings
) -> ReviewResult:
    """Review one application. Raises ReviewFailed; a cancellation passes through at any await."""
    raise NotImplementedError
