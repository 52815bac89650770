"""The evidence behind a finding: the quotation, and the page it stands on with the passage marked.

A request names a review and a number. The quotation comes from the review, the file from the document store's list
of that application's documents: nothing of a path or a text to mark is taken from the address.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from trigpoint.api.services import Services
from trigpoint.api.web.asking import ask
from trigpoint.api.web.paging import whole_number
from trigpoint.api.web.resources import Resources
from trigpoint.api.web.review_view import Evidence, ReviewView
from trigpoint.api.web.templating import page
from trigpoint.documents.roots import DocumentRoots
from trigpoint.errors import FileMissing, ReviewIncomplete, TrigpointError
from trigpoint.review.render import OUTCOMES
from trigpoint.text.picture import PagePicture

_HOUR = "private, max-age=3600"


async def evidence_page(request: Request) -> Response:
    view, evidence = await _chosen(request)
    everything = list(view.evidence())
    problem, pictures = None, []
    try:
        path = await _file(request, view, evidence)
        pictures = [await asyncio.to_thread(_draw, request, path, evidence, number) for number in evidence.pages]
    except TrigpointError as error:
        problem = error.message
    return page(
        request,
        "evidence.html",
        view=view,
        evidence=evidence,
        problem=problem,
        pictures=pictures,
        outcomes=OUTCOMES,
        previous=evidence.number - 1,
        following=evidence.number + 1 if evidence.number < len(everything) else 0,
        total=len(everything),
    )


async def evidence_picture(request: Request) -> Response:
    view, evidence = await _chosen(request)
    number = whole_number(request.path_params["page"])
    if number not in evidence.pages:
        raise HTTPException(404)
    path = await _file(request, view, evidence)
    picture = await asyncio.to_thread(_draw, request, path, evidence, number)
    return Response(picture.png, media_type="image/png", headers={"Cache-Control": _HOUR})


async def _chosen(request: Request) -> tuple[ReviewView, Evidence]:
    services: Services = request.scope["services"]
    review = await services.reviews.get(request.path_params["review_id"])
    if review.status != "completed":
        raise ReviewIncomplete(f"The review {review.review_id} is {review.status}: it has no evidence to show yet.")
    view = ReviewView.of(review)
    number = whole_number(request.path_params["number"])
    found = next((e for e in view.evidence() if e.number == number), None)
    if found is None:
        raise HTTPException(404)
    return view, found


async def _file(request: Request, view: ReviewView, evidence: Evidence) -> Path:
    """The document's file. Raises FileMissing where the store no longer has it, or it is not on this machine."""
    services: Services = request.scope["services"]
    ref = {"application_ref": view.application["reference"]}
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


def _draw(request: Request, path: Path, evidence: Evidence, number: int) -> PagePicture:
    resources: Resources = request.scope["resources"]
    stat = path.stat()
    key = (str(path), stat.st_mtime_ns, stat.st_size, number, evidence.quote)
    picture: PagePicture = resources.pictures.get(
        key, lambda: resources.renderer().render_page(path, number, evidence.quote)
    )
    return picture
