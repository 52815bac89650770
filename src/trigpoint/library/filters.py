"""The filters of a library search: parsed as the contract has them, and as conditions on the fields of a passage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trigpoint.errors import InvalidFilter, shorten
from trigpoint.passages.model import Condition, Where

LATEST_YEAR = 9999
FILTER_KEYS = ("tags", "citekey", "doc_id", "section_prefix", "year")


@dataclass(frozen=True)
class Filters:
    """All of the tags; `section_prefix` is compared with the section path joined by ' / '."""

    tags: tuple[str, ...] = ()
    citekey: str | None = None
    doc_id: str | None = None
    section_prefix: str | None = None
    year: int | None = None

    @property
    def where(self) -> Where:
        conditions = [Condition("tags", "has", tag) for tag in self.tags]
        for field in ("citekey", "year"):
            value = getattr(self, field)
            if value is not None:
                conditions.append(Condition(field, "eq", value))
        if self.section_prefix is not None:
            conditions.append(Condition("section", "starts", self.section_prefix))
        return Where(None if self.doc_id is None else frozenset([self.doc_id]), tuple(conditions))

    @classmethod
    def parse(cls, raw: Mapping[str, Any] | None) -> Filters:
        """Raises InvalidFilter, listing the known keys."""
        raw = raw or {}
        unknown = sorted(set(raw) - set(FILTER_KEYS))
        if unknown:
            raise InvalidFilter(
                f"Unknown filter '{shorten(unknown[0])}'. Known filters: {', '.join(FILTER_KEYS)}",
                known_filters=list(FILTER_KEYS),
            )
        tags, year = raw.get("tags"), raw.get("year")
        if tags is not None and not (isinstance(tags, (list, tuple)) and all(isinstance(t, str) for t in tags)):
            raise InvalidFilter("Filter 'tags' must be a list of strings", filter="tags")
        if year is not None and (type(year) is not int or abs(year) > LATEST_YEAR):
            raise InvalidFilter(f"Filter 'year' must be a year such as 2017, not '{shorten(year)}'", filter="year")
        for key in ("citekey", "doc_id", "section_prefix"):
            if raw.get(key) is not None and not isinstance(raw[key], str):
                raise InvalidFilter(f"Filter '{key}' must be a string", filter=key)
        if not is_unicode(raw):
            raise InvalidFilter("Filters must be valid Unicode text")
        return cls(tuple(tags or ()), raw.get("citekey"), raw.get("doc_id"), raw.get("section_prefix"), year)


def is_unicode(value: object) -> bool:
    """Whether every string in it can be stored: JSON may carry halves of surrogate pairs."""
    try:
        json.dumps(value, ensure_ascii=False, default=list).encode()
    except UnicodeEncodeError:
        return False
    return True
