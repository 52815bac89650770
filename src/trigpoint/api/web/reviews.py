"""Reviews: submit, list, watch, read, compare, cancel, download."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from trigpoint.api.pictures import report_pictures
from trigpoint.api.routes.reviews import placed
from trigpoint.api.schemas.reviews import ReviewSubmission
from trigpoint.api.services import Services
from trigpoint.api.web.comparing import pair_aspects
from trigpoint.api.web.evidence import evidence_page, evidence_picture, evidence_strip
from trigpoint.api.web.paging import Pages
from trigpoint.api.web.resources import Resources
from trigpoint.api.web.review_page import review_page
from trigpoint.api.web.templating import page
from trigpoint.errors import InvalidInput, ReviewAlreadyExists, ReviewIncomplete, StoreError
from trigpoint.ids import parse_application_ref
from trigpoint.jobs.reviews import STATUSES, Review, ReviewRow
from trigpoint.logs import request_id
from trigpoint.registers.entries import load_registers
from trigpoint.review.aspects import load_aspects
from trigpoint.review.formats import FORMATS
from trigpoint.review.models import PHASES
from trigpoint.storage.space import require_space

ACTIVE = ("queued", "processing")
_RECENT = 6
_A_PAGE = 20
_POLL_SECONDS = 0.7
_STREAM_SECONDS = 300.0

PHASE_NAMES = {
    "fetching_metadata": "Read the register's entry",
    "downloading_documents": "Download the documents",
    "ingesting_documents": "Read and index them",
    "analysing_application": "Check against policy",
    "generating_review": "Write the review",
}


async def home(request: Request) -> Response:
    return await _home(request)


async def submit(request: Request) -> Response:
    """The same rules as `POST /api/v1/reviews`."""
    services: Services = request.scope["services"]
    given = _given(await request.form(), services)
    try:
        submission = ReviewSubmission.model_validate(given)
        reference, authority = placed(submission, services)
    except (ValidationError, RequestValidationError) as error:
        problem = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        return await _home(request, 422, problem=problem, given=given)
    require_space(services.settings)
    try:
        review = await services.reviews.create(
            reference, submission.options, None, request_id=request_id.get(), authority=authority
        )
    except ReviewAlreadyExists as error:
        return await _home(request, 409, problem=f"{error.message}. It is in the list below.", given=given)
    return RedirectResponse(f"/reviews/{review.review_id}", 303)


def _given(form: FormData, services: Services) -> dict[str, Any]:
    """What the form says, as the REST API takes it."""
    ticked = ("policy_matrix", "suggested_conditions", "consultation_responses", "public_comments", "superseded")
    areas = [str(area) for area in form.getlist("focus_areas")]
    given: dict[str, Any] = {
        "application_ref": str(form.get("application_ref", "")).strip().upper(),
        "options": {"focus_areas": areas or None} | {f"include_{name}": f"include_{name}" in form for name in ticked},
    }
    authority = str(form.get("authority", "")).strip()
    if authority and not load_registers(services.settings).is_default(authority):
        given["authority"] = authority
    return given


async def _home(
    request: Request, status: int = 200, *, problem: str | None = None, given: dict[str, Any] | None = None
) -> Response:
    services: Services = request.scope["services"]
    rows, total = await services.reviews.list(limit=_RECENT, offset=0)
    options = (given or {}).get("options", {})
    return page(
        request,
        "home.html",
        status,
        aspects=load_aspects(),
        problem=problem,
        given_ref=(given or {}).get("application_ref", ""),
        given_areas=options.get("focus_areas") or [],
        matrix=options.get("include_policy_matrix", True),
        conditions=options.get("include_suggested_conditions", True),
        consultees=options.get("include_consultation_responses", False),
        comments=options.get("include_public_comments", False),
        superseded=options.get("include_superseded", False),
        authorities=_readable(services),
        given_authority=(given or {}).get("authority", load_registers(services.settings).default),
        rows=rows,
        total=total,
    )


def _readable(services: Services) -> list[tuple[str, str]]:
    """Authorities whose registers can be read, the default one first."""
    table = load_registers(services.settings)
    entries = [entry for entry in table.entries.values() if entry.readable]
    entries.sort(key=lambda entry: (not table.is_default(entry.authority), entry.name))
    return [(entry.authority, entry.name) for entry in entries]


async def listing(request: Request) -> Response:
    services: Services = request.scope["services"]
    status, ref = (request.query_params.get(name, "").strip() for name in ("status", "application_ref"))
    problem = None
    if status and status not in STATUSES:
        raise HTTPException(400, f"There is no status of that name. There are: {', '.join(STATUSES)}.")
    try:
        wanted = parse_application_ref(ref.upper()) if ref else None
    except InvalidInput as error:
        wanted, problem = None, error.message
    pages = Pages.of(request, _A_PAGE)
    rows: list[ReviewRow] = []
    total = 0
    if problem is None:
        rows, total = await services.reviews.list(
            status=status or None, application_ref=wanted, limit=_A_PAGE, offset=pages.offset
        )
    shown = pages.counting(total)
    return page(
        request,
        "reviews.html",
        422 if problem else 200,
        rows=rows,
        total=total,
        pages=shown,
        statuses=STATUSES,
        status=status,
        ref=ref,
        problem=problem,
    )


async def read(request: Request) -> Response:
    review = await _review(request)
    if review.status != "completed":
        return _unfinished(request, review)
    return review_page(request, review)


def _unfinished(request: Request, review: Review) -> Response:
    progress = _progress(review)
    error = orjson.loads(review.error) if review.error else None
    return page(
        request,
        "review_progress.html",
        review=review,
        progress=progress,
        phases=[(phase, PHASE_NAMES[phase.name]) for phase in PHASES],
        error=error,
        active=review.status in ACTIVE,
    )


def _progress(review: Review) -> dict[str, Any]:
    """What is sent to a watching page."""
    known = orjson.loads(review.progress) if review.progress else {}
    return {
        "status": review.status,
        "phase_number": known.get("phase_number", 0),
        "percent": 100 if review.status == "completed" else known.get("percent_complete", 0),
        "detail": known.get("detail") or ("Waiting for a worker" if review.status == "queued" else ""),
    }


async def events(request: Request) -> Response:
    """Server-sent events: each change of the review's progress, and `done` at its end."""
    services: Services = request.scope["services"]
    resources: Resources = request.scope["resources"]
    review = await _review(request)

    async def stream() -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        until, last, current = loop.time() + _STREAM_SECONDS, b"", review
        yield b"retry: 1500\n\n"
        while loop.time() < until and not resources.stopping:
            said = orjson.dumps(_progress(current))
            if said != last:
                yield b"event: progress\ndata: " + said + b"\n\n"
                last = said
            if current.status not in ACTIVE:
                yield b"event: done\ndata: " + said + b"\n\n"
                return
            await asyncio.sleep(_POLL_SECONDS)
            try:
                current = await services.reviews.get(review.review_id)
            except StoreError:
                return  # the browser asks again by itself

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)


async def cancel(request: Request) -> Response:
    services: Services = request.scope["services"]
    review_id = request.path_params["review_id"]
    await services.reviews.cancel(review_id)
    return RedirectResponse(f"/reviews/{review_id}", 303)


async def compare(request: Request) -> Response:
    services: Services = request.scope["services"]
    chosen = request.query_params.getlist("review")
    if len(set(chosen)) != 2:
        raise HTTPException(400, "Choose two reviews to compare: tick them in the list, then press Compare.")
    first, second = [await services.reviews.get(review_id) for review_id in chosen]
    for review in (first, second):
        _check_complete(review)
    results = first.result(), second.result()
    return page(
        request,
        "compare.html",
        reviews=(first, second),
        results=results,
        pairs=pair_aspects(*results),
        recommendations=_apart(*(result.review.recommendations for result in results)),
    )


def _apart(first: tuple[str, ...], second: tuple[str, ...]) -> dict[str, list[str]]:
    return {
        "first": [text for text in first if text not in second],
        "both": [text for text in first if text in second],
        "second": [text for text in second if text not in first],
    }


async def download(request: Request) -> Response:
    review = await _review(request)
    chosen = next((one for name, one in FORMATS.items() if name == request.path_params["form"]), None)
    if chosen is None:
        raise HTTPException(404)
    _check_complete(review)
    headers = {
        "Content-Type": chosen.media_type,
        "Content-Disposition": f'attachment; filename="{chosen.file_name.format(review.review_id)}"',
        "Cache-Control": "no-store",
    }
    services: Services = request.scope["services"]
    saved = await services.letters.current(review.review_id) if chosen.of_letter else None
    result = review.result()
    pictures = await report_pictures(services.settings, request.scope["resources"], result) if chosen.pictured else {}
    content = await asyncio.to_thread(chosen.render, result, saved.letter if saved else None, pictures)
    return Response(content, headers=headers)


def _check_complete(review: Review) -> None:
    if review.status != "completed":
        raise ReviewIncomplete(f"The review {review.review_id} is {review.status}: there is no result of it to show.")


async def _review(request: Request) -> Review:
    services: Services = request.scope["services"]
    return await services.reviews.get(request.path_params["review_id"])


ROUTES = [
    Route("/", home),
    Route("/reviews", listing),
    Route("/reviews", submit, methods=["POST"]),
    Route("/reviews/compare", compare),
    Route("/reviews/{review_id}", read),
    Route("/reviews/{review_id}/events", events),
    Route("/reviews/{review_id}/cancel", cancel, methods=["POST"]),
    Route("/reviews/{review_id}/download/{form}", download),
    Route("/reviews/{review_id}/evidence/{number}", evidence_page),
    Route("/reviews/{review_id}/evidence/{number}/strip.png", evidence_strip),
    Route("/reviews/{review_id}/evidence/{number}/pages/{page}.png", evidence_picture),
]
