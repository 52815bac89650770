"""Pages of a list: which one is asked for, and the addresses of its neighbours with the filters kept."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request

_NUMBER = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)


def whole_number(text: str) -> int:
    """Return a page's or an item's number from an address. Raises 404 if it is not a number."""
    if not _NUMBER.fullmatch(text):
        raise HTTPException(404)
    return int(text)


@dataclass(frozen=True)
class Paging:
    number: int
    size: int
    path: str
    kept: tuple[tuple[str, str], ...]
    total: int = 0

    @classmethod
    def of(cls, request: Request, size: int) -> Paging:
        kept = tuple((k, v) for k, v in request.query_params.multi_items() if k != "page" and v)
        return cls(whole_number(request.query_params.get("page", "1")), size, request.url.path, kept)

    def counting(self, total: int) -> Paging:
        return replace(self, total=total)

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size

    @property
    def count(self) -> int:
        return max(1, -(-self.total // self.size))

    @property
    def previous(self) -> str | None:
        return self._address(self.number - 1) if self.number > 1 else None

    @property
    def following(self) -> str | None:
        return self._address(self.number + 1) if self.number < self.count else None

    def _address(self, number: int) -> str:
        return f"{self.path}?{urlencode([*self.kept, ('page', str(number))])}"
