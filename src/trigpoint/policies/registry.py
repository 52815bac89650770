"""The policy registry in Redis: policies, their revisions, and the rules that keep at most one in force on a day.

Every change is one Lua step (registry.lua), every read one snapshot in one round trip. Passages live elsewhere;
they follow what is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from redis.asyncio import Redis

from trigpoint.dates import days_since_epoch, micro_timestamp, now
from trigpoint.errors import (
    CannotReindex,
    InvalidInput,
    PolicyAlreadyExists,
    PolicyNotFound,
    RevisionNotFound,
)
from trigpoint.ids import parse_policy_source, revision_id_candidates
from trigpoint.policies.models import (
    IngestProgress,
    Policy,
    PolicyCategory,
    PolicyChanges,
    Revision,
    RevisionChanges,
    RevisionStatus,
    SideEffects,
)
from trigpoint.policies.records import (
    authorities_text,
    field_text,
    policy_of,
    revision_of,
    side_effects_of,
)
from trigpoint.policies.registry_script import RegistryScript, raise_refusal, reversed_dates

HOLD_SECONDS = 600
_CHUNKS_DUE = "policy_chunks_due"


class PolicyRegistry:
    """Policies and revisions. Refused calls raise an error of the policy tree and change nothing."""

    def __init__(self, redis: Redis) -> None:
        self._script = RegistryScript(redis)

    # Policies

    async def create_policy(
        self,
        source: str,
        title: str,
        category: PolicyCategory,
        description: str | None = None,
        authorities: Sequence[str] = (),
    ) -> Policy:
        parse_policy_source(source)
        fields = {
            "source": source,
            "title": title,
            "description": description or "",
            "category": PolicyCategory(category).value,
            "created_at": micro_timestamp(now()),
            "updated_at": "",
        }
        if authorities:
            fields["authorities"] = authorities_text(authorities)
        reply = await self._script.step("create_policy", source=source, fields=fields)
        if "refused" in reply:
            raise PolicyAlreadyExists(source)
        return await self.get_policy(source)

    async def update_policy(self, source: str, changes: PolicyChanges) -> Policy:
        fields = {name: field_text(value) for name, value in changes.items() if name != "authorities"}
        if "authorities" in changes:
            fields["authorities"] = authorities_text(changes["authorities"])
        if fields.get("title") == "" or fields.get("category") == "":
            raise InvalidInput("title and category cannot be null or empty. Leave them out to keep them")
        if fields:
            raise_refusal(await self._script.step("update_policy", source=source, fields=fields), source)
        return await self.get_policy(source)

    async def get_policy(self, source: str) -> Policy:
        policies = await self._read([source])
        if not policies:
            raise PolicyNotFound(source)
        return policies[0]

    async def list_policies(self, category: PolicyCategory | None = None, source: str | None = None) -> list[Policy]:
        """Return all policies with their revisions, by slug, in one round trip."""
        policies = await self._read(None if source is None else [source])
        return sorted((p for p in policies if category is None or p.category == category), key=lambda p: p.source)

    # Revisions

    async def get_revision(self, source: str, revision_id: str) -> Revision:
        revision = (await self.get_policy(source)).revision(revision_id)
        if revision is None:
            raise RevisionNotFound(source, revision_id)
        return revision

    async def list_revisions(self, source: str) -> list[Revision]:
        """Return the revisions, newest first."""
        return list((await self.get_policy(source)).revisions)

    async def create_revision(
        self,
        source: str,
        *,
        version_label: str,
        effective_from: date,
        effective_to: date | None = None,
        notes: str | None = None,
        file_path: str | None = None,
        file_size_bytes: int | None = None,
        job_id: str | None = None,
        hold_seconds: int = HOLD_SECONDS,
        shorten_revision: str | None = None,
    ) -> tuple[Revision, SideEffects | None]:
        """Check the dates, create the revision, and supersede its predecessor, in one step.

        `shorten_revision` names an earlier revision with the same last day that gives way from `effective_from` on: for a
        revision that was missing between two others.

        `{revision_id}` in `file_path` is replaced by the id, which is only known once the revision is created.
        `job_id` is the job that will ingest it and holds it from now on.
        """
        if effective_to is not None and effective_to < effective_from:
            raise reversed_dates(effective_from.isoformat(), effective_to.isoformat())
        fields = {
            "source": source,
            "version_label": version_label,
            "effective_from": effective_from.isoformat(),
            "effective_to": field_text(effective_to),
            "status": RevisionStatus.PROCESSING.value,
            "file_path": file_path or "",
            "file_size_bytes": field_text(file_size_bytes),
            "page_count": "",
            "chunk_count": "",
            "notes": notes or "",
            "created_at": micro_timestamp(now()),
            "ingested_at": "",
            "error": "",
        }
        reply = await self._script.step(
            "create_revision",
            source=source,
            fields=fields,
            ids=revision_id_candidates(source, effective_from),
            score=days_since_epoch(effective_from),
            job_id=job_id,
            hold_seconds=hold_seconds,
            shorten=shorten_revision,
        )
        raise_refusal(reply, source)
        warned_end = None if shorten_revision is not None else effective_to
        return revision_of(reply["revision"], reply.get("held_by")), side_effects_of(reply, warned_end)

    async def update_revision(self, source: str, revision_id: str, changes: RevisionChanges) -> Revision:
        """Change a revision: absent fields stay, None clears. Dates are checked against all others; neighbours stay."""
        fields = {name: field_text(value) for name, value in changes.items()}
        if fields.get("version_label") == "" or fields.get("effective_from") == "":
            raise InvalidInput("version_label and effective_from cannot be null or empty. Leave them out to keep them")
        if not fields:
            return await self.get_revision(source, revision_id)
        start = changes.get("effective_from")
        reply = await self._script.step(
            "update_revision",
            source=source,
            id=revision_id,
            fields=fields,
            score=None if start is None else days_since_epoch(start),
        )
        raise_refusal(reply, source, revision_id)
        return revision_of(reply["revision"], reply.get("held_by"))

    async def mark_active(
        self, source: str, revision_id: str, *, chunk_count: int, page_count: int, job_id: str | None = None
    ) -> Revision:
        """Record that its passages are there: from now on it answers. Also ends a reindex."""
        reply = await self._script.step(
            "mark_active",
            source=source,
            id=revision_id,
            chunk_count=chunk_count,
            page_count=page_count,
            job_id=job_id,
        )
        raise_refusal(reply, source, revision_id)
        return revision_of(reply["revision"], None)

    async def mark_superseded(self, source: str, revision_id: str, effective_to: date) -> Revision:
        """Record that a newer text, registered or not, took over after that day. Dates given by hand stay."""
        reply = await self._script.step(
            "mark_superseded", source=source, id=revision_id, effective_to=field_text(effective_to)
        )
        raise_refusal(reply, source, revision_id)
        return revision_of(reply["revision"], reply.get("held_by"))

    async def mark_failed(self, source: str, revision_id: str, error: str, *, job_id: str | None = None) -> Revision:
        """Record that it could not be ingested: its predecessor is restored. A failed reindex only leaves its error."""
        reply = await self._script.step("mark_failed", source=source, id=revision_id, error=error, job_id=job_id)
        raise_refusal(reply, source, revision_id)
        return revision_of(reply["revision"], None)

    async def mark_lost(self, source: str, revision_id: str, error: str) -> Revision:
        """Record that its passages are lost for good: it is `failed`, and its neighbours stay as they are."""
        reply = await self._script.step("mark_lost", source=source, id=revision_id, error=error)
        raise_refusal(reply, source, revision_id)
        return revision_of(reply["revision"], reply.get("held_by"))

    async def begin_reindex(
        self,
        source: str,
        revision_id: str,
        job_id: str,
        *,
        hold_seconds: int = HOLD_SECONDS,
        file_path: str | None = None,
        file_size_bytes: int | None = None,
    ) -> Revision:
        """Take the revision for a job. A failed one is `processing` again, if its dates are still free.

        With `file_path`, another file becomes the revision's.
        """
        reply = await self._script.step(
            "begin_reindex",
            source=source,
            id=revision_id,
            job_id=job_id,
            hold_seconds=hold_seconds,
            file_path=file_path,
            file_size_bytes=field_text(file_size_bytes),
        )
        if reply.get("refused") == "held":
            raise CannotReindex(source, revision_id)
        raise_refusal(reply, source, revision_id)
        return revision_of(reply["revision"], reply.get("held_by"))

    async def begin_replace(
        self,
        source: str,
        revision_id: str,
        job_id: str,
        *,
        file_path: str,
        file_size_bytes: int,
        version_label: str,
        notes: str | None,
        hold_seconds: int = HOLD_SECONDS,
    ) -> Revision:
        """Take the revision for a job that replaces its text. File, label and notes change when the new text is in."""
        fields = {
            "file_path": file_path,
            "file_size_bytes": str(file_size_bytes),
            "version_label": version_label,
            "notes": notes or "",
        }
        reply = await self._script.step(
            "begin_replace", source=source, id=revision_id, job_id=job_id, hold_seconds=hold_seconds, fields=fields
        )
        if reply.get("refused") == "held":
            raise CannotReindex(source, revision_id)
        raise_refusal(reply, source, revision_id)
        return revision_of(reply["revision"], reply.get("held_by"))

    async def keep_hold(
        self,
        source: str,
        revision_id: str,
        job_id: str,
        *,
        progress: IngestProgress | None = None,
        hold_seconds: int = HOLD_SECONDS,
    ) -> bool:
        """Return the job is alive, and so far. False: it has lost the revision (deleted, or taken by another job)."""
        reply = await self._script.step(
            "hold",
            source=source,
            id=revision_id,
            job_id=job_id,
            hold_seconds=hold_seconds,
            progress=None if progress is None else vars(progress),
        )
        return bool(reply["held"])

    async def get_progress(self, revision: Revision) -> IngestProgress:
        """Return what `/status` shows of a revision."""
        stored = await self._script.command("HGETALL", f"policy_progress:{revision.source}:{revision.revision_id}")
        if stored and (revision.status is RevisionStatus.PROCESSING or revision.reindexing):
            return IngestProgress(stored["phase"], int(stored["percent_complete"]), int(stored["chunks_processed"]))
        if revision.status is RevisionStatus.PROCESSING or revision.reindexing:
            return IngestProgress("pending", 0, 0)
        if revision.status is RevisionStatus.FAILED:
            return IngestProgress("failed", 0, 0)
        return IngestProgress("complete", 100, revision.chunk_count or 0)

    async def begin_delete(self, source: str, revision_id: str, *, restore_predecessor: bool = False) -> Revision:
        """Begin a deletion: from this step on the revision answers no more and its predecessor is restored.

        Its passages go next, then `delete_revision`. May be repeated after a crash. Refuses the sole active one, unless
        `restore_predecessor` is set and there is an earlier revision that takes its place.
        """
        reply = await self._script.step("begin_delete", source=source, id=revision_id, restore=restore_predecessor)
        raise_refusal(reply, source, revision_id)
        return revision_of(reply["revision"], None)

    async def delete_revision(self, source: str, revision_id: str) -> Revision:
        """Remove the entry; returns what it was, so that its file can be removed."""
        revision = await self.begin_delete(source, revision_id)
        await self._script.step("finish_delete", source=source, id=revision_id)
        return revision

    # For the owner of the passages

    async def unfinished_deletions(self) -> list[tuple[str, str]]:
        """Return (source, revision id) of deletions that a crash interrupted."""
        reply = await self._script.step("deleting", source="")
        return [(source, revision_id) for source, revision_id in reply["deleting"] or []]

    async def policies_due(self) -> dict[str, str]:
        """Return the policies whose passages' metadata may be behind the registry, each with its last known change."""
        due: dict[str, str] = await self._script.command("HGETALL", _CHUNKS_DUE)
        return due

    async def settle(self, source: str, seen: str) -> None:
        """Record that its passages are up to date with that change; a later one leaves it due."""
        await self._script.step("settle", source=source, seen=seen)

    # Where revisions state provisions (see placements.py)

    async def put_placements(self, revision: Revision, fields: dict[str, str]) -> bool:
        """Record what was found in the revision's text. False: the text has been replaced or deleted since."""
        stamp = "" if revision.ingested_at is None else micro_timestamp(revision.ingested_at)
        reply = await self._script.step(
            "put_placements", source=revision.source, id=revision.revision_id, ingested_at=stamp, fields=fields
        )
        return bool(reply["put"])

    async def choose_section(self, source: str, revision_id: str, provision_id: str, choice: str | None) -> None:
        """Record a person's choice for one provision (JSON), or take it back with None."""
        reply = await self._script.step(
            "choose_section", source=source, id=revision_id, provision=provision_id, choice=choice
        )
        raise_refusal(reply, source, revision_id)

    async def read_placements(
        self, source: str, revision_ids: list[str]
    ) -> dict[str, tuple[dict[str, str], dict[str, str]]]:
        """Return by revision what was found and what people chose, as stored."""
        reply = await self._script.step("read_placements", source=source, ids=revision_ids)
        placements = reply["placements"] or []
        return {item["id"]: (dict(item["placements"] or {}), dict(item["choices"] or {})) for item in placements}

    # The parking standard that a revision states (see parking.py)

    async def put_parking(self, source: str, revision_id: str, standard: str | None) -> None:
        """Record the revision's parking standard (JSON), or take it away with None."""
        reply = await self._script.step("put_parking", source=source, id=revision_id, standard=standard)
        raise_refusal(reply, source, revision_id)

    async def read_parking(self, source: str, revision_id: str) -> str | None:
        """Return the revision's parking standard as stored, or None."""
        standard: str | None = (await self._script.step("read_parking", source=source, id=revision_id)).get("standard")
        return standard

    async def _read(self, sources: list[str] | None) -> list[Policy]:
        reply = await self._script.step("read", source="", sources=sources)
        return [policy_of(entry) for entry in reply["policies"] or []]
