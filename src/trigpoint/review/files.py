"""The files of a finished review, with pictures of the documents' pages in those that show them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.review.formats import FORMATS, FormatName
from trigpoint.review.models import Tools
from trigpoint.review.pictures import draw_strips, files_here
from trigpoint.review.result import ReviewResult
from trigpoint.text.picture import PageRenderer


async def rendered_files(
    tools: Tools, settings: Settings, result: ReviewResult, formats: Iterable[FormatName]
) -> dict[FormatName, bytes]:
    """Return the files in these formats. Documents that are not on this machine are not pictured."""
    wanted = {"application_ref": result.application.reference}
    listed = await tools.call("document-store", "list_ingested_documents", wanted)
    documents = files_here(settings, listed["documents"])
    return await asyncio.to_thread(_rendered, result, list(formats), documents, settings)


def _rendered(
    result: ReviewResult, formats: list[FormatName], documents: Mapping[str, Path], settings: Settings
) -> dict[FormatName, bytes]:
    with closing(PageRenderer(settings)) as renderer:
        wanted = any(FORMATS[kind].pictured for kind in formats)
        pictures = draw_strips(result.review, documents, renderer.render_strip) if wanted else {}
    return {kind: FORMATS[kind].render(result, None, pictures) for kind in formats}
