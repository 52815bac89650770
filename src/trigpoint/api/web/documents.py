"""The documents behind a review: how much of each was read, and each of its pages as a picture.

A request names a review, a document and a page. The file comes from the document store's list of that application's
documents: nothing of a path is taken from the address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from trigpoint.api.services import Services
from trigpoint.api.web.asking import ask
from trigpoint.api.web.paging import whole_number
from trigpoint.api.web.resources import Resources
from trigpoint.api.web.templating import page
from trigpoint.documents.reading_line import ReadingCounts
from trigpoint.documents.roots import DocumentRoots
from trigpoint.errors import FileMissing, TrigpointError
from trigpoint.jobs.reviews import Review
from trigpoint.text.pdf_mark import file_is_pdf

_HOUR = "private, max-age=3600"
_WAYS = {"text": "Text", "ocr": "OCR", "both": "Text and OCR", "blank": "Blank", "none": "Not read"}

_Document = Mapping[str, Any]


async def documents_page(request: Request) -> Response:
    review = await _review(request)
    documents = await _documents_of_review(request, review)
    counts = ReadingCounts.of((_document_name(one), one.get("account")) for one in documents)
    fetched = review.result().application.documents_fetched if review.status == "completed" else None
    return page(
        request,
        "documents.html",
        review=review,
        documents=[(one, _document_name(one)) for one in documents],
        line=counts.sentence(fetched) if documents else None,
    )


async def document_page(request: Request) -> Response:
    review = await _review(request)
    document = await _document_of_review(request, review)
    pages = [_page_on_strip(one) for one in document.get("pages", ())]
    chosen = _chosen_page(request, pages)
    problem, picture = None, None
    if chosen is not None:
        try:
            path = _file_of_document(request, document)
            picture = await asyncio.to_thread(_draw, request, path, chosen["number"])
        except TrigpointError as error:
            problem = error.message
    return page(
        request,
        "document.html",
        review=review,
        document=document,
        name=_document_name(document),
        pages=pages,
        chosen=chosen,
        picture=picture,
        problem=problem,
        legend=[(way, label, sum(one["way"] == way for one in pages)) for way, label in _WAYS.items()],
    )


async def document_picture(request: Request) -> Response:
    document = await _document_of_review(request, await _review(request))
    number = whole_number(request.path_params["page"])
    picture = await asyncio.to_thread(_draw, request, _file_of_document(request, document), number)
    return Response(picture.png, media_type="image/png", headers={"Cache-Control": _HOUR})


async def document_file(request: Request) -> Response:
    """Return the file itself: a PDF opens in the browser, anything else is saved."""
    document = await _document_of_review(request, await _review(request))
    path = _file_of_document(request, document)
    is_pdf = file_is_pdf(path)
    kind = "inline" if is_pdf else "attachment"
    return FileResponse(
        path,
        media_type="application/pdf" if is_pdf else "application/octet-stream",
        filename=path.name,
        content_disposition_type=kind,
        headers={"Cache-Control": _HOUR},
    )


async def _review(request: Request) -> Review:
    services: Services = request.scope["services"]
    return await services.reviews.get(request.path_params["review_id"])


async def _documents_of_review(request: Request, review: Review) -> list[_Document]:
    services: Services = request.scope["services"]
    given = {"application_ref": review.application_ref, "include_pages": True}
    answer = await ask(services.settings, "document-store", "list_ingested_documents", given)
    return list(answer["documents"])


async def _document_of_review(request: Request, review: Review) -> _Document:
    wanted = request.path_params["document_id"]
    found = next((one for one in await _documents_of_review(request, review) if one["document_id"] == wanted), None)
    if found is None:
        raise HTTPException(404)
    return found


def _chosen_page(request: Request, pages: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the page asked for, else the first one that was not read completely, else the first."""
    if not pages:
        return None
    asked = request.query_params.get("page")
    if asked is None:
        return next((one for one in pages if one["way"] == "none" or one.get("left_out")), pages[0])
    number = whole_number(asked)
    found = next((one for one in pages if one["number"] == number), None)
    if found is None:
        raise HTTPException(404)
    return found


def _page_on_strip(account: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page's account with the way it was read, for the strip."""
    way = "blank" if account.get("blank") else account["read_by"]
    return {**account, "way": way, "label": _WAYS[way]}


def _document_name(document: _Document) -> str:
    return PurePath(document["file_path"]).name


def _file_of_document(request: Request, document: _Document) -> Path:
    services: Services = request.scope["services"]
    try:
        return DocumentRoots(services.settings).find(document["file_path"])
    except FileMissing:
        raise FileMissing(
            f"The file {_document_name(document)} is not on this machine, so its pages cannot be shown."
        ) from None


def _draw(request: Request, path: Path, number: int) -> Any:
    resources: Resources = request.scope["resources"]
    stat = path.stat()
    key = (str(path), stat.st_mtime_ns, stat.st_size, number, "")
    return resources.pictures.get(key, lambda: resources.renderer().render_page(path, number))


ROUTES = [
    Route("/reviews/{review_id}/documents", documents_page),
    Route("/reviews/{review_id}/documents/{document_id}", document_page),
    Route("/reviews/{review_id}/documents/{document_id}/file", document_file),
    Route("/reviews/{review_id}/documents/{document_id}/pages/{page}.png", document_picture),
]
