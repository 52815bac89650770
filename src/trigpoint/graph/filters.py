"""Parameters of a read as they come from outside, strictly parsed into filters. An empty value counts as absent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trigpoint.errors import GraphBadRequest, InvalidInput, shorten
from trigpoint.graph.moments import parse_moment
from trigpoint.graph.vocabulary import CLAIM_TYPES, CONCEPT_KINDS, ENTITY_TYPES, RELATION_TYPES, STATUSES
from trigpoint.ids import parse_uuid

Params = Mapping[str, Any]

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)


@dataclass(frozen=True)
class EntityFilter:
    entity_type: str | None = None
    status: str | None = None
    concept_kind: str | None = None
    search: str | None = None

    @classmethod
    def parse(cls, params: Params) -> EntityFilter:
        return cls(
            entity_type=one_of(params, "entityType", ENTITY_TYPES),
            status=one_of(params, "status", STATUSES),
            concept_kind=one_of(params, "conceptKind", CONCEPT_KINDS),
            search=given(params, "search"),
        )


@dataclass(frozen=True)
class PerformanceFilter:
    query: str | None = None
    page_url: str | None = None
    entity_id: str | None = None
    date_start: int | None = None
    date_end: int | None = None

    @classmethod
    def parse(cls, params: Params) -> PerformanceFilter:
        start, end = moment_range(params, "dateStart", "dateEnd")
        return cls(
            query=given(params, "query"),
            page_url=given(params, "pageUrl"),
            entity_id=optional_uuid(params, "entityId"),
            date_start=start,
            date_end=end,
        )


@dataclass(frozen=True)
class BlockFilter:
    entity_id: str | None = None
    claim_type: str | None = None
    topic_tag: str | None = None
    verified_from: int | None = None
    verified_to: int | None = None

    @classmethod
    def parse(cls, params: Params) -> BlockFilter:
        after, before = moment_range(params, "verifiedUntilAfter", "verifiedUntilBefore")
        return cls(
            entity_id=optional_uuid(params, "entityId"),
            claim_type=one_of(params, "claimType", CLAIM_TYPES),
            topic_tag=given(params, "topicTag"),
            verified_from=after,
            verified_to=before,
        )


@dataclass(frozen=True)
class GraphFilter:
    depth: int = 1
    relation_types: tuple[str, ...] = ()

    @classmethod
    def parse(cls, params: Params) -> GraphFilter:
        depth = given(params, "depth") or "1"
        if depth not in ("1", "2"):
            raise GraphBadRequest(f"Invalid depth: '{shorten(depth)}'. Must be 1 or 2")
        names = [name.strip() for name in (given(params, "relationshipTypes") or "").split(",")]
        types = tuple(check_enum(name, "relationshipTypes", RELATION_TYPES) for name in names if name)
        return cls(depth=int(depth), relation_types=tuple(dict.fromkeys(types)))


def given(params: Params, name: str) -> str | None:
    value = params.get(name)
    return str(value) if value not in (None, "") else None


def one_of(params: Params, name: str, values: tuple[str, ...]) -> str | None:
    value = given(params, name)
    return None if value is None else check_enum(value, name, values)


def check_enum(value: object, name: str, values: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in values:
        raise GraphBadRequest(f"Invalid {name}: '{shorten(value)}'. Valid values: {', '.join(values)}")
    return value


def check_uuid(value: object, name: str) -> str:
    try:
        return parse_uuid(value)
    except InvalidInput:
        raise GraphBadRequest(f"Invalid {name}: '{shorten(value)}'. Must be a UUID") from None


def optional_uuid(params: Params, name: str) -> str | None:
    value = given(params, name)
    return None if value is None else check_uuid(value, name)


def check_slug(value: object, name: str) -> str:
    if not isinstance(value, str) or len(value) > 200 or _SLUG.fullmatch(value) is None:
        raise GraphBadRequest(
            f"Invalid {name}: '{shorten(value)}'. Must be lower-case letters, digits and single hyphens, at most 200"
        )
    return value


def moment_range(params: Params, first: str, last: str) -> tuple[int | None, int | None]:
    """Two moments, both inclusive. A reversed range is refused (G8)."""
    low, high = given(params, first), given(params, last)
    start = None if low is None else parse_moment(low, first)
    end = None if high is None else parse_moment(high, last)
    if start is not None and end is not None and start > end:
        raise GraphBadRequest(f"{first} ({low}) must not be after {last} ({high})")
    return start, end


def parse_fields(params: Params, known: tuple[str, ...]) -> tuple[str, ...] | None:
    """`fields=id,title`: the names to answer with, in the contract's order."""
    value = given(params, "fields")
    if value is None:
        return None
    chosen = {name.strip() for name in value.split(",")} - {""}
    for name in sorted(chosen):
        check_enum(name, "fields", known)
    return tuple(name for name in known if name in chosen) or None
