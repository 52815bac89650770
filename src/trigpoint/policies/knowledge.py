"""The policy knowledge base: what the registry says is in force, answered from the passages.

Used by the owner of the store: the policy server, or the CLI if no server runs. Slow work goes to threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.dates import today
from trigpoint.errors import (
    Cancelled,
    PolicyNotFound,
    RegistryUnavailable,
    RevisionHasPassages,
    RevisionNotFound,
    SectionNotFound,
    TrigpointError,
    shorten,
)
from trigpoint.ids import new_job_id
from trigpoint.passages.joining import joined
from trigpoint.passages.model import Hit
from trigpoint.passages.search import SearchMode
from trigpoint.passages.serving import Threads
from trigpoint.policies.ingest import IngestedRevision, PolicyIngest, Report
from trigpoint.policies.lost import LostRevisions
from trigpoint.policies.models import Policy, Revision
from trigpoint.policies.parking import ParkingStandards, StatedStandard
from trigpoint.policies.passages import PolicyChromaClient, pages_of, revision_metadata
from trigpoint.policies.placements import ProvisionsInForce, provisions_in_force
from trigpoint.policies.placing import Placer
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.policies.scope import Scope, scope_of
from trigpoint.policies.section_lookup import find_section, nearest, overview, point_of
from trigpoint.storage.redis import open_redis

log = logging.getLogger(__name__)

_INGESTS_AT_ONCE = 2
_READS_AT_ONCE = 4
_SETTLE_SECONDS = 2.0


@dataclass(frozen=True)
class SectionNote:
    """A table, a figure or a footnote of a section."""

    section_ref: str
    text: str
    page_numbers: tuple[int, ...]


@dataclass(frozen=True)
class Section:
    """A section of one revision, whole: a chapter with its `children`. `point` is the point of a list asked for."""

    revision: Revision
    section_ref: str
    text: str
    page_numbers: tuple[int, ...]
    notes: tuple[SectionNote, ...] = ()
    children: tuple[str, ...] = ()
    point: str | None = None


class PolicyKnowledge:
    """Registry and passages together. `open_knowledge` makes one."""

    def __init__(self, settings: Settings, registry: PolicyRegistry, passages: PolicyChromaClient) -> None:
        self._settings = settings
        self.registry = registry
        self.passages = passages
        self._ingest = PolicyIngest(settings, passages)
        self._ingests = Threads(_INGESTS_AT_ONCE, thread_name_prefix="policy-ingest")
        self._reads = Threads(_READS_AT_ONCE, thread_name_prefix="policy-read")
        self._busy: dict[str, asyncio.Lock] = {}
        self._stopping = threading.Event()
        self.placer = Placer(registry, passages, self._reads.run, cancelled=self._stopping.is_set)
        self._to_place: set[str] = set()  # policies whose placements may be behind
        self._placed_since_start = False
        self.lost = LostRevisions(registry, self._count, self._ingest_again)

    async def search(
        self,
        query: str,
        *,
        sources: Sequence[str] | None = None,
        effective_date: date | None = None,
        n_results: int = 10,
        mode: SearchMode = "semantic",
    ) -> list[Hit]:
        """Return the best passages of the revisions in force on that date, or of all ingested ones without a date.

        No `sources` means all of them.
        """
        scope = await self.scope(sources, None, effective_date)
        return await self.search_in(scope, query, effective_date, n_results, mode)

    async def scope(self, sources: Sequence[str] | None, authority: str | None, day: date | None) -> Scope:
        """Return the policies that a question is about, with what its answer should warn of."""
        scope = scope_of(await self.registry.list_policies(), sources, authority, day)
        self.lost.require_none(scope.policies)
        return scope

    async def search_in(
        self, scope: Scope, query: str, effective_date: date | None, n_results: int, mode: SearchMode
    ) -> list[Hit]:
        """Search the policies of a scope. Labels are those of the registry, also while the passages' lag behind."""
        revision_ids = answering(scope.policies, effective_date)
        hits = await self._reads.run(partial(self.passages.search, query, n_results, revision_ids, mode))
        labels = {r.revision_id: r.version_label for policy in scope.policies for r in policy.revisions}
        return [_relabelled(hit, labels[hit.passage.document_id]) for hit in hits]

    async def section(self, source: str, section_ref: str, revision_id: str | None = None) -> Section:
        """Return every passage of that section, of one revision only. Raises SectionNotFound."""
        try:
            policy = await self.registry.get_policy(source)
        except PolicyNotFound:
            raise SectionNotFound(source, section_ref, "There is no such policy") from None
        self.lost.require_none([policy])
        revision = _wanted(policy, revision_id)
        if revision is None:
            raise SectionNotFound(source, section_ref, _without_revision(policy, revision_id))
        return await self._reads.run(partial(self._section, revision, section_ref))

    async def provisions(
        self,
        day: date,
        *,
        sources: Sequence[str] | None = None,
        provision_ids: Sequence[str] | None = None,
        authority: str | None = None,
    ) -> ProvisionsInForce:
        """Return what the policies in force on a day require of a site there, and where they say so."""
        scope = await self.scope(sources, authority, day)
        placements = await self.placer.in_force(scope.policies, day)
        return provisions_in_force(scope, placements, day, provision_ids)

    async def parking_standards(
        self, day: date, *, sources: Sequence[str] | None = None, authority: str | None = None
    ) -> list[StatedStandard]:
        """Return the parking standards that the policies in force on a day state for a site there."""
        scope = await self.scope(sources, authority, day)
        return await ParkingStandards(self.registry).in_force(scope.policies, day)

    async def ingest(
        self,
        source: str,
        revision_id: str,
        file_path: str,
        *,
        reindex: bool = True,
        report: Report = lambda done, total, message: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> IngestedRevision:
        """Make the file's passages the revision's, one ingestion at a time for each revision.

        Without `reindex` a revision that has passages is refused. If no job holds the revision, what was ingested is
        recorded in the registry here, so that both agree.
        """
        path = await asyncio.to_thread(self._ingest.find_file, file_path)
        async with self._busy.setdefault(revision_id, asyncio.Lock()):
            policy, revision = await self._registered(source, revision_id)
            if not reindex and await self._reads.run(partial(self.passages.count, revision_id)) > 0:
                raise RevisionHasPassages(source, revision_id)
            async with self._recorded(revision, path) as record:
                ingested = await self._ingests.run(
                    partial(
                        self._ingest.ingest,
                        policy,
                        revision,
                        path,
                        report=report,
                        cancelled=lambda: cancelled() or self._stopping.is_set(),
                    )
                )
                try:
                    await self._registered(source, revision_id)
                except RevisionNotFound:  # deleted while it was being read: leave nothing behind
                    await self.remove(source, revision_id)
                    raise
                record.append(ingested)
        await self.settle()
        return ingested

    @asynccontextmanager
    async def _recorded(self, revision: Revision, path: Path) -> AsyncIterator[list[IngestedRevision]]:
        """Hold a revision that answers and that no job holds, and record what was ingested; else leave that to the job."""
        made: list[IngestedRevision] = []
        if not revision.queryable or revision.held_by is not None:
            yield made
            return
        job_id, source, revision_id = new_job_id(), revision.source, revision.revision_id
        size = await asyncio.to_thread(lambda: path.stat().st_size)
        await self.registry.begin_reindex(source, revision_id, job_id, file_path=str(path), file_size_bytes=size)
        try:
            yield made
        except BaseException as error:
            reason = error.message if isinstance(error, TrigpointError) else "interrupted"
            with contextlib.suppress(RevisionNotFound, PolicyNotFound):
                await asyncio.shield(self.registry.mark_failed(source, revision_id, reason, job_id=job_id))
            raise
        await self.registry.mark_active(
            source, revision_id, chunk_count=made[0].chunks_created, page_count=made[0].page_count, job_id=job_id
        )

    async def remove(self, source: str, revision_id: str) -> int:
        """Remove a revision's passages; returns how many there were."""
        return await self._ingests.run(partial(self.passages.delete_revision_chunks, source, revision_id))

    async def settle(self) -> None:
        """Let the passages' metadata follow what the registry decided since the last time."""
        due = await self.registry.policies_due()
        for source, seen in due.items():
            try:
                policy = await self.registry.get_policy(source)
            except PolicyNotFound:
                policy = None
            for revision in policy.revisions if policy else ():
                shared = revision_metadata(policy, revision) if policy else {}
                await self._ingests.run(partial(self.passages.update_revision_metadata, revision.revision_id, shared))
            await self.registry.settle(source, seen)
            self._to_place.add(source)

    async def place_provisions(self) -> None:
        """Find the provisions in every text whose placements are behind."""
        policies = {policy.source for policy in await self.registry.list_policies()}
        behind = policies & self._to_place if self._placed_since_start else policies
        self._to_place -= behind
        try:
            for source in sorted(behind):
                await self.placer.bring_up_to_date(source)
        except BaseException:
            self._to_place |= behind
            raise
        self._placed_since_start = True

    async def repair(self) -> None:
        """Repair what a crash left: finish deletions, bring metadata up to date, and read the passages."""
        for source, revision_id in await self.registry.unfinished_deletions():
            removed = await self.remove(source, revision_id)
            await self.registry.delete_revision(source, revision_id)
            log.info("Finished the interrupted deletion of %s (%d passages)", revision_id, removed)
        await self.settle()
        await self._ingests.run(
            self.passages.count
        )  # reads the passages into memory, so that no search has to wait for it
        await self.lost.find()

    async def _count(self, revision_id: str) -> int:
        return await self._reads.run(partial(self.passages.count, revision_id))

    async def _ingest_again(self, revision: Revision) -> None:
        stored = Path(revision.file_path or "missing")
        here = self._settings.data_dir / "policy" / revision.source / revision.revision_id / stored.name
        path = here if here.is_file() else stored  # the data folder may have been moved
        await self.ingest(revision.source, revision.revision_id, str(path))

    async def repaired(self) -> bool:
        """Repair, and return False if the registry cannot be reached: tools say so, and it is tried again."""
        try:
            await self.repair()
        except RegistryUnavailable as error:
            log.warning("%s", error.message)
            return False
        return True

    async def keep_settled(self, ended: asyncio.Event, *, repaired: bool) -> None:
        """Settle until the end; repair first, if the registry could not be reached at the start."""
        while not ended.is_set():
            try:
                if not repaired:
                    await self.repair()
                repaired = True
                await self.lost.rebuild()
                await self.settle()
                await self.place_provisions()
            except Cancelled:
                return
            except TrigpointError as error:
                log.warning("Policy metadata could not be brought up to date, will try again: %s", error.message)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _SETTLE_SECONDS)

    def begin_stop(self) -> None:
        """Let work under way stop at its next safe point."""
        self._stopping.set()

    def close(self) -> None:
        """Work under way stops at its next safe point; then the store is closed."""
        self.begin_stop()
        self._ingests.shutdown(cancel_futures=True)
        self._reads.shutdown(cancel_futures=True)
        self._ingest.processor.close()
        self.passages.close()

    async def _registered(self, source: str, revision_id: str) -> tuple[Policy, Revision]:
        try:
            policy = await self.registry.get_policy(source)
        except PolicyNotFound:
            raise RevisionNotFound(source, revision_id) from None
        revision = policy.revision(revision_id)
        if revision is None:
            raise RevisionNotFound(source, revision_id)
        return policy, revision

    def _section(self, revision: Revision, section_ref: str) -> Section:
        passages = self.passages.passages_of(revision.revision_id)
        refs = [str(passage.metadata["section_ref"]) for passage in passages]
        match = find_section(refs, [passage.text for passage in passages], section_ref)
        if match is None:
            raise SectionNotFound(revision.source, section_ref, _searched(revision, refs, section_ref))

        def part(indexes: Sequence[int]) -> tuple[str, tuple[int, ...]]:
            chosen = [passages[index] for index in indexes]
            return joined(chosen), pages_of(chosen)

        text, pages = part(match.passages)
        notes = tuple(SectionNote(ref, *part(indexes)) for ref, indexes in match.notes.items())
        point = point_of(text, match.point) if match.point else None
        return Section(revision, match.section_ref, text, pages, notes, match.children, point)


@asynccontextmanager
async def open_knowledge(settings: Settings, *, whole: bool = False) -> AsyncIterator[PolicyKnowledge]:
    """Open the stores, repair what a crash left, and keep the passages in step with the registry until the end.

    With `whole`, wait until lost passages have been rebuilt; else questions about them are refused meanwhile.
    """
    async with open_redis(settings) as redis:
        passages = await asyncio.to_thread(PolicyChromaClient, settings)
        knowledge = PolicyKnowledge(settings, PolicyRegistry(redis), passages)
        try:
            repaired = await knowledge.repaired()
            if whole:
                await knowledge.lost.rebuild()
            ended = asyncio.Event()
            keeper = asyncio.create_task(knowledge.keep_settled(ended, repaired=repaired))
            try:
                yield knowledge
            finally:
                knowledge.begin_stop()
                ended.set()  # not cancelled: it may be in the middle of a change
                await asyncio.gather(keeper, return_exceptions=True)
        finally:
            await asyncio.to_thread(knowledge.close)


def answering(policies: Sequence[Policy], effective_date: date | None) -> list[str]:
    """Return the revisions whose passages may answer: those in force on the date, or all that are ingested."""
    if effective_date is None:
        return [r.revision_id for p in policies for r in p.revisions if r.queryable]
    in_force = (policy.in_force(effective_date) for policy in policies)
    return [revision.revision_id for revision in in_force if revision is not None]


def _relabelled(hit: Hit, label: str) -> Hit:
    passage = hit.passage
    return replace(hit, passage=replace(passage, metadata={**passage.metadata, "version_label": label}))


def _wanted(policy: Policy, revision_id: str | None) -> Revision | None:
    """Return the revision asked for, whatever its state; else the one in force today, else the latest readable one."""
    if revision_id is not None:
        return policy.revision(revision_id)
    return policy.in_force(today()) or next((r for r in policy.revisions if r.queryable), None)


def _without_revision(policy: Policy, revision_id: str | None) -> str:
    """Return words that say that no text was searched, because there is none."""
    if revision_id is None:
        return "It has no revision that has been ingested"
    known = ", ".join(revision.revision_id for revision in policy.revisions)
    return f"It has no revision '{shorten(revision_id)}'" + (f", but {known}" if known else "")


def _searched(revision: Revision, refs: Sequence[str], section_ref: str) -> str:
    """Return words that say where a section was looked for in vain, and what is there instead."""
    where = f"Searched the revision {revision.version_label} ({revision.revision_id})"
    if not refs:
        return f"{where}, which has no passages yet"
    near = nearest(refs, section_ref)
    return f"{where}. Nearest: {', '.join(near)}" if near else f"{where}, which has {overview(refs)}"
