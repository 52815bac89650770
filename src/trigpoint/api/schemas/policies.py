"""Policies and revisions over the wire."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
)

from trigpoint.api.schemas.values import NO_NUL, Day, PolicySource
from trigpoint.dates import micro_timestamp
from trigpoint.policies.models import Policy, PolicyCategory, Revision, RevisionStatus
from trigpoint.policies.placements import Placement, PlacementStatus, RevisionPlacements

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500), NO_NUL]
LongText = Annotated[str, StringConstraints(max_length=10_000), NO_NUL]
Authority = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=64)]
Moment = Annotated[datetime, PlainSerializer(micro_timestamp, return_type=str)]


class PolicyCreation(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source: PolicySource = Field(description="Unique slug in UPPER_SNAKE_CASE")
    title: Text
    description: LongText | None = None
    category: PolicyCategory
    authorities: list[Authority] = Field(
        default_factory=list,
        max_length=400,
        description="Authorities that it applies to, by slug; none: all of England",
    )


def _left_out() -> Any:
    """Return a default for a field that may be absent, and then nothing changes; null is not one of its values."""
    return Field(None)


class PolicyUpdate(BaseModel):
    """Only the fields that are given change; null clears `description`."""

    model_config = ConfigDict(extra="forbid")

    title: Text = _left_out()
    description: LongText | None = None
    category: PolicyCategory = _left_out()
    authorities: list[Authority] = _left_out()


class RevisionUpdate(BaseModel):
    """Only the fields that are given change; null clears `effective_to` and `notes`."""

    model_config = ConfigDict(extra="forbid")

    version_label: Text = _left_out()
    effective_from: Day = _left_out()
    effective_to: Day | None = None
    notes: LongText | None = None


class RevisionSummary(BaseModel):
    revision_id: str
    version_label: str
    effective_from: date
    effective_to: date | None
    status: RevisionStatus
    chunk_count: int | None
    ingested_at: Moment | None

    @classmethod
    def of(cls, revision: Revision | None) -> RevisionSummary | None:
        if revision is None:
            return None
        return cls(
            revision_id=revision.revision_id,
            version_label=revision.version_label,
            effective_from=revision.effective_from,
            effective_to=revision.effective_to,
            status=revision.status,
            chunk_count=revision.chunk_count,
            ingested_at=revision.ingested_at,
        )


class RevisionDetail(BaseModel):
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
    created_at: Moment
    ingested_at: Moment | None
    error: str | None

    @classmethod
    def of(cls, revision: Revision) -> RevisionDetail:
        return cls(**{name: getattr(revision, name) for name in cls.model_fields})


class PolicySummary(BaseModel):
    source: str
    title: str
    category: PolicyCategory
    current_revision: RevisionSummary | None
    revision_count: int

    @classmethod
    def of(cls, policy: Policy, today: date) -> PolicySummary:
        return cls(
            source=policy.source,
            title=policy.title,
            category=policy.category,
            current_revision=RevisionSummary.of(policy.in_force(today)),
            revision_count=len(policy.revisions),
        )


class PolicyPage(BaseModel):
    policies: list[PolicySummary]
    total: int


class PolicyDetail(BaseModel):
    source: str
    title: str
    description: str | None
    category: PolicyCategory
    revisions: list[RevisionSummary]
    current_revision: RevisionSummary | None
    revision_count: int
    created_at: Moment
    updated_at: Moment | None

    @classmethod
    def of(cls, policy: Policy, today: date) -> PolicyDetail:
        summaries = [RevisionSummary.of(revision) for revision in policy.revisions]
        return cls(
            source=policy.source,
            title=policy.title,
            description=policy.description,
            category=policy.category,
            revisions=[summary for summary in summaries if summary is not None],
            current_revision=RevisionSummary.of(policy.in_force(today)),
            revision_count=len(policy.revisions),
            created_at=policy.created_at,
            updated_at=policy.updated_at,
        )


class EffectivePolicy(BaseModel):
    source: str
    title: str
    category: PolicyCategory
    effective_revision: RevisionSummary | None


class EffectivePolicies(BaseModel):
    """Every policy is listed; if none of its revisions was in force, `revision` is null."""

    effective_date: date
    policies: list[EffectivePolicy]
    policies_not_yet_effective: list[str]


class RevisionLinks(BaseModel):
    self: str
    status: str
    policy: str


class RevisionSideEffects(BaseModel):
    superseded_revision: str
    superseded_effective_to: date
    warning: str | None = Field(
        None, description="A gap that opened; left out if there is none", exclude_if=lambda warning: warning is None
    )


class RevisionAccepted(BaseModel):
    source: str
    revision_id: str
    version_label: str
    effective_from: date
    effective_to: date | None
    status: RevisionStatus
    ingestion_job_id: str
    links: RevisionLinks
    side_effects: RevisionSideEffects | None


class RevisionProgress(BaseModel):
    phase: str
    percent_complete: int
    chunks_processed: int


class RevisionStatusAnswer(BaseModel):
    revision_id: str
    status: RevisionStatus
    progress: RevisionProgress


class RevisionDeleted(BaseModel):
    source: str
    revision_id: str
    status: Literal["deleted"]
    chunks_removed: int


class PlacedProvision(BaseModel):
    """A provision, and the section of a revision that states it."""

    provision_id: str
    title: str
    kind: str
    requires: str = Field(description="What it requires, in our words")
    state: PlacementStatus
    section_ref: str | None
    confidence: float
    excerpt: str = Field(description="The words of the text that fit best")
    page_number: int | None
    runner_up: str | None = Field(description="The second-best section")
    note: str | None

    @classmethod
    def of(cls, placement: Placement) -> PlacedProvision:
        return cls(
            provision_id=placement.provision.id,
            title=placement.provision.title,
            kind=placement.provision.kind.value,
            requires=placement.provision.requires,
            state=placement.status,
            section_ref=placement.section_ref,
            confidence=placement.confidence,
            excerpt=placement.excerpt,
            page_number=placement.page,
            runner_up=placement.runner_up,
            note=placement.note,
        )


class RevisionProvisions(BaseModel):
    source: str
    revision_id: str
    version_label: str
    current: bool = Field(description="False while the text has changed and is still being searched")
    provisions: list[PlacedProvision]

    @classmethod
    def of(cls, placed: RevisionPlacements) -> RevisionProvisions:
        revision = placed.revision
        return cls(
            source=revision.source,
            revision_id=revision.revision_id,
            version_label=revision.version_label,
            current=placed.current,
            provisions=[PlacedProvision.of(p) for p in placed.placements],
        )


class SectionChoice(BaseModel):
    """The section that states a provision: `confirm` what was found, or set one; null says that none does."""

    model_config = ConfigDict(extra="forbid")

    section_ref: Text | None = Field(None, description="The section; null: the revision does not state it")
    confirm: bool = Field(False, description="Confirm the section that was found")


class AddedRevisions(BaseModel):
    """The revisions that an update has queued."""

    added: list[RevisionSummary]
    total: int
