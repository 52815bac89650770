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
from trigpoint.api.web.comparing import in_order_of_time, pair_aspects, pair_points
from trigpoint.api.web.evidence import evidence_page, evidence_picture, evidence_strip
from trigpoint.api.web.paging import Paging
from trigpoint.api.web.resources import Resources
from trigpoint.api.web.review_page import review_page
from trigpoint.api.web.templating import page
from trigpoint.api.web.transcript import transcript_page
from trigpoint.dates import today
from trigpoint.errors import InvalidReference, ReviewAlreadyExists, ReviewIncomplete, StoreError, UnknownAuthority
from trigpoint.jobs.reviews import ACTIVE, STATUSES, Review
from trigpoint.logs import request_id
from trigpoint.registers.addresses import application_at, is_address
from trigpoint.registers.entries import load_registers
from trigpoint.review.aspects import load_aspects
from trigpoint.review.formats import FORMATS
from trigpoint.review.models import PHASES
from trigpoint.storage.space import require_space

_RECENT = 6
_A_PAGE = 20
_MOST_SEARCHED = 1000
_POLL_SECONDS = 0.7
_STREAM_SECONDS = 300.0

_PHASE_NAMES = {
    "fetching_metadata": "Read the register's entry",
    "downloading_documents": "Download the documents",
    "ingesting_documents": "Read and index them",
    "analysing_application": "Check against policy",
    "generating_review": "Write the review",
}


async def home(request: Request) -> Response:
    return await _home(request)


async def submit(request: Request) -> Response:
    """Submit a review by the rules of `POST /api/v1/reviews`."""
    services: Services = request.scope["services"]
    given = _given(await request.form(), services)
    try:
        given = _from_address(given, services)
        submission = ReviewSubmission.model_validate(given)
        reference, authority = placed(submission, services)
    except (InvalidReference, UnknownAuthority) as error:
        return await _home(request, 422, problem=f"{error.message}.", given=given)
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
    """Return the form's fields as the REST API takes them."""
    ticked = ("policy_matrix", "suggested_conditions", "consultation_responses", "public_comments", "superseded")
    areas = [str(area) for area in form.getlist("focus_areas")]
    given: dict[str, Any] = {
        "application_ref": str(form.get("application_ref", "")).strip(),
        "options": {"focus_areas": areas or None} | {f"include_{name}": f"include_{name}" in form for name in ticked},
    }
    authority = str(form.get("authority", "")).strip()
    if authority and not load_registers(services.settings).is_default(authority):
        given["authority"] = authority
    return given


def _from_address(given: dict[str, Any], services: Services) -> dict[str, Any]:
    """Return what was given, with the reference and authority that an address of a register names."""
    if not is_address(given["application_ref"]):
        return given | {"application_ref": given["application_ref"].upper()}
    table = load_registers(services.settings)
    entry, reference = application_at(given["application_ref"], table)
    authority = {} if table.is_default(entry.authority) else {"authority": entry.authority}
    return (
        {name: value for name, value in given.items() if name != "authority"}
        | authority
        | {"application_ref": reference}
    )


async def _home(
    request: Request, status: int = 200, *, problem: str | None = None, given: dict[str, Any] | None = None
) -> Response:
    services: Services = request.scope["services"]
    rows, total = await services.reviews.list(limit=_RECENT, offset=0)
    registers = load_registers(services.settings)
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
        given_authority=(given or {}).get("authority", registers.default),
        known=sorted(entry.name for entry in registers.entries.values() if not entry.readable),
        outlines=await services.reviews.outlines(rows),
        today=today(),
        running=any(row.status in ACTIVE for row in rows),
        total=total,
    )


def _readable(services: Services) -> list[tuple[str, str]]:
    """Return the authorities whose registers can be read, the default one first."""
    table = load_registers(services.settings)
    entries = [entry for entry in table.entries.values() if entry.readable]
    entries.sort(key=lambda entry: (not table.is_default(entry.authority), entry.name))
    return [(entry.authority, entry.name) for entry in entries]


async def listing(request: Request) -> Response:
    """List reviews, newest first. `q` searches reference, address, proposal, applicant and authority."""
    services: Services = request.scope["services"]
    status, query = (request.query_params.get(name, "").strip() for name in ("status", "q"))
    if status and status not in STATUSES:
        raise HTTPException(400, f"There is no status of that name. There are: {', '.join(STATUSES)}.")
    pages = Paging.of(request, _A_PAGE)
    offset, limit = (0, _MOST_SEARCHED) if query else (pages.offset, _A_PAGE)
    rows, total = await services.reviews.list(status=status or None, limit=limit, offset=offset)
    outlines = await services.reviews.outlines(rows)
    searched = len(rows)
    if query:
        found = tuple(one for one in outlines if one.matches(query.casefold().split()))
        outlines, total = found[pages.offset : pages.offset + _A_PAGE], len(found)
    return page(
        request,
        "reviews.html",
        outlines=outlines,
        today=today(),
        total=total,
        searched=searched,
        pages=pages.counting(total),
        statuses=STATUSES,
        status=status,
        query=query,
        running=any(one.row.status in ACTIVE for one in outlines),
    )


async def read(request: Request) -> Response:
    review = await _review(request)
    if review.status != "completed":
        return _unfinished(request, review)
    return review_page(request, review)


def _unfinished(request: Request, review: Review) -> Response:
    progress = _progress_event(review)
    error = orjson.loads(review.error) if review.error else None
    return page(
        request,
        "review_progress.html",
        review=review,
        progress=progress,
        phases=[(phase, _PHASE_NAMES[phase.name]) for phase in PHASES],
        error=error,
        active=review.status in ACTIVE,
    )


def _progress_event(review: Review) -> dict[str, Any]:
    """Return the progress that is sent to an open page."""
    known = orjson.loads(review.progress) if review.progress else {}
    return {
        "status": review.status,
        "phase_number": known.get("phase_number", 0),
        "percent": 100 if review.status == "completed" else known.get("percent_complete", 0),
        "detail": known.get("detail") or ("Waiting for a worker" if review.status == "queued" else ""),
    }


async def events(request: Request) -> Response:
    """Stream each change of the review's progress as server-sent events, and `done` at its end."""
    services: Services = request.scope["services"]
    resources: Resources = request.scope["resources"]
    review = await _review(request)

    async def stream() -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        until, last, current = loop.time() + _STREAM_SECONDS, b"", review
        yield b"retry: 1500\n\n"
        while loop.time() < until and not resources.stopping:
            said = orjson.dumps(_progress_event(current))
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
        raise HTTPException(
            400, "Choose two finished reviews to compare: tick them in the list, then press “Compare two”."
        )
    reviews = in_order_of_time([await services.reviews.get(review_id) for review_id in dict.fromkeys(chosen)])
    for review in reviews:
        _check_complete(review)
    before, after = results = [review.result() for review in reviews]
    return page(
        request,
        "compare.html",
        reviews=reviews,
        results=results,
        points=pair_points(before, after),
        pairs=pair_aspects(before, after),
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
        raise ReviewIncomplete(f"The review {review.review_id} is {review.status}: there is no result to show.")


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
    Route("/reviews/{review_id}/transcript", transcript_page),
    Route("/reviews/{review_id}/evidence/{number}", evidence_page),
    Route("/reviews/{review_id}/evidence/{number}/strip.png", evidence_strip),
    Route("/reviews/{review_id}/evidence/{number}/pages/{page}.png", evidence_picture),
]
