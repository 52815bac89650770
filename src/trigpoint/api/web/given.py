"""The form for reviewing files that a person already has, with what they know about them."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from trigpoint.api.given_files import MAX_FILES, review_files
from trigpoint.api.services import Services
from trigpoint.api.web.templating import page
from trigpoint.dates import parse_day
from trigpoint.errors import TrigpointError
from trigpoint.registers.entries import load_registers
from trigpoint.registers.submission import Stated
from trigpoint.review.models import ReviewOptions

_FIELDS = ("application_ref", "authority", "address", "proposal", "date_validated")


async def show(request: Request) -> Response:
    return _form_response(request)


async def submit(request: Request) -> Response:
    """Submit files by the rules of `POST /api/v1/applications`. A script gets the address of the review's page."""
    services: Services = request.scope["services"]
    scripted = "application/json" in request.headers.get("accept", "")
    async with request.form(max_files=MAX_FILES, max_fields=50) as form:
        given = {name: str(form.get(name, "")).strip() for name in _FIELDS}
        files = [one for one in form.getlist("files") if isinstance(one, UploadFile) and one.filename]
        try:
            review, _ = await review_files(services, files, _stated_in_form(given), _options_of_form(form))
        except (TrigpointError, ValidationError) as error:
            if isinstance(error, TrigpointError) and error.status >= 500:
                raise
            problem = error.message if isinstance(error, TrigpointError) else "The options cannot be read"
            return JSONResponse({"problem": problem}, 422) if scripted else _form_response(request, 422, problem, given)
    place = f"/reviews/{review.review_id}"
    return JSONResponse({"place": place}) if scripted else RedirectResponse(place, 303)


def _stated_in_form(given: dict[str, str]) -> Stated:
    return Stated(
        reference=given["application_ref"] or None,
        authority=given["authority"] or None,
        address=given["address"] or None,
        proposal=given["proposal"] or None,
        date_validated=parse_day(given["date_validated"]) if given["date_validated"] else None,
    )


def _options_of_form(form: FormData) -> ReviewOptions:
    return ReviewOptions(
        include_consultation_responses="include_consultation_responses" in form,
        include_public_comments="include_public_comments" in form,
        include_superseded="include_superseded" in form,
    )


def _form_response(
    request: Request, status: int = 200, problem: str | None = None, given: dict[str, str] | None = None
) -> Response:
    services: Services = request.scope["services"]
    shown: dict[str, Any] = dict.fromkeys(_FIELDS, "") | (given or {})
    return page(
        request,
        "given.html",
        status,
        problem=problem,
        given=shown,
        authorities=sorted(entry.name for entry in load_registers(services.settings).entries.values()),
        most_mb=services.settings.max_application_mb,
    )


ROUTES = [
    Route("/reviews/files", show),
    Route("/reviews/files", submit, methods=["POST"]),
]
