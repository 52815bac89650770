"""Pages by number and by cursor. A cursor is the sort key of the last row, so that inserts do not shift it (G9)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, TypeVar

import orjson
from sqlalchemy import CTE, ColumnElement, Connection, FromClause, RowMapping, Select, Table, and_, desc, func, select

from trigpoint.errors import GraphBadRequest, InvalidInput, shorten
from trigpoint.graph.filters import Params, given
from trigpoint.graph.models import Pagination
from trigpoint.ids import parse_uuid

Item = TypeVar("Item")

MOST_ROWS = 100
_DIGITS = re.compile(r"[0-9]{1,16}", re.ASCII)
_LAST_PAGE = 2**53 - 1  # the largest whole number that every JSON client reads exactly


@dataclass(frozen=True)
class PageRequest:
    page: int = 1
    limit: int = 20
    cursor: str | None = None

    @classmethod
    def parse(cls, params: Params) -> PageRequest:
        cursor, page = given(params, "cursor"), given(params, "page")
        if cursor is not None and page is not None:
            raise GraphBadRequest("Give either page or cursor, not both")
        return cls(
            page=_number(page, "page", _LAST_PAGE, default=1),
            limit=_number(given(params, "limit"), "limit", MOST_ROWS, default=20),
            cursor=cursor,
        )


def _number(value: str | None, name: str, most: int, *, default: int) -> int:
    if value is None:
        return default
    number = int(value) if _DIGITS.fullmatch(value) else 0
    if not 1 <= number <= most:
        allowed = f"from 1 to {most}" if name == "limit" else "1 or more"
        raise GraphBadRequest(f"Invalid {name}: '{shorten(value)}'. Must be a whole number, {allowed}")
    return number


@dataclass(frozen=True)
class Page(Generic[Item]):
    items: list[Item]
    pagination: Pagination


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


def position(request: PageRequest, scope: tuple[Any, ...], listing: Listing) -> Position:
    if request.cursor is None:
        return Position(request.page, request.limit, None)
    page, after = _decode(request.cursor, scope, listing.keys)
    return Position(page, request.limit, after)


@dataclass(frozen=True)
class Listing:
    """A table as it is listed: what is shown of a row, what a row is found by, and the ordering."""

    table: Table
    columns: Sequence[ColumnElement[Any]]
    by: Sequence[str]
    keys: Sequence[Key]

    def hits(self, *where: ColumnElement[bool], of: FromClause | None = None) -> CTE:
        """What matches, gathered before it is ordered; only what ordering needs of it."""
        source = self.table if of is None else of
        found = select(*(source.c[name] for name in dict.fromkeys((*self.by, *self.names)))).where(*where)
        return found.cte("hits").prefix_with("MATERIALIZED")

    @property
    def names(self) -> list[str]:
        return [key.column.name for key in self.keys]


def rows_from(
    connection: Connection, listing: Listing, at: Position, *where: ColumnElement[bool], of: FromClause | None = None
) -> tuple[list[RowMapping], bool]:
    """The page's rows, and whether more follow. After a key, each step is one plain range of the index.

    The page is found first, in the table or in gathered hits, by what the ordering needs; only its rows are read whole.
    """
    source = listing.table if of is None else of
    keys = [replace(key, column=source.c[key.column.name]) for key in listing.keys]
    ordered = select(*(source.c[name] for name in listing.by)).where(*where).order_by(*(key.ordered() for key in keys))
    most = at.limit + 1
    if at.after is None:
        found = _whole(connection, listing, ordered.limit(most).offset(at.offset))
        return found[: at.limit], len(found) > at.limit
    found = []
    for depth in range(len(keys) - 1, -1, -1):
        same = [key.column == value for key, value in zip(keys[:depth], at.after, strict=False)]
        step = ordered.where(and_(*same, keys[depth].beyond(at.after[depth])))
        found += _whole(connection, listing, step.limit(most - len(found)))
        if len(found) > at.limit:
            break
    return found[: at.limit], len(found) > at.limit


def counted_rows(
    connection: Connection, listing: Listing, at: Position, hits: CTE
) -> tuple[int, list[RowMapping], bool]:
    """How many hits there are, and the page of them, in one statement where it can be."""
    number = select(func.count()).select_from(hits)
    if at.after is None:
        keys = [replace(key, column=hits.c[key.column.name]).ordered() for key in listing.keys]
        page = select(*(hits.c[name] for name in listing.by)).order_by(*keys).limit(at.limit + 1).offset(at.offset)
        rows = _whole(connection, listing, page, number.scalar_subquery().label("hits_in_all"))
        if rows:
            return rows[0]["hits_in_all"], rows[: at.limit], len(rows) > at.limit
    total = int(connection.execute(number).scalar_one())
    return total, *rows_from(connection, listing, at, of=hits)


def _whole(connection: Connection, listing: Listing, page: Select[Any], *more: ColumnElement[Any]) -> list[RowMapping]:
    chosen = page.subquery("page")
    same = and_(*(listing.table.c[name] == chosen.c[name] for name in listing.by))
    rows = select(*listing.columns, *more).join_from(chosen, listing.table, same)
    return list(connection.execute(rows.order_by(*(key.ordered() for key in listing.keys))).mappings())


def pagination(
    at: Position, total: int, rows: Sequence[RowMapping], follows: bool, scope: tuple[Any, ...], listing: Listing
) -> Pagination:
    has_more = follows if at.after is not None else at.page * at.limit < total
    cursor = _encode(scope, at.page + 1, [rows[-1][name] for name in listing.names]) if follows and rows else None
    return Pagination(page=at.page, limit=at.limit, total=total, has_more=has_more, next_cursor=cursor)


def scope_of(kind: str, project_id: str | None, chosen: Any) -> tuple[Any, ...]:
    """What a cursor belongs to: it cannot be carried to another list, project or filter."""
    return (kind, project_id, *(sorted(asdict(chosen).items()) if chosen is not None else ()))


def _seal(scope: tuple[Any, ...]) -> str:
    return hashlib.sha256(repr(scope).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _encode(scope: tuple[Any, ...], page: int, key: list[Any]) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([_seal(scope), page, *key])).decode().rstrip("=")


def _decode(cursor: str, scope: tuple[Any, ...], keys: Sequence[Key]) -> tuple[int, tuple[Any, ...]]:
    try:
        seal, page, *after = orjson.loads(
            base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        )
        if type(page) is not int or not 1 <= page <= _LAST_PAGE or len(after) != len(keys):
            raise ValueError
        for key, value in zip(keys, after, strict=True):
            if type(value) is not key.kind or (isinstance(value, int) and abs(value) >= 2**63):
                raise ValueError
            if key.is_id:
                parse_uuid(value)
            if isinstance(value, str) and "\0" in value:
                raise ValueError
    except (ValueError, TypeError, binascii.Error, InvalidInput):
        raise GraphBadRequest(f"Invalid cursor: '{shorten(cursor)}'. Pass nextCursor back unchanged") from None
    if seal != _seal(scope):
        raise GraphBadRequest("Invalid cursor: it belongs to another list, project or filter. Start without it")
    return page, tuple(after)
