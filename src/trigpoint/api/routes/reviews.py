"""Reviews: submit, read, list, cancel."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import urlsplit

import orjson
from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response
from starlette.routing import Route

from trigpoint.api.bodies import StrictRoute
from trigpoint.api.idempotency import reserved_id
from trigpoint.api.schemas.errors import errors
from trigpoint.api.schemas.reviews import (
    ReviewAccepted,
    ReviewDetail,
    ReviewPage,
    ReviewStatusAnswer,
    ReviewSubmission,
    WebhookConfig,
)
from trigpoint.api.schemas.values import Offset, PageLimit, one_of
from trigpoint.api.services import Services, Use, services_in
from trigpoint.errors import InvalidInput, InvalidReference, InvalidStatus, UnknownAuthority, shorten
from trigpoint.jobs.delivery import resolve
from trigpoint.jobs.events import DEFAULT_EVENTS
from trigpoint.jobs.reviews import STATUSES, Review, Webhook
from trigpoint.logs import request_id
from trigpoint.registers.entries import load_registers
from trigpoint.storage.space import require_space

ESTIMATED_SECONDS = 180
_RESOLVE_SECONDS = 3.0
_StatusName = Annotated[str, one_of(STATUSES)]

router = APIRouter(prefix="/reviews", tags=["Reviews"], route_class=StrictRoute)


def _json(value: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type="application/json")


def _raw(text: str | None) -> orjson.Fragment | None:
    """Return stored JSON as it is, to be sent without parsing."""
    return None if text is None else orjson.Fragment(text)


@router.post("", status_code=202, response_model=ReviewAccepted, responses=errors(400, 409, 413, 507))
async def submit_review(request: Request, submission: ReviewSubmission, use: Use) -> Response:
    """Queue a review of a planning application. One at a time for each application."""
    require_space(use.settings)
    reference, authority = placed(submission, use)
    webhook = await _checked(submission.webhook, use)
    review = await use.reviews.create(
        reference,
        submission.options,
        webhook,
        request_id=request_id.get(),
        review_id=reserved_id(request.scope),
        authority=authority,
    )
    this = f"/api/v1/reviews/{review.review_id}"
    accepted = {
        "review_id": review.review_id,
        "application_ref": review.application_ref,
        "status": review.status,
        "created_at": review.created_at,
        "estimated_duration_seconds": ESTIMATED_SECONDS,
        "links": {"self": this, "status": f"{this}/status", "cancel": f"{this}/cancel"},
    }
    return _json(accepted, 202)


@router.get("", response_model=ReviewPage, responses=errors(400))
async def list_reviews(
    use: Use,
    status: Annotated[_StatusName | None, Query(description="Filter by status")] = None,
    application_ref: Annotated[
        str | None,
        Query(min_length=1, max_length=100, description="Filter by application reference, as its register writes it"),
    ] = None,
    limit: Annotated[PageLimit, Query(description="Results per page")] = 20,
    offset: Annotated[Offset, Query(description="Pagination offset")] = 0,
) -> Response:
    """List reviews, newest first; filters combine."""
    if status is not None and status not in STATUSES:
        raise InvalidStatus(f"Invalid status: {shorten(status)}", valid_statuses=list(STATUSES))
    rows, total = await use.reviews.list(status=status, application_ref=application_ref, limit=limit, offset=offset)
    return _json({"reviews": [asdict(row) for row in rows], "total": total, "limit": limit, "offset": offset})


@router.get("/{review_id}", response_model=ReviewDetail, responses=errors(404))
async def get_review(review_id: str, use: Use) -> Response:
    """Return the whole review, with its results once it is completed."""
    review = await use.reviews.get(review_id)
    return _json(_detail(review))


@router.get("/{review_id}/status", response_model=ReviewStatusAnswer, responses=errors(404))
async def get_review_status(request: Request, review_id: str) -> Response:
    """Fast status check without the full result."""
    status, phase, percent = await services_in(request.scope).reviews.status(review_id)
    progress = {"phase": phase, "percent_complete": int(percent or 0)} if status == "processing" and phase else None
    return _json({"review_id": review_id, "status": status, "progress": progress})


async def _quick_status(request: Request) -> Response:
    return await get_review_status(request, request.path_params["review_id"])


# The question that clients ask every second. The framework documents it; a plain route answers it, at half the cost.
QUICK_STATUS = Route("/reviews/{review_id}/status", _quick_status, methods=["GET"], include_in_schema=False)


@router.post("/{review_id}/cancel", response_model=ReviewStatusAnswer, responses=errors(404, 409))
async def cancel_review(review_id: str, use: Use) -> Response:
    """Cancel a queued or processing review. No request body."""
    await use.reviews.cancel(review_id)
    return _json({"review_id": review_id, "status": "cancelled", "progress": None})


def placed(submission: ReviewSubmission, use: Services) -> tuple[str, str | None]:
    """Return the reference as its register writes it, and the authority if it is not the default one."""
    table = load_registers(use.settings)
    try:
        entry = table.get(submission.authority)
        entry.require_readable()
    except UnknownAuthority as error:
        raise _refused(error.message, "authority") from None
    try:
        reference = entry.check_reference(submission.application_ref)
    except InvalidReference as error:
        raise _refused(error.message, "application_ref") from None
    return reference, None if table.is_default(entry.authority) else entry.authority


def _detail(review: Review) -> dict[str, Any]:
    return {
        "review_id": review.review_id,
        "application_ref": review.application_ref,
        "status": review.status,
        "created_at": review.created_at,
        "started_at": review.started_at,
        "completed_at": review.completed_at,
        "progress": _raw(review.progress),
        "application": _raw(review.application),
        "review": _raw(review.review),
        "metadata": _raw(review.metadata),
        "error": _raw(review.error),
    }


async def _checked(config: WebhookConfig | None, use: Services) -> Webhook | None:
    """Return the webhook. In production it must be https, and its host not at a private or local address."""
    if config is None:
        return None
    if use.settings.environment == "production":
        parts = urlsplit(config.url)
        if parts.scheme != "https":
            raise _refused(f"Webhook URL must use https:// in production: {shorten(config.url)}")
        try:
            # A name that cannot be resolved now may be later; it is checked again before each delivery.
            with suppress(OSError):
                async with asyncio.timeout(_RESOLVE_SECONDS):
                    await resolve(parts.hostname or "", parts.port or 443, public_only=True)
        except InvalidInput as error:
            raise _refused(error.message) from None
    return Webhook(config.url, config.secret, tuple(config.events or DEFAULT_EVENTS))


def _refused(message: str, *field: str) -> RequestValidationError:
    problem = {"loc": ("body", *(field or ("webhook", "url"))), "msg": f"Value error, {message}", "type": "value_error"}
    return RequestValidationError([problem])
