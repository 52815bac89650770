"""Identifiers: the patterns that the contracts allow, strictly matched, and how new ones are made."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from datetime import date

from ulid import ULID

from trigpoint.errors import InvalidInput, InvalidReference, shorten

_APPLICATION_REF = re.compile(r"[0-9]{2}/[0-9]{4,5}/[A-Z]{1,4}", re.ASCII)
_POLICY_SOURCE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", re.ASCII)
_UUID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    re.ASCII | re.IGNORECASE,
)

_AUTHORITY = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)


def parse_application_ref(value: object) -> str:
    """Return a planning reference such as `25/01178/REM` unchanged. Raises InvalidReference."""
    if not isinstance(value, str) or _APPLICATION_REF.fullmatch(value) is None:
        raise InvalidReference(
            f"Invalid application reference format: {shorten(value)}. "
            "Expected format: YY/NNNNN/XXX (e.g., 25/01178/REM)"
        )
    return value


def ref_as_name(application_ref: str) -> str:
    """Return a reference as ids and folder names spell it: `25/01178/REM` as `25_01178_REM`."""
    return application_ref.replace("/", "_")


def parse_policy_source(value: object) -> str:
    """Return a policy slug such as `LTN_1_20` unchanged. Raises InvalidInput."""
    if not isinstance(value, str) or len(value) > 64 or _POLICY_SOURCE.fullmatch(value) is None:
        raise InvalidInput(
            f"Invalid policy source: {shorten(value)}. "
            "Expected UPPER_SNAKE_CASE of at most 64 characters (e.g., LTN_1_20)"
        )
    return value


def parse_authority(value: object) -> str:
    """Return a planning authority's slug, `cherwell` or `tower-hamlets`. Raises InvalidInput for any other form."""
    if not isinstance(value, str) or len(value) > 64 or _AUTHORITY.fullmatch(value) is None:
        raise InvalidInput(
            f"Invalid authority: {shorten(value)}. Expected a lower-case slug (e.g., cherwell, tower-hamlets)",
            field="authority",
        )
    return value


UNKNOWN_AUTHORITY = "unknown"
"""Stands for the authority of a site that nobody has named: no local policy applies to it."""


def parse_uuid(value: object) -> str:
    """Return a UUID in lower case. Raises InvalidInput."""
    if not isinstance(value, str) or _UUID.fullmatch(value) is None:
        raise InvalidInput(f"Invalid UUID: {shorten(value)}")
    return value.lower()


def new_uuid() -> str:
    return str(uuid.uuid4())


def new_uuids(count: int) -> Iterator[str]:
    """Yield many random UUIDs (version 4), all taken from one draw of random bytes."""
    drawn = os.urandom(16 * count).hex()
    for start in range(0, 32 * count, 32):
        digits = drawn[start : start + 32]
        variant = "89ab"[int(digits[16], 16) % 4]
        yield f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def new_review_id() -> str:
    """Return a new id, `rev_` and a ULID: it sorts by time and is opaque to clients."""
    return f"rev_{ULID()}"


def new_job_id() -> str:
    return f"job_{uuid.uuid4().hex[:12]}"


def new_request_id() -> str:
    return str(uuid.uuid4())


def revision_id_candidates(source: str, effective_from: date) -> tuple[str, str]:
    """Return the ids of a revision to try in turn: by month, then by day. If both are taken, a number is added."""
    month = f"rev_{source}_{effective_from.year:04d}_{effective_from.month:02d}"
    return month, f"{month}_{effective_from.day:02d}"
