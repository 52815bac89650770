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

from trigpoint.api.routes.revisions import Label, delete_revision, upload_revision
from trigpoint.api.schemas.policies import Authority, LongText, Text
from trigpoint.api.schemas.values import Day, PolicySource
from trigpoint.api.services import Services
from trigpoint.api.web.drawing import draw_timeline
from trigpoint.api.web.templating import page
from trigpoint.dates import parse_day, today
from trigpoint.errors import InvalidInput, TrigpointError
from trigpoint.jobs.policy_update import add_missing_revisions
from trigpoint.logs import request_id
from trigpoint.policies.known import missing_revisions
from trigpoint.policies.models import Policy, PolicyCategory, RevisionStatus
from trigpoint.policies.placements import Placements, RevisionPlacements
from trigpoint.policies.seed import is_digest

_REASONS = {
    "date_before_first_revision": "Not yet in force",
    "date_in_gap": "Between two revisions",
    "no_revisions": "No text yet",
}


class RevisionForm(BaseModel):
    """The fields of the upload form besides the file; the same types as the REST API's."""

    model_config = ConfigDict(frozen=True)

    version_label: Label
    effective_from: Day
    effective_to: Day | None = None
    notes: LongText | None = None


def chosen_day(request: Request) -> tuple[date, str | None]:
    """Return the day asked for, or today, and what is wrong with the request."""
    asked = request.query_params.get("date", "").strip()
    try:
        return (parse_day(asked) if asked else today()), None
    except InvalidInput as error:
        return today(), error.message


async def overview(request: Request) -> Response:
    return await _overview(request, *chosen_day(request))


async def _overview(request: Request, day: date, problem: str | None) -> Response:
    services: Services = request.scope["services"]
    snapshot = await services.resolver.resolve_snapshot(day)
    drawing = draw_timeline([result.policy for result in snapshot.results], day, today())
    return page(
        request,
        "policies.html",
        422 if problem else 200,
        day=day,
        is_today=day == today(),
        results=snapshot.results,
        reasons=_REASONS,
        missing=missing_revisions([result.policy for result in snapshot.results]),
        categories=list(PolicyCategory),
        drawing=drawing if snapshot.results else None,
        problem=problem,
    )


class PolicyForm(BaseModel):
    """The fields of the form for a new policy; the same types as the REST API's."""

    model_config = ConfigDict(frozen=True)

    source: PolicySource
    title: Text
    category: PolicyCategory
    description: LongText | None = None
    authorities: tuple[Authority, ...] = ()


async def create(request: Request) -> Response:
    services: Services = request.scope["services"]
    async with request.form(max_files=0, max_fields=10) as form:
        given: dict[str, Any] = {
            name: str(form[name]) for name in PolicyForm.model_fields if str(form.get(name, "")).strip()
        }
    given["authorities"] = str(given.get("authorities", "")).replace(",", " ").split()
    try:
        wanted = PolicyForm.model_validate(given)
        await services.registry.create_policy(
            wanted.source, wanted.title, wanted.category, wanted.description, wanted.authorities
        )
    except ValidationError as error:
        return await _overview(request, today(), _first_problem(error))
    except TrigpointError as error:
        if error.status >= 500:
            raise
        return await _overview(request, today(), error.message)
    return RedirectResponse(f"/policies/{wanted.source}", 303)


async def update(request: Request) -> Response:
    """Add the revisions that are known and not loaded, at one click."""
    services: Services = request.scope["services"]
    await add_missing_revisions(services.registry, services.queue, services.settings, request_id=request_id.get())
    return RedirectResponse("/policies", 303)


async def remove(request: Request) -> Response:
    """Delete a revision; the one before it is put back in force."""
    services: Services = request.scope["services"]
    source, revision_id = request.path_params["source"], request.path_params["revision_id"]
    policy = await services.registry.get_policy(source)
    try:
        await delete_revision(source, revision_id, services, restore_predecessor=True)
    except TrigpointError as error:
        if error.status >= 500:
            raise
        return await _policy_response(request, policy, error.status, error.message)
    return RedirectResponse(f"/policies/{source}", 303)


async def choose(request: Request) -> Response:
    """Confirm the section of a provision, correct it, or take a choice back."""
    services: Services = request.scope["services"]
    source, revision_id, provision_id = (request.path_params[n] for n in ("source", "revision_id", "provision_id"))
    policy = await services.registry.get_policy(source)
    placements = Placements(services.registry)
    async with request.form(max_files=0, max_fields=5) as form:
        action, section = str(form.get("action", "")), str(form.get("section", "")).strip()[:200]
    try:
        if action == "confirm":
            await placements.confirm(source, revision_id, provision_id)
        elif action == "forget":
            await placements.forget_choice(source, revision_id, provision_id)
        elif action == "absent" or section:
            wanted = None if action == "absent" else section
            await placements.set_section(source, revision_id, provision_id, wanted)
        else:
            raise InvalidInput("Name the section that states the provision")
    except TrigpointError as error:
        if error.status >= 500:
            raise
        return await _policy_response(request, policy, error.status, error.message)
    return RedirectResponse(f"/policies/{source}?revision={revision_id}#provisions", 303)


async def detail(request: Request) -> Response:
    services: Services = request.scope["services"]
    policy = await services.registry.get_policy(request.path_params["source"])
    return await _policy_response(request, policy, given=_replacing(request, policy))


def _replacing(request: Request, policy: Policy) -> dict[str, str]:
    """Return the upload form as it is filled in to replace a revision that the address names."""
    wanted = request.query_params.get("replace", "")
    found = next((r for r in policy.revisions if r.revision_id == wanted), None)
    if found is None:
        return {}
    label = found.version_label.removesuffix(" (digest)")
    until = {"effective_to": found.effective_to.isoformat()} if found.effective_to else {}
    return {"replace": wanted, "version_label": label, "effective_from": found.effective_from.isoformat(), **until}


async def _policy_response(
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
        placed=await _placements_shown(request, policy),
        digests={r.revision_id for r in policy.revisions if is_digest(r)},
        missing=missing_revisions([policy]),
        problem=problem,
        given=given or {},
        most_mb=services.settings.max_upload_mb,
    )


async def _placements_shown(request: Request, policy: Policy) -> RevisionPlacements | None:
    """Return the provisions of the revision asked for, else of the one in force, else of the newest."""
    services: Services = request.scope["services"]
    asked = request.query_params.get("revision", "") or request.path_params.get("revision_id", "")
    current = policy.in_force(today())
    placed = {p.revision.revision_id: p for p in await Placements(services.registry).of_policy(policy)}
    wanted = (asked, current.revision_id if current else "", *placed)
    found = next((placed[name] for name in wanted if name in placed), None)
    return found if found is not None and found.placements else None


async def upload(request: Request) -> Response:
    """Upload a revision by the rules, and the function, of `POST /api/v1/policies/{source}/revisions`."""
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
                _uploaded_file(file),
                wanted.version_label,
                wanted.effective_from,
                wanted.effective_to,
                wanted.notes,
                str(form.get("replace", "")).strip() or None,
            )
        except ValidationError as error:
            return await _policy_response(request, policy, 422, _first_problem(error), given)
        except TrigpointError as error:
            if error.status >= 500:
                raise
            return await _policy_response(request, policy, error.status, error.message, given)
    return RedirectResponse(f"/policies/{source}", 303)


def _uploaded_file(file: object) -> UploadFile:
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
    Route("/policies", create, methods=["POST"]),
    Route("/policies/update", update, methods=["POST"]),
    Route("/policies/{source}", detail),
    Route("/policies/{source}/revisions/{revision_id}/delete", remove, methods=["POST"]),
    Route("/policies/{source}/revisions/{revision_id}/provisions/{provision_id}", choose, methods=["POST"]),
    Route("/policies/{source}/revisions", upload, methods=["POST"]),
]
