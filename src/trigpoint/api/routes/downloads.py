"""Downloads: a completed review in one of its formats."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from trigpoint.api.pictures import report_pictures
from trigpoint.api.schemas.errors import errors
from trigpoint.api.services import Use
from trigpoint.errors import ReviewIncomplete
from trigpoint.review.formats import FORMATS, FormatName
from trigpoint.review.result import ReviewResult


def _schema(media_type: str) -> dict[str, Any]:
    return {"type": "string"} if media_type.startswith("text/") else {"type": "string", "format": "binary"}


def _text_first(media_type: str) -> tuple[bool, str]:
    return not media_type.startswith("text/"), media_type


# Generators that know one type for an answer take the first one they can read: as JSON, a PDF would be an error.
_MEDIA_TYPES = sorted({one.media_type.partition(";")[0] for one in FORMATS.values()}, key=_text_first)
_DOCUMENTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The review as a file",
        "content": {kind: {"schema": _schema(kind)} for kind in _MEDIA_TYPES if kind != "application/json"},
        "model": ReviewResult,  # as JSON
    }
}

router = APIRouter(prefix="/reviews", tags=["Downloads"])


@router.get("/{review_id}/download", response_class=Response, responses={**errors(400, 404), **_DOCUMENTED})
async def download_review(
    review_id: str, use: Use, format: Annotated[FormatName, Query()] = FormatName.MARKDOWN
) -> Response:
    """Return a completed review in the format asked for, whatever format it was submitted with.

    `letter`, `docx` and `text` are the letter to the council: its current version, or a first draft.
    """
    review = await use.reviews.get(review_id)
    if review.status != "completed":
        raise ReviewIncomplete(
            f"Cannot download review with status '{review.status}'. Wait for completion.",
            review_id=review.review_id,
            status=review.status,
        )
    chosen = FORMATS[format]
    headers = {
        "Content-Type": chosen.media_type,
        "Content-Disposition": f'attachment; filename="{chosen.file_name.format(review.review_id)}"',
        "X-Content-Type-Options": "nosniff",
    }
    saved = await use.letters.current(review_id) if chosen.of_letter else None
    result = review.result()
    pictures = await report_pictures(use.settings, use.resources, result) if chosen.pictured else {}
    content = await asyncio.to_thread(chosen.render, result, saved.letter if saved else None, pictures)
    return Response(content, headers=headers)
