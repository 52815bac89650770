"""The evidence behind a finding: the quotation, and the page it stands on with the passage marked.

A request names a review and a number. The quotation comes from the review, the file from the document store's list
of that application's documents: nothing of a path or a text to mark is taken from the address.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from trigpoint.api.services import Services
from trigpoint.api.web.asking import ask
from trigpoint.api.web.paging import whole_number
from trigpoint.api.web.resources import Resources
from trigpoint.api.web.templating import page
from trigpoint.documents.roots import DocumentRoots
from trigpoint.errors import FileMissing, ReviewIncomplete, TrigpointError
from trigpoint.review.findings import Citation
from trigpoint.review.markdown import OUTCOMES
from trigpoint.text.picture import PagePicture

_HOUR = "private, max-age=3600"


async def evidence_page(request: Request) -> Response:
    chosen = await _chosen(request)
    evidence = chosen.citation
    problem, pictures = None, []
    try:
        path = await _file(request, chosen)
        pictures = [await asyncio.to_thread(_draw, request, path, evidence, number) for number in evidence.pages]
    except TrigpointError as error:
        problem = error.message
    return page(
        request,
        "evidence.html",
        chosen=chosen,
        evidence=evidence,
        problem=problem,
        pictures=pictures,
        outcomes=OUTCOMES,
        previous=chosen.number - 1,
        following=chosen.number + 1 if chosen.number < chosen.total else 0,
    )


async def evidence_picture(request: Request) -> Response:
    chosen = await _chosen(request)
    evidence = chosen.citation
    number = whole_number(request.path_params["page"])
    if number not in evidence.pages:
        raise HTTPException(404)
    path = await _file(request, chosen)
    picture = await asyncio.to_thread(_draw, request, path, evidence, number)
    return Response(picture.png, media_type="image/png", headers={"Cache-Control": _HOUR})


@dataclass(frozen=True)
class _Chosen:
    """One quotation of a review. Its number is its place in the review, from 1."""

    review_id: str
    application_ref: str
    citation: Citation
    number: int
    total: int


async def _chosen(request: Request) -> _Chosen:
    services: Services = request.scope["services"]
    review = await services.reviews.get(request.path_params["review_id"])
    if review.status != "completed":
        raise ReviewIncomplete(f"The review {review.review_id} is {review.status}: it has no evidence to show yet.")
    quotations = review.result().review.quotations()
    number = whole_number(request.path_params["number"])
    if not 1 <= number <= len(quotations):
        raise HTTPException(404)
    return _Chosen(review.review_id, review.application_ref, quotations[number - 1], number, len(quotations))


async def _file(request: Request, chosen: _Chosen) -> Path:
    """The document's file. Raises FileMissing where the store no longer has it, or it is not on this machine."""
    services: Services = request.scope["services"]
    evidence = chosen.citation
    ref = {"application_ref": chosen.application_ref}
    listed = await ask(services.settings, "document-store", "list_ingested_documents", ref)
    paths = [d["file_path"] for d in listed["documents"] if d["document_id"] == evidence.document_id]
    if not paths:
        raise FileMissing(f"{evidence.document} is no longer in the document store, so its page cannot be shown.")
    try:
        return DocumentRoots(services.settings).find(paths[0])
    except FileMissing:
        raise FileMissing(
            f"The file of {evidence.document} is not on this machine, so its page cannot be shown."
        ) from None


def _draw(request: Request, path: Path, evidence: Citation, number: int) -> PagePicture:
    resources: Resources = request.scope["resources"]
    stat = path.stat()
    key = (str(path), stat.st_mtime_ns, stat.st_size, number, evidence.quote)
    picture: PagePicture = resources.pictures.get(
        key, lambda: resources.renderer().render_page(path, number, evidence.quote)
    )
    return picture
