"""Lists, a page at a time, by number and by cursor. A cursor is the sort key of the last row, so inserts do not shift it."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from sqlalchemy import ColumnElement, Connection, FromClause, RowMapping, Table, func, or_, select, tuple_

from trigpoint.errors import GraphBadRequest, InvalidInput, shorten
from trigpoint.graph.inputs import PageRequest
from trigpoint.graph.models import Pagination, Shape
from trigpoint.ids import parse_uuid

Item = TypeVar("Item", bound=Shape)
Scope = tuple[Any, ...]
Where = Sequence[ColumnElement[bool]]
FEW = 2500  # rows: so many are gathered and then ordered; more are met soon enough on a walk along the ordering


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
        """The same ordering of a selection of the rows."""
        return Order(*([rows.c[column.name] for column in columns] for columns in (self.down, self.up)))

    def by(self) -> list[ColumnElement[Any]]:
        return [*(column.desc() for column in self.down), *self.up]

    def beyond(self, key: Sequence[Any]) -> list[ColumnElement[bool]]:
        """Rows behind this key. The first condition is one that an index of the ordering can start from."""
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
    """Where a page continues. `scope` is the list, project and filter that it belongs to."""

    page: int
    key: Sequence[Any]

    def sealed(self, scope: Scope) -> str:
        return base64.urlsafe_b64encode(orjson.dumps([_seal(scope), self.page, *self.key])).decode().rstrip("=")

    @classmethod
    def opened(cls, cursor: str, scope: Scope, order: Order) -> Cursor:
        """Raise GraphBadRequest for one that is forged, or of another list, project or filter."""
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


def count(connection: Connection, table: FromClause, where: Where) -> int:
    return int(connection.execute(select(func.count()).select_from(table).where(*where)).scalar_one())


def total_of(connection: Connection, counter: Table, where: Where) -> int:
    """Return the sum of the rows that a table with a column `n` counts."""
    return int(connection.execute(select(func.coalesce(func.sum(counter.c.n), 0)).where(*where)).scalar_one())


def read_page(
    connection: Connection,
    order: Order,
    request: PageRequest,
    scope: Scope,
    shape: type[Item],
    total: int,
    where: Where,
    *,
    gathered: bool = False,
) -> Page[Item]:
    """Return the rows that match as `shape`; their `total` is known. Few rows are better gathered before they are ordered."""
    source: FromClause = order.columns[0].table
    if gathered:
        source = select(source).where(*where).cte("hits").prefix_with("MATERIALIZED")
        order, where = order.on(source), ()
    rows = select(source).where(*where).order_by(*order.by()).limit(request.limit + 1)
    if request.cursor is None:
        number = request.page
        rows = rows.offset(min((number - 1) * request.limit, 2**62))
    else:
        cursor = Cursor.opened(request.cursor, scope, order)
        number, rows = cursor.page, rows.where(*order.beyond(cursor.key))
    found = connection.execute(rows).mappings().all()
    shown, follows = found[: request.limit], len(found) > request.limit
    return Page(
        [shape.of(row) for row in shown],
        Pagination(
            page=number,
            limit=request.limit,
            total=total,
            has_more=follows if request.cursor is not None else number * request.limit < total,
            next_cursor=Cursor(number + 1, order.key_of(shown[-1])).sealed(scope) if follows else None,
        ),
    )
