"""The letter of a review: read it, save a version, read earlier ones."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import orjson
from fastapi import APIRouter, Path
from starlette.responses import Response

from trigpoint.api.bodies import StrictRoute
from trigpoint.api.schemas.errors import errors
from trigpoint.api.schemas.letters import LetterAnswer, LetterSave, LetterVersions
from trigpoint.api.schemas.values import DIGITS
from trigpoint.api.services import Services, Use
from trigpoint.errors import ReviewIncomplete
from trigpoint.jobs.letters import LetterVersion, VersionRow
from trigpoint.jobs.reviews import Review
from trigpoint.review.letter_files import first_letter, letter_length

router = APIRouter(prefix="/reviews", tags=["Letters"], route_class=StrictRoute)


@router.get("/{review_id}/letter", response_model=LetterAnswer, responses=errors(400, 404))
async def get_letter(review_id: str, use: Use) -> Response:
    """Return the letter to the council: its current version, or a first draft (version 0) if nobody has saved one."""
    review = await completed(use, review_id)
    return await _answer(review_id, await current_letter(use, review))


@router.put("/{review_id}/letter", response_model=LetterAnswer, responses=errors(400, 404, 409, 413))
async def save_letter(review_id: str, given: LetterSave, use: Use) -> Response:
    """Save the letter as a new version.

    If somebody else has saved since `based_on`, the answer is 409: the letter is kept as a version of its own, and
    `details` names it (`kept_version`) and the current one (`current_version`). To restore a version, save its letter again.
    """
    await completed(use, review_id)
    return await _answer(review_id, await use.letters.save(review_id, given.letter, based_on=given.based_on))


@router.get("/{review_id}/letter/versions", response_model=LetterVersions, responses=errors(400, 404))
async def list_letter_versions(review_id: str, use: Use) -> Response:
    """List all saved versions, newest first."""
    await completed(use, review_id)
    rows = await use.letters.versions(review_id)
    body = {"review_id": review_id, "versions": [asdict(row) for row in rows], "total": len(rows)}
    return Response(orjson.dumps(body), media_type="application/json")


@router.get("/{review_id}/letter/versions/{version}", response_model=LetterAnswer, responses=errors(400, 404))
async def get_letter_version(
    review_id: str, version: Annotated[int, Path(ge=1, le=1_000_000), DIGITS], use: Use
) -> Response:
    """Return one saved version."""
    await completed(use, review_id)
    return await _answer(review_id, await use.letters.get(review_id, version))


async def completed(use: Services, review_id: str) -> Review:
    """Return a review of which a letter can be written. Raises ReviewNotFound, ReviewIncomplete."""
    review = await use.reviews.get(review_id)
    if review.status != "completed":
        raise ReviewIncomplete(
            f"The review {review_id} is {review.status}: a letter can be written once it is completed.",
            review_id=review_id,
            status=review.status,
        )
    return review


async def current_letter(use: Services, review: Review) -> LetterVersion:
    """Return the letter that counts. Version 0 is a draft made from the review."""
    saved = await use.letters.current(review.review_id)
    if saved is not None:
        return saved
    draft = await asyncio.to_thread(lambda: first_letter(review.result()))
    return LetterVersion(VersionRow(0, "", 0, aside=False, current=True), draft)


async def _answer(review_id: str, shown: LetterVersion) -> Response:
    body = {
        "review_id": review_id,
        **asdict(shown.row),
        "saved_at": shown.row.saved_at or None,
        "pages": await asyncio.to_thread(letter_length, shown.letter),
        "letter": orjson.Fragment(shown.letter.model_dump_json()),
    }
    return Response(orjson.dumps(body), media_type="application/json")
