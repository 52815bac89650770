"""Writes of projects, entities, relations and blocks. Each is one transaction with one row in the event log.

Writers of one project take turns (its row is locked), so that what is checked is still true when it is written.
"""

from __future__ import annotations

from sqlalchemy import Connection, Table, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from trigpoint.errors import GraphBadRequest, GraphConflict, GraphNotFound
from trigpoint.graph.bulk import Row
from trigpoint.graph.inputs import BlockText, EntityChanges, NewBlock, NewEntity, NewProject, NewRelation
from trigpoint.graph.models import Entity, Project, QuotableBlock, Relation
from trigpoint.graph.moments import this_moment
from trigpoint.graph.neighbourhood import relation_row
from trigpoint.graph.queries import find_entity
from trigpoint.graph.search_text import fold, folded_entity
from trigpoint.graph.tables import entity, entity_relation, event_log, project, quotable_block
from trigpoint.graph.vocabulary import EXTERNAL_KINDS, LIFECYCLE, QUOTABLE_WORDS, RELATION_ENDS
from trigpoint.ids import new_uuid


def create_project(connection: Connection, new: NewProject) -> Project:
    moment = this_moment()
    row = {"id": new_uuid(), **new.model_dump(), "created_at": moment, "updated_at": moment}
    _insert(connection, project, row, f"A project with the slug '{new.slug}' exists already")
    log_event(connection, row["id"], "project.created", row["id"], {"slug": new.slug})
    return Project.of(row)


def lock_project(connection: Connection, project_id: str) -> None:
    """Wait for other writers of this project. On SQLite the transaction itself has done that already."""
    found = connection.execute(select(project.c.id).where(project.c.id == project_id).with_for_update()).scalar()
    if found is None:
        raise GraphNotFound("Project not found")


def entity_row(project_id: str, new: NewEntity, entity_id: str, status: str, moment: int) -> Row:
    fields = {name: getattr(new, name) for name in NewEntity.model_fields}
    identity = {"id": entity_id, "project_id": project_id, "folded": folded_entity(new.title, new.slug)}
    return identity | fields | {"status": status, "created_at": moment, "updated_at": moment}


def create_entity(connection: Connection, project_id: str, new: NewEntity) -> Entity:
    lock_project(connection, project_id)
    row = entity_row(project_id, new, new_uuid(), "draft", this_moment())
    _insert(connection, entity, row, _slug_taken_message(new.entity_type, new.slug))
    log_event(connection, project_id, "entity.created", row["id"], {"entityType": new.entity_type, "slug": new.slug})
    return find_entity(connection, project_id, row["id"])


def _slug_taken_message(entity_type: str, slug: str) -> str:
    return f"A {entity_type} with the slug '{slug}' exists already in this project"


def change_entity(connection: Connection, project_id: str, entity_id: str, changes: EntityChanges) -> Entity:
    """Change the fields that are set; null clears one. Type and status are not changed here."""
    lock_project(connection, project_id)
    before = find_entity(connection, project_id, entity_id)
    changes.check_type(before.entity_type)
    values = changes.model_dump(exclude_unset=True)
    if not values:
        return before
    title, slug = values.get("title", before.title), values.get("slug", before.slug)
    details = {"fields": sorted(values)}
    values["folded"] = folded_entity(title, slug)
    return _update(connection, before, values, "entity.changed", details, _slug_taken_message(before.entity_type, slug))


def move_entity(connection: Connection, project_id: str, entity_id: str, action: str) -> Entity:
    """Take one step of the lifecycle. Raise GraphConflict if it does not apply to the current status."""
    lock_project(connection, project_id)
    before = find_entity(connection, project_id, entity_id)
    sources, target = LIFECYCLE[action]
    if before.status not in sources:
        raise GraphConflict(f"Cannot {action} an entity that is {before.status}. It must be {' or '.join(sources)}")
    details = {"from": before.status, "to": target}
    return _update(connection, before, {"status": target}, f"entity.{action}", details)


def set_status(connection: Connection, project_id: str, entity_id: str, status: str) -> Entity:
    """Set the status that a loaded file gives, whatever the lifecycle."""
    before = find_entity(connection, project_id, entity_id)
    return _update(connection, before, {"status": status}, "entity.loaded", {"from": before.status, "to": status})


def verify_freshness(connection: Connection, project_id: str, entity_id: str) -> Entity:
    lock_project(connection, project_id)
    before = find_entity(connection, project_id, entity_id)
    return _update(connection, before, {"last_verified_at": this_moment()}, "entity.verified", {})


def _update(connection: Connection, before: Entity, values: Row, event: str, details: Row, taken: str = "") -> Entity:
    where = (entity.c.project_id == before.project_id, entity.c.id == before.id)
    try:
        with connection.begin_nested():
            connection.execute(update(entity).where(*where).values({**values, "updated_at": this_moment()}))
    except IntegrityError:
        raise GraphConflict(taken) from None
    log_event(connection, before.project_id, event, before.id, details)
    return find_entity(connection, before.project_id, before.id)


def create_relation(connection: Connection, project_id: str, new: NewRelation) -> Relation:
    lock_project(connection, project_id)
    ends = (new.from_entity_id, new.to_entity_id)
    for side, end, kind in zip(("from", "to"), ends, RELATION_ENDS[new.relation_type], strict=True):
        if kind not in EXTERNAL_KINDS:
            check_end(new.relation_type, side, end, find_entity(connection, project_id, end).entity_type)
    row = new_relation_row(project_id, new.relation_type, ends, new.notes, new_uuid(), this_moment())
    _insert(connection, entity_relation, row, "This relation exists already")
    log_event(connection, project_id, "relation.created", row["id"], {"relationType": new.relation_type})
    return Relation.of(relation_row(row))


def check_end(relation_type: str, side: str, end: str, entity_type: str) -> None:
    kind = RELATION_ENDS[relation_type][side == "to"]
    if entity_type != kind:
        raise GraphBadRequest(f"{relation_type} needs a {kind} as its {side}-end; entity {end} is a {entity_type}")


def new_relation_row(
    project_id: str, relation_type: str, ends: tuple[str, str], notes: str | None, relation_id: str, moment: int
) -> Row:
    row: Row = {"id": relation_id, "project_id": project_id, "relation_type": relation_type}
    for side, end, kind in zip(("from", "to"), ends, RELATION_ENDS[relation_type], strict=True):
        entity_id = None if kind in EXTERNAL_KINDS else end
        row |= {f"{side}_id": end, f"{side}_kind": kind, f"{side}_entity_id": entity_id}
    return row | {"notes": notes, "created_at": moment}


def delete_relation(connection: Connection, project_id: str, relation_id: str) -> Relation:
    lock_project(connection, project_id)
    where = (entity_relation.c.project_id == project_id, entity_relation.c.id == relation_id)
    row = connection.execute(select(entity_relation).where(*where)).mappings().first()
    if row is None:
        raise GraphNotFound("Relationship not found")
    connection.execute(delete(entity_relation).where(*where))
    log_event(connection, project_id, "relation.deleted", relation_id, {"relationType": row["relation_type"]})
    return Relation.of(relation_row(row))


def create_block(connection: Connection, project_id: str, new: NewBlock) -> tuple[QuotableBlock, list[str]]:
    """Return the block, and advice on its length."""
    lock_project(connection, project_id)
    find_entity(connection, project_id, new.entity_id)
    row = block_row(project_id, new.entity_id, new, new_uuid(), this_moment())
    _insert(connection, quotable_block, row, "This block exists already")
    log_event(connection, project_id, "block.created", row["id"], {"entityId": new.entity_id})
    return QuotableBlock.of(row), advice(new.text)


def block_row(project_id: str, entity_id: str, new: BlockText, block_id: str, moment: int) -> Row:
    fields = {name: getattr(new, name) for name in BlockText.model_fields}
    identity = {"id": block_id, "project_id": project_id, "entity_id": entity_id}
    folded = None if new.topic_tag is None else fold(new.topic_tag)
    return identity | fields | {"topic_folded": folded, "created_at": moment, "updated_at": moment}


def advice(text: str) -> list[str]:
    words, (fewest, most) = len(text.split()), QUOTABLE_WORDS
    if fewest <= words <= most:
        return []
    return [f"text has {words} words; a quotable block reads best with {fewest} to {most}"]


def log_event(connection: Connection, project_id: str, event: str, subject_id: str | None, details: Row) -> None:
    row = {"project_id": project_id, "event": event, "subject_id": subject_id, "details": details}
    connection.execute(insert(event_log), {**row, "created_at": this_moment()})


def _insert(connection: Connection, table: Table, row: Row, taken: str) -> None:
    try:
        with connection.begin_nested():
            connection.execute(insert(table), row)
    except IntegrityError:
        raise GraphConflict(taken) from None
