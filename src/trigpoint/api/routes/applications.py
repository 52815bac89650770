"""Applications whose documents are given as files."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from pydantic import BeforeValidator, StringConstraints, ValidationError

from trigpoint.api import uploads
from trigpoint.api.bodies import StrictRoute
from trigpoint.api.given_files import MAX_FILES, review_files
from trigpoint.api.idempotency import reserved_id
from trigpoint.api.routes.reviews import ESTIMATED_SECONDS
from trigpoint.api.schemas.applications import ApplicationAccepted, GivenFile
from trigpoint.api.schemas.errors import errors
from trigpoint.api.schemas.reviews import ReviewLinks
from trigpoint.api.schemas.values import NO_NUL, Day
from trigpoint.api.services import Use
from trigpoint.errors import DetailsMissing
from trigpoint.jobs.reviews import Review
from trigpoint.registers.folder import GivenApplication
from trigpoint.registers.submission import Stated
from trigpoint.review.models import ReviewOptions

router = APIRouter(prefix="/applications", tags=["Applications"], route_class=StrictRoute)

_FIELDS = frozenset({"files", "application_ref", "authority", "address", "proposal", "date_validated", "options"})
_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), NO_NUL]
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=5_000), NO_NUL]


async def _form_of_files(request: Request) -> None:
    """Read the form with room for many files, before the framework does with less. Refuse fields that are not known."""
    form = await request.form(max_files=MAX_FILES, max_fields=50)
    unknown = [name for name in form if name not in _FIELDS]
    if unknown:
        problem = {"msg": "Extra inputs are not permitted", "type": "extra_forbidden"}
        raise RequestValidationError([problem | {"loc": ("body", name)} for name in unknown])


@router.post(
    "",
    status_code=202,
    responses=errors(400, 409, 413, 507),
    dependencies=[Depends(_form_of_files)],
)
async def submit_application(
    request: Request,
    use: Use,
    files: Annotated[
        list[Annotated[UploadFile, BeforeValidator(uploads.check_is_file)]],
        File(
            description="The documents: PDF, PNG, JPEG, TIFF, Word (.docx), e-mail (.eml), text, or zip archives of them"
        ),
    ],
    application_ref: Annotated[
        _Line | None, Form(description="Reference; invented if neither you nor the form gives one")
    ] = None,
    authority: Annotated[_Line | None, Form(description="Slug or name of the planning authority")] = None,
    address: Annotated[_Text | None, Form(description="Address of the site")] = None,
    proposal: Annotated[_Text | None, Form(description="Description of the development")] = None,
    date_validated: Annotated[Day | None, Form(description="`YYYY-MM-DD`; decides which policy applies")] = None,
    options: Annotated[
        str | None, Form(description="JSON, as the `options` of `POST /api/v1/reviews`", max_length=10_000)
    ] = None,
) -> ApplicationAccepted:
    """Review documents that you have. What you leave out is taken from an application form among the files, if it is there."""
    stated = Stated(application_ref, authority, address, proposal, date_validated)
    chosen = _options(options)
    try:
        review, given = await review_files(use, files, stated, chosen, review_id=reserved_id(request.scope))
    except DetailsMissing as error:
        raise RequestValidationError(
            [
                {"loc": ("body", field), "msg": f"Value error, {error.message}", "type": "missing"}
                for field in error.details["missing"]
            ]
        ) from None
    return _accepted(review, given)


def _options(text: str | None) -> ReviewOptions:
    try:
        return ReviewOptions.model_validate_json(text) if text else ReviewOptions()
    except ValidationError as error:
        problems = [
            {"loc": ("body", "options", *problem["loc"]), "msg": problem["msg"], "type": "value_error"}
            for problem in error.errors()
        ]
        raise RequestValidationError(problems) from None


def _accepted(review: Review, given: GivenApplication) -> ApplicationAccepted:
    this = f"/api/v1/reviews/{review.review_id}"
    return ApplicationAccepted(
        review_id=review.review_id,
        application_ref=review.application_ref,
        status=review.status,
        created_at=review.created_at,
        estimated_duration_seconds=ESTIMATED_SECONDS,
        links=ReviewLinks(self=this, status=f"{this}/status", cancel=f"{this}/cancel"),
        authority=given.authority,
        address=given.address,
        proposal=given.proposal,
        date_validated=given.date_validated,
        date_received=given.date_received,
        taken_from_form=sorted(name for name, origin in given.origins.items() if origin == "application form"),
        files=[GivenFile(name=o.name, outcome=o.outcome, archive=o.archive, reason=o.reason) for o in given.files],
    )
