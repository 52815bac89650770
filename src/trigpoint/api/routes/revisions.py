"""Revisions of a policy: upload, read, follow, change, delete, reindex."""

from __future__ import annotations

import asyncio
import dataclasses
import uuid
from datetime import date
from pathlib import Path
from typing import Annotated, cast

from fastapi import APIRouter, Depends, File, Form, Query, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from pydantic import BeforeValidator, StringConstraints

from trigpoint.api import uploads
from trigpoint.api.bodies import StrictRoute
from trigpoint.api.schemas.errors import errors
from trigpoint.api.schemas.policies import (
    LongText,
    PlacedProvision,
    RevisionAccepted,
    RevisionDeleted,
    RevisionDetail,
    RevisionLinks,
    RevisionProgress,
    RevisionProvisions,
    RevisionSideEffects,
    RevisionStatusAnswer,
    RevisionUpdate,
    SectionChoice,
)
from trigpoint.api.schemas.values import NO_NUL, Day
from trigpoint.api.services import Services, Use
from trigpoint.errors import (
    InvalidInput,
    NoParkingStandard,
    PolicyNotFound,
    RegistryUnavailable,
    RevisionNotFound,
    TrigpointError,
)
from trigpoint.ids import new_job_id
from trigpoint.jobs import revisions as jobs
from trigpoint.logs import request_id
from trigpoint.policies.models import Policy, Revision, RevisionChanges, RevisionStatus
from trigpoint.policies.parking import ParkingStandard, ParkingStandards
from trigpoint.policies.placements import Placements
from trigpoint.storage.space import require_space

router = APIRouter(prefix="/policies/{source}/revisions", tags=["Policy Revisions"], route_class=StrictRoute)

Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500), NO_NUL]
_FORM_FIELDS = frozenset({"file", "version_label", "effective_from", "effective_to", "notes"})


async def _only_known_fields(request: Request) -> None:
    unknown = [name for name in await request.form() if name not in _FORM_FIELDS]
    if unknown:
        problem = {"msg": "Extra inputs are not permitted", "type": "extra_forbidden"}
        raise RequestValidationError([problem | {"loc": ("body", name)} for name in unknown])


@router.post(
    "",
    status_code=202,
    responses=errors(400, 404, 409, 413, 507),
    dependencies=[Depends(_only_known_fields)],
)
async def upload_revision(
    source: str,
    use: Use,
    file: Annotated[UploadFile, BeforeValidator(uploads.check_is_file), File(description="PDF file")],
    version_label: Annotated[Label, Form(description="Human-readable version, for example `December 2024`")],
    effective_from: Annotated[Day, Form(description="`YYYY-MM-DD` when the revision takes effect")],
    effective_to: Annotated[Day | None, Form(description="Last day; left out while it is in force")] = None,
    notes: Annotated[LongText | None, Form()] = None,
    replace: Annotated[
        str | None, Query(description="A revision with the same dates whose text this file replaces")
    ] = None,
) -> RevisionAccepted:
    """Upload a PDF as a new revision, or with `replace` in place of one with the same dates, and queue its ingestion."""
    policy = await use.registry.get_policy(source)
    uploads.check_is_pdf(file)
    if replace is not None:
        current = _with_the_same_dates(policy, replace, effective_from, effective_to)
        return await _replace(use, current, file, version_label, notes)
    job_id = new_job_id()
    async with uploads.stored(file, source, use.settings) as upload:
        revision, side_effects = await use.registry.create_revision(
            source,
            version_label=version_label,
            effective_from=effective_from,
            effective_to=effective_to,
            notes=notes,
            file_path=upload.path_template,
            file_size_bytes=upload.size,
            job_id=job_id,
        )
        async with jobs.failed_unless_queued(use.registry, revision, job_id):
            await upload.keep_for(revision.revision_id)
            await jobs.queue_ingestion(use.queue, revision, job_id, reindex=False, request_id=request_id.get())
    return _accepted(revision, job_id, RevisionSideEffects(**vars(side_effects)) if side_effects else None)


def _accepted(revision: Revision, job_id: str, side_effects: RevisionSideEffects | None = None) -> RevisionAccepted:
    policy = f"/api/v1/policies/{revision.source}"
    this = f"{policy}/revisions/{revision.revision_id}"
    return RevisionAccepted(
        source=revision.source,
        revision_id=revision.revision_id,
        version_label=revision.version_label,
        effective_from=revision.effective_from,
        effective_to=revision.effective_to,
        status=RevisionStatus.PROCESSING,
        ingestion_job_id=job_id,
        links=RevisionLinks(self=this, status=f"{this}/status", policy=policy),
        side_effects=side_effects,
    )


def _with_the_same_dates(policy: Policy, revision_id: str, start: date, end: date | None) -> Revision:
    revision = policy.revision(revision_id)
    if revision is None:
        raise RevisionNotFound(policy.source, revision_id)
    if start != revision.effective_from or (end is not None and end != revision.effective_to):
        raise InvalidInput(
            f"A replacement has the dates of the revision it replaces: {revision_id} is in force from "
            f"{revision.effective_from} to {revision.effective_to or 'further notice'}. Upload another text as a new revision",
            field="effective_from",
        )
    return revision


async def _replace(
    use: Services, current: Revision, file: UploadFile, version_label: str, notes: str | None
) -> RevisionAccepted:
    """Put the file next to the old one under its own name, then let a job take over with it."""
    async with uploads.stored(file, current.source, use.settings) as upload:
        upload = dataclasses.replace(upload, name=f"{uuid.uuid4().hex[:8]}-{upload.name}")
        await upload.keep_for(current.revision_id)
        path = upload.path_template.replace("{revision_id}", current.revision_id)
        try:
            revision, job_id = await jobs.queue_replacement(
                use.registry,
                use.queue,
                current,
                file_path=path,
                file_size_bytes=upload.size,
                version_label=version_label,
                notes=notes,
                request_id=request_id.get(),
            )
        except TrigpointError:
            await _remove_unless_taken(use, current, path)
            raise
    return _accepted(dataclasses.replace(revision, version_label=version_label), job_id)


async def _remove_unless_taken(use: Services, current: Revision, path: str) -> None:
    """Remove a file that replaces nothing. If the registry cannot be asked, it stays: a worker may finish with it."""
    try:
        is_taken = (await use.registry.get_revision(current.source, current.revision_id)).replacement == path
    except RegistryUnavailable:
        return
    except (PolicyNotFound, RevisionNotFound):
        is_taken = False
    if not is_taken:
        await asyncio.to_thread(Path(path).unlink, missing_ok=True)


@router.get("/{revision_id}", responses=errors(404))
async def get_revision(source: str, revision_id: str, use: Use) -> RevisionDetail:
    return RevisionDetail.of(await use.registry.get_revision(source, revision_id))


@router.get("/{revision_id}/status", responses=errors(404))
async def get_revision_status(source: str, revision_id: str, use: Use) -> RevisionStatusAnswer:
    """Tell how far the ingestion is. While a job rebuilds the index, `status` is `processing`."""
    return await _status(await use.registry.get_revision(source, revision_id), use)


@router.patch("/{revision_id}", responses=errors(400, 404, 409, 413))
async def update_revision(source: str, revision_id: str, update: RevisionUpdate, use: Use) -> RevisionDetail:
    """Change the fields that are given; null clears. Dates are checked against the other revisions."""
    changes = cast(RevisionChanges, {name: getattr(update, name) for name in update.model_fields_set})
    return RevisionDetail.of(await use.registry.update_revision(source, revision_id, changes))


@router.delete("/{revision_id}", responses=errors(404, 409, 502))
async def delete_revision(
    source: str,
    revision_id: str,
    use: Use,
    restore_predecessor: Annotated[
        bool, Query(description="Delete the only active revision too, and put the one before it back in force")
    ] = False,
) -> RevisionDeleted:
    """Remove the revision, its passages and its file. May be repeated after a failure."""
    removed = await jobs.delete_revision(
        use.registry, use.queue, use.settings, source, revision_id, restore_predecessor=restore_predecessor
    )
    return RevisionDeleted(source=source, revision_id=revision_id, status="deleted", chunks_removed=removed)


@router.post("/{revision_id}/reindex", status_code=202, responses=errors(404, 409, 507))
async def reindex_revision(source: str, revision_id: str, use: Use) -> RevisionStatusAnswer:
    """Build the passages again from the stored file; the old ones answer until the new ones are there."""
    require_space(use.settings)
    await jobs.queue_reindex(use.registry, use.queue, source, revision_id, request_id=request_id.get())
    pending = RevisionProgress(phase="pending", percent_complete=0, chunks_processed=0)
    return RevisionStatusAnswer(revision_id=revision_id, status=RevisionStatus.PROCESSING, progress=pending)


@router.get("/{revision_id}/provisions", responses=errors(404))
async def list_provisions(source: str, revision_id: str, use: Use) -> RevisionProvisions:
    """List what the policy requires, and the section of this revision that states it."""
    return RevisionProvisions.of(await Placements(use.registry).of_revision(source, revision_id))


@router.put("/{revision_id}/provisions/{provision_id}", responses=errors(400, 404, 409, 413))
async def choose_section(
    source: str, revision_id: str, provision_id: str, choice: SectionChoice, use: Use
) -> PlacedProvision:
    """Confirm the section that was found, or set another. A person's word is kept through every reindex."""
    placements = Placements(use.registry)
    if choice.confirm:
        return PlacedProvision.of(await placements.confirm(source, revision_id, provision_id))
    chosen = await placements.set_section(source, revision_id, provision_id, choice.section_ref)
    return PlacedProvision.of(chosen)


@router.delete("/{revision_id}/provisions/{provision_id}", responses=errors(404))
async def forget_choice(source: str, revision_id: str, provision_id: str, use: Use) -> PlacedProvision:
    """Take a confirmation or correction back: what was found counts again."""
    return PlacedProvision.of(await Placements(use.registry).forget_choice(source, revision_id, provision_id))


@router.get("/{revision_id}/parking-standard", responses=errors(404))
async def get_parking_standard(source: str, revision_id: str, use: Use) -> ParkingStandard:
    """Return the rates of cycle parking that this revision states, if a person has stated them as data."""
    standard = await ParkingStandards(use.registry).get(source, revision_id)
    if standard is None:
        raise NoParkingStandard(source, revision_id)
    return standard


@router.put("/{revision_id}/parking-standard", responses=errors(400, 404, 409, 413))
async def put_parking_standard(source: str, revision_id: str, standard: ParkingStandard, use: Use) -> ParkingStandard:
    """State the rates of cycle parking of a local plan and the section they are in. Reviews use them first."""
    return await ParkingStandards(use.registry).put(source, revision_id, standard)


@router.delete("/{revision_id}/parking-standard", status_code=204, responses=errors(404))
async def remove_parking_standard(source: str, revision_id: str, use: Use) -> None:
    """Take the rates away: reviews use national guidance again."""
    await ParkingStandards(use.registry).remove(source, revision_id)


async def _status(revision: Revision, use: Services) -> RevisionStatusAnswer:
    progress = await use.registry.get_progress(revision)
    status = RevisionStatus.PROCESSING if revision.reindexing else revision.status
    return RevisionStatusAnswer(
        revision_id=revision.revision_id, status=status, progress=RevisionProgress(**vars(progress))
    )
