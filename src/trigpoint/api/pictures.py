"""Pictures of the documents' pages, for pages and reports: finds the files, and draws each strip once."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from pathlib import Path
from typing import Any

from trigpoint.api.web.asking import ask
from trigpoint.api.web.resources import Resources
from trigpoint.config import Settings
from trigpoint.errors import TrigpointError
from trigpoint.review.pictures import Pictures, draw_strips, files_here, pictured
from trigpoint.review.result import ReviewResult
from trigpoint.text.picture import PagePicture

log = logging.getLogger(__name__)


async def listed_documents(settings: Settings, resources: Resources, application_ref: str) -> list[dict[str, Any]]:
    """Return what the document store has of an application. The pictures of a page ask for it together."""
    wanted = {"application_ref": application_ref}
    answer = await resources.listings.get(
        application_ref, lambda: ask(settings, "document-store", "list_ingested_documents", wanted)
    )
    return list(answer["documents"])


async def report_pictures(settings: Settings, resources: Resources, result: ReviewResult) -> Pictures:
    """Return the strips for a report. Without the document store or the files, the report goes without pictures."""
    if not pictured(result.review):
        return {}
    try:
        documents = await listed_documents(settings, resources, result.application.reference)
    except TrigpointError as error:
        log.warning("a report goes without pictures: %s", error.message)
        return {}
    files = files_here(settings, documents)
    return await asyncio.to_thread(draw_strips, result.review, files, partial(draw_strip, resources))


def draw_strip(resources: Resources, path: Path, number: int, quote: str) -> PagePicture:
    """Return the strip of a page around a quotation, from memory if it was drawn lately. Raises ExtractionFailed."""
    key = (*identity(path), number, quote)
    picture: PagePicture = resources.strips.get(key, lambda: resources.renderer().render_strip(path, number, quote))
    return picture


def identity(path: Path) -> tuple[object, ...]:
    """Return what changes when a file does."""
    stat = path.stat()
    return str(path), stat.st_mtime_ns, stat.st_size
