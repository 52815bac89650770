"""The filters of a library search: parsed as the contract has them, and as conditions on the fields of a passage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trigpoint.errors import InvalidFilter, shorten
from trigpoint.library.kinds import KINDS, REFERENCE_LIST, PassageKind
from trigpoint.passages.model import Condition, Where

LATEST_YEAR = 9999
_FILTER_KEYS = ("tags", "citekey", "doc_id", "section_prefix", "year", "kind", "collection", "references")
_NOT_SOURCE = Condition("kind", "in", tuple(kind for kind in KINDS if kind != "source"))
_IN_REFERENCE_LIST = Condition("part", "eq", REFERENCE_LIST)


@dataclass(frozen=True)
class Filters:
    """All of the tags; `section_prefix` is compared with the section path joined by ' / '.

    `references` lets passages of reference lists answer too; `collection` is the key or the name of one of Zotero's.
    """

    tags: tuple[str, ...] = ()
    citekey: str | None = None
    doc_id: str | None = None
    section_prefix: str | None = None
    year: int | None = None
    kind: PassageKind | None = None
    collection: str | None = None
    references: bool = False

    @property
    def where(self) -> Where:
        conditions = [Condition("tags", "has", tag) for tag in self.tags]
        for field in ("citekey", "year"):
            value = getattr(self, field)
            if value is not None:
                conditions.append(Condition(field, "eq", value))
        if self.section_prefix is not None:
            conditions.append(Condition("section", "starts", self.section_prefix))
        if self.collection is not None:
            conditions.append(Condition("collections", "has", self.collection))
        if self.kind not in (None, "source"):
            conditions.append(Condition("kind", "eq", self.kind))
        without = [_NOT_SOURCE] if self.kind == "source" else []
        without += [] if self.references else [_IN_REFERENCE_LIST]
        documents = None if self.doc_id is None else frozenset([self.doc_id])
        return Where(documents, tuple(conditions), tuple(without))

    @classmethod
    def parse(cls, raw: Mapping[str, Any] | None) -> Filters:
        """Return the filters. Raises InvalidFilter, listing the known keys."""
        raw = raw or {}
        unknown = sorted(set(raw) - set(_FILTER_KEYS))
        if unknown:
            raise InvalidFilter(
                f"Unknown filter '{shorten(unknown[0])}'. Known filters: {', '.join(_FILTER_KEYS)}",
                known_filters=list(_FILTER_KEYS),
            )
        tags, year = raw.get("tags"), raw.get("year")
        if tags is not None and not (isinstance(tags, (list, tuple)) and all(isinstance(t, str) for t in tags)):
            raise InvalidFilter("Filter 'tags' must be a list of strings", filter="tags")
        if year is not None and (type(year) is not int or abs(year) > LATEST_YEAR):
            raise InvalidFilter(f"Filter 'year' must be a year such as 2017, not '{shorten(year)}'", filter="year")
        if raw.get("kind") is not None and raw["kind"] not in KINDS:
            raise InvalidFilter(f"Filter 'kind' must be one of {', '.join(KINDS)}", filter="kind")
        if raw.get("references") is not None and type(raw["references"]) is not bool:
            raise InvalidFilter("Filter 'references' must be true or false", filter="references")
        for key in ("citekey", "doc_id", "section_prefix", "collection"):
            if raw.get(key) is not None and not isinstance(raw[key], str):
                raise InvalidFilter(f"Filter '{key}' must be a string", filter=key)
        if not is_unicode(raw):
            raise InvalidFilter("Filters must be valid Unicode text")
        given = {key: value for key, value in raw.items() if value is not None}
        return cls(**given | {"tags": tuple(tags or ())})


def is_unicode(value: object) -> bool:
    """Return whether every string in it can be stored: JSON may carry halves of surrogate pairs."""
    try:
        json.dumps(value, ensure_ascii=False, default=list).encode()
    except UnicodeEncodeError:
        return False
    return True
