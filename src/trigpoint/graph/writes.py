"""Writes of projects, entities, relations and blocks. Each is one transaction with one row in the event log.

Writers of one project take turns (its row is locked), so that what is checked is still true when it is written.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from trigpoint.errors import GraphBadRequest, GraphConflict, GraphNotFound
from trigpoint.graph.inputs import EntityChanges, NewBlock, NewEntity, NewProject, NewRelation
from trigpoint.graph.models import Entity, Project, QuotableBlock, Relation
from trigpoint.graph.moments import this_moment
from trigpoint.graph.queries import find_entity
from trigpoint.graph.search_text import entity_text, fold
from trigpoint.graph.tables import entity, entity_relation, event_log, project, quotable_block
from trigpoint.graph.vocabulary import EXTERNAL_KINDS, LIFECYCLE, QUOTABLE_WORDS, RELATION_ENDS
from trigpoint.ids import new_uuid


def create_project(connection: Connection, new: NewProject, *, project_id: str | None = None) -> Project:
    moment = this_moment()
    row: dict[str, Any] = {
        "id": project_id or new_uuid(),
        "slug": new.slug,
        "name": new.name,
        "description": new.description,
        "created_at": moment,
        "updated_at": moment,
    }
    _insert(connection, project, row, f"A project with the slug '{new.slug}' exists already")
    log_event(connection, row["id"], "project.created", row["id"], {"slug": new.slug})
    return Project.of(row)


def lock_project(connection: Connection, project_id: str) -> None:
    """Waits for other writers of this project. On SQLite the transaction itself has done that already."""
    found = connection.execute(select(project.c.id).where(project.c.id == project_id).with_for_update()).scalar()
    if found is None:
        raise GraphNotFound("Project not found")


def create_entity(
    connection: Connection, project_id: str, new: NewEntity, *, status: str = "draft", created_at: int | None = None
) -> Entity:
    lock_project(connection, project_id)
    moment = created_at if created_at is not None else this_moment()
    row: dict[str, Any] = {
        "id": new_uuid(),
        "project_id": project_id,
        "entity_type": new.entity_type,
        "title": new.title,
        "slug": new.slug,
        "summary": new.summary,
        "difficulty": new.difficulty,
        "concept_kind": new.concept_kind,
        "repo_url": new.repo_url,
        "status": status,
        "canonical_url": new.canonical_url,
        "last_verified_at": None,
        "created_at": moment,
        "updated_at": moment,
        "folded": entity_text(new.title, new.slug),
    }
    _insert(connection, entity, row, f"A {new.entity_type} with the slug '{new.slug}' exists already in this project")
    log_event(connection, project_id, "entity.created", row["id"], {"entityType": new.entity_type, "slug": new.slug})
    return Entity.of(row)


def change_entity(connection: Connection, project_id: str, entity_id: str, body: object) -> Entity:
    """PATCH: absent leaves a field, null clears it. Type and status are not changed here."""
    lock_project(connection, project_id)
    before = find_entity(connection, project_id, entity_id)
    changes = EntityChanges.parse(body, before.entity_type).values
    if not changes:
        return before
    title, slug = changes.get("title", before.title), changes.get("slug", before.slug)
    taken = f"A {before.entity_type} with the slug '{slug}' exists already in this project"
    values = {**changes, "folded": entity_text(title, slug), "updated_at": this_moment()}
    _update_entity(connection, project_id, entity_id, values, taken)
    log_event(connection, project_id, "entity.changed", entity_id, {"fields": sorted(changes)})
    return find_entity(connection, project_id, entity_id)


def move_entity(connection: Connection, project_id: str, entity_id: str, action: str) -> Entity:
    """One step of the lifecycle. Raises GraphConflict from a status where it does not apply."""
    lock_project(connection, project_id)
    before = find_entity(connection, project_id, entity_id)
    sources, target = LIFECYCLE[action]
    if before.status not in sources:
        raise GraphConflict(f"Cannot {action} an entity that is {before.status}. It must be {' or '.join(sources)}")
    _update_entity(connection, project_id, entity_id, {"status": target, "updated_at": this_moment()})
    log_event(connection, project_id, f"entity.{action}", entity_id, {"from": before.status, "to": target})
    return find_entity(connection, project_id, entity_id)


def set_status(connection: Connection, project_id: str, before: Entity, status: str) -> None:
    """What a loaded file says about an entity's status, whatever the lifecycle."""
    lock_project(connection, project_id)
    _update_entity(connection, project_id, before.id, {"status": status, "updated_at": this_moment()})
    log_event(connection, project_id, "entity.loaded", before.id, {"from": before.status, "to": status})


def verify_freshness(connection: Connection, project_id: str, entity_id: str) -> Entity:
    lock_project(connection, project_id)
    find_entity(connection, project_id, entity_id)
    moment = this_moment()
    _update_entity(connection, project_id, entity_id, {"last_verified_at": moment, "updated_at": moment})
    log_event(connection, project_id, "entity.verified", entity_id, {})
    return find_entity(connection, project_id, entity_id)


def create_relation(
    connection: Connection, project_id: str, new: NewRelation, *, created_at: int | None = None
) -> Relation:
    lock_project(connection, project_id)
    row: dict[str, Any] = {
        "id": new_uuid(),
        "project_id": project_id,
        "relation_type": new.relation_type,
        "notes": new.notes,
        "created_at": created_at if created_at is not None else this_moment(),
    }
    for side, end, kind in zip(("from", "to"), (new.from_id, new.to_id), RELATION_ENDS[new.relation_type], strict=True):
        entity_end = kind not in EXTERNAL_KINDS
        if entity_end:
            _check_type(find_entity(connection, project_id, end), kind, side, new.relation_type)
        row |= {f"{side}_id": end, f"{side}_kind": kind, f"{side}_entity_id": end if entity_end else None}
    _insert(connection, entity_relation, row, "This relation exists already")
    log_event(connection, project_id, "relation.created", row["id"], {"relationType": new.relation_type})
    return _relation(row)


def delete_relation(connection: Connection, project_id: str, relation_id: str) -> Relation:
    lock_project(connection, project_id)
    where = (entity_relation.c.project_id == project_id, entity_relation.c.id == relation_id)
    row = connection.execute(select(entity_relation).where(*where)).mappings().first()
    if row is None:
        raise GraphNotFound("Relationship not found")
    connection.execute(delete(entity_relation).where(*where))
    log_event(connection, project_id, "relation.deleted", relation_id, {"relationType": row["relation_type"]})
    return _relation(dict(row))


def create_block(
    connection: Connection, project_id: str, new: NewBlock, *, created_at: int | None = None
) -> tuple[QuotableBlock, list[str]]:
    """The block, and advice on its length."""
    lock_project(connection, project_id)
    find_entity(connection, project_id, new.entity_id)
    moment = created_at if created_at is not None else this_moment()
    row: dict[str, Any] = {
        "id": new_uuid(),
        "project_id": project_id,
        "entity_id": new.entity_id,
        "text": new.text,
        "claim_type": new.claim_type,
        "source_citation": new.source_citation,
        "verified_until": new.verified_until,
        "topic_tag": new.topic_tag,
        "topic_folded": None if new.topic_tag is None else fold(new.topic_tag),
        "created_at": moment,
        "updated_at": moment,
    }
    _insert(connection, quotable_block, row, "This block exists already")
    log_event(connection, project_id, "block.created", row["id"], {"entityId": new.entity_id})
    return QuotableBlock.of(row), _advice(new.text)


def log_event(
    connection: Connection, project_id: str, event: str, subject_id: str | None, details: dict[str, Any]
) -> None:
    row = {"project_id": project_id, "event": event, "subject_id": subject_id, "details": details}
    connection.execute(insert(event_log), {**row, "created_at": this_moment()})


def _insert(connection: Connection, table: Any, row: dict[str, Any], taken: str) -> None:
    try:
        with connection.begin_nested():
            connection.execute(insert(table), row)
    except IntegrityError:
        raise GraphConflict(taken) from None


def _update_entity(
    connection: Connection, project_id: str, entity_id: str, values: dict[str, Any], taken: str = ""
) -> None:
    where = (entity.c.project_id == project_id, entity.c.id == entity_id)
    try:
        with connection.begin_nested():
            connection.execute(update(entity).where(*where).values(values))
    except IntegrityError:
        raise GraphConflict(taken) from None


def _check_type(found: Entity, kind: str, side: str, relation_type: str) -> None:
    if found.entity_type != kind:
        raise GraphBadRequest(
            f"{relation_type} needs a {kind} as its {side}-end; entity {found.id} is a {found.entity_type}"
        )


def _relation(row: dict[str, Any]) -> Relation:
    return Relation.of({**row, "from_entity_id": row["from_id"], "to_entity_id": row["to_id"]})


def _advice(text: str) -> list[str]:
    words, (fewest, most) = len(text.split()), QUOTABLE_WORDS
    if fewest <= words <= most:
        return []
    return [f"text has {words} words; a quotable block reads best with {fewest} to {most}"]
