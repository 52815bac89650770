"""Reads of projects, entities and blocks. Rows and total come from the connection's one snapshot."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Table, select

from trigpoint.errors import GraphNotFound
from trigpoint.graph.inputs import BlockFilter, EntityFilter, PageRequest
from trigpoint.graph.listing import ListReading, Order, Page, count, total_of
from trigpoint.graph.models import Entity, Project, QuotableBlock
from trigpoint.graph.search_text import Titles, among, contains, texts_with
from trigpoint.graph.tables import block_topic, entity, entity_count, entity_text, project, quotable_block
from trigpoint.graph.vocabulary import DEFAULT_PROJECT_ID

_PROJECTS = Order(up=(project.c.slug, project.c.id))
_ENTITIES = Order(down=(entity.c.created_at, entity.c.id))
_BLOCKS = Order(down=(quotable_block.c.created_at, quotable_block.c.id))


def project_named(connection: Connection, *, project_id: str | None = None, slug: str | None = None) -> str:
    """Return the id of an existing project. Raise GraphNotFound, always in the same words."""
    named = project.c.id == project_id if project_id is not None else project.c.slug == slug
    found = connection.execute(select(project.c.id).where(named)).scalar()
    if found is None:
        raise GraphNotFound("Project not found")
    return str(found)


def project_of_cookie(connection: Connection, project_id: str) -> str:
    """Return the cookie's project; a stale cookie falls through to the default project."""
    try:
        return project_named(connection, project_id=project_id)
    except GraphNotFound:
        return project_named(connection, project_id=DEFAULT_PROJECT_ID)


def list_projects(connection: Connection, request: PageRequest, *, only: str | None = None) -> Page[Project]:
    """Return all projects, or `only` one of them: all that a bridge pinned to a project may show."""
    where = [project.c.id == only] if only is not None else []
    reading = ListReading(_PROJECTS, request, ("projects", only), Project)
    return reading.walk(connection, count(connection, project, where), where)


def has_entities(connection: Connection, project_id: str) -> bool:
    return total_of(connection, entity_count, [entity_count.c.project_id == project_id]) > 0


def find_entity(connection: Connection, project_id: str, entity_id: str) -> Entity:
    """Raise GraphNotFound for one that is not there and for one of another project, in the same words."""
    where = (entity.c.project_id == project_id, entity.c.id == entity_id)
    row = connection.execute(select(entity).where(*where)).mappings().first()
    if row is None:
        raise GraphNotFound("Entity not found")
    return Entity.of(row)


def list_entities(connection: Connection, project_id: str, chosen: EntityFilter, request: PageRequest) -> Page[Entity]:
    kept = chosen.model_dump(exclude_none=True, exclude={"search"})
    columns = {"project_id": project_id, **kept}
    where = _same(entity, columns)
    reading = ListReading(_ENTITIES, request, ("entities", project_id, *chosen.model_dump().items()), Entity)
    if chosen.search is None:
        return reading.walk(connection, total_of(connection, entity_count, _same(entity_count, columns)), where)
    titles = Titles(connection, project_id, chosen.search)
    keys = select(entity_text.c.created_at, entity_text.c.id).where(*_same(entity_text, kept), titles.found())
    tested = [*where, contains(connection, entity.c.folded, chosen.search)]
    return reading.matches(connection, titles.total(keys, alone=not kept), keys, project_id, tested)


def _same(table: Table, columns: dict[str, str]) -> list[ColumnElement[bool]]:
    return [table.c[name] == value for name, value in columns.items()]


def list_blocks(
    connection: Connection, project_id: str, chosen: BlockFilter, request: PageRequest
) -> Page[QuotableBlock]:
    block = quotable_block.c
    given = chosen.model_dump(exclude_none=True)
    columns = {"project_id": project_id} | {n: v for n, v in given.items() if n in ("entity_id", "claim_type")}
    where = _same(quotable_block, columns)
    if chosen.verified_until_after is not None:
        where.append(block.verified_until >= chosen.verified_until_after)
    if chosen.verified_until_before is not None:
        where.append(block.verified_until <= chosen.verified_until_before)
    reading = ListReading(_BLOCKS, request, ("blocks", project_id, *chosen.model_dump().items()), QuotableBlock)
    if chosen.topic_tag is None:
        return reading.walk(connection, count(connection, quotable_block, where), where)
    topics = texts_with(connection, block_topic, project_id, chosen.topic_tag)
    keys = select(block.created_at, block.id).where(*where, among(connection, block.topic_tag, topics))
    tested = [*where, contains(connection, block.topic_folded, chosen.topic_tag)]
    total = sum(topics.values()) if len(given) == 1 else None
    return reading.matches(connection, total, keys, project_id, tested)
