"""Pages by number and by cursor. A cursor is the sort key of the last row, so that inserts do not shift it (G9)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

import orjson
from sqlalchemy import RowMapping

from trigpoint.errors import GraphBadRequest, InvalidInput, shorten
from trigpoint.graph.filters import Params, given
from trigpoint.graph.listing import Key, Listing, Position
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


def position(request: PageRequest, scope: tuple[Any, ...], listing: Listing) -> Position:
    if request.cursor is None:
        return Position(request.page, request.limit, None)
    page, after = _decode(request.cursor, scope, listing.keys)
    return Position(page, request.limit, after)


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
