"""Loads files into the graph: projects, entities, relations and blocks from JSON or YAML, Search Console rows from CSV.

A file is one transaction, written in batches. Loading it again changes only what differs. Entities are named `type/slug`
within a file.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import orjson
import yaml
from pydantic import Field
from sqlalchemy import Connection, RowMapping, select

from trigpoint.errors import GraphBadRequest, GraphConflict, GraphNotFound, shorten
from trigpoint.graph import writes
from trigpoint.graph.bulk import Progress, insert_rows, unheard
from trigpoint.graph.fields import Input, Moment, check_slug, check_text, checked
from trigpoint.graph.ingest import ingest_rows, parse_rows
from trigpoint.graph.inputs import BlockText, EntityChanges, NewEntity, NewProject, Notes, RelationType, Status
from trigpoint.graph.listing import count
from trigpoint.graph.moments import this_moment
from trigpoint.graph.queries import project_named
from trigpoint.graph.tables import entity, entity_relation, quotable_block
from trigpoint.graph.vocabulary import ENTITY_TYPES, EXTERNAL_KINDS, LONGEST, MOST_INGEST_ROWS, RELATION_ENDS
from trigpoint.ids import new_uuid
from trigpoint.storage.files import reason

Summary = Counter[str]
_PARTS = ("entities", "relations", "blocks")
_EXPECTED = "Expected `project`, `entities`, `relations` and `blocks`, or a list of such under `projects`"
_CSV_NAMES = {
    "query": ("query", "top queries", "queries"),
    "pageUrl": ("page", "pageurl", "top pages", "pages", "url", "landing page"),
    "clicks": ("clicks",),
    "impressions": ("impressions",),
    "ctr": ("ctr", "url ctr"),
    "avgPosition": ("position", "avgposition", "average position"),
    "date": ("date",),
    "dateStart": ("datestart", "start date"),
    "dateEnd": ("dateend", "end date"),
}
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast if the wheel brings libyaml


def sample_files() -> list[Path]:
    """Return the sample that ships with the package: a fictional project and its search rows."""
    folder = Path(str(files("trigpoint.graph") / "sample"))
    return sorted(folder.glob("*.yaml")) + sorted(folder.glob("*.csv"))


class LoadedEntity(NewEntity):
    status: Status = "draft"
    created_at: Moment | None = None


class _LoadedRelation(Input):
    relation_type: RelationType
    start: Annotated[str, Field(alias="from")]
    end: Annotated[str, Field(alias="to")]
    notes: Notes | None = None
    created_at: Moment | None = None


class LoadedBlock(BlockText):
    entity: str
    created_at: Moment | None = None


def read_document(path: Path) -> list[Mapping[str, Any]]:
    """Return the projects of a JSON or YAML file, at least one. Raise GraphBadRequest, naming the place."""
    try:
        text = path.read_text(encoding="utf-8")
        loaded = orjson.loads(text) if path.suffix.lower() == ".json" else yaml.load(text, Loader=_YAML)  # noqa: S506
    except OSError as error:
        raise GraphBadRequest(f"{path}: cannot be read: {reason(error)}") from None
    except (ValueError, yaml.YAMLError) as error:
        raise GraphBadRequest(f"{path}: cannot be read: {shorten(error, 200)}") from None
    with located(str(path)):
        return _yaml_documents(loaded)


def _yaml_documents(loaded: Any) -> list[Mapping[str, Any]]:
    if isinstance(loaded, Mapping) and "projects" in loaded:
        loaded = loaded["projects"]
    documents = loaded if isinstance(loaded, list) else [loaded]
    if not documents:
        raise GraphBadRequest(f"there is no project in it. {_EXPECTED}")
    for document in documents:
        if not isinstance(document, Mapping):
            raise GraphBadRequest(f"'{shorten(document)}' is not a project. {_EXPECTED}")
        if unknown := set(document) - {"project", *_PARTS}:
            raise GraphBadRequest(f"Unknown field: '{shorten(min(unknown, key=str))}'. {_EXPECTED}")
        if "project" not in document:
            raise GraphBadRequest(f"`project` is missing. {_EXPECTED}")
    return documents


def load_document(connection: Connection, document: Mapping[str, Any], progress: Progress = unheard) -> Summary:
    """Load one project with all it holds; `progress` hears how many items have been written. Raise GraphError that names
    the part and its index."""
    summary: Summary = Counter()
    entities, relations, blocks = (_items(document, name) for name in _PARTS)
    project_id = _put_project(connection, document.get("project"), summary)
    names = _put_entities(connection, project_id, entities, summary, progress)
    _put_relations(connection, project_id, relations, names, summary, progress)
    _put_blocks(connection, project_id, blocks, names, summary, progress)
    summary = +summary  # without what was not there at all
    writes.log_event(connection, project_id, "graph.loaded", None, dict(summary))
    return summary


def items_of(document: Mapping[str, Any]) -> int:
    return sum(len(_items(document, name)) for name in _PARTS)


def _items(document: Mapping[str, Any], name: str) -> list[Any]:
    items = document.get(name) or []
    if not isinstance(items, list):
        raise GraphBadRequest(f"{name} must be a list")
    return items


@contextmanager
def located(where: str) -> Iterator[None]:
    """Add a place, such as a file or a part of it, to the errors raised inside this context."""
    try:
        yield
    except (GraphBadRequest, GraphNotFound, GraphConflict) as error:
        raise type(error)(f"{where}: {error.message}", **error.details) from None


def _put_project(connection: Connection, body: object, summary: Summary) -> str:
    with located("project"):
        new = NewProject.parse(body)
    try:
        project_id = project_named(connection, slug=new.slug)
    except GraphNotFound:
        summary["projects created"] += 1
        project_id = writes.create_project(connection, new).id
    writes.lock_project(connection, project_id)
    return project_id


def _put_entities(
    connection: Connection, project_id: str, items: list[Any], summary: Summary, progress: Progress
) -> dict[str, str]:
    """Insert the new ones, change those that differ. Return the ids of the project's entities by `type/slug`."""
    stored = {_entity_name(row): row for row in _rows(connection, entity, project_id)}
    names, rows, others, moment = {name: row["id"] for name, row in stored.items()}, [], [], this_moment()
    for index, item in enumerate(items):
        with located(f"entities[{index}]"):
            new = LoadedEntity.parse(item)
        name = f"{new.entity_type}/{new.slug}"
        if name in names:
            others.append((index, name, new))
            continue
        names[name] = new_uuid()
        created = moment if new.created_at is None else new.created_at
        rows.append(writes.entity_row(project_id, new, names[name], new.status, created))
    insert_rows(connection, entity, rows, progress=progress)
    summary["entities created"] += len(rows)
    stored |= {_entity_name(row): row for row in rows}
    for index, name, new in others:
        with located(f"entities[{index}]"):
            changed = _update_entity(connection, stored[name], new)
        stored[name] = {**stored[name], **changed}
        summary["entities changed" if changed else "entities unchanged"] += 1
    progress(len(others))
    return names


def _entity_name(row: Mapping[str, Any] | RowMapping) -> str:
    return f"{row['entity_type']}/{row['slug']}"


def _rows(connection: Connection, table: Any, project_id: str) -> Any:
    return connection.execute(select(table).where(table.c.project_id == project_id)).mappings()


def _update_entity(connection: Connection, stored: Mapping[str, Any], new: LoadedEntity) -> dict[str, Any]:
    """Return the columns that differed."""
    given = new.model_dump(include=new.model_fields_set & set(EntityChanges.model_fields))
    changed = {column: value for column, value in given.items() if stored[column] != value}
    if changed:
        writes.change_entity(connection, stored["project_id"], stored["id"], EntityChanges(**changed))
    if stored["status"] != new.status:
        writes.set_status(connection, stored["project_id"], stored["id"], new.status)
        changed["status"] = new.status
    return changed


def _put_relations(
    connection: Connection,
    project_id: str,
    items: list[Any],
    names: Mapping[str, str],
    summary: Summary,
    progress: Progress,
) -> None:
    mine = [entity_relation.c.project_id == project_id]
    before, moment = count(connection, entity_relation, mine), this_moment()

    def row(index: int, item: Any) -> dict[str, Any]:
        with located(f"relations[{index}]"):
            new = _LoadedRelation.parse(item)
            start, end = _ends(new, names)
        created = moment if new.created_at is None else new.created_at
        return writes.new_relation_row(project_id, new.relation_type, (start, end), new.notes, new_uuid(), created)

    rows = (row(index, item) for index, item in enumerate(items))
    insert_rows(connection, entity_relation, rows, "ON CONFLICT DO NOTHING", progress)
    created = count(connection, entity_relation, mine) - before
    summary["relations created"] += created
    summary["relations unchanged"] += len(items) - created


def _ends(new: _LoadedRelation, names: Mapping[str, str]) -> tuple[str, str]:
    ends = []
    for side, end, kind in zip(("from", "to"), (new.start, new.end), RELATION_ENDS[new.relation_type], strict=True):
        if kind in EXTERNAL_KINDS:
            ends.append(checked(check_text, end, side, LONGEST["reference"]))
        else:
            ends.append(_entity_id(names, end, side))
            writes.check_end(new.relation_type, side, end, end.partition("/")[0])
    if ends[0] == ends[1]:
        raise GraphBadRequest("An entity cannot be related to itself")
    return ends[0], ends[1]


def _entity_id(names: Mapping[str, str], name: str, where: str) -> str:
    """Return the id of the entity called `type/slug`."""
    if name in names:
        return names[name]
    kind, _, slug = name.partition("/")
    if kind not in ENTITY_TYPES or not slug:
        raise GraphBadRequest(
            f"Invalid {where}: '{shorten(name)}'. Name an entity as type/slug, for example guide/kerbs"
        )
    raise GraphNotFound(f"{where}: there is no {kind} '{shorten(slug)}' in this project")


def _put_blocks(
    connection: Connection,
    project_id: str,
    items: list[Any],
    names: Mapping[str, str],
    summary: Summary,
    progress: Progress,
) -> None:
    known = (
        {(row["entity_id"], row["text"]) for row in _rows(connection, quotable_block, project_id)} if items else set()
    )
    rows, moment = [], this_moment()
    for index, item in enumerate(items):
        with located(f"blocks[{index}]"):
            new = LoadedBlock.parse(item)
            entity_id = _entity_id(names, new.entity, "entity")
        if (entity_id, new.text) not in known:
            known.add((entity_id, new.text))
            created = moment if new.created_at is None else new.created_at
            rows.append(writes.block_row(project_id, entity_id, new, new_uuid(), created))
            summary["blocks of unusual length"] += bool(writes.advice(new.text))
    insert_rows(connection, quotable_block, rows, progress=progress)
    progress(len(items) - len(rows))
    summary["blocks created"] += len(rows)
    summary["blocks unchanged"] += len(items) - len(rows)


# --- Search Console ---------------------------------------------------------------------------


def load_search_csv(
    connection: Connection,
    project_slug: str,
    path: Path,
    *,
    start: str | None = None,
    end: str | None = None,
    progress: Progress = unheard,
) -> Summary:
    """Load the rows of a Search Console export. `start` and `end` are the period if the file has no date column."""
    project_id = project_named(connection, slug=check_slug(project_slug, "project"))
    rows = read_search_csv(path, start=start, end=end)
    links = _links(connection, project_id, {row["pageUrl"] for row in rows})
    for row in rows:
        if row["pageUrl"] in links:
            row["entityId"] = links[row["pageUrl"]]
    summary: Summary = Counter()
    for first in range(0, len(rows), MOST_INGEST_ROWS):
        with located(str(path)):
            result = ingest_rows(connection, project_id, parse_rows(rows[first : first + MOST_INGEST_ROWS]))
        summary["search rows created"] += result.inserted
        summary["search rows changed"] += result.updated
        progress(result.received)
    summary["search rows linked to an entity"] = sum("entityId" in row for row in rows)
    return summary


def read_search_csv(path: Path, *, start: str | None = None, end: str | None = None) -> list[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            columns = _csv_columns(path, reader.fieldnames or [], dated=start is not None)
            return [_search_row(path, line, row, columns, start, end or start) for line, row in enumerate(reader, 2)]
    except OSError as error:
        raise GraphBadRequest(f"{path}: cannot be read: {reason(error)}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise GraphBadRequest(f"{path}: cannot be read as CSV: {shorten(error, 200)}") from None


def _csv_columns(path: Path, header: Any, *, dated: bool) -> dict[str, str]:
    known = {alias: name for name, aliases in _CSV_NAMES.items() for alias in aliases}
    columns = {known[h.strip().lower()]: h for h in header if h and h.strip().lower() in known}
    missing = [
        name for name in ("query", "pageUrl", "clicks", "impressions", "ctr", "avgPosition") if name not in columns
    ]
    if not dated and "date" not in columns and not {"dateStart", "dateEnd"} <= set(columns):
        missing.append("date (or give the period with --from and --to)")
    if missing:
        raise GraphBadRequest(f"{path}: no column for {', '.join(missing)}. It has: {', '.join(map(str, header))}")
    return columns


def _search_row(
    path: Path, line: int, row: dict[str, Any], columns: dict[str, str], start: str | None, end: str | None
) -> dict[str, Any]:
    given = {name: (row.get(column) or "").strip() for name, column in columns.items()}
    day = given.get("date") or None
    try:
        ctr = given["ctr"]
        return {
            "query": given["query"],
            "pageUrl": given["pageUrl"],
            "clicks": int(_figure(given["clicks"])),
            "impressions": int(_figure(given["impressions"])),
            "ctr": round(_figure(ctr.rstrip("%")) / 100, 6) if ctr.endswith("%") else _figure(ctr),
            "avgPosition": _figure(given["avgPosition"]),
            "dateStart": given.get("dateStart") or day or start,
            "dateEnd": given.get("dateEnd") or day or end,
        }
    except ValueError as error:
        raise GraphBadRequest(f"{path}, line {line}: {error}") from None


def _figure(text: str) -> float:
    plain = text.replace(",", "")
    if _NUMBER.fullmatch(plain) is None:
        raise ValueError(f"'{shorten(text)}' is not a number")
    return float(plain)


def _links(connection: Connection, project_id: str, pages: set[str]) -> dict[str, str]:
    """Return the pages that are the canonical URL of an entity."""
    where = (entity.c.project_id == project_id, entity.c.canonical_url.is_not(None))
    rows = connection.execute(select(entity.c.canonical_url, entity.c.id).where(*where).order_by(entity.c.seq))
    return {url: ident for url, ident in rows if url in pages}
