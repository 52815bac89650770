"""Reads of projects, entities and blocks. Rows and total come from the connection's one snapshot.

A total without text is a sum of counters. A page is read along its ordering's index, or, when few rows match, by
gathering those first: `is_selective` says which is cheaper.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    RowMapping,
    Table,
    column,
    func,
    literal_column,
    select,
    table,
)

from trigpoint.errors import GraphNotFound
from trigpoint.graph.distinct_texts import texts_with
from trigpoint.graph.filters import BlockFilter, EntityFilter
from trigpoint.graph.lists import among
from trigpoint.graph.models import Entity, Project, QuotableBlock
from trigpoint.graph.paging import Key, Listing, Page, PageRequest, Position, pagination, position, rows_from, scope_of
from trigpoint.graph.search_text import (
    can_match,
    contains,
    fold,
    gram_match,
    has_grams,
    holds,
    term_grams,
    unindexed,
)
from trigpoint.graph.tables import (
    block_count,
    block_topic,
    entity,
    entity_count,
    entity_text,
    project,
    quotable_block,
)
from trigpoint.graph.totals import total_of
from trigpoint.graph.vocabulary import DEFAULT_PROJECT_ID

_FEW = 2500

_ENTITY_COLUMNS = [c for c in entity.c if c.name not in ("seq", "folded")]
PROJECTS = Listing(project, list(project.c), ["id"], (Key(project.c.slug), Key(project.c.id, is_id=True)))
ENTITIES = Listing(
    entity,
    _ENTITY_COLUMNS,
    ["id"],
    (Key(entity.c.created_at, int, descending=True), Key(entity.c.id, descending=True, is_id=True)),
)
BLOCKS = Listing(
    quotable_block,
    list(quotable_block.c),
    ["id"],
    (Key(quotable_block.c.created_at, int, descending=True), Key(quotable_block.c.id, descending=True, is_id=True)),
)
_entity_gram = table("entity_gram", column("rowid"))


def project_named(connection: Connection, *, project_id: str | None = None, slug: str | None = None) -> str:
    """The id of an existing project. Raises GraphNotFound, always in the same words (G4)."""
    where = project.c.id == project_id if project_id is not None else project.c.slug == slug
    found = connection.execute(select(project.c.id).where(where)).scalar()
    if found is None:
        raise GraphNotFound("Project not found")
    return str(found)


def project_of_cookie(connection: Connection, project_id: str) -> str:
    """A stale cookie falls through to the default project."""
    try:
        return project_named(connection, project_id=project_id)
    except GraphNotFound:
        return project_named(connection, project_id=DEFAULT_PROJECT_ID)


def list_projects(connection: Connection, request: PageRequest, *, only: str | None = None) -> Page[Project]:
    """All projects, or `only` one of them: what a bridge pinned to a project may show."""
    scope = scope_of("projects", only, None)
    at = position(request, scope, PROJECTS)
    where = [project.c.id == only] if only is not None else []
    total = _count(connection, project, *where)
    rows, follows = rows_from(connection, PROJECTS, at, *where)
    return Page([Project.of(row) for row in rows], pagination(at, total, rows, follows, scope, PROJECTS))


def find_entity(connection: Connection, project_id: str, entity_id: str) -> Entity:
    """Raises GraphNotFound for what is not there and for what belongs to another project, in the same words."""
    where = (entity.c.project_id == project_id, entity.c.id == entity_id)
    row = connection.execute(select(*_ENTITY_COLUMNS).where(*where)).mappings().first()
    if row is None:
        raise GraphNotFound("Entity not found")
    return Entity.of(row)


def list_entities(connection: Connection, project_id: str, chosen: EntityFilter, request: PageRequest) -> Page[Entity]:
    scope = scope_of("entities", project_id, chosen)
    at = position(request, scope, ENTITIES)
    if chosen.search is None:
        total = _counted_entities(connection, project_id, chosen)
        rows, follows = rows_from(connection, ENTITIES, at, *_entity_conditions(entity, project_id, chosen))
    elif can_match(chosen.search):
        total, rows, follows = _entities_with(connection, project_id, chosen, chosen.search, at)
    else:
        total, rows, follows = 0, [], False
    return Page([Entity.of(row) for row in rows], pagination(at, total, rows, follows, scope, ENTITIES))


def _entities_with(
    connection: Connection, project_id: str, chosen: EntityFilter, term: str, at: Position
) -> tuple[int, list[RowMapping], bool]:
    everything = _counted_entities(connection, project_id, EntityFilter())
    folded = fold(term)
    grams = term_grams(folded)
    matching = [*_entity_conditions(entity_text, project_id, chosen), contains(entity_text.c.folded, folded)]
    matching += _with_grams(connection, project_id, grams)

    def count() -> int:
        if chosen == EntityFilter(search=term) and grams == [folded]:  # what has the gram contains the term
            return _count_with_gram(connection, project_id, folded)
        return _count(connection, entity_text, *matching)

    total = total_of(connection, project_id, everything, chosen, count)
    if is_selective(total, everything, at):
        return total, *rows_from(connection, ENTITIES, at, of=ENTITIES.hits(*matching, of=entity_text))
    walked = [*_entity_conditions(entity, project_id, chosen), contains(entity.c.folded, folded)]
    return total, *rows_from(connection, ENTITIES, at, *walked)


def list_blocks(
    connection: Connection, project_id: str, chosen: BlockFilter, request: PageRequest
) -> Page[QuotableBlock]:
    scope = scope_of("blocks", project_id, chosen)
    at = position(request, scope, BLOCKS)
    everything = _counted_blocks(connection, project_id, None)
    topics = None if chosen.topic_tag is None else texts_with(connection, block_topic, project_id, chosen.topic_tag)
    gathered = _block_conditions(project_id, chosen)
    if topics is not None:
        gathered.append(among(quotable_block.c.topic_tag, topics))
    by_counter = chosen == BlockFilter(claim_type=chosen.claim_type)
    if by_counter:
        total = _counted_blocks(connection, project_id, chosen.claim_type)
    elif topics is not None and chosen == BlockFilter(topic_tag=chosen.topic_tag):
        total = sum(topics.values())
    else:
        total = total_of(
            connection, project_id, everything, chosen, lambda: _count(connection, quotable_block, *gathered)
        )
    if not by_counter and chosen.entity_id is None and is_selective(total, everything, at):
        rows, follows = rows_from(connection, BLOCKS, at, of=BLOCKS.hits(*gathered))
    else:
        walked = _block_conditions(project_id, chosen, walking=True)
        if chosen.topic_tag is not None:
            walked.append(holds(quotable_block.c.topic_folded, chosen.topic_tag))
        rows, follows = rows_from(connection, BLOCKS, at, *walked)
    shapes = [QuotableBlock.of(row) for row in rows]
    return Page(shapes, pagination(at, total, rows, follows, scope, BLOCKS))


def is_selective(total: int, everything: int, at: Position) -> bool:
    """Gathering costs `total` rows; walking the ordering costs about `wanted * everything / total` of them.

    That is an average: where what matches is old, a walk passes everything newer. So a few thousand are gathered anyway.
    """
    wanted = at.offset + at.limit + 1
    return total <= _FEW or total * total < wanted * everything


def _count(connection: Connection, counted: FromClause, *where: ColumnElement[bool]) -> int:
    return int(connection.execute(select(func.count()).select_from(counted).where(*where)).scalar_one())


def _summed(connection: Connection, counter: Table, *where: ColumnElement[bool]) -> int:
    return int(connection.execute(select(func.coalesce(func.sum(counter.c.n), 0)).where(*where)).scalar_one())


def _counted_entities(connection: Connection, project_id: str, chosen: EntityFilter) -> int:
    wanted = {"entity_type": chosen.entity_type, "status": chosen.status, "concept_kind": chosen.concept_kind}
    where = [entity_count.c[name] == value for name, value in wanted.items() if value is not None]
    return _summed(connection, entity_count, entity_count.c.project_id == project_id, *where)


def _counted_blocks(connection: Connection, project_id: str, claim_type: str | None) -> int:
    where = [block_count.c.claim_type == claim_type] if claim_type is not None else []
    return _summed(connection, block_count, block_count.c.project_id == project_id, *where)


def _entity_conditions(of: Table, project_id: str, chosen: EntityFilter) -> list[ColumnElement[bool]]:
    if chosen.concept_kind is not None and chosen.entity_type == "concept":
        chosen = replace(chosen, entity_type=None)  # a kind implies it, and the kind has the narrower index
    wanted = {
        "project_id": project_id,
        "entity_type": chosen.entity_type,
        "status": chosen.status,
        "concept_kind": chosen.concept_kind,
    }
    return [of.c[name] == value for name, value in wanted.items() if value is not None]


def _with_grams(connection: Connection, project_id: str, grams: list[str]) -> list[ColumnElement[bool]]:
    if not grams:
        return []
    if connection.dialect.name == "postgresql":
        return [has_grams(project_id, entity_text, grams)]
    return [entity_text.c.seq == _entity_gram.c.rowid, _match(project_id, grams)]


def _count_with_gram(connection: Connection, project_id: str, gram: str) -> int:
    """Counted in the index alone."""
    if connection.dialect.name == "postgresql":
        return _count(connection, entity_text, has_grams(project_id, entity_text, [gram]))
    return _count(connection, _entity_gram, _match(project_id, [gram]))


def _match(project_id: str, grams: list[str]) -> ColumnElement[bool]:
    matches: ColumnElement[bool] = literal_column("entity_gram").bool_op("MATCH")(gram_match(project_id, grams))
    return matches


def _block_conditions(project_id: str, chosen: BlockFilter, *, walking: bool = False) -> list[ColumnElement[bool]]:
    """Everything but the topic."""
    block = quotable_block.c
    until = unindexed(block.verified_until) if walking else block.verified_until
    where: list[ColumnElement[bool]] = [block.project_id == project_id]
    if chosen.entity_id is not None:
        where.append(block.entity_id == chosen.entity_id)
    if chosen.claim_type is not None:
        where.append(block.claim_type == chosen.claim_type)
    if chosen.verified_from is not None:
        where.append(until >= chosen.verified_from)
    if chosen.verified_to is not None:
        where.append(until <= chosen.verified_to)
    return where
