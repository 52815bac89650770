"""The questions to the model in a review and its answers, if a transcript was kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from trigpoint.api.services import Services
from trigpoint.api.web.templating import page
from trigpoint.config import Settings
from trigpoint.errors import ConfigurationError
from trigpoint.storage.files import inside


def transcript_file(settings: Settings, review_id: str) -> Path | None:
    """Return the transcript of a review, None if none was kept."""
    path = inside(settings.data_dir, "transcripts", f"{review_id}.jsonl")
    return path if path.is_file() else None


async def transcript_page(request: Request) -> Response:
    services: Services = request.scope["services"]
    review = await services.reviews.get(request.path_params["review_id"])
    path = transcript_file(services.settings, review.review_id)
    if path is None:
        raise HTTPException(404)
    calls, problem = await asyncio.to_thread(_read_turns, path)
    return page(request, "transcript.html", review=review, calls=calls, problem=problem)


def _read_turns(path: Path) -> tuple[list[tuple[int, list[tuple[str, str]]]], str | None]:
    from trigpoint.review.transcripts import read_transcript, spoken  # pydantic-ai takes a second to import

    try:
        return [(call.number, spoken(call)) for call in read_transcript(path)], None
    except ConfigurationError as error:
        return [], error.message
