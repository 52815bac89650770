"""Policy revisions and their jobs: ingestion, reindex, deletion. Passages are touched through the policy server only.

The registry says what a revision is; the queue says whether a live job holds it.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from trigpoint.config import Settings
from trigpoint.errors import (
    CannotReindex,
    JobLostRevision,
    PolicyNotFound,
    PolicyServerFailed,
    RegistryUnavailable,
    RevisionNotFound,
    ToolFailed,
    UnsafePath,
    shorten,
)
from trigpoint.ids import new_job_id
from trigpoint.jobs.queue import Lease, LeaseLost, Queue
from trigpoint.jobs.scripts import patiently
from trigpoint.jobs.tools import McpTools
from trigpoint.policies.models import IngestPhase, IngestProgress, IngestStage, Revision, RevisionStatus
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.storage.files import inside

log = logging.getLogger(__name__)

KIND = "policy_ingestion"
GIVEN_UP = "Ingestion was interrupted three times and has been given up. Reindex the revision to try again"
BROKE_OFF = "The upload broke off on our side. Upload the file again"
NOT_QUEUED = "The work could not be queued. Send the request again"
_LONGEST_STOP_SECONDS = 15.0


def _holds(source: str, revision_id: str) -> str:
    return f"jobs:revision:{source}:{revision_id}"


async def queue_ingestion(queue: Queue, revision: Revision, job_id: str, *, reindex: bool, request_id: str) -> bool:
    """Queue the job that the registry already names as the revision's holder. False: another one is queued."""
    payload = {"source": revision.source, "revision_id": revision.revision_id, "reindex": reindex}
    holds = _holds(revision.source, revision.revision_id)
    return await queue.enqueue(job_id, KIND, payload, holds=holds, request_id=request_id)


@asynccontextmanager
async def failed_unless_queued(
    registry: PolicyRegistry, revision: Revision, job_id: str, problem: str = BROKE_OFF
) -> AsyncIterator[None]:
    """Mark a revision as failed if anything breaks off before its job is queued: its predecessor returns at once.

    One that was in force already stays so, is let go, and only keeps the problem.
    """
    try:
        yield
    except BaseException:
        with suppress(RegistryUnavailable):  # the worker finds it without a job, once its hold has run out
            await asyncio.shield(registry.mark_failed(revision.source, revision.revision_id, problem, job_id=job_id))
        raise


async def queue_replacement(
    registry: PolicyRegistry,
    queue: Queue,
    current: Revision,
    *,
    file_path: str,
    file_size_bytes: int,
    version_label: str,
    notes: str | None,
    request_id: str,
) -> tuple[Revision, str]:
    """Replace a revision's text by a file that is in its place already; returns the revision and the job's id.

    The old text answers until the new one is in. Raises CannotReindex while a live job holds the revision.
    """
    source, revision_id = current.source, current.revision_id
    if await queue.holder(_holds(source, revision_id)) is not None:
        raise CannotReindex(source, revision_id)
    job_id = new_job_id()
    revision = await registry.begin_replace(
        source,
        revision_id,
        job_id,
        file_path=file_path,
        file_size_bytes=file_size_bytes,
        version_label=version_label,
        notes=notes,
    )
    await _queue_again(registry, queue, revision, job_id, request_id)
    return revision, job_id


async def queue_reindex(
    registry: PolicyRegistry, queue: Queue, source: str, revision_id: str, *, request_id: str
) -> None:
    """Queue a reindex. Raises CannotReindex while a live job holds the revision."""
    await registry.get_revision(source, revision_id)
    if await queue.holder(_holds(source, revision_id)) is not None:
        raise CannotReindex(source, revision_id)
    job_id = new_job_id()
    revision = await registry.begin_reindex(source, revision_id, job_id)
    await _queue_again(registry, queue, revision, job_id, request_id)


async def _queue_again(
    registry: PolicyRegistry, queue: Queue, revision: Revision, job_id: str, request_id: str
) -> None:
    """Queue the job that now holds an existing revision, or let go of it: the next request can have it at once."""
    async with failed_unless_queued(registry, revision, job_id, NOT_QUEUED):
        if not await queue_ingestion(queue, revision, job_id, reindex=True, request_id=request_id):
            raise CannotReindex(revision.source, revision.revision_id)


async def delete_revision(
    registry: PolicyRegistry,
    queue: Queue,
    settings: Settings,
    source: str,
    revision_id: str,
    *,
    restore_predecessor: bool = False,
) -> int:
    """Remove the job, the passages, the entry and the file, in this order, and return the number of passages.

    Safe to repeat after a crash.
    """
    revision = await registry.begin_delete(source, revision_id, restore_predecessor=restore_predecessor)
    job_id = await queue.cancel_holder(_holds(source, revision_id))
    if job_id is not None:
        await _until_gone(queue, job_id)
    removed = await _remove_passages(settings, source, revision_id)
    await registry.delete_revision(source, revision_id)
    await asyncio.to_thread(_remove_file, revision, settings)
    return removed


async def _remove_passages(settings: Settings, source: str, revision_id: str) -> int:
    async with McpTools(settings, patience=0) as tools:
        try:
            args = {"source": source, "revision_id": revision_id}
            answer = await tools.call("policy-kb", "remove_policy_revision", args)
        except ToolFailed as error:
            raise PolicyServerFailed(
                f"The policy server could not remove the passages of {revision_id}: {error.message}. Repeat the request"
            ) from None
    return int(answer["chunks_removed"])


async def _until_gone(queue: Queue, job_id: str) -> None:
    """Wait until the worker lets go of a cancelled job, so that its passages do not come after their removal."""
    deadline = asyncio.get_running_loop().time() + _LONGEST_STOP_SECONDS
    while await queue.exists(job_id):
        if asyncio.get_running_loop().time() > deadline:
            log.warning("job %s does not stop; it finds its revision gone when it ends", job_id)
            return
        await asyncio.sleep(0.1)


def _remove_file(revision: Revision, settings: Settings) -> None:
    """Remove the revision's own folder below the data folder; a file elsewhere (a seed) is not ours to remove."""
    if revision.file_path is None:
        return
    try:
        folder = inside(settings.data_dir / "policy", revision.source, revision.revision_id)
    except UnsafePath:
        return
    if Path(revision.file_path).parent == folder:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_replaced(revision: Revision, settings: Settings) -> None:
    """Remove the file whose text a replacement has taken over, if it is in the revision's own folder."""
    old, new = revision.file_path, revision.replacement
    if old is None or new is None or old == new:
        return
    with suppress(UnsafePath):
        folder = inside(settings.data_dir / "policy", revision.source, revision.revision_id)
        if Path(old).parent == folder:
            Path(old).unlink(missing_ok=True)


class IngestionJob:
    """Runs ingestions (`kind == KIND`): the tool writes passages, the job records the outcome."""

    def __init__(self, registry: PolicyRegistry, queue: Queue, settings: Settings) -> None:
        self._registry = registry
        self._queue = queue
        self._settings = settings

    async def run(self, lease: Lease) -> None:
        source, revision_id = lease.payload["source"], lease.payload["revision_id"]
        if not await patiently(lambda: self._keep(lease, None), what="holding a revision"):
            raise LeaseLost
        try:
            revision = await patiently(
                lambda: self._registry.get_revision(source, revision_id), what="reading a revision"
            )
        except (PolicyNotFound, RevisionNotFound):
            return
        log.info("ingestion of %s starts, try %d", revision_id, lease.tries)
        async with McpTools(self._settings) as tools:
            try:
                answer = await self._ingest(tools, lease, revision)
            except ToolFailed as error:
                await self._failed(lease, error.message)
                return
            try:
                await self._active(lease, answer)
                await asyncio.to_thread(_remove_replaced, revision, self._settings)
            except RevisionNotFound:
                log.info("%s was deleted while it was ingested; its passages go too", revision_id)
                args = {"source": source, "revision_id": revision_id}
                await tools.call("policy-kb", "remove_policy_revision", args)

    async def _ingest(self, tools: McpTools, lease: Lease, revision: Revision) -> dict[str, Any]:
        async def progress(done: float, total: float | None, message: str | None) -> None:
            percent = min(99, int(100 * done / total)) if total else 0
            shown = _progress(percent, message or "")
            if not await patiently(lambda: self._keep(lease, shown), what="recording progress"):
                log.info("%s is no longer ours", revision.revision_id)

        args = {
            "source": revision.source,
            "revision_id": revision.revision_id,
            "file_path": revision.replacement or revision.file_path or "",
            "reindex": True,  # the job holds the revision; an earlier try may have left its passages
        }
        return await tools.call("policy-kb", "ingest_policy_revision", args, progress=progress)

    async def _keep(self, lease: Lease, progress: IngestProgress | None) -> bool:
        return await self._registry.keep_hold(
            lease.payload["source"], lease.payload["revision_id"], lease.job_id, progress=progress
        )

    async def _active(self, lease: Lease, answer: dict[str, Any]) -> None:
        await patiently(
            lambda: self._registry.mark_active(
                lease.payload["source"],
                lease.payload["revision_id"],
                chunk_count=int(answer["chunks_created"]),
                page_count=int(answer["page_count"]),
                job_id=lease.job_id,
            ),
            what="recording an ingestion",
        )
        log.info("ingestion of %s: %s passages", lease.payload["revision_id"], answer["chunks_created"])

    async def _failed(self, lease: Lease, problem: str) -> None:
        source, revision_id = lease.payload["source"], lease.payload["revision_id"]
        log.warning("ingestion of %s failed: %s", revision_id, problem)
        try:
            await patiently(
                lambda: self._registry.mark_failed(source, revision_id, shorten(problem, 500), job_id=lease.job_id),
                what="recording a failure",
            )
        except (PolicyNotFound, RevisionNotFound, JobLostRevision) as error:
            log.info("%s: %s", revision_id, error.message)

    async def give_up(self, lease: Lease, problem: str) -> None:
        await self._failed(lease, problem or GIVEN_UP)

    async def take_up_orphans(self) -> None:
        """Queue what a crash left between the registry and the queue: work that was begun and that no job holds."""
        for policy in await self._registry.list_policies():
            for revision in policy.revisions:
                left_alone = revision.status is RevisionStatus.PROCESSING or revision.replacement is not None
                if not left_alone or revision.held_by is not None:
                    continue
                if revision.file_path is None or await self._queue.holder(_holds(policy.source, revision.revision_id)):
                    continue
                try:
                    await queue_reindex(
                        self._registry, self._queue, policy.source, revision.revision_id, request_id="-"
                    )
                except (CannotReindex, RevisionNotFound):
                    continue
                log.info("%s had no job any more; queued again", revision.revision_id)


def _progress(percent: int, message: str) -> IngestProgress:
    stage = IngestStage.from_message(message)
    if stage is None:
        return IngestProgress("ingesting", percent, 0)
    chunks = 0 if stage.phase is IngestPhase.EXTRACTING else stage.done
    return IngestProgress(stage.phase.value, percent, chunks)
