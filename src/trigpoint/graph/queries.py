"""Reads of projects, entities and blocks. Rows and total come from the connection's one snapshot."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Table, select

from trigpoint.errors import GraphNotFound
from trigpoint.graph.inputs import BlockFilter, EntityFilter, PageRequest
from trigpoint.graph.listing import FEW, Order, Page, count, read_page, total_of
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
    total = count(connection, project, where)
    return read_page(connection, _PROJECTS, request, ("projects", only), Project, total, where)


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
    columns = {"project_id": project_id} | chosen.model_dump(exclude_none=True, exclude={"search"})
    where, gathered = _same(entity, columns), False
    if chosen.search is None:
        total = total_of(connection, entity_count, _same(entity_count, columns))
    else:
        titles = Titles(connection, project_id, chosen.search)
        found = [*_same(entity_text, columns), titles.found()]
        total = titles.count() if len(columns) == 1 else count(connection, entity_text, found)
        gathered = total <= FEW
        narrowed = entity.c.seq.in_(select(entity_text.c.seq).where(*found))
        where.append(narrowed if gathered else contains(connection, entity.c.folded, chosen.search))
    scope = ("entities", project_id, *chosen.model_dump().items())
    return read_page(connection, _ENTITIES, request, scope, Entity, total, where, gathered=gathered)


def _same(table: Table, columns: dict[str, str]) -> list[ColumnElement[bool]]:
    return [table.c[name] == value for name, value in columns.items()]


def list_blocks(
    connection: Connection, project_id: str, chosen: BlockFilter, request: PageRequest
) -> Page[QuotableBlock]:
    block = quotable_block.c
    columns = {"project_id": project_id} | chosen.model_dump(exclude_none=True, include={"entity_id", "claim_type"})
    where = _same(quotable_block, columns)
    if chosen.verified_until_after is not None:
        where.append(block.verified_until >= chosen.verified_until_after)
    if chosen.verified_until_before is not None:
        where.append(block.verified_until <= chosen.verified_until_before)
    held, tested = [], []
    if chosen.topic_tag is not None:
        topics = texts_with(connection, block_topic, project_id, chosen.topic_tag)
        held = [among(connection, block.topic_tag, topics)]
        tested = [contains(connection, block.topic_folded, chosen.topic_tag)]
    total = count(connection, quotable_block, [*where, *held])
    gathered = bool(held) and total <= FEW
    scope = ("blocks", project_id, *chosen.model_dump().items())
    found = [*where, *(held if gathered else tested)]
    return read_page(connection, _BLOCKS, request, scope, QuotableBlock, total, found, gathered=gathered)
