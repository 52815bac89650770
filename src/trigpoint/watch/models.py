"""A watch: what somebody looks for in a register's lists, what has been found, and how the last look went."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from trigpoint.errors import InvalidInput, shorten

MOST_SIGHTINGS = 1000

Phrase = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=80)]
Size = Literal["fits", "not stated"]

_ID = re.compile(r"[0-9a-f]{8}", re.ASCII)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Watch(_Frozen):
    """A watch. Of several words, or of the two sizes, one is enough; wards and words must both fit."""

    id: str
    authority: str
    words: tuple[Phrase, ...] = Field((), max_length=20)
    wards: tuple[Phrase, ...] = Field((), max_length=20)
    min_dwellings: int | None = Field(None, ge=1, le=1_000_000)
    min_floorspace: int | None = Field(None, ge=1, le=100_000_000)
    since: date
    created_at: datetime

    def described(self) -> str:
        """Return in words what is looked for."""
        sizes = [
            f"at least {number:,} {unit}"
            for number, unit in ((self.min_dwellings, "homes"), (self.min_floorspace, "m\N{SUPERSCRIPT TWO} of floor"))
            if number
        ]
        parts = [
            " or ".join(sizes),
            f"with the words {' or '.join(self.words)}" if self.words else "",
            f"in {', '.join(self.wards)}" if self.wards else "",
        ]
        return ", ".join(part for part in parts if part) or "all new applications"


class Sighting(_Frozen):
    """An application that a watch has found. It is new until somebody has marked it as seen or asked for its review."""

    reference: str
    page_url: str
    address: str | None = None
    proposal: str | None = None
    kind: str = "unknown"
    ward: str | None = None
    status: str | None = None
    date_received: date | None = None
    date_validated: date | None = None
    dwellings: float | None = None
    floorspace: float | None = None
    size: Size = "fits"
    first_seen: datetime
    new: bool = True


class Look(_Frozen):
    """One look at the register's lists: what they had, or the problem that there was."""

    at: datetime
    since: date
    listed: int = 0
    found: int = 0
    wards_unknown: int = 0
    left_out: int = 0
    problem: str | None = None
    link: str | None = None


class WatchRecord(_Frozen):
    """A watch with all that is kept of it. `last_good` is the last look that had no problem."""

    version: Literal[1] = 1
    watch: Watch
    sightings: tuple[Sighting, ...] = ()
    last: Look | None = None
    last_good: Look | None = None

    @property
    def new_count(self) -> int:
        return sum(one.new for one in self.sightings)

    def seen(self, references: frozenset[str] | None = None) -> WatchRecord:
        """Return the record with these applications, or all of them, marked as seen."""
        marked = tuple(
            one.model_copy(update={"new": False}) if references is None or one.reference in references else one
            for one in self.sightings
        )
        return self.model_copy(update={"sightings": marked})


def parse_watch_id(value: object) -> str:
    """Return the id of a watch, unchanged. Raises InvalidInput."""
    if not isinstance(value, str) or _ID.fullmatch(value) is None:
        raise InvalidInput(f"'{shorten(value)}' is not the id of a watch. `trigpoint watch list` shows them")
    return value
