"""The evidence behind a finding: the quotation, the findings it supports, and its page with the passage marked.

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

from trigpoint.api.pictures import draw_strip, identity, listed_documents
from trigpoint.api.services import Services
from trigpoint.api.web.paging import whole_number
from trigpoint.api.web.resources import Resources
from trigpoint.api.web.templating import page, web_address
from trigpoint.documents.roots import DocumentRoots
from trigpoint.errors import FileMissing, PageNotShown, ReviewIncomplete, TrigpointError
from trigpoint.review.citing import document_title
from trigpoint.review.findings import Citation
from trigpoint.review.overview import Overview
from trigpoint.review.people import is_public_comment
from trigpoint.review.result import ReviewResult
from trigpoint.text.pdf_mark import file_is_pdf
from trigpoint.text.picture import PagePicture

_HOUR = "private, max-age=3600"


async def evidence_page(request: Request) -> Response:
    chosen = await _chosen_evidence(request)
    evidence = chosen.citation
    problem, path, pictures = None, None, []
    try:
        path = await _file_of_evidence(request, chosen)
        _require_showable(evidence)
        pictures = [await asyncio.to_thread(_draw, request, path, evidence, number) for number in evidence.pages]
    except TrigpointError as error:
        problem = error.message
    body = chosen.result.review
    return page(
        request,
        "evidence.html",
        chosen=chosen,
        evidence=evidence,
        points=Overview(body).supported_by(evidence),
        quoted_under=[one for one in body.aspects if any(said.citation == evidence for said in one.says)],
        register=web_address(chosen.result.application.portal_url),
        file=path,
        is_pdf=path is not None and file_is_pdf(path),
        problem=problem,
        pictures=pictures,
        previous=chosen.number - 1,
        following=chosen.number + 1 if chosen.number < chosen.total else 0,
    )


async def evidence_picture(request: Request) -> Response:
    chosen = await _chosen_evidence(request)
    number = whole_number(request.path_params["page"])
    if number not in chosen.citation.pages:
        raise HTTPException(404)
    _require_showable(chosen.citation)
    path = await _file_of_evidence(request, chosen)
    picture = await asyncio.to_thread(_draw, request, path, chosen.citation, number)
    return _png(picture)


async def evidence_strip(request: Request) -> Response:
    """Return a strip of the page around the quoted words."""
    chosen = await _chosen_evidence(request)
    if not chosen.citation.pages:
        raise HTTPException(404)
    _require_showable(chosen.citation)
    path = await _file_of_evidence(request, chosen)
    citation = chosen.citation
    resources: Resources = request.scope["resources"]
    return _png(await asyncio.to_thread(draw_strip, resources, path, citation.pages[0], citation.quote))


def _require_showable(citation: Citation) -> None:
    """Raise PageNotShown for a page of a public comment: a picture has what was masked in the words."""
    if is_public_comment(citation.document):
        raise PageNotShown(
            "This page is not shown, because comments from the public contain names and addresses. A review uses only the "
            "quotation. Anybody who is allowed to read the comment can open the file"
        )


def _png(picture: PagePicture) -> Response:
    return Response(picture.png, media_type="image/png", headers={"Cache-Control": _HOUR})


@dataclass(frozen=True)
class _Chosen:
    """One quotation of a review. Its number is its place in the review, from 1."""

    review_id: str
    application_ref: str
    result: ReviewResult
    citation: Citation
    number: int
    total: int


async def _chosen_evidence(request: Request) -> _Chosen:
    services: Services = request.scope["services"]
    review = await services.reviews.get(request.path_params["review_id"])
    if review.status != "completed":
        raise ReviewIncomplete(f"The review {review.review_id} is {review.status}: it has no evidence to show yet.")
    result = review.result()
    quotations = result.review.quotations()
    number = whole_number(request.path_params["number"])
    if not 1 <= number <= len(quotations):
        raise HTTPException(404)
    return _Chosen(review.review_id, review.application_ref, result, quotations[number - 1], number, len(quotations))


async def _file_of_evidence(request: Request, chosen: _Chosen) -> Path:
    """Return the document's file. Raises FileMissing if the store no longer has it, or it is not on this machine."""
    services: Services = request.scope["services"]
    listed = await listed_documents(services.settings, request.scope["resources"], chosen.application_ref)
    title = document_title(chosen.citation.document)
    path = next((one["file_path"] for one in listed if one["document_id"] == chosen.citation.document_id), None)
    if path is None:
        raise FileMissing(f"{title} is no longer in the document store, so its page cannot be shown.")
    try:
        return DocumentRoots(services.settings).find(path)
    except FileMissing:
        raise FileMissing(f"The file of {title} is not on this machine, so its page cannot be shown.") from None


def _draw(request: Request, path: Path, evidence: Citation, number: int) -> PagePicture:
    resources: Resources = request.scope["resources"]
    picture: PagePicture = resources.pictures.get(
        (*identity(path), number, evidence.quote),
        lambda: resources.renderer().render_page(path, number, evidence.quote),
    )
    return picture
