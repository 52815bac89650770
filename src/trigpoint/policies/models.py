"""The registry's records as values: a policy, its revisions, and what a new revision took from an older one.

`Policy.timeline` says which revision answers for which days; every dated question is answered from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, TypedDict

from trigpoint.ids import UNKNOWN_AUTHORITY

ONE_DAY = timedelta(days=1)


class PolicyCategory(StrEnum):
    NATIONAL_POLICY = "national_policy"
    NATIONAL_GUIDANCE = "national_guidance"
    LOCAL_PLAN = "local_plan"
    LOCAL_GUIDANCE = "local_guidance"
    COUNTY_STRATEGY = "county_strategy"
    SUPPLEMENTARY = "supplementary"


class RevisionStatus(StrEnum):
    PROCESSING = "processing"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    FAILED = "failed"


QUERYABLE = frozenset({RevisionStatus.ACTIVE, RevisionStatus.SUPERSEDED})


@dataclass(frozen=True)
class Revision:
    """One dated text of a policy. `held_by` is the job that works on it now, if one does."""

    revision_id: str
    source: str
    version_label: str
    effective_from: date
    effective_to: date | None
    status: RevisionStatus
    file_path: str | None
    file_size_bytes: int | None
    page_count: int | None
    chunk_count: int | None
    notes: str | None
    created_at: datetime
    ingested_at: datetime | None
    error: str | None
    held_by: str | None = None
    replacement: str | None = None  # the file of a text that a job is bringing in, in place of `file_path`

    @property
    def queryable(self) -> bool:
        """Its text has been ingested and may answer."""
        return self.status in QUERYABLE

    @property
    def reindexing(self) -> bool:
        """A job rebuilds its passages while the old ones go on answering."""
        return self.queryable and self.held_by is not None


@dataclass(frozen=True)
class Supersession:
    """The state of a revision before its successor was created."""

    revision_id: str
    effective_to: date | None
    status: RevisionStatus


@dataclass(frozen=True)
class Span:
    """The days for which a revision answers. `end` None: no end."""

    revision: Revision
    start: date
    end: date | None

    def covers(self, day: date) -> bool:
        return self.start <= day and (self.end is None or day <= self.end)


@dataclass(frozen=True)
class Policy:
    """A policy with its revisions, newest first, read in one step."""

    source: str
    title: str
    description: str | None
    category: PolicyCategory
    created_at: datetime
    updated_at: datetime | None
    revisions: tuple[Revision, ...] = ()
    supersessions: Mapping[str, Supersession] = field(default_factory=dict)  # by the successor's id
    authorities: tuple[str, ...] = ()  # slugs of the planning authorities that it applies to; none: all of England

    def applies_to(self, authority: str | None) -> bool:
        """Return whether the policy applies to a site of that authority.

        None asks about no site: nothing is left out. Nothing local applies to a site whose authority is not known.
        """
        if authority == UNKNOWN_AUTHORITY:
            return not self.local and not self.authorities
        return authority is None or not self.authorities or authority in self.authorities

    @property
    def local(self) -> bool:
        return self.category not in (PolicyCategory.NATIONAL_POLICY, PolicyCategory.NATIONAL_GUIDANCE)

    def revision(self, revision_id: str) -> Revision | None:
        return next((r for r in self.revisions if r.revision_id == revision_id), None)

    @property
    def timeline(self) -> tuple[Span, ...]:
        """The revisions that answer and their days, oldest first: no day twice.

        A revision whose successor is still being ingested answers as if it had not been superseded, up to the
        next one that can answer.
        """
        queryable = sorted((r for r in self.revisions if r.queryable), key=lambda r: r.effective_from)
        spans = []
        for revision, following in zip(queryable, [*queryable[1:], None], strict=False):
            end = self._end_until_successor_answers(revision)
            if following is not None and (end is None or end >= following.effective_from):
                end = following.effective_from - ONE_DAY
            spans.append(Span(revision, revision.effective_from, end))
        return tuple(spans)

    def _end_until_successor_answers(self, revision: Revision) -> date | None:
        for successor_id, before in self.supersessions.items():
            successor = self.revision(successor_id)
            if before.revision_id == revision.revision_id and successor is not None:
                pending = successor.status is RevisionStatus.PROCESSING
                return before.effective_to if pending else revision.effective_to
        return revision.effective_to

    def in_force(self, day: date) -> Revision | None:
        return next((span.revision for span in self.timeline if span.covers(day)), None)


@dataclass(frozen=True)
class SideEffects:
    """The effect that the creation of a revision had on another one. `warning`: the gap that opened."""

    superseded_revision: str
    superseded_effective_to: date
    warning: str | None = None

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "superseded_revision": self.superseded_revision,
            "superseded_effective_to": self.superseded_effective_to.isoformat(),
        }
        return shown if self.warning is None else shown | {"warning": self.warning}


@dataclass(frozen=True)
class IngestProgress:
    phase: str
    percent_complete: int
    chunks_processed: int


class IngestPhase(StrEnum):
    EXTRACTING = "extracting"
    EMBEDDING = "embedding"
    STORING = "storing"


@dataclass(frozen=True)
class IngestStage:
    """The progress of one phase of an ingestion. Travels as JSON in the progress messages of the policy server."""

    phase: IngestPhase
    done: int
    total: int

    def as_message(self) -> str:
        return json.dumps({"phase": self.phase.value, "done": self.done, "total": self.total})

    @classmethod
    def from_message(cls, message: str) -> IngestStage | None:
        """Read a progress message; None if it is not one of ours."""
        try:
            said = json.loads(message)
            return cls(IngestPhase(said["phase"]), int(said["done"]), int(said["total"]))
        except (ValueError, KeyError, TypeError):
            return None


class PolicyChanges(TypedDict, total=False):
    """The fields that PATCH may change. An absent one stays as it is, and None clears it."""

    title: str
    description: str | None
    category: PolicyCategory
    authorities: Sequence[str]


class RevisionChanges(TypedDict, total=False):
    """The fields that PATCH may change. An absent one stays as it is, and None clears it."""

    version_label: str
    effective_from: date
    effective_to: date | None
    notes: str | None
