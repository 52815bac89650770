"""Revisions of a policy: upload, read, follow, change, delete, reindex."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from pydantic import BeforeValidator, StringConstraints

from trigpoint.api import uploads
from trigpoint.api.bodies import StrictRoute
from trigpoint.api.schemas.errors import errors
from trigpoint.api.schemas.policies import (
    RevisionAccepted,
    RevisionDeleted,
    RevisionDetail,
    RevisionLinks,
    RevisionProgress,
    RevisionSideEffects,
    RevisionStatusAnswer,
    RevisionUpdate,
)
from trigpoint.api.schemas.values import Day
from trigpoint.api.services import Services, Use
from trigpoint.ids import new_job_id
from trigpoint.jobs import revisions as jobs
from trigpoint.logs import request_id
from trigpoint.policies.models import Revision, RevisionChanges, RevisionStatus

router = APIRouter(prefix="/api/v1/policies/{source}/revisions", tags=["Policy Revisions"], route_class=StrictRoute)

Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
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
    notes: Annotated[str | None, Form(max_length=10_000)] = None,
) -> RevisionAccepted:
    """Upload a PDF as a new revision, and queue its ingestion."""
    await use.registry.get_policy(source)
    uploads.check_is_pdf(file)
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
    this = f"/api/v1/policies/{source}/revisions/{revision.revision_id}"
    return RevisionAccepted(
        source=source,
        revision_id=revision.revision_id,
        version_label=revision.version_label,
        effective_from=revision.effective_from,
        effective_to=revision.effective_to,
        status=revision.status,
        ingestion_job_id=job_id,
        links=RevisionLinks(self=this, status=f"{this}/status", policy=f"/api/v1/policies/{source}"),
        side_effects=RevisionSideEffects(**vars(side_effects)) if side_effects else None,
    )


@router.get("/{revision_id}", responses=errors(404))
async def get_revision(source: str, revision_id: str, use: Use) -> RevisionDetail:
    return RevisionDetail.of(await use.registry.get_revision(source, revision_id))


@router.get("/{revision_id}/status", responses=errors(404))
async def get_revision_status(source: str, revision_id: str, use: Use) -> RevisionStatusAnswer:
    """How far the ingestion is. While a job rebuilds the index, `status` is `processing`."""
    return await _status(await use.registry.get_revision(source, revision_id), use)


@router.patch("/{revision_id}", responses=errors(400, 404, 409, 413))
async def update_revision(source: str, revision_id: str, update: RevisionUpdate, use: Use) -> RevisionDetail:
    """Only the fields that are given change; null clears. Dates are checked against the other revisions (P7)."""
    changes = cast(RevisionChanges, {name: getattr(update, name) for name in update.model_fields_set})
    return RevisionDetail.of(await use.registry.update_revision(source, revision_id, changes))


@router.delete("/{revision_id}", responses=errors(404, 409, 502))
async def delete_revision(source: str, revision_id: str, use: Use) -> RevisionDeleted:
    """Remove the revision, its passages and its file. May be repeated after a failure (P8)."""
    removed = await jobs.delete_revision(use.registry, use.queue, use.settings, source, revision_id)
    return RevisionDeleted(source=source, revision_id=revision_id, status="deleted", chunks_removed=removed)


@router.post("/{revision_id}/reindex", status_code=202, responses=errors(404, 409))
async def reindex_revision(source: str, revision_id: str, use: Use) -> RevisionStatusAnswer:
    """Build the passages again from the stored file; the old ones answer until the new ones are there (P9)."""
    await jobs.queue_reindex(use.registry, use.queue, source, revision_id, request_id=request_id.get())
    pending = RevisionProgress(phase="pending", percent_complete=0, chunks_processed=0)
    return RevisionStatusAnswer(revision_id=revision_id, status=RevisionStatus.PROCESSING, progress=pending)


async def _status(revision: Revision, use: Services) -> RevisionStatusAnswer:
    progress = await use.registry.get_progress(revision)
    status = RevisionStatus.PROCESSING if revision.reindexing else revision.status
    return RevisionStatusAnswer(
        revision_id=revision.revision_id, status=status, progress=RevisionProgress(**vars(progress))
    )
