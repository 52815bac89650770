"""The policies that we ship: which they are (policies.toml), and how they get into the knowledge base.

Seeding is idempotent and heals: what is there stays, what failed or was interrupted is done again, a digest gives way
to the official text and never the other way round. Passages are made by an `Ingester`: a server, or an open store.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from trigpoint.config import Settings
from trigpoint.ending import end
from trigpoint.errors import CannotReindex, PolicyAlreadyExists, TrigpointError
from trigpoint.ids import new_job_id
from trigpoint.policies.digest import MARK, checked_note, digest_pdf, read_digest
from trigpoint.policies.models import Policy, Revision
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.policies.shipped import PolicySet, SeedPolicy, SeedRevision, load_seed
from trigpoint.storage.files import inside, sha256_file, write_atomic

_HOLD_SECONDS = 30
_RENEW_SECONDS = 8.0

__all__ = ["PolicySet", "SeedOutcome", "SeedPolicy", "SeedRevision", "Seeder", "is_digest", "load_seed"]

Ingester = Callable[[str, str, str], Awaitable[tuple[int, int]]]
"""(source, revision_id, file_path) -> (chunks, pages)"""


@dataclass(frozen=True)
class SeedOutcome:
    """The outcome for one revision. `detail` says why, if it is not obvious."""

    source: str
    version_label: str
    result: Literal["ingested", "unchanged", "kept", "missing", "busy", "failed"]
    revision_id: str | None = None
    chunks: int = 0
    detail: str = ""

    @property
    def ok(self) -> bool:
        return self.result in ("ingested", "unchanged", "kept")


def download_path(settings: Settings, policy: SeedPolicy, revision: SeedRevision) -> Path:
    """Return the path at which `fetch` puts the official document of a revision."""
    return settings.data_dir / "downloads" / "policy" / f"{policy.source}_{revision.effective_from.isoformat()}.pdf"


class Seeder:
    """Puts policies and revisions into the registry and has them ingested, one after the other, oldest first."""

    def __init__(self, settings: Settings, registry: PolicyRegistry, ingest: Ingester, *, digest: bool = False) -> None:
        self._settings = settings
        self._registry = registry
        self._ingest = ingest
        self._digest = digest

    async def seed(self, policies: Iterable[SeedPolicy]) -> AsyncIterator[SeedOutcome]:
        for policy in policies:
            await self._ensure_policy(policy)
            for revision in policy.revisions:
                yield await self._ensure_revision(policy, revision)
            await self._end_replaced(policy)

    async def _ensure_policy(self, policy: SeedPolicy) -> None:
        try:
            await self._registry.create_policy(
                policy.source, policy.title, policy.category, policy.description, policy.authorities
            )
        except PolicyAlreadyExists:
            return

    async def _end_replaced(self, policy: SeedPolicy) -> None:
        """End each replaced text on its day, even if its successor is missing or has failed."""
        registered = await self._registry.get_policy(policy.source)
        for wanted in policy.revisions:
            existing = _of_day(registered, wanted.effective_from)
            if existing is not None and wanted.effective_to is not None:
                await self._registry.mark_superseded(policy.source, existing.revision_id, wanted.effective_to)

    async def _ensure_revision(self, policy: SeedPolicy, wanted: SeedRevision) -> SeedOutcome:
        content = await asyncio.to_thread(self._content, policy, wanted)
        registered = await self._registry.get_policy(policy.source)
        existing = _of_day(registered, wanted.effective_from)
        if content is None:
            return _not_downloaded(policy, wanted, existing)
        if existing is not None and existing.queryable:
            if self._digest and not is_digest(existing):
                detail = "the official text is there; a digest does not replace it"
                return SeedOutcome(policy.source, wanted.version_label, "kept", existing.revision_id, detail=detail)
            if await asyncio.to_thread(_holds, existing, content):
                return SeedOutcome(policy.source, wanted.version_label, "unchanged", existing.revision_id)
        return await self._bring_in(registered, wanted, existing, content)

    async def _bring_in(
        self, policy: Policy, wanted: SeedRevision, existing: Revision | None, content: bytes
    ) -> SeedOutcome:
        job_id = new_job_id()
        outcome = SeedOutcome(policy.source, self._label(wanted), "failed", existing.revision_id if existing else None)
        try:
            if existing is None:
                revision = await self._create(policy, wanted, content, job_id)
            else:
                revision = await self._take_up(policy, wanted, existing, content, job_id)
        except CannotReindex:
            return _with(outcome, "busy", detail="another job is ingesting it at this moment")
        except TrigpointError as error:
            return _with(outcome, "failed", detail=error.message)
        return await self._ingest_held(revision, job_id)

    async def _create(self, policy: Policy, wanted: SeedRevision, content: bytes, job_id: str) -> Revision:
        revision, _ = await self._registry.create_revision(
            policy.source,
            version_label=self._label(wanted),
            effective_from=wanted.effective_from,
            effective_to=wanted.effective_to,
            notes=self._notes(wanted),
            file_path=str(self._file(policy.source, "{revision_id}")),
            file_size_bytes=len(content),
            job_id=job_id,
            hold_seconds=_HOLD_SECONDS,
            shorten_revision=gives_way(policy, wanted),
        )
        await asyncio.to_thread(write_atomic, self._file(policy.source, revision.revision_id), content)
        return revision

    async def _take_up(
        self, policy: Policy, wanted: SeedRevision, existing: Revision, content: bytes, job_id: str
    ) -> Revision:
        """Ingest this file again: after a failure, an interruption, or when the official text follows a digest."""
        if not existing.queryable and existing.effective_to is None and wanted.effective_to is not None:
            await self._registry.update_revision(
                policy.source, existing.revision_id, {"effective_to": wanted.effective_to}
            )
        path = self._file(policy.source, existing.revision_id)
        await self._registry.begin_reindex(
            policy.source,
            existing.revision_id,
            job_id,
            hold_seconds=_HOLD_SECONDS,
            file_path=str(path),
            file_size_bytes=len(content),
        )
        await asyncio.to_thread(write_atomic, path, content)
        return await self._registry.update_revision(
            policy.source,
            existing.revision_id,
            {"version_label": self._label(wanted), "notes": self._notes(wanted)},
        )

    async def _ingest_held(self, revision: Revision, job_id: str) -> SeedOutcome:
        source, revision_id = revision.source, revision.revision_id
        outcome = SeedOutcome(source, revision.version_label, "failed", revision_id)
        try:
            async with self._holding(revision, job_id):
                chunks, pages = await self._ingest(source, revision_id, revision.file_path or "")
        except TrigpointError as error:
            await self._registry.mark_failed(source, revision_id, error.message, job_id=job_id)
            return _with(outcome, "failed", detail=error.message)
        except BaseException:
            await asyncio.shield(self._registry.mark_failed(source, revision_id, "interrupted", job_id=job_id))
            raise
        await self._registry.mark_active(source, revision_id, chunk_count=chunks, page_count=pages, job_id=job_id)
        return SeedOutcome(source, revision.version_label, "ingested", revision_id, chunks)

    @asynccontextmanager
    async def _holding(self, revision: Revision, job_id: str) -> AsyncIterator[None]:
        async def renew() -> None:
            while True:
                await asyncio.sleep(_RENEW_SECONDS)
                await self._registry.keep_hold(
                    revision.source, revision.revision_id, job_id, hold_seconds=_HOLD_SECONDS
                )

        renewing = asyncio.create_task(renew())
        try:
            yield
        finally:
            await end(renewing)

    def _content(self, policy: SeedPolicy, revision: SeedRevision) -> bytes | None:
        if self._digest:
            return digest_pdf(read_digest(revision.digest))
        path = download_path(self._settings, policy, revision)
        return path.read_bytes() if path.is_file() else None

    def _file(self, source: str, revision_id: str) -> Path:
        name = "digest.pdf" if self._digest else f"{source.lower()}.pdf"
        return inside(self._settings.data_dir, "policy", source, revision_id, name)

    def _label(self, revision: SeedRevision) -> str:
        return f"{revision.version_label} (digest)" if self._digest else revision.version_label

    def _notes(self, revision: SeedRevision) -> str:
        return digest_notes(revision) if self._digest else f"From {revision.url or revision.landing}"


def _not_downloaded(policy: SeedPolicy, wanted: SeedRevision, existing: Revision | None) -> SeedOutcome:
    """Return the outcome of a text that was not downloaded: not missing if its digest, or an earlier text, answers."""
    if existing is None or not existing.queryable:
        advice = "not downloaded: run `trigpoint policies fetch`, or `trigpoint policies seed --digest`"
        return SeedOutcome(policy.source, wanted.version_label, "missing", detail=advice)
    what = "a digest is loaded" if is_digest(existing) else "it is loaded"
    detail = f"{what}; the official text was not downloaded (`trigpoint policies fetch`)"
    return SeedOutcome(policy.source, wanted.version_label, "kept", existing.revision_id, detail=detail)


def digest_notes(revision: SeedRevision) -> str:
    """Return the notes of a revision that a digest replaces: what it is, and what of it was checked."""
    return f"A digest {MARK}. The official text: {revision.landing} {checked_note(read_digest(revision.digest))}"


def gives_way(policy: Policy, wanted: SeedRevision) -> str | None:
    """Return the earlier revision within whose time the wanted one was in force, if there is one."""
    inside = [
        r
        for r in policy.revisions
        if wanted.effective_to is not None
        and r.effective_from < wanted.effective_from
        and r.effective_to == wanted.effective_to
    ]
    return inside[0].revision_id if inside else None


def _of_day(policy: Policy, start: date) -> Revision | None:
    return next((r for r in policy.revisions if r.effective_from == start), None)


def is_digest(revision: Revision) -> bool:
    return MARK in (revision.notes or "")


def _holds(revision: Revision, content: bytes) -> bool:
    """Return whether the revision was made of this file."""
    path = Path(revision.file_path or "")
    return path.is_file() and sha256_file(path) == hashlib.sha256(content).hexdigest()


def _with(outcome: SeedOutcome, result: Literal["busy", "failed"], *, detail: str) -> SeedOutcome:
    return SeedOutcome(outcome.source, outcome.version_label, result, outcome.revision_id, detail=detail)
