"""Exports a whole project as the document that `load` reads back."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from trigpoint.graph.load import LoadedBlock, LoadedEntity
from trigpoint.graph.models import Entity, Project, QuotableBlock
from trigpoint.graph.moments import print_moment
from trigpoint.graph.tables import entity, entity_relation, project, quotable_block

_KEPT = ("entityType", *(name for name in LoadedEntity.json_fields() if name != "entityType"))  # its type comes first
_KEPT_OF_BLOCK = tuple(name for name in LoadedBlock.json_fields() if name != "entity")


def export_project(connection: Connection, project_id: str) -> dict[str, Any]:
    exported = Project.of(connection.execute(select(project).where(project.c.id == project_id)).mappings().one())
    entities = [Entity.of(row) for row in _rows(connection, entity, project_id)]
    names = {one.id: f"{one.entity_type}/{one.slug}" for one in entities}
    return {
        "project": _without_nulls({"slug": exported.slug, "name": exported.name, "description": exported.description}),
        "entities": [_without_nulls(one.shown(_KEPT)) for one in entities],
        "relations": [
            _without_nulls(
                {
                    "relationType": row["relation_type"],
                    "from": names.get(row["from_id"], row["from_id"]),
                    "to": names.get(row["to_id"], row["to_id"]),
                    "notes": row["notes"],
                    "createdAt": print_moment(row["created_at"]),
                }
            )
            for row in _rows(connection, entity_relation, project_id)
        ],
        "blocks": [_block(QuotableBlock.of(row), names) for row in _rows(connection, quotable_block, project_id)],
    }


def _rows(connection: Connection, table: Any, project_id: str) -> Any:
    ordered = select(table).where(table.c.project_id == project_id).order_by(table.c.created_at, table.c.id)
    return connection.execute(ordered).mappings()


def _block(block: QuotableBlock, names: dict[str, str]) -> dict[str, Any]:
    return _without_nulls({"entity": names[block.entity_id], **block.shown(_KEPT_OF_BLOCK)})


def _without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
