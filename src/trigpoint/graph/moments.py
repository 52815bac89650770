"""Moments as they are stored (milliseconds since 1970) and as they are written."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from trigpoint.dates import milli_timestamp, now, parse_day, parse_utc_timestamp
from trigpoint.errors import GraphBadRequest, InvalidDate, shorten

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def this_moment() -> int:
    return _since_epoch(now())


def parse_moment(value: object, name: str) -> int:
    """`YYYY-MM-DD` (its midnight, UTC) or a UTC timestamp. Raises GraphBadRequest."""
    try:
        return _milliseconds(value) if isinstance(value, str) else _since_epoch(parse_utc_timestamp(value))
    except InvalidDate:
        raise GraphBadRequest(
            f"Invalid {name}: '{shorten(value)}'. Expected an existing date as YYYY-MM-DD or YYYY-MM-DDTHH:mm:ss.sssZ (UTC)"
        ) from None


@lru_cache(maxsize=1000)  # 25,000 search rows have a few dozen dates
def _milliseconds(value: str) -> int:
    if len(value) == len("2025-02-20"):
        day: date = parse_day(value)
        return _since_epoch(datetime(day.year, day.month, day.day, tzinfo=UTC))
    return _since_epoch(parse_utc_timestamp(value))


def _since_epoch(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND


def print_moment(milliseconds: int) -> str:
    return milli_timestamp(_EPOCH + milliseconds * _MILLISECOND)
