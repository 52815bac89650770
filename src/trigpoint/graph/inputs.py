"""Input of clients: filters of reads, bodies of writes."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from trigpoint.errors import GraphBadRequest
from trigpoint.graph.fields import (
    Digits,
    Filter,
    Input,
    Moment,
    Real,
    Slug,
    Url,
    Uuid,
    Whole,
    check_member,
    check_text,
    checked,
    one_of,
    text,
    uuid_of,
)
from trigpoint.graph.vocabulary import (
    CLAIM_TYPES,
    CONCEPT_KINDS,
    DIFFICULTIES,
    ENTITY_TYPES,
    EXTERNAL_KINDS,
    LONGEST,
    RELATION_ENDS,
    RELATION_TYPES,
    STATUSES,
)

EntityType = Annotated[str, one_of(ENTITY_TYPES)]
Status = Annotated[str, one_of(STATUSES)]
ConceptKind = Annotated[str, one_of(CONCEPT_KINDS)]
RelationType = Annotated[str, one_of(RELATION_TYPES)]
ClaimType = Annotated[str, one_of(CLAIM_TYPES)]
Notes = Annotated[str, text("notes", lines=True)]


class PageRequest(Filter):
    page: Annotated[Digits, Field(ge=1, lt=2**53)] = 1  # the largest whole number that every JSON client reads exactly
    limit: Annotated[Digits, Field(ge=1, le=100)] = 20
    cursor: str | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.cursor is not None and "page" in self.model_fields_set:
            raise ValueError("Give either page or cursor, not both")
        return self


class EntityFilter(Filter):
    entity_type: EntityType | None = None
    status: Status | None = None
    concept_kind: ConceptKind | None = None
    search: str | None = None


class PerformanceFilter(Filter):
    query: str | None = None
    page_url: str | None = None
    entity_id: Uuid | None = None
    date_start: Moment | None = None
    date_end: Moment | None = None

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        _check_order("dateStart", self.date_start, "dateEnd", self.date_end)
        return self


class Periods(Filter):
    """Two whole periods to compare."""

    first_start: Moment
    first_end: Moment
    second_start: Moment
    second_end: Moment

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        _check_order("firstStart", self.first_start, "firstEnd", self.first_end)
        _check_order("secondStart", self.second_start, "secondEnd", self.second_end)
        return self


class BlockFilter(Filter):
    entity_id: Uuid | None = None
    claim_type: ClaimType | None = None
    topic_tag: str | None = None
    verified_until_after: Moment | None = None
    verified_until_before: Moment | None = None

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        first, last = self.verified_until_after, self.verified_until_before
        _check_order("verifiedUntilAfter", first, "verifiedUntilBefore", last)
        return self


def _check_order(first: str, start: int | None, last: str, end: int | None) -> None:
    if start is not None and end is not None and start > end:
        raise ValueError(f"{first} must not be after {last}")


class GraphFilter(Filter):
    depth: Annotated[Digits, Field(ge=1, le=2)] = 1
    relationship_types: tuple[RelationType, ...] = ()
    cursor: str | None = None

    @field_validator("depth", mode="before")
    @classmethod
    def _one_or_two(cls, value: object) -> object:
        if str(value) not in ("1", "2"):
            raise ValueError("Must be 1 or 2")
        return value

    @field_validator("relationship_types", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> tuple[str, ...]:
        names = [name.strip() for name in value.split(",")] if isinstance(value, str) else value
        return tuple(dict.fromkeys(name for name in names if name))


def parse_fields(params: Any, known: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the names of `fields=id,title` in the contract's order; None for all."""
    chosen = {name.strip() for name in (params.get("fields") or "").split(",")} - {""}
    for name in sorted(chosen):
        checked(check_member, name, "fields", known)
    return tuple(name for name in known if name in chosen) or None


class NewProject(Input):
    slug: Slug
    name: Annotated[str, text("name")]
    description: Annotated[str, text("description", lines=True)] | None = None


class EntityChanges(Input):
    """Fields of an entity to change: those that are set. An explicit null clears one."""

    title: Annotated[str, text("title")] = ""
    slug: Slug = ""
    summary: Annotated[str, text("summary", lines=True)] | None = None
    difficulty: Annotated[str, one_of(DIFFICULTIES)] | None = None
    concept_kind: ConceptKind | None = None
    repo_url: Url | None = None
    canonical_url: Url | None = None

    def check_type(self, entity_type: str) -> None:
        for value, name, only in ((self.concept_kind, "conceptKind", "concept"), (self.repo_url, "repoUrl", "project")):
            if value is not None and entity_type != only:
                raise GraphBadRequest(f"{name} is only valid on entities of type {only}; this is a {entity_type}")


class NewEntity(EntityChanges):
    entity_type: EntityType
    title: Annotated[str, text("title")]
    slug: Slug

    @model_validator(mode="after")
    def _fits_its_type(self) -> Self:
        self.check_type(self.entity_type)
        return self


class NewRelation(Input):
    """An end is an entity's UUID; or, for a source, distribution or video, its id or URL as it is known there."""

    relation_type: RelationType
    from_entity_id: str
    to_entity_id: str
    notes: Notes | None = None

    @field_validator("from_entity_id", "to_entity_id", mode="before")
    @classmethod
    def _end(cls, value: object, info: ValidationInfo) -> str:
        kinds = RELATION_ENDS.get(info.data.get("relation_type", ""), ("", ""))
        kind = kinds[info.field_name == "to_entity_id"]
        return check_text(value, LONGEST["reference"]) if kind in EXTERNAL_KINDS else uuid_of(value)

    @model_validator(mode="after")
    def _not_itself(self) -> Self:
        if self.from_entity_id == self.to_entity_id:
            raise ValueError("An entity cannot be related to itself")
        return self


class BlockText(Input):
    text: Annotated[str, text("text", lines=True)]
    claim_type: ClaimType
    source_citation: Annotated[str, text("sourceCitation", lines=True)] | None = None
    verified_until: Moment | None = None
    topic_tag: Annotated[str, text("topicTag")] | None = None


class NewBlock(BlockText):
    entity_id: Uuid


class SearchRow(Input):
    """One row of Search Console. Without `entityId`, a stored row keeps its link; null removes it."""

    query: Annotated[str, text("query")]
    page_url: Annotated[str, text("pageUrl")]
    impressions: Whole
    clicks: Whole
    ctr: Annotated[Real, Field(ge=0, le=1)]
    avg_position: Annotated[Real, Field(gt=0)]
    date_start: Moment
    date_end: Moment
    entity_id: Uuid | None = None

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.clicks > self.impressions:
            raise ValueError(f"clicks ({self.clicks}) must not exceed impressions ({self.impressions})")
        _check_order("dateStart", self.date_start, "dateEnd", self.date_end)
        return self
