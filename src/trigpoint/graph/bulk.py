"""Writes many rows in one statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import orjson
from sqlalchemy import Connection, Table

Row = dict[str, Any]
Progress = Callable[[int], None]
_AT_ONCE = 10_000


def unheard(done: int) -> None:
    """Ignore progress that nobody waits for."""


def insert_rows(
    connection: Connection, table: Table, rows: Iterable[Row], clash: str = "", progress: Progress = unheard
) -> None:
    """Insert rows that all have the same columns. `clash` is SQL for rows whose key is taken; `progress` hears of each batch."""
    insert = _from_json if connection.dialect.name == "postgresql" else _one_by_one
    if connection.dialect.name == "postgresql":
        # One plan for the checks of all rows' references. Planned again for each, they took most of the time; and an entity of
        # a project that was not there yesterday, which the statistics take to be empty, was looked for among all of it.
        connection.exec_driver_sql("SET LOCAL plan_cache_mode = force_generic_plan")
    rest = iter(rows)
    while batch := list(islice(rest, _AT_ONCE)):
        insert(connection, table, batch, clash)
        progress(len(batch))


def _one_by_one(connection: Connection, table: Table, rows: Sequence[Row], clash: str) -> None:
    """Write on SQLite: one prepared statement, run for each row."""
    marks = ", ".join("?" * len(rows[0]))
    statement = f"INSERT INTO {table.name} ({', '.join(rows[0])}) VALUES ({marks}) {clash}"  # noqa: S608
    connection.exec_driver_sql(statement, [tuple(row.values()) for row in rows])


def _from_json(connection: Connection, table: Table, rows: Sequence[Row], clash: str) -> None:
    """Write on PostgreSQL: one statement over a JSON parameter, so that triggers run once."""
    names = ", ".join(rows[0])
    kinds = ", ".join(f"{name} {table.c[name].type.compile(connection.dialect)}" for name in rows[0])
    listed = f"SELECT {names} FROM json_to_recordset(%s::json) AS r ({kinds})"  # noqa: S608
    statement = f"INSERT INTO {table.name} ({names}) {listed} {clash}"
    connection.exec_driver_sql(statement, (orjson.dumps(rows).decode(),))


def upsert(key: Sequence[str], written: Sequence[str]) -> str:
    """Return the conflict clause by which a row whose key is taken gets the new values of the `written` columns."""
    changed = ", ".join(f"{column} = excluded.{column}" for column in written)
    return f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changed}"
