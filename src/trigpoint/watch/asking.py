"""Checks a request for a watch: the authority's register can be read, the numbers and words make sense."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from pydantic import ValidationError

from trigpoint.config import Settings
from trigpoint.dates import today
from trigpoint.errors import InvalidInput
from trigpoint.registers.entries import load_registers
from trigpoint.watch.models import Watch

_FIRST_LOOK = timedelta(days=14)


def asked_for(
    settings: Settings,
    authority: str | None = None,
    *,
    words: Sequence[str] = (),
    wards: Sequence[str] = (),
    min_dwellings: int | None = None,
    min_floorspace: int | None = None,
    since: date | None = None,
) -> Watch:
    """Return a new watch. Raises UnknownAuthority, InvalidInput."""
    entry = load_registers(settings).get(authority)
    entry.require_readable()
    first = since or today() - _FIRST_LOOK
    if first > today():
        raise InvalidInput(f"A watch cannot begin in the future: {first}")
    try:
        return Watch(
            id=uuid.uuid4().hex[:8],
            authority=entry.authority,
            words=tuple(words),
            wards=tuple(wards),
            min_dwellings=min_dwellings,
            min_floorspace=min_floorspace,
            since=first,
            created_at=datetime.now(UTC),
        )
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][0]).replace("_", " ")
        raise InvalidInput(f"{name}: {problem['msg'].removeprefix('Value error, ')}") from None
