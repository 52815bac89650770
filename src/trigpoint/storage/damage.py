"""Damaged database files, found in little time and named with the way out."""

from __future__ import annotations

import logging
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from trigpoint.errors import StoreDamaged, shorten

log = logging.getLogger(__name__)

WAY_OUT = "Stop Trigpoint and run `trigpoint repair`"
AT_START_SECONDS = 1.0


def require_whole(path: Path, what: str, *, seconds: float = AT_START_SECONDS) -> None:
    """Raise StoreDamaged if an SQLite file is damaged, as far as can be told within that time. No file is no damage."""
    if problem := damage_of(path, seconds=seconds):
        raise StoreDamaged(f"{what} is damaged: {path} ({problem}). {WAY_OUT}")


def problems_of(path: Path, what: str) -> list[str]:
    """Return what a server's health should say of its SQLite file, and log it: found once, at the start."""
    try:
        require_whole(path, what)
    except StoreDamaged as error:
        log.error("%s", error.message)
        return [error.message]
    return []


def damage_of(path: Path, *, seconds: float = AT_START_SECONDS) -> str | None:
    """Return what is wrong with an SQLite file; None if it is whole, missing, or not read through in that time."""
    if not path.is_file() or path.stat().st_size == 0:
        return None
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5, check_same_thread=False)) as database:
            time_is_up = threading.Timer(seconds, database.interrupt)
            time_is_up.start()
            try:
                # not `quick_check`: SQLite 3.40 finds NULL in whole tables without rowid whose key has another order
                (said,) = database.execute("pragma integrity_check(1)").fetchone()
            finally:
                time_is_up.cancel()
                time_is_up.join()  # it must not interrupt a closed connection
    except sqlite3.OperationalError as error:
        return None if _only_late_or_busy(error) else shorten(error, 200)
    except sqlite3.DatabaseError as error:
        return shorten(error, 200)
    return None if said == "ok" else shorten(said, 200)


def _only_late_or_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode in (sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
