"""An entity's neighbourhood: relationships one or two steps away, whole or marked as cut.

Edges are taken newest first, step by step, until one would break a cap; then nothing more is taken. If the entity's own
edges are cut, a cursor leads to the rest of them. An end that is not an entity of the project (a source, a distribution, a
video) is shown and never passed through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    Text,
    func,
    lateral,
    literal,
    literal_column,
    or_,
    select,
    true,
)
from sqlalchemy import column as sql_column

from trigpoint.graph.inputs import GraphFilter
from trigpoint.graph.listing import Cursor, Order, Where
from trigpoint.graph.models import EntityGraph, GraphRelation, Node, RelatedEntity
from trigpoint.graph.queries import find_entity
from trigpoint.graph.tables import Id, entity, entity_relation

_edge = entity_relation.c
_NEWEST = Order(down=(_edge.created_at, _edge.id))
_chosen = entity_relation.alias("edge")


@dataclass(frozen=True)
class Caps:
    edges: int = 200
    nodes: int = 100


@dataclass
class _Taken:
    """The part of the graph reached so far: the distance of each entity, and the edges in the order they were taken."""

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
    """Return an entity's relationships, one or two steps away. Raise GraphNotFound."""
    root = find_entity(connection, project_id, entity_id)
    scope = ("graph", project_id, entity_id, chosen.relationship_types)
    where = [_edge.project_id == project_id]
    if chosen.relationship_types:
        where.append(_edge.relation_type.in_(chosen.relationship_types))
    start = Cursor.opened(chosen.cursor, scope, _NEWEST) if chosen.cursor is not None else Cursor(1, ())
    further = _NEWEST.beyond(start.key) if start.key else []
    taken = _Taken({entity_id: 0}, {})
    taken.take(_edges_of(connection, [entity_id], [*where, *further], caps), 1, caps)
    last = next(reversed(taken.edges.values()), (None, 0))[0] if taken.truncated else None
    if chosen.depth == 2 and not taken.truncated:
        near = sorted(set(taken.distance) - {entity_id})
        onwards = [or_(end.is_(None), end != entity_id) for end in (_edge.from_entity_id, _edge.to_entity_id)]
        taken.take(_edges_of(connection, near, [*where, *onwards], caps), 2, caps)
    entities = _entities(connection, project_id, sorted(taken.distance))
    return EntityGraph(
        root_entity=root,
        relationships=[_as_relation(edge, hop, taken.distance, entities) for edge, hop in _newest_first(taken)],
        depth=chosen.depth,
        nodes=[Node.of({**entities[i], "hop": taken.distance[i]}) for i in sorted(taken.distance)],
        truncated=taken.truncated,
        next_cursor=None if last is None else Cursor(start.page + 1, _NEWEST.key_of(last)).sealed(scope),
    )


def _newest_first(taken: _Taken) -> list[tuple[RowMapping, int]]:
    return sorted(taken.edges.values(), key=lambda e: (e[0]["created_at"], e[0]["id"]), reverse=True)


def _ends(edge: RowMapping) -> list[str]:
    return [end for end in (edge["from_entity_id"], edge["to_entity_id"]) if end is not None]


def _as_relation(
    edge: RowMapping, hop: int, distance: dict[str, int], entities: dict[str, RowMapping]
) -> GraphRelation:
    """Return an edge as a relation.

    `relatedEntity` is the end farther from the root; on a tie the from-end; null if that is not an entity.
    """
    start, end = edge["from_entity_id"], edge["to_entity_id"]
    farther = start if distance.get(start, 9) >= distance.get(end, 9) else end
    related = None if start is None or end is None else RelatedEntity.of(entities[farther])
    return GraphRelation.of({**relation_row(edge), "hop": hop, "related_entity": related})


def relation_row(row: Any) -> dict[str, Any]:
    """Return a relation as clients see it: an end is named by the id that it has, whether it is an entity or not."""
    return {**row, "from_entity_id": row["from_id"], "to_entity_id": row["to_id"]}


def _entities(connection: Connection, project_id: str, ids: list[str]) -> dict[str, RowMapping]:
    named = select(entity.c.id, entity.c.entity_type, entity.c.title, entity.c.slug, entity.c.status)
    rows = connection.execute(named.where(entity.c.project_id == project_id, entity.c.id.in_(ids)))
    return {row["id"]: row for row in rows.mappings()}


def _edges_of(connection: Connection, ids: list[str], where: Where, caps: Caps) -> list[RowMapping]:
    """Return the newest edges that touch these entities, one more than the cap; a hub costs no more than that."""
    newest_of = _by_lateral if connection.dialect.name == "postgresql" else _by_membership
    edges: dict[str, RowMapping] = {}
    for end in ("from_entity_id", "to_entity_id") if ids else ():
        for edge in connection.execute(newest_of(where, end, ids, caps.edges + 1)).mappings():
            edges[edge["id"]] = edge
    ordered = sorted(edges.values(), key=lambda e: (e["created_at"], e["id"]), reverse=True)
    return ordered[: caps.edges + 1]


def _by_lateral(where: Where, end: str, ids: list[str], most: int) -> Select[Any]:
    near = func.unnest(literal(ids, ARRAY(Id))).table_valued(sql_column("id", Id)).render_derived(name="near")
    newest = select(entity_relation).where(*where, _edge[end] == near.c.id).order_by(*_NEWEST.by()).limit(most)
    return select(edges := lateral(newest, name="edge")).select_from(near.join(edges, true()))


def _by_membership(where: Where, end: str, ids: list[str], most: int) -> Select[Any]:
    """Select, for each entity, the edges whose rows are among its newest: SQLite has no lateral join."""
    near = func.json_each(orjson.dumps(ids).decode()).table_valued(sql_column("value", Text))
    rowid: ColumnElement[int] = literal_column("entity_relation.rowid")
    newest = select(rowid).where(*where, _edge[end] == near.c.value).order_by(*_NEWEST.by()).limit(most)
    its_own = literal_column("edge.rowid").in_(newest.correlate(near).scalar_subquery())
    return select(_chosen).select_from(near.join(_chosen, its_own))
