"""Adds the revisions that we know of and that are not loaded: as digests, ingested by jobs like any upload."""

from __future__ import annotations

import asyncio

from trigpoint.config import Settings
from trigpoint.ids import new_job_id
from trigpoint.jobs.queue import Queue
from trigpoint.jobs.revisions import failed_unless_queued, queue_ingestion
from trigpoint.policies.digest import digest_pdf, read_digest
from trigpoint.policies.known import MissingRevision, missing_revisions
from trigpoint.policies.models import Policy, Revision, RevisionStatus
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.policies.seed import digest_notes, gives_way
from trigpoint.storage.files import inside, write_atomic


async def add_missing_revisions(
    registry: PolicyRegistry, queue: Queue, settings: Settings, *, request_id: str
) -> list[Revision]:
    """Create and queue every known revision that is not loaded and not on its way. Safe to repeat."""
    policies = {policy.source: policy for policy in await registry.list_policies()}
    added = []
    for missing in missing_revisions(list(policies.values())):
        policy = await registry.get_policy(missing.source)
        if not _is_coming(policy, missing):
            added.append(await _add(registry, queue, settings, policy, missing, request_id))
    return added


def _is_coming(policy: Policy, missing: MissingRevision) -> bool:
    start = missing.revision.effective_from
    return any(r.status is RevisionStatus.PROCESSING and r.effective_from == start for r in policy.revisions)


async def _add(
    registry: PolicyRegistry,
    queue: Queue,
    settings: Settings,
    policy: Policy,
    missing: MissingRevision,
    request_id: str,
) -> Revision:
    wanted = missing.revision
    content = await asyncio.to_thread(lambda: digest_pdf(read_digest(wanted.digest)))
    folder = inside(settings.data_dir / "policy", policy.source)
    job_id = new_job_id()
    revision, _ = await registry.create_revision(
        policy.source,
        version_label=f"{wanted.version_label} (digest)",
        effective_from=wanted.effective_from,
        effective_to=wanted.effective_to,
        notes=digest_notes(wanted),
        file_path=str(folder / "{revision_id}" / "digest.pdf"),
        file_size_bytes=len(content),
        job_id=job_id,
        shorten_revision=gives_way(policy, wanted),
    )
    async with failed_unless_queued(registry, revision, job_id):
        await asyncio.to_thread(write_atomic, inside(folder, revision.revision_id) / "digest.pdf", content)
        await queue_ingestion(queue, revision, job_id, reindex=False, request_id=request_id)
    return revision
