"""Free space in the data folder: below the first mark new work is refused, below the second running work pauses."""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.errors import NoSpace

_LOOK_AGAIN_SECONDS = 1.0
_FULL = (errno.ENOSPC, errno.EDQUOT)
_last_look: dict[Path, tuple[float, int]] = {}


@dataclass(frozen=True)
class Space:
    """The free space in a folder, against the two marks, in MB."""

    folder: Path
    free: int
    low: int
    critical: int

    @property
    def is_low(self) -> bool:
        return self.free < self.low

    @property
    def is_critical(self) -> bool:
        return self.free < self.critical

    @property
    def said(self) -> str:
        return f"{self.free} MB free in {self.folder}; new work needs {self.low} MB (DISK_LOW_MB)"


def look(settings: Settings) -> Space:
    """Return the free space of the data folder, looked up at most once a second."""
    return Space(settings.data_dir, _free_mb(settings.data_dir), settings.disk_low_mb, settings.disk_critical_mb)


def require_space(settings: Settings) -> None:
    """Raise NoSpace if there is too little room to begin something new."""
    space = look(settings)
    if space.is_low:
        raise NoSpace(f"No space left for new work: {space.said}. Make space and try again", free_mb=space.free)


@contextmanager
def writing_in(folder: Path) -> Iterator[None]:
    """Turn a full disk or an exhausted quota into NoSpace, which says where it happened."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise _none_left(folder) from error


def full_disk_behind(error: BaseException) -> NoSpace | None:
    """Return the error to tell if a full disk caused this one; None for any other cause.

    For libraries that write files of their own, such as the files of a form or a database.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _FULL:
            return _none_left(Path(cause.filename).parent if cause.filename else Path(tempfile.gettempdir()))
        if isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return NoSpace("No space left for the database. Make space and try again")
        cause = cause.__cause__ or cause.__context__
    return None


def _none_left(folder: Path) -> NoSpace:
    return NoSpace(f"No space left in {folder}. Make space and try again")


def _free_mb(folder: Path) -> int:
    """Return the megabytes that we may still write; of the nearest folder above if this one does not exist yet."""
    now = time.monotonic()
    looked, free = _last_look.get(folder, (-_LOOK_AGAIN_SECONDS, 0))
    if now - looked < _LOOK_AGAIN_SECONDS:
        return free
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    state = os.statvfs(existing)
    free = state.f_bavail * state.f_frsize // (1024 * 1024)
    _last_look[folder] = (now, free)
    return free
