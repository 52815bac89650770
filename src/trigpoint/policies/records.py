"""A policy and its revisions as the fields of Redis hashes: an empty field is null."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from trigpoint.dates import parse_day, parse_micro_timestamp
from trigpoint.ids import parse_authority
from trigpoint.policies.models import (
    ONE_DAY,
    Policy,
    PolicyCategory,
    Revision,
    RevisionStatus,
    SideEffects,
    Supersession,
)
from trigpoint.policies.shipped import shipped_authorities


def policy_of(entry: dict[str, Any]) -> Policy:
    stored = entry["policy"]
    revisions = [revision_of(fields, fields.get("held_by")) for fields in entry["revisions"] or []]
    supersessions = {
        item["successor"]: Supersession(
            item["was"]["revision"], day_of(item["was"]["effective_to"]), RevisionStatus(item["was"]["status"])
        )
        for item in entry["before"] or []
    }
    return Policy(
        source=stored["source"],
        title=stored["title"],
        description=stored["description"] or None,
        category=PolicyCategory(stored["category"]),
        created_at=parse_micro_timestamp(stored["created_at"]),
        updated_at=parse_micro_timestamp(stored["updated_at"]) if stored["updated_at"] else None,
        revisions=tuple(reversed(revisions)),
        supersessions=supersessions,
        authorities=_stored_authorities(stored),
    )


def revision_of(stored: dict[str, Any], held_by: str | None) -> Revision:
    return Revision(
        revision_id=stored["revision_id"],
        source=stored["source"],
        version_label=stored["version_label"],
        effective_from=parse_day(stored["effective_from"]),
        effective_to=day_of(stored["effective_to"]),
        status=RevisionStatus(stored["status"]),
        file_path=stored["file_path"] or None,
        file_size_bytes=_number(stored["file_size_bytes"]),
        page_count=_number(stored["page_count"]),
        chunk_count=_number(stored["chunk_count"]),
        notes=stored["notes"] or None,
        created_at=parse_micro_timestamp(stored["created_at"]),
        ingested_at=parse_micro_timestamp(stored["ingested_at"]) if stored["ingested_at"] else None,
        error=stored["error"] or None,
        held_by=held_by,
        replacement=stored.get("next_file_path") or None,
    )


def side_effects_of(reply: dict[str, Any], effective_to: date | None) -> SideEffects | None:
    if "superseded" not in reply:
        return None
    older = reply["superseded"]
    warning = None
    if effective_to is not None and effective_to < date.max:  # no day comes after the last one
        warning = (
            f"No revision will be in force from {(effective_to + ONE_DAY).isoformat()} on: "
            f"{older['revision_id']}, which had no end, now ends on {older['effective_to']}"
        )
    return SideEffects(older["revision_id"], parse_day(older["effective_to"]), warning)


def authorities_text(slugs: Sequence[str]) -> str:
    return ",".join(dict.fromkeys(parse_authority(slug) for slug in slugs))


def _stored_authorities(stored: dict[str, str]) -> tuple[str, ...]:
    """Return a policy's authorities; for one registered before policies had any, those that ship with it."""
    text = stored.get("authorities")
    return shipped_authorities(stored["source"]) if text is None else tuple(filter(None, text.split(",")))


def field_text(value: object) -> str:
    """Return a field as a hash keeps it: null is empty."""
    if value is None:
        return ""
    return value.isoformat() if isinstance(value, date) else str(value)


def day_of(text: str) -> date | None:
    return parse_day(text) if text else None


def _number(text: str) -> int | None:
    return int(text) if text else None
