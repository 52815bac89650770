"""Ingests Search Console rows, many in one call: all or nothing, by their unique key; a bad row is named by its index."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from trigpoint.errors import GraphBadRequest, GraphNotFound
from trigpoint.graph.bulk import Row, insert_rows, upsert
from trigpoint.graph.fields import explained
from trigpoint.graph.inputs import SearchRow
from trigpoint.graph.listing import total_of
from trigpoint.graph.moments import this_moment
from trigpoint.graph.search_text import fold
from trigpoint.graph.tables import entity, performance_count, search_performance
from trigpoint.graph.vocabulary import MOST_INGEST_ROWS
from trigpoint.graph.writes import lock_project, log_event
from trigpoint.ids import new_uuids

_MOST_REPORTED = 100
_KEY = ("project_id", "query", "page_url", "date_start", "date_end")
_MEASURED = ("impressions", "clicks", "ctr", "avg_position", "captured_at")
_ROWS = TypeAdapter(list[SearchRow])


@dataclass(frozen=True)
class Ingested:
    received: int
    inserted: int
    updated: int


def parse_rows(rows: object) -> list[SearchRow]:
    """Return the rows. Raise GraphBadRequest whose details list each bad row: its index and what is wrong."""
    if not isinstance(rows, list) or not rows:
        raise GraphBadRequest("rows is required and must be a list with at least one row")
    if len(rows) > MOST_INGEST_ROWS:
        raise GraphBadRequest(f"Too many rows: {len(rows)}. At most {MOST_INGEST_ROWS} in one call")
    problems: dict[int, str] = {}
    try:
        parsed = _ROWS.validate_python(rows, by_alias=True, by_name=False)
    except ValidationError as error:
        for one in error.errors():
            problems.setdefault(int(one["loc"][0]), explained(one, SearchRow, skipped=1))
        parsed = [SearchRow.parse(row) for index, row in enumerate(rows) if index not in problems]
    problems |= _repeated(parsed, [index for index in range(len(rows)) if index not in problems])
    if problems:
        listed = [{"index": index, "message": problems[index]} for index in sorted(problems)]
        raise GraphBadRequest(
            f"{len(listed)} of {len(rows)} rows are invalid; nothing was written. "
            f"Row {listed[0]['index']}: {listed[0]['message']}",
            rows=listed[:_MOST_REPORTED],
        )
    return parsed


def _repeated(rows: Sequence[SearchRow], indexes: Sequence[int]) -> dict[int, str]:
    first_with: dict[tuple[Any, ...], int] = {}
    problems = {}
    for index, row in zip(indexes, rows, strict=True):
        earlier = first_with.setdefault((row.query, row.page_url, row.date_start, row.date_end), index)
        if earlier != index:
            problems[index] = f"Repeats the query, page and period of row {earlier}"
    return problems


def ingest_rows(connection: Connection, project_id: str, rows: Sequence[SearchRow]) -> Ingested:
    """Write all rows, or none. An absent entityId keeps a stored link; capturedAt moves."""
    lock_project(connection, project_id)
    before = _count_stored(connection, project_id)
    values = _row_values(project_id, rows)
    try:
        with _readable_after_an_error(connection):
            for written in (_MEASURED, (*_MEASURED, "entity_id")):
                linked = "entity_id" in written
                chosen = [
                    v for v, row in zip(values, rows, strict=True) if ("entity_id" in row.model_fields_set) is linked
                ]
                insert_rows(connection, search_performance, chosen, upsert(_KEY, written))
    except IntegrityError:
        _refuse_unknown_links(connection, project_id, rows)
        raise
    inserted = _count_stored(connection, project_id) - before
    result = Ingested(received=len(rows), inserted=inserted, updated=len(rows) - inserted)
    details = {"inserted": result.inserted, "updated": result.updated}
    log_event(connection, project_id, "search_performance.ingested", None, details)
    return result


def _row_values(project_id: str, rows: Sequence[SearchRow]) -> list[Row]:
    moment = this_moment()
    return [
        {
            "id": row_id,
            "project_id": project_id,
            **row.__dict__,
            "page_folded": fold(row.page_url),
            "query_folded": fold(row.query),
            "captured_at": moment,
        }
        for row_id, row in zip(new_uuids(len(rows)), rows, strict=True)
    ]


def _readable_after_an_error(connection: Connection) -> AbstractContextManager[object]:
    """Return a context after whose error the transaction can still be read: a savepoint, which only PostgreSQL needs.

    SQLite would copy every page that changes for a savepoint.
    """
    return connection.begin_nested() if connection.dialect.name == "postgresql" else nullcontext()


def _refuse_unknown_links(connection: Connection, project_id: str, rows: Sequence[SearchRow]) -> None:
    """Raise GraphNotFound that names the rows whose entity is not there."""
    known = set(connection.execute(select(entity.c.id).where(entity.c.project_id == project_id)).scalars())
    missing = [i for i, row in enumerate(rows) if row.entity_id is not None and row.entity_id not in known]
    if missing:
        raise GraphNotFound(
            f"Entity not found (row {missing[0]}); nothing was written",
            rows=[{"index": index, "message": "Entity not found"} for index in missing[:_MOST_REPORTED]],
        )


def _count_stored(connection: Connection, project_id: str) -> int:
    return total_of(connection, performance_count, [performance_count.c.project_id == project_id])
