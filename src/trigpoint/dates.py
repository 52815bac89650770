"""Strict dates and timestamps: one parser for each form that the contracts allow.

Days are `YYYY-MM-DD`; stores keep them as integers `YYYYMMDD`, and "no end" as `_OPEN_END`.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from trigpoint.errors import InvalidDate, shorten

_OPEN_END = 99991231

_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_TIME = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,3}))?"
_UTC_TIMESTAMP = re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})T{_TIME}Z", re.ASCII)
_EPOCH = date(1970, 1, 1)


def parse_day(value: object) -> date:
    """Return `2025-02-07` as a date. Raises InvalidDate for any other form and for days that do not exist."""
    match = _DAY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise InvalidDate(f"Invalid date '{shorten(value)}'. Expected YYYY-MM-DD, for example 2025-02-07")
    try:
        return date(*(int(part) for part in match.groups()))
    except ValueError:
        raise InvalidDate(f"Invalid date '{value}': there is no such day") from None


def day_to_int(day: date | None) -> int:
    """Return a day as the number by which the stores compare it; None (no end) becomes `_OPEN_END`."""
    return _OPEN_END if day is None else day.year * 10000 + day.month * 100 + day.day


def days_since_epoch(day: date) -> int:
    return (day - _EPOCH).days


def now() -> datetime:
    return datetime.now(UTC)


def today() -> date:
    return now().date()


def micro_timestamp(moment: datetime) -> str:
    """Return a moment as the planning API prints it: `2025-02-07T12:34:56.789000Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def milli_timestamp(moment: datetime) -> str:
    """Return a moment as the graph API prints it: `2025-02-07T12:34:56.789Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_utc_timestamp(value: object) -> datetime:
    """Return the moment of a UTC timestamp with `Z` and up to three fraction digits. Raises InvalidDate."""
    match = _UTC_TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise InvalidDate(
            f"Invalid timestamp '{shorten(value)}'. Expected YYYY-MM-DDTHH:mm:ss.sssZ, for example "
            "2025-02-20T14:30:00.000Z"
        )
    day = parse_day(match[1])
    try:
        return datetime(
            day.year,
            day.month,
            day.day,
            int(match[2]),
            int(match[3]),
            int(match[4]),
            int((match[5] or "0").ljust(3, "0")) * 1000,
            tzinfo=UTC,
        )
    except ValueError:
        raise InvalidDate(f"Invalid timestamp '{value}': there is no such time") from None


def parse_micro_timestamp(value: str) -> datetime:
    """Return the moment that `micro_timestamp` wrote to a store."""
    return datetime.fromisoformat(value).astimezone(UTC)
