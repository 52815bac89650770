"""The graph's answers: the contract's shapes, in its camelCase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic.alias_generators import to_camel
from sqlalchemy import RowMapping

from trigpoint.graph.moments import print_moment


def _printed(value: object) -> object:
    return print_moment(value) if isinstance(value, int) else value


Moment = Annotated[str, BeforeValidator(_printed)]


class Shape(BaseModel):
    """A row of the database becomes its shape by `of`; `json_fields` are the names that clients see."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, extra="ignore")

    @classmethod
    def of(cls, row: Mapping[str, Any] | RowMapping) -> Self:
        return cls.model_validate(dict(row))

    @classmethod
    def json_fields(cls) -> tuple[str, ...]:
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    def shown(self, fields: tuple[str, ...] | None = None) -> dict[str, Any]:
        """Return it as JSON data; with `fields`, only those."""
        whole = self.model_dump(by_alias=True)
        return whole if fields is None else {name: whole[name] for name in fields}


class Project(Shape):
    id: str
    slug: str
    name: str
    description: str | None
    created_at: Moment
    updated_at: Moment


class Entity(Shape):
    id: str
    project_id: str
    entity_type: str
    title: str
    slug: str
    summary: str | None
    difficulty: str | None
    concept_kind: str | None
    repo_url: str | None
    status: str
    canonical_url: str | None
    last_verified_at: Moment | None
    created_at: Moment
    updated_at: Moment


class RelatedEntity(Shape):
    id: str
    entity_type: str
    title: str
    slug: str
    status: str


class Node(RelatedEntity):
    hop: int


class Relation(Shape):
    """`from_entity_id` and `to_entity_id` carry the id or URL of an end that is not an entity; the fields for its kind say what it is."""

    id: str
    relation_type: str
    from_entity_id: str
    to_entity_id: str
    from_kind: str
    to_kind: str
    notes: str | None
    created_at: Moment


class GraphRelation(Relation):
    hop: int
    related_entity: RelatedEntity | None


class EntityGraph(Shape):
    root_entity: Entity
    relationships: list[GraphRelation]
    depth: int
    nodes: list[Node]
    truncated: bool
    next_cursor: str | None = None


class SearchPerformance(Shape):
    id: str
    project_id: str
    entity_id: str | None
    page_url: str
    query: str
    impressions: int
    clicks: int
    ctr: float
    avg_position: float
    date_start: Moment
    date_end: Moment
    captured_at: Moment


class QuotableBlock(Shape):
    id: str
    project_id: str
    entity_id: str
    text: str
    claim_type: str
    source_citation: str | None
    verified_until: Moment | None
    topic_tag: str | None
    created_at: Moment
    updated_at: Moment


class Pagination(Shape):
    page: int
    limit: int
    total: int
    has_more: bool
    next_cursor: str | None
