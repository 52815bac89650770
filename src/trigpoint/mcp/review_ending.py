"""The end of a review that an agent led: its result, its letter, its files."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pymupdf

from trigpoint.config import Settings
from trigpoint.errors import ReviewEnded, ReviewNotReady
from trigpoint.ids import ref_as_name
from trigpoint.jobs.led import Handle
from trigpoint.mcp.review_answers import FinishAnswer, WrittenFile
from trigpoint.mcp.review_desk import Desk, Judging
from trigpoint.review.formats import FORMATS, FormatName
from trigpoint.review.result import ReviewResult
from trigpoint.review.submitted import DraftConclusion
from trigpoint.storage.files import inside, write_atomic


async def concluded(judging: Judging, conclusion: DraftConclusion | None) -> ReviewResult:
    """Return the review as it would be if it were finished now."""
    judgement = await asyncio.to_thread(judging.draft.conclude, conclusion, model=judging.led.led_by)
    judged = await judging.run.judged(judgement, judging.draft.evidence)
    judging.run.seconds["analysing_application"] = judging.led.judged_for or 0.0
    return await judging.run.finish(judging.opened, judged)


async def finish(desk: Desk, handle: Handle, conclusion: DraftConclusion | None, *, alone: bool) -> FinishAnswer:
    """Store the review, with its files if a client started this server. Raises ReviewEnded."""
    async with desk.judging(handle, alone=alone) as judging:
        if not judging.draft.quality().verified:
            raise ReviewNotReady("No finding is verified yet, so there is nothing to finish. Hand in findings first")
        judging.conclusion = conclusion or judging.conclusion
        judging.draft.give_up(judging.draft.returned())
        result = await concluded(judging, judging.conclusion)
        if alone:
            await asyncio.to_thread(_write, desk.settings, handle.review_id, result)
    if not await desk.reviews.complete(handle.lease, judging.led.request.application_ref, result):
        led = await desk.led.call(handle)
        raise ReviewEnded(f"Review {handle.review_id} has ended meanwhile: it is {led.status}")
    desk.forget(handle.review_id)
    return _answer(desk.settings, handle.review_id, judging, result)


def _answer(settings: Settings, review_id: str, judging: Judging, result: ReviewResult) -> FinishAnswer:
    review = result.review
    return FinishAnswer(
        review_id=review_id,
        application_ref=result.application.reference,
        overall_rating=review.shown_rating,
        summary=review.summary,
        ratings={aspect.name: aspect.shown_rating for aspect in review.aspects},
        findings=sum(len(aspect.findings) for aspect in review.aspects),
        dropped=[held.verdict for held in judging.draft.state.held.values() if not held.counts],
        files=files_of(settings, review_id, result.application.reference),
        page=f"/reviews/{review_id}",
    )


def letter_text(result: ReviewResult) -> tuple[str, int]:
    """Return the letter as it is printed, and how many pages it has."""
    with pymupdf.open(stream=FORMATS[FormatName.LETTER].render(result)) as document:  # type: ignore[no-untyped-call]
        return "\n".join(page.get_text() for page in document), int(document.page_count)


def files_of(settings: Settings, review_id: str, reference: str) -> list[WrittenFile]:
    """Return where the files of a finished review are: in the data folder if they were written, and over REST."""
    files = []
    for name, one in FORMATS.items():
        path = _path(settings, review_id, one.file_name.format(ref_as_name(reference)))
        files.append(
            WrittenFile(
                format=str(name),
                path=str(path) if path.is_file() else None,
                download=f"/api/v1/reviews/{review_id}/download?format={name}",
            )
        )
    return files


def _write(settings: Settings, review_id: str, result: ReviewResult) -> None:
    for one in FORMATS.values():
        path = _path(settings, review_id, one.file_name.format(ref_as_name(result.application.reference)))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, one.render(result))


def _path(settings: Settings, review_id: str, name: str) -> Path:
    return inside(settings.data_dir, "reviews", review_id, name)
