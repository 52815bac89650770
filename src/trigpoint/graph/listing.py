"""Lists, a page at a time, by number and by cursor. A cursor is the sort key of the last row, so inserts do not shift it."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    FromClause,
    RowMapping,
    Select,
    Table,
    and_,
    bindparam,
    func,
    or_,
    select,
    true,
    tuple_,
)

from trigpoint.errors import GraphBadRequest, InvalidInput, shorten
from trigpoint.graph.inputs import PageRequest
from trigpoint.graph.models import Pagination, Shape
from trigpoint.ids import parse_uuid

Item = TypeVar("Item", bound=Shape)
Scope = tuple[Any, ...]
Where = Sequence[ColumnElement[bool]]
FEW = 2500  # matches: up to so many are looked up, then ordered; more are found fast enough along the ordering


@dataclass(frozen=True)
class Page(Generic[Item]):
    items: list[Item]
    pagination: Pagination


@dataclass(frozen=True)
class Order:
    """Columns that sort downwards, and after them columns that sort upwards."""

    down: Sequence[ColumnElement[Any]] = ()
    up: Sequence[ColumnElement[Any]] = ()

    @property
    def columns(self) -> list[ColumnElement[Any]]:
        return [*self.down, *self.up]

    def on(self, rows: FromClause) -> Order:
        """Return the same ordering of other rows that have its columns."""
        return Order(*([rows.c[column.name] for column in columns] for columns in (self.down, self.up)))

    def by(self) -> list[ColumnElement[Any]]:
        return [*(column.desc() for column in self.down), *self.up]

    def beyond(self, key: Sequence[Any]) -> list[ColumnElement[bool]]:
        """Return conditions for the rows behind this key. An index of the ordering can start from the first one."""
        first, last = tuple(key[: len(self.down)]), tuple(key[len(self.down) :])
        if not self.up:
            return [tuple_(*self.down) < first]
        if not self.down:
            return [tuple_(*self.up) > last]
        down, up = tuple_(*self.down), tuple_(*self.up)
        return [down <= first, or_(down < first, up > last)]

    def key_of(self, row: RowMapping) -> list[Any]:
        return [row[column.name] for column in self.columns]


@dataclass(frozen=True)
class Cursor:
    """The place at which a page continues. `scope` is the list, project and filter that it belongs to."""

    page: int
    key: Sequence[Any]

    def sealed(self, scope: Scope) -> str:
        return base64.urlsafe_b64encode(orjson.dumps([_seal(scope), self.page, *self.key])).decode().rstrip("=")

    @classmethod
    def opened(cls, cursor: str, scope: Scope, order: Order) -> Cursor:
        """Return the place that a client's cursor names. Raise GraphBadRequest if it is forged, or of another list, project or filter."""
        try:
            padded = cursor + "=" * (-len(cursor) % 4)
            seal, page, *key = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
            if type(page) is not int or not 1 <= page < 2**53:
                raise ValueError
            for column, value in zip(order.columns, key, strict=True):
                _check_key(column, value)
        except (ValueError, TypeError, binascii.Error, InvalidInput):
            raise GraphBadRequest(f"Invalid cursor: '{shorten(cursor)}'. Pass nextCursor back unchanged") from None
        if seal != _seal(scope):
            raise GraphBadRequest("Invalid cursor: it belongs to another list, project or filter. Start without it")
        return cls(page, key)


def _seal(scope: Scope) -> str:
    return hashlib.sha256(repr(scope).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _check_key(column: ColumnElement[Any], value: object) -> None:
    if column.name == "id":
        parse_uuid(value)
    kind = int if column.name.startswith(("date", "created")) else str
    if type(value) is not kind or (isinstance(value, int) and abs(value) >= 2**63) or "\0" in str(value):
        raise ValueError


def count(connection: Connection, table: FromClause, where: Where = ()) -> int:
    return int(connection.execute(select(func.count()).select_from(table).where(*where)).scalar_one())


def total_of(connection: Connection, counter: Table, where: Where) -> int:
    """Return the sum of the rows that a table with a column `n` counts."""
    return int(connection.execute(select(func.coalesce(func.sum(counter.c.n), 0)).where(*where)).scalar_one())


@dataclass(frozen=True)
class ListReading(Generic[Item]):
    """The reading of one page of a list: its order, its number, its filter, and the shape of its rows."""

    order: Order
    request: PageRequest
    scope: Scope
    shape: type[Item]

    def walk(self, connection: Connection, total: int, where: Where) -> Page[Item]:
        """Return the page of rows that match, met along the ordering; their `total` is known."""
        rows = select(self.order.columns[0].table).where(*where)
        return self._page(total, connection.execute(self._paged(rows, self.order)).mappings().all())

    def gather(self, connection: Connection, keys: Select[Any], project_id: str) -> Page[Item]:
        """Return the page of rows with these `keys`, the columns of the ordering, and their number, in one statement."""
        source: FromClause = self.order.columns[0].table
        hits = keys.cte("hits").prefix_with("MATERIALIZED")
        counted = select(func.count().label("total")).select_from(hits).subquery()
        page = self._paged(select(hits), self.order.on(hits)).subquery()
        same = [column == page.c[column.name] for column in self.order.columns]
        joined = counted.outerjoin(page, true()).outerjoin(source, and_(source.c.project_id == project_id, *same))
        rows = select(counted.c.total, source).select_from(joined).order_by(*self.order.by())
        mappings = connection.execute(rows).mappings().all()  # one row without an id if the page is empty
        return self._page(mappings[0]["total"], [row for row in mappings if row["id"] is not None])

    def matches(
        self, connection: Connection, total: int | None, keys: Select[Any], project_id: str, tested: Where
    ) -> Page[Item]:
        """Return the page of rows with these `keys`: gathered, or met on a walk if they are known to be many."""
        if total is not None and total > FEW:
            return self.walk(connection, total, tested)
        return self.gather(connection, keys, project_id)

    def _paged(self, rows: Select[Any], order: Order) -> Select[Any]:
        # In the text of the statement, because SQLite plans by a number that it sees.
        most: BindParameter[int] = bindparam("most", self.request.limit + 1, literal_execute=True)
        rows = rows.order_by(*order.by()).limit(most)
        if self.request.cursor is None:
            return rows.offset(min((self.request.page - 1) * self.request.limit, 2**62))
        return rows.where(*order.beyond(self._cursor(self.request.cursor).key))

    def _cursor(self, cursor: str) -> Cursor:
        return Cursor.opened(cursor, self.scope, self.order)

    def _page(self, total: int, rows: Sequence[RowMapping]) -> Page[Item]:
        """Return the page; `rows` has one row more than the page if another page follows."""
        limit, cursor = self.request.limit, self.request.cursor
        number = self.request.page if cursor is None else self._cursor(cursor).page
        shown, follows = rows[:limit], len(rows) > limit
        return Page(
            [self.shape.of(row) for row in shown],
            Pagination(
                page=number,
                limit=limit,
                total=total,
                has_more=follows if cursor is not None else number * limit < total,
                next_cursor=Cursor(number + 1, self.order.key_of(shown[-1])).sealed(self.scope) if follows else None,
            ),
        )
