"""Bodies of writes, strictly checked: unknown fields are refused, texts are bounded and hold no control characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trigpoint.errors import GraphBadRequest, shorten
from trigpoint.graph.filters import check_enum, check_slug, check_uuid
from trigpoint.graph.moments import parse_moment
from trigpoint.graph.vocabulary import (
    CLAIM_TYPES,
    CONCEPT_KINDS,
    DIFFICULTIES,
    ENTITY_TYPES,
    EXTERNAL_KINDS,
    LONGEST,
    RELATION_ENDS,
    RELATION_TYPES,
)

Body = Mapping[str, Any]

_UNFIT = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_UNFIT_IN_LINES = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class Unset:
    """An absent field of a PATCH: it leaves what is there. An explicit null clears it."""


UNSET: Final = Unset()


def check_body(body: object, known: tuple[str, ...]) -> Body:
    if not isinstance(body, Mapping):
        raise GraphBadRequest("The body must be a JSON object")
    unknown = sorted(str(name) for name in body if name not in known)
    if unknown:
        raise GraphBadRequest(f"Unknown field: '{shorten(unknown[0])}'. Known fields: {', '.join(known)}")
    return body


def check_text(value: object, name: str, longest: int, *, lines: bool = False) -> str:
    """Text that every store can hold. `lines`: line breaks and tabs may stand in it."""
    if not isinstance(value, str) or not value.strip():
        raise GraphBadRequest(f"{name} is required and must be a text that is not empty")
    if (_UNFIT_IN_LINES if lines else _UNFIT).search(value):
        raise GraphBadRequest(f"{name} holds a control character or half a surrogate pair: '{shorten(value)}'")
    if len(value.encode()) > longest:
        raise GraphBadRequest(f"{name} is too long: {len(value.encode())} bytes of UTF-8; at most {longest}")
    return value


def optional_text(body: Body, name: str, longest: int, *, lines: bool = False) -> str | None:
    value = body.get(name)
    return None if value is None else check_text(value, name, longest, lines=lines)


def optional_url(body: Body, name: str) -> str | None:
    value = optional_text(body, name, LONGEST["url"])
    if value is not None and not value.startswith(("http://", "https://")):
        raise GraphBadRequest(f"Invalid {name}: '{shorten(value)}'. Must start with http:// or https://")
    return value


def optional_enum(body: Body, name: str, values: tuple[str, ...]) -> str | None:
    value = body.get(name)
    return None if value is None else check_enum(value, name, values)


@dataclass(frozen=True)
class NewProject:
    slug: str
    name: str
    description: str | None = None

    FIELDS = ("slug", "name", "description")

    @classmethod
    def parse(cls, body: object) -> NewProject:
        fields = check_body(body, cls.FIELDS)
        return cls(
            slug=check_slug(fields.get("slug"), "slug"),
            name=check_text(fields.get("name"), "name", LONGEST["name"]),
            description=optional_text(fields, "description", LONGEST["description"], lines=True),
        )


@dataclass(frozen=True)
class NewEntity:
    entity_type: str
    title: str
    slug: str
    summary: str | None = None
    difficulty: str | None = None
    concept_kind: str | None = None
    repo_url: str | None = None
    canonical_url: str | None = None

    FIELDS = ("entityType", "title", "slug", "summary", "difficulty", "conceptKind", "repoUrl", "canonicalUrl")

    @classmethod
    def parse(cls, body: object) -> NewEntity:
        fields = check_body(body, cls.FIELDS)
        entity_type = check_enum(fields.get("entityType"), "entityType", ENTITY_TYPES)
        changes = EntityChanges.parse({k: v for k, v in fields.items() if k != "entityType"}, entity_type).values
        missing = [name for name in ("title", "slug") if name not in changes]
        if missing:
            raise GraphBadRequest(f"{missing[0]} is required and must be a text that is not empty")
        return cls(entity_type=entity_type, **changes)


@dataclass(frozen=True)
class EntityChanges:
    """Columns to change, with their new values."""

    values: dict[str, Any]

    FIELDS = NewEntity.FIELDS[1:]

    @classmethod
    def parse(cls, body: object, entity_type: str) -> EntityChanges:
        fields = check_body(body, cls.FIELDS)
        parsed: dict[str, tuple[str, Callable[[], Any]]] = {
            "title": ("title", lambda: check_text(fields["title"], "title", LONGEST["title"])),
            "slug": ("slug", lambda: check_slug(fields["slug"], "slug")),
            "summary": ("summary", lambda: optional_text(fields, "summary", LONGEST["summary"], lines=True)),
            "difficulty": ("difficulty", lambda: optional_enum(fields, "difficulty", DIFFICULTIES)),
            "conceptKind": ("concept_kind", lambda: optional_enum(fields, "conceptKind", CONCEPT_KINDS)),
            "repoUrl": ("repo_url", lambda: optional_url(fields, "repoUrl")),
            "canonicalUrl": ("canonical_url", lambda: optional_url(fields, "canonicalUrl")),
        }
        values = {column: read() for name, (column, read) in parsed.items() if name in fields}
        for column, name, only in (("concept_kind", "conceptKind", "concept"), ("repo_url", "repoUrl", "project")):
            if values.get(column) is not None and entity_type != only:
                raise GraphBadRequest(f"{name} is only valid on entities of type {only}; this is a {entity_type}")
        return cls(values)


@dataclass(frozen=True)
class NewRelation:
    relation_type: str
    from_id: str
    to_id: str
    notes: str | None = None

    FIELDS = ("relationType", "fromEntityId", "toEntityId", "notes")

    @classmethod
    def parse(cls, body: object) -> NewRelation:
        fields = check_body(body, cls.FIELDS)
        relation_type = check_enum(fields.get("relationType"), "relationType", RELATION_TYPES)
        start, end = (
            _end(fields.get(name), name, kind)
            for name, kind in zip(("fromEntityId", "toEntityId"), RELATION_ENDS[relation_type], strict=True)
        )
        if start == end:
            raise GraphBadRequest("An entity cannot be related to itself")
        return cls(relation_type, start, end, optional_text(fields, "notes", LONGEST["notes"], lines=True))


def _end(value: object, name: str, kind: str) -> str:
    """An entity's UUID; or, for a source, distribution or video, its id or URL as it is known there."""
    return check_text(value, name, LONGEST["reference"]) if kind in EXTERNAL_KINDS else check_uuid(value, name)


@dataclass(frozen=True)
class NewBlock:
    entity_id: str
    text: str
    claim_type: str
    source_citation: str | None = None
    verified_until: int | None = None
    topic_tag: str | None = None

    FIELDS = ("entityId", "text", "claimType", "sourceCitation", "verifiedUntil", "topicTag")

    @classmethod
    def parse(cls, body: object) -> NewBlock:
        fields = check_body(body, cls.FIELDS)
        until = fields.get("verifiedUntil")
        return cls(
            entity_id=check_uuid(fields.get("entityId"), "entityId"),
            text=check_text(fields.get("text"), "text", LONGEST["text"], lines=True),
            claim_type=check_enum(fields.get("claimType"), "claimType", CLAIM_TYPES),
            source_citation=optional_text(fields, "sourceCitation", LONGEST["sourceCitation"], lines=True),
            verified_until=None if until is None else parse_moment(until, "verifiedUntil"),
            topic_tag=optional_text(fields, "topicTag", LONGEST["topicTag"]),
        )


@dataclass(frozen=True)
class SearchRow:
    """One row of Search Console. `entity_id` UNSET keeps the link that a stored row has."""

    query: str
    page_url: str
    impressions: int
    clicks: int
    ctr: float
    avg_position: float
    date_start: int
    date_end: int
    entity_id: str | Unset | None = UNSET

    FIELDS = (
        "query",
        "pageUrl",
        "impressions",
        "clicks",
        "ctr",
        "avgPosition",
        "dateStart",
        "dateEnd",
        "entityId",
    )

    @classmethod
    def parse(cls, body: object) -> SearchRow:
        fields = check_body(body, cls.FIELDS)
        row = cls(
            query=check_text(fields.get("query"), "query", LONGEST["query"]),
            page_url=check_text(fields.get("pageUrl"), "pageUrl", LONGEST["pageUrl"]),
            impressions=_whole(fields.get("impressions"), "impressions"),
            clicks=_whole(fields.get("clicks"), "clicks"),
            ctr=_number(fields.get("ctr"), "ctr"),
            avg_position=_number(fields.get("avgPosition"), "avgPosition"),
            date_start=parse_moment(fields.get("dateStart"), "dateStart"),
            date_end=parse_moment(fields.get("dateEnd"), "dateEnd"),
            entity_id=_link(fields),
        )
        row.check()
        return row

    def check(self) -> None:
        if self.clicks > self.impressions:
            raise GraphBadRequest(f"clicks ({self.clicks}) must not exceed impressions ({self.impressions})")
        if not 0 <= self.ctr <= 1:
            raise GraphBadRequest(f"Invalid ctr: {self.ctr}. Must be from 0 to 1")
        if self.avg_position <= 0:
            raise GraphBadRequest(f"Invalid avgPosition: {self.avg_position}. Must be greater than 0")
        if self.date_start > self.date_end:
            raise GraphBadRequest("dateStart must not be after dateEnd")

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.query, self.page_url, self.date_start, self.date_end


def _link(fields: Body) -> str | Unset | None:
    if "entityId" not in fields:
        return UNSET
    return None if fields["entityId"] is None else check_uuid(fields["entityId"], "entityId")


def _whole(value: object, name: str) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise GraphBadRequest(f"Invalid {name}: '{shorten(value)}'. Must be a whole number, 0 or more")
    return value


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e9:
        raise GraphBadRequest(f"Invalid {name}: '{shorten(value)}'. Must be a number")
    return float(value)
