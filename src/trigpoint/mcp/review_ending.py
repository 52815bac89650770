"""The end of a review that an agent led: its result, its letter, its files."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from trigpoint.errors import ReviewEnded, ReviewNotReady
from trigpoint.ids import ref_as_name
from trigpoint.jobs.led import Handle
from trigpoint.mcp.review_answers import FinishAnswer, WrittenFile
from trigpoint.mcp.review_desk import Desk, Judging
from trigpoint.review.files import rendered_files
from trigpoint.review.formats import FORMATS, FormatName
from trigpoint.review.letter_files import printed_pages
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
    """Store the review, then write its files if a client started this server. Raises ReviewEnded."""
    async with desk.judging(handle, alone=alone) as judging:
        if not judging.draft.quality().verified:
            raise ReviewNotReady("No finding is verified yet, so there is nothing to finish. Hand in findings first")
        judging.conclusion = conclusion or judging.conclusion
        judging.draft.settle()
        result = await concluded(judging, judging.conclusion)
    if not await desk.reviews.complete(handle.lease, judging.led.request.application_ref, result):
        led = await desk.led.call(handle)
        raise ReviewEnded(f"Review {handle.review_id} has ended meanwhile: it is {led.status}")
    desk.forget(handle.review_id)
    files = await files_of(desk, handle.review_id, result, alone=alone)
    return _answer(handle.review_id, judging, result, files)


def _answer(review_id: str, judging: Judging, result: ReviewResult, files: list[WrittenFile]) -> FinishAnswer:
    review = result.review
    return FinishAnswer(
        review_id=review_id,
        application_ref=result.application.reference,
        overall_rating=review.shown_rating,
        summary=review.summary,
        ratings={aspect.name: aspect.shown_rating for aspect in review.aspects},
        findings=sum(len(aspect.findings) for aspect in review.aspects),
        dropped=[held.verdict for held in judging.draft.state.held.values() if not held.counts],
        files=files,
        page=f"/reviews/{review_id}",
    )


def letter_text(result: ReviewResult) -> tuple[str, int]:
    """Return the words of the letter, and how many pages it has in print."""
    return FORMATS[FormatName.TEXT].render(result).decode(), printed_pages(FORMATS[FormatName.LETTER].render(result))


async def files_of(desk: Desk, review_id: str, result: ReviewResult, *, alone: bool) -> list[WrittenFile]:
    """Return the files of a finished review, with their addresses over REST and in the data folder.

    A server that a client started writes them there; those that are there already stay as they are.
    """
    name = ref_as_name(result.application.reference)
    folder = inside(desk.settings.data_dir, "reviews", review_id)
    paths = {kind: folder / one.file_name.format(name) for kind, one in FORMATS.items()}
    missing = [kind for kind, path in paths.items() if not path.is_file()]
    if alone and missing:
        files = await rendered_files(await desk.tools(alone=alone), desk.settings, result, missing)
        await asyncio.to_thread(_write, {paths[kind]: content for kind, content in files.items()})
    return [
        WrittenFile(
            format=str(kind),
            path=str(path) if path.is_file() else None,
            download=f"/api/v1/reviews/{review_id}/download?format={kind}",
        )
        for kind, path in paths.items()
    ]


def _write(files: Mapping[Path, bytes]) -> None:
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, content)
