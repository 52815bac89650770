"""An entity's neighbourhood: relationships one or two steps away, whole or marked as cut (G6).

Edges are taken newest first, step by step, until one would break a cap; then nothing more is taken. An end that is
no entity of the project (a source, a distribution, a video) is shown and never passed through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    RowMapping,
    Select,
    Text,
    bindparam,
    func,
    lateral,
    literal_column,
    or_,
    select,
    true,
)
from sqlalchemy import column as sql_column

from trigpoint.graph.filters import GraphFilter
from trigpoint.graph.listing import Where
from trigpoint.graph.lists import among_named, values_named
from trigpoint.graph.models import EntityGraph, GraphRelation, Node, RelatedEntity
from trigpoint.graph.queries import find_entity
from trigpoint.graph.tables import Id, entity, entity_relation

_edge = entity_relation.c
_COLUMNS = [
    _edge[name]
    for name in (
        "id",
        "relation_type",
        "from_id",
        "to_id",
        "from_kind",
        "to_kind",
        "from_entity_id",
        "to_entity_id",
        "notes",
        "created_at",
    )
]
_chosen = entity_relation.alias("edge")
_ROWID: ColumnElement[int] = literal_column("entity_relation.rowid")
_NEWEST = (_edge.created_at.desc(), _edge.id.desc())
_MOST = bindparam("most", type_=Integer())
_RELATED = select(entity.c.id, entity.c.entity_type, entity.c.title, entity.c.slug, entity.c.status).where(
    entity.c.project_id == bindparam("project_id"), among_named(entity.c.id, "ids")
)


@dataclass(frozen=True)
class Caps:
    edges: int = 200
    nodes: int = 100


@dataclass
class _Taken:
    """What has been reached so far: the distance of each entity, and the edges in the order they were taken."""

    distance: dict[str, int]
    edges: dict[str, tuple[RowMapping, int]]
    truncated: bool = False

    def take(self, edges: Sequence[RowMapping], hop: int, caps: Caps) -> None:
        for edge in edges:
            new = [end for end in _ends(edge) if end not in self.distance]
            if len(self.edges) == caps.edges or len(self.distance) + len(new) > caps.nodes:
                self.truncated = True
                return
            self.edges[edge["id"]] = (edge, hop)
            self.distance.update(dict.fromkeys(new, hop))


def entity_graph(
    connection: Connection, project_id: str, entity_id: str, chosen: GraphFilter, caps: Caps
) -> EntityGraph:
    """Raises GraphNotFound."""
    root = find_entity(connection, project_id, entity_id)
    taken = _Taken({entity_id: 0}, {})
    taken.take(_edges_of(connection, project_id, [entity_id], chosen, caps), 1, caps)
    if chosen.depth == 2 and not taken.truncated:
        near = sorted(set(taken.distance) - {entity_id})
        taken.take(_edges_of(connection, project_id, near, chosen, caps, without=entity_id), 2, caps)
    entities = _entities(connection, project_id, sorted(taken.distance))
    return EntityGraph(
        root_entity=root,
        relationships=[_shown(edge, hop, taken.distance, entities) for edge, hop in _newest_first(taken)],
        depth=chosen.depth,
        nodes=[Node.of({**entities[i], "hop": taken.distance[i]}) for i in sorted(taken.distance)],
        truncated=taken.truncated,
    )


def _newest_first(taken: _Taken) -> list[tuple[RowMapping, int]]:
    return sorted(taken.edges.values(), key=lambda e: (e[0]["created_at"], e[0]["id"]), reverse=True)


def _ends(edge: RowMapping) -> list[str]:
    return [end for end in (edge["from_entity_id"], edge["to_entity_id"]) if end is not None]


def _shown(edge: RowMapping, hop: int, distance: dict[str, int], entities: dict[str, RowMapping]) -> GraphRelation:
    """`relatedEntity` is the end farther from the root; on a tie the from-end; null where that is no entity."""
    start, end = edge["from_entity_id"], edge["to_entity_id"]
    farther = start if distance.get(start, 9) >= distance.get(end, 9) else end
    related = None if start is None or end is None else farther
    return GraphRelation(
        id=edge["id"],
        relation_type=edge["relation_type"],
        from_entity_id=edge["from_id"],
        to_entity_id=edge["to_id"],
        from_kind=edge["from_kind"],
        to_kind=edge["to_kind"],
        notes=edge["notes"],
        created_at=edge["created_at"],
        hop=hop,
        related_entity=None if related is None else RelatedEntity.of(entities[related]),
    )


def _entities(connection: Connection, project_id: str, ids: list[str]) -> dict[str, RowMapping]:
    found = connection.execute(_RELATED, {"project_id": project_id, "ids": ids})
    return {row["id"]: row for row in found.mappings()}


def _edges_of(
    connection: Connection,
    project_id: str,
    ids: list[str],
    chosen: GraphFilter,
    caps: Caps,
    *,
    without: str | None = None,
) -> list[RowMapping]:
    """The newest edges that touch these entities, one more than the cap; a hub costs no more than that."""
    if not ids:
        return []
    one_by_one = _by_lateral if connection.dialect.name == "postgresql" else _by_membership
    where = _conditions(filtered=bool(chosen.relation_types), onwards=without is not None)
    values = {
        "project_id": project_id,
        "ids": ids,
        "most": caps.edges + 1,
        "relation_types": chosen.relation_types,
        "without": without,
    }
    found: dict[str, RowMapping] = {}
    for end in ("from_entity_id", "to_entity_id"):
        for edge in connection.execute(one_by_one(where, end), values).mappings():
            found[edge["id"]] = edge
    ordered = sorted(found.values(), key=lambda e: (e["created_at"], e["id"]), reverse=True)
    return ordered[: caps.edges + 1]


@cache
def _conditions(*, filtered: bool, onwards: bool) -> Where:
    where = [_edge.project_id == bindparam("project_id")]
    if filtered:
        where.append(among_named(_edge.relation_type, "relation_types"))
    if onwards:
        ends = (_edge.from_entity_id, _edge.to_entity_id)
        where += [or_(end.is_(None), end != bindparam("without")) for end in ends]
    return tuple(where)


@cache
def _by_lateral(where: Where, end: str) -> Select[Any]:
    near = func.unnest(values_named("ids", Id)).table_valued(sql_column("id", Id)).render_derived(name="near")
    newest = select(*_COLUMNS).where(*where, _edge[end] == near.c.id).order_by(*_NEWEST).limit(_MOST)
    return select(edges := lateral(newest, name="edge")).select_from(near.join(edges, true()))


@cache
def _by_membership(where: Where, end: str) -> Select[Any]:
    """SQLite has no lateral join: for each entity, the edges whose rows are among its newest."""
    near = func.json_each(values_named("ids", Id)).table_valued(sql_column("value", Text))
    newest = select(_ROWID).where(*where, _edge[end] == near.c.value).order_by(*_NEWEST).limit(_MOST)
    its_own = literal_column("edge.rowid").in_(newest.correlate(near).scalar_subquery())
    return select(*(_chosen.c[column.name] for column in _COLUMNS)).select_from(near.join(_chosen, its_own))
