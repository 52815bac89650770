"""Moments as they are stored (milliseconds since 1970) and as they are written."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from trigpoint.dates import milli_timestamp, now, parse_day, parse_utc_timestamp
from trigpoint.errors import InvalidDate

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def this_moment() -> int:
    return (now() - _EPOCH) // _MILLISECOND


def parse_moment(value: object) -> int:
    """Return the moment of `YYYY-MM-DD` (its midnight, UTC) or of a UTC timestamp. Raise ValueError otherwise."""
    if isinstance(value, date) and not isinstance(value, datetime):  # YAML reads an unquoted day as a date
        value = value.isoformat()
    try:
        return _milliseconds(value if isinstance(value, str) else "")
    except InvalidDate:
        raise ValueError("Expected an existing date as YYYY-MM-DD or YYYY-MM-DDTHH:mm:ss.sssZ (UTC)") from None


@lru_cache(maxsize=1000)  # 25,000 search rows have a few dozen dates
def _milliseconds(value: str) -> int:
    if len(value) == len("2025-02-20"):
        moment = datetime.combine(parse_day(value), datetime.min.time(), UTC)
    else:
        moment = parse_utc_timestamp(value)
    return (moment - _EPOCH) // _MILLISECOND


def print_moment(milliseconds: int) -> str:
    return milli_timestamp(_EPOCH + milliseconds * _MILLISECOND)
