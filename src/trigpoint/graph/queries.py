"""Reads of projects and entities. Rows and total come from the connection's one snapshot.

A total without text is a sum of counters. A page is read along its ordering's index, or, when few rows match, by
gathering those first: `is_selective` says which is cheaper.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    RowMapping,
    Select,
    Text,
    bindparam,
    column,
    literal_column,
    select,
    table,
)

from trigpoint.errors import GraphNotFound
from trigpoint.graph.filters import EntityFilter
from trigpoint.graph.listing import (
    Asked,
    Key,
    Listing,
    Position,
    ask_for,
    counted,
    is_selective,
    rows_from,
    summed,
)
from trigpoint.graph.models import Entity, Project
from trigpoint.graph.paging import Page, PageRequest, pagination, position, scope_of
from trigpoint.graph.search_text import can_match, fold, gram_match, has_grams, term_grams
from trigpoint.graph.state import state_of, total_of
from trigpoint.graph.tables import entity, entity_count, entity_text, project
from trigpoint.graph.vocabulary import DEFAULT_PROJECT_ID

_ENTITY_COLUMNS = [c for c in entity.c if c.name not in ("seq", "folded")]
PROJECTS = Listing(project, list(project.c), ["id"], (Key(project.c.slug), Key(project.c.id, is_id=True)))
ENTITIES = Listing(
    entity,
    _ENTITY_COLUMNS,
    ["id"],
    (Key(entity.c.created_at, int, descending=True), Key(entity.c.id, descending=True, is_id=True)),
)
_entity_gram = table("entity_gram", column("rowid"))
_MATCHES: ColumnElement[bool] = literal_column("entity_gram").bool_op("MATCH")(bindparam("grams", type_=Text()))
_HAS_GRAMS = has_grams(entity_text, "grams")
_SAME_ROW = entity_text.c.seq == _entity_gram.c.rowid


def project_named(connection: Connection, *, project_id: str | None = None, slug: str | None = None) -> str:
    """The id of an existing project. Raises GraphNotFound, always in the same words (G4)."""
    by, value = ("id", project_id) if project_id is not None else ("slug", slug)
    found = connection.execute(_project_by(by), {"value": value}).scalar()
    if found is None:
        raise GraphNotFound("Project not found")
    return str(found)


@cache
def _project_by(name: str) -> Select[Any]:
    return select(project.c.id).where(project.c[name] == bindparam("value"))


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
    wanted = ask_for(project, {"id": only})
    total = counted(connection, project, wanted)
    rows, follows = rows_from(connection, PROJECTS, at, wanted)
    return Page([Project.of(row) for row in rows], pagination(at, total, rows, follows, scope, PROJECTS))


def has_entities(connection: Connection, project_id: str) -> bool:
    return summed(connection, entity_count, ask_for(entity_count, {"project_id": project_id})) > 0


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
        total = summed(connection, entity_count, ask_for(entity_count, _columns(project_id, chosen)))
        rows, follows = rows_from(connection, ENTITIES, at, ask_for(entity, _indexed(project_id, chosen)))
    elif can_match(chosen.search):
        total, rows, follows = _entities_with(connection, project_id, chosen, chosen.search, at)
    else:
        total, rows, follows = 0, [], False
    return Page([Entity.of(row) for row in rows], pagination(at, total, rows, follows, scope, ENTITIES))


def _entities_with(
    connection: Connection, project_id: str, chosen: EntityFilter, term: str, at: Position
) -> tuple[int, list[RowMapping], bool]:
    state = state_of(connection, project_id, entity_count)
    folded = fold(term)
    matching = ask_for(entity_text, _columns(project_id, chosen), folded=folded)
    if grams := term_grams(folded):
        matching = _narrowed_by_grams(connection, matching, project_id, grams)

    def count() -> int:
        if chosen == EntityFilter(search=term) and grams == [folded]:  # what has the gram contains the term
            return counted(connection, *_with_gram(connection, project_id, folded))
        return counted(connection, entity_text, matching)

    total = total_of(connection, state, chosen, count)
    if is_selective(total, state.rows, at):
        return total, *rows_from(connection, ENTITIES, at, matching, gathered=entity_text)
    return total, *rows_from(connection, ENTITIES, at, ask_for(entity, _indexed(project_id, chosen), folded=folded))


def _columns(project_id: str, chosen: EntityFilter) -> dict[str, str | None]:
    return {
        "project_id": project_id,
        "entity_type": chosen.entity_type,
        "status": chosen.status,
        "concept_kind": chosen.concept_kind,
    }


def _indexed(project_id: str, chosen: EntityFilter) -> dict[str, str | None]:
    """A kind is one of concepts, and has the narrower index."""
    columns = _columns(project_id, chosen)
    if chosen.concept_kind is not None and chosen.entity_type == "concept":
        columns["entity_type"] = None
    return columns


def _narrowed_by_grams(connection: Connection, matching: Asked, project_id: str, grams: list[str]) -> Asked:
    if connection.dialect.name == "postgresql":
        return matching.narrowed(_HAS_GRAMS, grams=[project_id + gram for gram in grams])
    return matching.narrowed(_SAME_ROW, _MATCHES, grams=gram_match(project_id, grams))


def _with_gram(connection: Connection, project_id: str, gram: str) -> tuple[FromClause, Asked]:
    """What has the gram, in the index alone."""
    if connection.dialect.name == "postgresql":
        return entity_text, Asked((_HAS_GRAMS,), {"grams": [project_id + gram]})
    return _entity_gram, Asked((_MATCHES,), {"grams": gram_match(project_id, [gram])})
