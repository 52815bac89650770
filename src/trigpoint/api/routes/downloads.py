"""Downloads: a completed review as Markdown, JSON or PDF."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from trigpoint.api.schemas.errors import errors
from trigpoint.api.services import Use
from trigpoint.errors import ReviewIncomplete
from trigpoint.jobs.reviews import Review

Format = Literal["markdown", "json", "pdf"]

_FORMS: dict[Format, tuple[str, str]] = {
    "markdown": ("text/markdown", "md"),
    "json": ("application/json", "json"),
    "pdf": ("application/pdf", "pdf"),
}
_DOCUMENTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The review as a file",
        "content": {
            "text/markdown": {"schema": {"type": "string"}},
            "application/json": {"schema": {"type": "object"}},
            "application/pdf": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}

router = APIRouter(prefix="/api/v1/reviews", tags=["Downloads"])


@router.get("/{review_id}/download", response_class=Response, responses={**errors(400, 404), **_DOCUMENTED})
async def download_review(review_id: str, use: Use, format: Annotated[Format, Query()] = "markdown") -> Response:
    """A completed review in the format asked for, whatever format it was submitted with."""
    review = await use.reviews.get(review_id)
    if review.status != "completed":
        raise ReviewIncomplete(
            f"Cannot download review with status '{review.status}'. Wait for completion.",
            review_id=review.review_id,
            status=review.status,
        )
    media_type, suffix = _FORMS[format]
    headers = {
        "Content-Type": media_type,
        "Content-Disposition": f'attachment; filename="review-{review.review_id}.{suffix}"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(await asyncio.to_thread(_render, review, format), headers=headers)


def _render(review: Review, format: Format) -> bytes:
    from trigpoint.review.render import render_json, render_pdf  # slow to import, seldom needed

    result = review.result()
    match format:
        case "markdown":
            return str(result.review["full_markdown"]).encode()
        case "json":
            return render_json(result)
        case "pdf":
            return render_pdf(result)
