"""A table as it is listed, in an ordering, a page at a time: the statements for that, each made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    RowMapping,
    Select,
    Table,
    and_,
    bindparam,
    desc,
    func,
    select,
)

from trigpoint.graph.search_text import contains

_FEW = 2500  # rows: so many are always gathered
Where = tuple[ColumnElement[bool], ...]


@dataclass(frozen=True)
class Key:
    """One column of an ordering. Moments are numbers, ids are checked as UUIDs when they come back in a cursor."""

    column: ColumnElement[Any]
    kind: type[int] | type[str] = str
    descending: bool = False
    is_id: bool = False

    def ordered(self) -> ColumnElement[Any]:
        return desc(self.column) if self.descending else self.column

    def beyond(self, value: object) -> ColumnElement[bool]:
        return self.column < value if self.descending else self.column > value


@dataclass(frozen=True)
class Position:
    """Where a page starts: after so many rows, or after a key."""

    page: int
    limit: int
    after: tuple[Any, ...] | None

    @property
    def offset(self) -> int:
        return min((self.page - 1) * self.limit, 2**62)


@dataclass(frozen=True)
class Asked:
    """Conditions with named parameters, and the values of these.

    For each way of asking, the conditions are made once. So are the statements with them, which takes longer than to
    run most of them.
    """

    where: Where
    values: Mapping[str, Any]

    def narrowed(self, *where: ColumnElement[bool], **values: Any) -> Asked:
        return Asked((*self.where, *where), {**self.values, **values})


def ask_for(of: Table, columns: Mapping[str, Any], **terms: str) -> Asked:
    """Columns have the values that are given, texts contain the terms."""
    values = {name: value for name, value in columns.items() if value is not None}
    return Asked(_conditions(of, tuple(values), tuple(terms)), {**values, **terms})


@lru_cache(maxsize=256)
def _conditions(of: Table, columns: tuple[str, ...], texts: tuple[str, ...]) -> Where:
    same = (of.c[name] == bindparam(name) for name in columns)
    return (*same, *(contains(of.c[name], name) for name in texts))


@dataclass(frozen=True, eq=False)
class Listing:
    """A table as it is listed: what is shown of a row, what a row is found by, and the ordering."""

    table: Table
    columns: Sequence[ColumnElement[Any]]
    by: Sequence[str]
    keys: Sequence[Key]

    @property
    def names(self) -> list[str]:
        return [key.column.name for key in self.keys]


def counted(connection: Connection, source: FromClause, asked: Asked) -> int:
    return int(connection.execute(_count(source, asked.where), asked.values).scalar_one())


def summed(connection: Connection, counter: Table, asked: Asked) -> int:
    """The sum of the rows that a table with a column `n` counts."""
    return int(connection.execute(_sum(counter, asked.where), asked.values).scalar_one())


def rows_from(
    connection: Connection, listing: Listing, at: Position, asked: Asked, *, gathered: FromClause | None = None
) -> tuple[list[RowMapping], bool]:
    """The page's rows, and whether more follow. After a key, each step is one plain range of the index.

    The page is found first, along the ordering or among hits that are `gathered` from a table, by what the ordering
    needs; only its rows are read whole.
    """
    most = at.limit + 1
    if at.after is None:
        values = {**asked.values, "most": most, "skipped": at.offset}
        found = _rows(connection, _page(listing, asked.where, gathered), values)
        return found[: at.limit], len(found) > at.limit
    found = []
    after = {f"after_{i}": value for i, value in enumerate(at.after)}
    for depth in range(len(listing.keys) - 1, -1, -1):
        step = _page(listing, asked.where, gathered, depth)
        found += _rows(connection, step, {**asked.values, **after, "most": most - len(found)})
        if len(found) > at.limit:
            break
    return found[: at.limit], len(found) > at.limit


def counted_rows(
    connection: Connection, listing: Listing, at: Position, asked: Asked
) -> tuple[int, list[RowMapping], bool]:
    """How many rows there are, and the page of them, gathered in one statement where it can be."""
    if at.after is None:
        values = {**asked.values, "most": at.limit + 1, "skipped": at.offset}
        rows = _rows(connection, _page(listing, asked.where, listing.table, with_total=True), values)
        if rows:
            return rows[0]["hits_in_all"], rows[: at.limit], len(rows) > at.limit
    total = counted(connection, listing.table, asked)
    return total, *rows_from(connection, listing, at, asked, gathered=listing.table)


def _rows(connection: Connection, statement: Select[Any], values: Mapping[str, Any]) -> list[RowMapping]:
    return list(connection.execute(statement, values).mappings())


@lru_cache(maxsize=256)
def _count(source: FromClause, where: Where) -> Select[Any]:
    return select(func.count()).select_from(source).where(*where)


@lru_cache(maxsize=256)
def _sum(counter: Table, where: Where) -> Select[Any]:
    return select(func.coalesce(func.sum(counter.c.n), 0)).where(*where)


@lru_cache(maxsize=256)
def _page(
    listing: Listing,
    where: Where,
    gathered: FromClause | None,
    depth: int | None = None,
    *,
    with_total: bool = False,
) -> Select[Any]:
    """`most` rows after `skipped` ones; or, with a depth, after the key `after_…` that is the same up to there."""
    source: FromClause = listing.table
    if gathered is not None:
        source, where = _hits(listing, where, gathered), ()
    keys = [replace(key, column=source.c[key.column.name]) for key in listing.keys]
    page = select(*(source.c[name] for name in listing.by)).where(*where).order_by(*(key.ordered() for key in keys))
    if depth is None:
        page = page.offset(bindparam("skipped", type_=BigInteger()))
    else:
        same = [key.column == bindparam(f"after_{i}") for i, key in enumerate(keys[:depth])]
        page = page.where(*same, keys[depth].beyond(bindparam(f"after_{depth}")))
    found = page.limit(bindparam("most", type_=Integer())).subquery("page")
    total = [select(func.count()).select_from(source).scalar_subquery().label("hits_in_all")] if with_total else []
    is_found = and_(*(listing.table.c[name] == found.c[name] for name in listing.by))
    rows = select(*listing.columns, *total).join_from(found, listing.table, is_found)
    return rows.order_by(*(key.ordered() for key in listing.keys))


def _hits(listing: Listing, where: Where, gathered: FromClause) -> CTE:
    """What matches, gathered before it is ordered; only what ordering needs of it."""
    names = dict.fromkeys((*listing.by, *listing.names))
    return select(*(gathered.c[name] for name in names)).where(*where).cte("hits").prefix_with("MATERIALIZED")


def is_selective(total: int, everything: int, at: Position) -> bool:
    """Whether to gather what matches: that costs `total` rows; walking the ordering about `wanted * everything / total`.

    That is an average: where what matches is old, a walk passes everything newer. So a few thousand are gathered anyway.
    """
    wanted = at.offset + at.limit + 1
    return total <= _FEW or total * total < wanted * everything
