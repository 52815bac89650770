"""Policies: what is in force on a day, a policy's revisions, and the upload of another."""

from __future__ import annotations

from datetime import date
from typing import Any

from fastapi import UploadFile
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.datastructures import UploadFile as SentFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from trigpoint.api.routes.revisions import Label, upload_revision
from trigpoint.api.schemas.policies import LongText
from trigpoint.api.schemas.values import Day
from trigpoint.api.services import Services
from trigpoint.api.web.drawing import draw_timeline
from trigpoint.api.web.templating import page
from trigpoint.dates import parse_day, today
from trigpoint.errors import InvalidInput, TrigpointError
from trigpoint.policies.models import Policy, RevisionStatus

REASONS = {
    "date_before_first_revision": "Not yet in force",
    "date_in_gap": "Between two revisions",
    "no_revisions": "No text yet",
}


class RevisionForm(BaseModel):
    """What the upload form holds beside the file; the same types as the REST API's."""

    model_config = ConfigDict(frozen=True)

    version_label: Label
    effective_from: Day
    effective_to: Day | None = None
    notes: LongText | None = None


def chosen_day(request: Request) -> tuple[date, str | None]:
    """The day asked for, or today; and what is wrong with what was asked."""
    asked = request.query_params.get("date", "").strip()
    try:
        return (parse_day(asked) if asked else today()), None
    except InvalidInput as error:
        return today(), error.message


async def overview(request: Request) -> Response:
    services: Services = request.scope["services"]
    day, problem = chosen_day(request)
    snapshot = await services.resolver.resolve_snapshot(day)
    drawing = draw_timeline([result.policy for result in snapshot.results], day, today())
    return page(
        request,
        "policies.html",
        422 if problem else 200,
        day=day,
        is_today=day == today(),
        results=snapshot.results,
        reasons=REASONS,
        drawing=drawing if snapshot.results else None,
        problem=problem,
    )


async def detail(request: Request) -> Response:
    services: Services = request.scope["services"]
    policy = await services.registry.get_policy(request.path_params["source"])
    return await _detail(request, policy)


async def _detail(
    request: Request, policy: Policy, http_status: int = 200, problem: str | None = None, given: Any = None
) -> Response:
    services: Services = request.scope["services"]
    working = [r for r in policy.revisions if r.status is RevisionStatus.PROCESSING or r.reindexing]
    progress = {r.revision_id: await services.registry.get_progress(r) for r in working}
    return page(
        request,
        "policy.html",
        http_status,
        policy=policy,
        today=today(),
        current=policy.in_force(today()),
        drawing=draw_timeline([policy], today(), today()) if policy.timeline else None,
        progress=progress,
        readable=[r for r in policy.revisions if r.queryable],
        problem=problem,
        given=given or {},
        most_mb=services.settings.max_upload_mb,
    )


async def upload(request: Request) -> Response:
    """The same rules as `POST /api/v1/policies/{source}/revisions`, by the same function."""
    services: Services = request.scope["services"]
    source = request.path_params["source"]
    policy = await services.registry.get_policy(source)
    async with request.form(max_files=1, max_fields=10) as form:
        given = {name: str(form[name]) for name in RevisionForm.model_fields if str(form.get(name, "")).strip()}
        file = form.get("file")
        try:
            wanted = RevisionForm.model_validate(given)
            await upload_revision(
                source,
                services,
                _sent(file),
                wanted.version_label,
                wanted.effective_from,
                wanted.effective_to,
                wanted.notes,
            )
        except ValidationError as error:
            return await _detail(request, policy, 422, _first_problem(error), given)
        except TrigpointError as error:
            if error.status >= 500:
                raise
            return await _detail(request, policy, error.status, error.message, given)
    return RedirectResponse(f"/policies/{source}", 303)


def _sent(file: object) -> UploadFile:
    if not isinstance(file, SentFile) or not file.filename:
        raise InvalidInput("Choose a PDF file to upload")
    return UploadFile(file.file, size=file.size, filename=file.filename, headers=file.headers)


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    field = str(problem["loc"][0]).replace("_", " ").capitalize()
    said = "is needed" if problem["type"] == "missing" else str(problem["msg"]).removeprefix("Value error, ")
    return f"{field}: {said}"


ROUTES = [
    Route("/policies", overview),
    Route("/policies/{source}", detail),
    Route("/policies/{source}/revisions", upload, methods=["POST"]),
]
