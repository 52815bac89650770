"""Search Console rows, many in one call: all or nothing, by their unique key; a bad row is named by its index."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import IntegrityError

from trigpoint.errors import GraphBadRequest, GraphNotFound
from trigpoint.graph.inputs import SearchRow, Unset
from trigpoint.graph.lists import among
from trigpoint.graph.moments import this_moment
from trigpoint.graph.search_text import fold
from trigpoint.graph.tables import entity, performance_count
from trigpoint.graph.vocabulary import MOST_INGEST_ROWS
from trigpoint.graph.writes import lock_project, log_event
from trigpoint.ids import new_uuids

_MOST_REPORTED = 100
_COLUMNS = {
    "id": "uuid",
    "project_id": "uuid",
    "entity_id": "uuid",
    "page_url": "text",
    "query": "text",
    "page_folded": "text",
    "query_folded": "text",
    "impressions": "bigint",
    "clicks": "bigint",
    "ctr": "double precision",
    "avg_position": "double precision",
    "date_start": "bigint",
    "date_end": "bigint",
    "captured_at": "bigint",
}
_KEY = ("project_id", "query", "page_url", "date_start", "date_end")
_MEASURED = ("impressions", "clicks", "ctr", "avg_position", "captured_at")


@dataclass(frozen=True)
class Ingested:
    received: int
    inserted: int
    updated: int


def parse_rows(rows: object) -> list[SearchRow]:
    """Raises GraphBadRequest whose details list each bad row: its index and what is wrong."""
    if not isinstance(rows, list) or not rows:
        raise GraphBadRequest("rows is required and must be a list with at least one row")
    if len(rows) > MOST_INGEST_ROWS:
        raise GraphBadRequest(f"Too many rows: {len(rows)}. At most {MOST_INGEST_ROWS} in one call")
    parsed: list[SearchRow] = []
    problems: list[dict[str, Any]] = []
    first_with: dict[tuple[str, str, int, int], int] = {}
    for index, row in enumerate(rows):
        try:
            parsed.append(found := SearchRow.parse(row))
        except GraphBadRequest as error:
            problems.append({"index": index, "message": error.message})
            continue
        if (earlier := first_with.setdefault(found.key, index)) != index:
            message = f"Repeats the query, page and period of row {earlier}"
            problems.append({"index": index, "message": message})
    if problems:
        raise GraphBadRequest(
            f"{len(problems)} of {len(rows)} rows are invalid; nothing was written. "
            f"Row {problems[0]['index']}: {problems[0]['message']}",
            rows=problems[:_MOST_REPORTED],
        )
    return parsed


def ingest_rows(connection: Connection, project_id: str, rows: Sequence[SearchRow]) -> Ingested:
    """Writes all rows, or none. An absent entityId keeps a stored link; capturedAt moves."""
    lock_project(connection, project_id)
    before, moment = _stored(connection, project_id), this_moment()
    try:
        with _readable_after_an_error(connection):
            for keep_link in (True, False):
                chosen = [row for row in rows if isinstance(row.entity_id, Unset) is keep_link]
                written = _MEASURED if keep_link else (*_MEASURED, "entity_id")
                chosen.sort(key=lambda row: row.key)
                ids = new_uuids(len(chosen))
                values = [_values(i, project_id, row, moment) for i, row in zip(ids, chosen, strict=True)]
                _put(connection, values, written)
    except IntegrityError:
        _refuse_unknown_links(connection, project_id, rows)
        raise
    inserted = _stored(connection, project_id) - before
    result = Ingested(received=len(rows), inserted=inserted, updated=len(rows) - inserted)
    details = {"inserted": result.inserted, "updated": result.updated}
    log_event(connection, project_id, "search_performance.ingested", None, details)
    return result


def _readable_after_an_error(connection: Connection) -> AbstractContextManager[object]:
    """SQLite is so by itself, and would copy every page that changes for a savepoint."""
    return connection.begin_nested() if connection.dialect.name == "postgresql" else nullcontext()


def _refuse_unknown_links(connection: Connection, project_id: str, rows: Sequence[SearchRow]) -> None:
    """Raises GraphNotFound that names the rows whose entity is not there."""
    wanted = {row.entity_id for row in rows if isinstance(row.entity_id, str)}
    linked = select(entity.c.id).where(entity.c.project_id == project_id, among(entity.c.id, wanted))
    known = set(connection.execute(linked).scalars())
    missing = [i for i, row in enumerate(rows) if isinstance(row.entity_id, str) and row.entity_id not in known]
    if missing:
        raise GraphNotFound(
            f"Entity not found (row {missing[0]}); nothing was written",
            rows=[{"index": index, "message": "Entity not found"} for index in missing[:_MOST_REPORTED]],
        )


def _stored(connection: Connection, project_id: str) -> int:
    counter = performance_count.c
    summed = select(func.coalesce(func.sum(counter.n), 0)).where(counter.project_id == project_id)
    return int(connection.execute(summed).scalar_one())


def _values(row_id: str, project_id: str, row: SearchRow, moment: int) -> tuple[Any, ...]:
    """In the order of `_COLUMNS`."""
    return (
        row_id,
        project_id,
        row.entity_id if isinstance(row.entity_id, str) else None,
        row.page_url,
        row.query,
        fold(row.page_url),
        fold(row.query),
        row.impressions,
        row.clicks,
        row.ctr,
        row.avg_position,
        row.date_start,
        row.date_end,
        moment,
    )


def _put(connection: Connection, rows: list[tuple[Any, ...]], written: Sequence[str]) -> None:
    """Many rows at once: one statement over a JSON parameter on PostgreSQL, one prepared statement on SQLite."""
    if not rows:
        return
    into = f"INSERT INTO search_performance ({', '.join(_COLUMNS)})"
    changed = ", ".join(f"{column} = excluded.{column}" for column in written)
    clash = f"ON CONFLICT ({', '.join(_KEY)}) DO UPDATE SET {changed}"
    if connection.dialect.name == "postgresql":
        kinds = ", ".join(f"{column} {kind}" for column, kind in _COLUMNS.items())
        listed = f"{into} SELECT {', '.join(_COLUMNS)} FROM json_to_recordset(%s::json) AS r ({kinds}) {clash}"  # noqa: S608
        named = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
        connection.exec_driver_sql(listed, (orjson.dumps(named).decode(),))
        return
    marks = ", ".join("?" * len(_COLUMNS))
    connection.exec_driver_sql(f"{into} VALUES ({marks}) {clash}", rows)
