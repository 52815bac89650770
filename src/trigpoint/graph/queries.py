"""Reads of projects, entities and blocks. Rows and total come from the connection's one snapshot.

A total without text is a sum of counters. A page is read along its ordering's index, or, when few rows match, by
gathering those first: `is_selective` says which is cheaper.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    Table,
    column,
    false,
    func,
    literal,
    select,
    table,
    text,
)

from trigpoint.errors import GraphNotFound
from trigpoint.graph.filters import BlockFilter, EntityFilter
from trigpoint.graph.models import Entity, Project, QuotableBlock
from trigpoint.graph.paging import Key, Page, PageRequest, Position, pagination, position, rows_from, scope_of
from trigpoint.graph.search_text import contains, fold, gram_word, has_grams, term_grams, unindexed
from trigpoint.graph.tables import block_count, entity, entity_count, project, quotable_block
from trigpoint.graph.totals import total_of
from trigpoint.graph.vocabulary import DEFAULT_PROJECT_ID

_FEW = 2500
_SAMPLE = 400  # newest entities that tell whether a search term is common
_COMMON = 0.12  # beyond this share, reading every text is cheaper than following grams

NEWEST_ENTITY = (Key(entity.c.created_at, int, descending=True), Key(entity.c.id, descending=True, is_id=True))
NEWEST_BLOCK = (
    Key(quotable_block.c.created_at, int, descending=True),
    Key(quotable_block.c.id, descending=True, is_id=True),
)
BY_SLUG = (Key(project.c.slug), Key(project.c.id, is_id=True))
_ENTITY_COLUMNS = [c for c in entity.c if c.name not in ("seq", "folded", "grams")]
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
    at = position(request, scope, BY_SLUG)
    chosen = select(project).where(project.c.id == only) if only is not None else select(project)
    total = _count(connection, chosen)
    rows, follows = rows_from(connection, chosen, BY_SLUG, at)
    return Page([Project.of(row) for row in rows], pagination(at, total, rows, follows, scope, ("slug", "id")))


def find_entity(connection: Connection, project_id: str, entity_id: str) -> Entity:
    """Raises GraphNotFound for what is not there and for what belongs to another project, in the same words."""
    where = (entity.c.project_id == project_id, entity.c.id == entity_id)
    row = connection.execute(select(*_ENTITY_COLUMNS).where(*where)).mappings().first()
    if row is None:
        raise GraphNotFound("Entity not found")
    return Entity.of(row)


def list_entities(connection: Connection, project_id: str, chosen: EntityFilter, request: PageRequest) -> Page[Entity]:
    scope = scope_of("entities", project_id, chosen)
    at = position(request, scope, NEWEST_ENTITY)
    everything = _counted_entities(connection, project_id, EntityFilter())
    where = _entity_conditions(project_id, chosen)
    candidates: Select[Any] = select(entity.c.seq).where(*where)
    if chosen.search is None:
        total = _counted_entities(connection, project_id, chosen)
    elif not can_match(chosen.search):
        total, where = 0, [false()]
        candidates = select(entity.c.seq).where(false())
    else:
        grams = term_grams(fold(chosen.search))
        if grams and not _is_common(connection, project_id, chosen.search):
            driven = select(entity.c.seq).where(*_entity_conditions(project_id, chosen, by_index=False))
            candidates = _with_grams(connection, driven, grams)
        total = total_of(connection, project_id, everything, chosen, lambda: _count(connection, candidates))
    statement = select(*_ENTITY_COLUMNS).where(*where)
    if chosen.search is not None and is_selective(total, everything, at):
        hits = candidates.cte("hits").prefix_with("MATERIALIZED")
        statement = select(*_ENTITY_COLUMNS).join(hits, hits.c.seq == entity.c.seq)
    rows, follows = rows_from(connection, statement, NEWEST_ENTITY, at)
    return Page([Entity.of(r) for r in rows], pagination(at, total, rows, follows, scope, ("created_at", "id")))


def list_blocks(
    connection: Connection, project_id: str, chosen: BlockFilter, request: PageRequest
) -> Page[QuotableBlock]:
    scope = scope_of("blocks", project_id, chosen)
    at = position(request, scope, NEWEST_BLOCK)
    where = _block_conditions(project_id, chosen)
    everything = _counted_blocks(connection, project_id, None)
    candidates = select(quotable_block.c.id).where(*where)
    by_counter = chosen == BlockFilter(claim_type=chosen.claim_type)
    if by_counter:
        total = _counted_blocks(connection, project_id, chosen.claim_type)
    else:
        total = total_of(connection, project_id, everything, chosen, lambda: _count(connection, candidates))
    statement = select(quotable_block).where(*_block_conditions(project_id, chosen, walking=True))
    if not by_counter and chosen.entity_id is None and is_selective(total, everything, at):
        hits = candidates.cte("hits").prefix_with("MATERIALIZED")
        statement = select(quotable_block).join(hits, hits.c.id == quotable_block.c.id)
    rows, follows = rows_from(connection, statement, NEWEST_BLOCK, at)
    shapes = [QuotableBlock.of(row) for row in rows]
    return Page(shapes, pagination(at, total, rows, follows, scope, ("created_at", "id")))


def is_selective(total: int, everything: int, at: Position) -> bool:
    """Gathering costs `total` rows; walking the ordering costs about `wanted * everything / total` of them.

    That is an average: where what matches is old, a walk passes everything newer. So a few thousand are gathered anyway.
    """
    wanted = at.offset + at.limit + 1
    return total <= _FEW or total * total < wanted * everything


def _count(connection: Connection, candidates: Select[Any]) -> int:
    found: FromClause = candidates.subquery("found")
    return int(connection.execute(select(func.count()).select_from(found)).scalar_one())


def _summed(connection: Connection, counter: Table, *where: ColumnElement[bool]) -> int:
    return int(connection.execute(select(func.coalesce(func.sum(counter.c.n), 0)).where(*where)).scalar_one())


def _counted_entities(connection: Connection, project_id: str, chosen: EntityFilter) -> int:
    wanted = {"entity_type": chosen.entity_type, "status": chosen.status, "concept_kind": chosen.concept_kind}
    where = [entity_count.c[name] == value for name, value in wanted.items() if value is not None]
    return _summed(connection, entity_count, entity_count.c.project_id == project_id, *where)


def _counted_blocks(connection: Connection, project_id: str, claim_type: str | None) -> int:
    where = [block_count.c.claim_type == claim_type] if claim_type is not None else []
    return _summed(connection, block_count, block_count.c.project_id == project_id, *where)


def _entity_conditions(project_id: str, chosen: EntityFilter, *, by_index: bool = True) -> list[ColumnElement[bool]]:
    if chosen.concept_kind is not None and chosen.entity_type == "concept":
        chosen = replace(chosen, entity_type=None)  # a kind implies it, and the kind has the narrower index
    wanted = {
        "project_id": project_id,
        "entity_type": chosen.entity_type,
        "status": chosen.status,
        "concept_kind": chosen.concept_kind,
    }
    where: list[ColumnElement[bool]] = [
        (entity.c[name] if by_index else unindexed(entity.c[name])) == value
        for name, value in wanted.items()
        if value is not None
    ]
    if chosen.search is not None:
        where.append(contains(entity.c.folded, fold(chosen.search)))
    return where


def _block_conditions(project_id: str, chosen: BlockFilter, *, walking: bool = False) -> list[ColumnElement[bool]]:
    block = quotable_block.c
    until = unindexed(block.verified_until) if walking else block.verified_until
    where: list[ColumnElement[bool]] = [block.project_id == project_id]
    if chosen.entity_id is not None:
        where.append(block.entity_id == chosen.entity_id)
    if chosen.claim_type is not None:
        where.append(block.claim_type == chosen.claim_type)
    if chosen.topic_tag is not None:
        term = chosen.topic_tag
        where.append(contains(block.topic_folded, fold(term)) if can_match(term) else false())
    if chosen.verified_from is not None:
        where.append(until >= chosen.verified_from)
    if chosen.verified_to is not None:
        where.append(until <= chosen.verified_to)
    return where


def can_match(term: str) -> bool:
    """Stored text holds no control characters, so a term with one finds nothing (and may not reach the database)."""
    return all(c >= " " and c != "\x7f" for c in term)


def _is_common(connection: Connection, project_id: str, term: str) -> bool:
    newest = (
        select(entity.c.folded)
        .where(entity.c.project_id == project_id)
        .order_by(*(key.ordered() for key in NEWEST_ENTITY))
        .limit(_SAMPLE)
        .subquery()
    )
    hits = select(func.count()).select_from(newest).where(contains(newest.c.folded, fold(term)))
    return bool(connection.execute(hits).scalar_one() > _SAMPLE * _COMMON)


def _with_grams(connection: Connection, statement: Select[Any], grams: list[int]) -> Select[Any]:
    if connection.dialect.name == "postgresql":
        return statement.where(has_grams(entity.c.grams, literal(grams, ARRAY(Integer))))
    words = " AND ".join(f'"{gram_word(gram)}"' for gram in grams)
    return statement.join(_entity_gram, _entity_gram.c.rowid == entity.c.seq).where(
        text("entity_gram MATCH :grams").bindparams(grams=words)
    )
