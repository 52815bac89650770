"""Files into the graph: projects with their entities, relations and blocks from JSON or YAML, Search Console rows from CSV.

A file is one transaction. Loading it again changes only what differs. Entities are named `type/slug` within a file.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import Connection, select

from trigpoint.errors import GraphBadRequest, GraphConflict, GraphNotFound, shorten
from trigpoint.graph import writes
from trigpoint.graph.filters import check_enum, check_slug
from trigpoint.graph.ingest import ingest_rows, parse_rows
from trigpoint.graph.inputs import NewBlock, NewEntity, NewProject, NewRelation, check_body
from trigpoint.graph.models import Entity
from trigpoint.graph.moments import parse_moment
from trigpoint.graph.queries import project_named
from trigpoint.graph.tables import entity, quotable_block
from trigpoint.graph.vocabulary import (
    ENTITY_TYPES,
    EXTERNAL_KINDS,
    MOST_INGEST_ROWS,
    RELATION_ENDS,
    RELATION_TYPES,
    STATUSES,
)
from trigpoint.storage.files import reason

Summary = Counter[str]
Progress = Callable[[int, int], None]
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


def sample_files() -> list[Path]:
    """The sample that ships with the package: a fictional project and its search rows."""
    folder = Path(str(files("trigpoint.graph") / "sample"))
    return sorted(folder.glob("*.yaml")) + sorted(folder.glob("*.csv"))


def read_document(path: Path) -> list[Mapping[str, Any]]:
    """The projects of a JSON or YAML file, at least one. Raises GraphBadRequest that says where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
        loaded = json.loads(text) if path.suffix.lower() == ".json" else yaml.safe_load(text)
    except OSError as error:
        raise GraphBadRequest(f"{path}: cannot be read: {reason(error)}") from None
    except (ValueError, yaml.YAMLError) as error:
        raise GraphBadRequest(f"{path}: cannot be read: {shorten(error, 200)}") from None
    with located(str(path)):
        return _documents(loaded)


def _documents(loaded: Any) -> list[Mapping[str, Any]]:
    if isinstance(loaded, Mapping) and "projects" in loaded:
        loaded = check_body(loaded, ("projects",))["projects"]
    documents = loaded if isinstance(loaded, list) else [loaded]
    if not documents:
        raise GraphBadRequest(f"there is no project in it. {_EXPECTED}")
    for document in documents:
        if not isinstance(document, Mapping):
            raise GraphBadRequest(f"'{shorten(document)}' is not a project. {_EXPECTED}")
        if "project" not in check_body(document, ("project", *_PARTS)):
            raise GraphBadRequest(f"`project` is missing. {_EXPECTED}")
    return documents


def load_document(connection: Connection, document: Mapping[str, Any], progress: Progress | None = None) -> Summary:
    """One project with what it holds. Raises GraphError that names the part and its index."""
    summary: Summary = Counter()
    parts = {name: _items(document, name) for name in _PARTS}
    done, total = 0, sum(len(items) for items in parts.values())
    project_id = _put_project(connection, document.get("project"), summary)
    put = {"entities": _put_entity, "relations": _put_relation, "blocks": _put_block}
    for name, items in parts.items():
        for index, item in enumerate(items):
            with located(f"{name}[{index}]"):
                put[name](connection, project_id, item, summary)
            done += 1
            if progress is not None and (done % 50 == 0 or done == total):
                progress(done, total)
    return summary


def _items(document: Mapping[str, Any], name: str) -> list[Any]:
    items = document.get(name) or []
    if not isinstance(items, list):
        raise GraphBadRequest(f"{name} must be a list")
    return items


@contextmanager
def located(where: str) -> Iterator[None]:
    """Errors inside say where: a file, a part of it."""
    try:
        yield
    except (GraphBadRequest, GraphNotFound, GraphConflict) as error:
        raise type(error)(f"{where}: {error.message}", **error.details) from None


def _put_project(connection: Connection, body: object, summary: Summary) -> str:
    with located("project"):
        new = NewProject.parse(body)
        try:
            return project_named(connection, slug=new.slug)
        except GraphNotFound:
            summary["projects created"] += 1
            return writes.create_project(connection, new).id


def _put_entity(connection: Connection, project_id: str, item: object, summary: Summary) -> None:
    fields = dict(check_body(item, (*NewEntity.FIELDS, "status", "createdAt")))
    status = check_enum(fields.pop("status", None) or "draft", "status", STATUSES)
    created_at = _moment(fields.pop("createdAt", None), "createdAt")
    new = NewEntity.parse(fields)
    found = _find(connection, project_id, new.entity_type, new.slug)
    if found is None:
        writes.create_entity(connection, project_id, new, status=status, created_at=created_at)
        summary["entities created"] += 1
        return
    body = {name: value for name, value in fields.items() if name != "entityType"}
    shown = found.shown()
    changed = {name: value for name, value in body.items() if shown[name] != value}
    if changed:
        writes.change_entity(connection, project_id, found.id, changed)
    if found.status != status:
        writes.set_status(connection, project_id, found, status)
    summary["entities changed" if changed or found.status != status else "entities unchanged"] += 1


def _put_relation(connection: Connection, project_id: str, item: object, summary: Summary) -> None:
    fields = check_body(item, ("relationType", "from", "to", "notes", "createdAt"))
    relation_type = check_enum(fields.get("relationType"), "relationType", RELATION_TYPES)
    ends = [
        fields.get(side) if kind in EXTERNAL_KINDS else _named(connection, project_id, fields.get(side), side)
        for side, kind in zip(("from", "to"), RELATION_ENDS[relation_type], strict=True)
    ]
    body = {"relationType": relation_type, "fromEntityId": ends[0], "toEntityId": ends[1], "notes": fields.get("notes")}
    created_at = _moment(fields.get("createdAt"), "createdAt")
    try:
        writes.create_relation(connection, project_id, NewRelation.parse(body), created_at=created_at)
        summary["relations created"] += 1
    except GraphConflict:
        summary["relations unchanged"] += 1


def _put_block(connection: Connection, project_id: str, item: object, summary: Summary) -> None:
    fields = dict(check_body(item, ("entity", *NewBlock.FIELDS[1:], "createdAt")))
    created_at = _moment(fields.pop("createdAt", None), "createdAt")
    fields["entityId"] = _named(connection, project_id, fields.pop("entity", None), "entity")
    fields["verifiedUntil"] = _plain(fields.get("verifiedUntil"))
    new = NewBlock.parse(fields)
    block = quotable_block.c
    same = (block.project_id == project_id, block.entity_id == new.entity_id, block.text == new.text)
    if connection.execute(select(block.id).where(*same)).first() is not None:
        summary["blocks unchanged"] += 1
        return
    _, warnings = writes.create_block(connection, project_id, new, created_at=created_at)
    summary["blocks created"] += 1
    summary["blocks of unusual length"] += bool(warnings)


def _find(connection: Connection, project_id: str, entity_type: str, slug: str) -> Entity | None:
    where = (entity.c.project_id == project_id, entity.c.entity_type == entity_type, entity.c.slug == slug)
    row = connection.execute(select(entity).where(*where)).mappings().first()
    return None if row is None else Entity.of(row)


def _named(connection: Connection, project_id: str, name: object, where: str) -> str:
    """The id of the entity called `type/slug`."""
    kind, _, slug = name.partition("/") if isinstance(name, str) else ("", "", "")
    if kind not in ENTITY_TYPES or not slug:
        raise GraphBadRequest(
            f"Invalid {where}: '{shorten(name)}'. Name an entity as type/slug, for example guide/kerbs"
        )
    found = _find(connection, project_id, kind, check_slug(slug, where))
    if found is None:
        raise GraphNotFound(f"{where}: there is no {kind} '{slug}' in this project")
    return found.id


def _plain(value: object) -> object:
    """YAML reads an unquoted day as a date."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    return value


def _moment(value: object, name: str) -> int | None:
    return None if value is None else parse_moment(_plain(value), name)


# --- Search Console ---------------------------------------------------------------------------


def load_search_csv(
    connection: Connection, project_slug: str, path: Path, *, start: str | None = None, end: str | None = None
) -> Summary:
    """Rows of a Search Console export. `start` and `end` are the period where the file has no date column."""
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
    summary["search rows linked to an entity"] = sum("entityId" in row for row in rows)
    return summary


def read_search_csv(path: Path, *, start: str | None = None, end: str | None = None) -> list[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            columns = _columns(path, reader.fieldnames or [], dated=start is not None)
            return [_search_row(path, line, row, columns, start, end or start) for line, row in enumerate(reader, 2)]
    except OSError as error:
        raise GraphBadRequest(f"{path}: cannot be read: {reason(error)}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise GraphBadRequest(f"{path}: cannot be read as CSV: {shorten(error, 200)}") from None


def _columns(path: Path, header: Any, *, dated: bool) -> dict[str, str]:
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
    """Pages that are the canonical URL of an entity."""
    where = (entity.c.project_id == project_id, entity.c.canonical_url.is_not(None))
    found = connection.execute(select(entity.c.canonical_url, entity.c.id).where(*where).order_by(entity.c.seq))
    return {url: ident for url, ident in found if url in pages}
