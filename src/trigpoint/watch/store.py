"""Watches as files of the data folder, one each: a change is written completely or not at all, and two writers take turns."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import ValidationError

from trigpoint.config import Settings
from trigpoint.errors import InvalidInput, StoreError, WatchBusy, WatchNotFound, shorten
from trigpoint.storage.files import data_folder, write_atomic
from trigpoint.watch.models import Watch, WatchRecord, parse_watch_id

log = logging.getLogger(__name__)

_FOLDER = "watches"
MOST_WATCHES = 50
_TURN_SECONDS = 10.0


@dataclass(frozen=True)
class KeptWatches:
    """All watches that can be read, and the files that cannot."""

    records: tuple[WatchRecord, ...]
    unreadable: tuple[str, ...]


class WatchStore:
    """The watches of a data folder."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.data_dir / _FOLDER

    def all(self) -> KeptWatches:
        """Return every watch, oldest first. A file that cannot be read is named, and hides no other."""
        records, unreadable = [], []
        for path in sorted(self._folder.glob("*.json")):
            try:
                records.append(_read_record(path))
            except StoreError as error:
                log.warning("%s", error.message)
                unreadable.append(path.name)
        records.sort(key=lambda record: (record.watch.created_at, record.watch.id))
        return KeptWatches(tuple(records), tuple(unreadable))

    def get(self, watch_id: str) -> WatchRecord:
        """Return one watch. Raises InvalidInput, WatchNotFound, StoreError."""
        path = self._path(watch_id)
        if not path.is_file():
            raise WatchNotFound(f"There is no watch {shorten(watch_id)}. `trigpoint watch list` shows them")
        return _read_record(path)

    def add(self, watch: Watch) -> WatchRecord:
        """Keep a new watch. Raises InvalidInput if there are too many."""
        if len(list(self._folder.glob("*.json"))) >= MOST_WATCHES:
            raise InvalidInput(f"There are {MOST_WATCHES} watches already. Remove one first")
        data_folder(self._settings, _FOLDER)
        record = WatchRecord(watch=watch)
        _write_record(self._path(watch.id), record)
        return record

    def change(self, watch_id: str, change: Callable[[WatchRecord], WatchRecord]) -> WatchRecord:
        """Replace a watch with what a function makes of it, while other writers wait. Raises WatchNotFound."""
        self.get(watch_id)
        with self._turn(watch_id, "change", _TURN_SECONDS):
            record = change(self.get(watch_id))
            _write_record(self._path(watch_id), record)
        return record

    def remove(self, watch_id: str) -> None:
        """Remove a watch and what it has found. Raises WatchNotFound."""
        self.get(watch_id)
        with self._turn(watch_id, "change", _TURN_SECONDS):
            self._path(watch_id).unlink(missing_ok=True)

    @contextmanager
    def looking(self, watch_id: str) -> Iterator[None]:
        """Hold the turn to look at a register for a watch. Raises WatchBusy if somebody else is looking."""
        self.get(watch_id)
        with self._turn(watch_id, "look", 0):
            yield

    @contextmanager
    def _turn(self, watch_id: str, what: str, seconds: float) -> Iterator[None]:
        lock = FileLock(self._folder / f"{watch_id}.{what}.lock", thread_local=False)
        try:
            lock.acquire(timeout=seconds)
        except Timeout:
            raise WatchBusy(f"The watch {watch_id} is looking at the register already. Try again in a minute") from None
        try:
            yield
        finally:
            lock.release()

    def _path(self, watch_id: str) -> Path:
        return self._folder / f"{parse_watch_id(watch_id)}.json"


def _write_record(path: Path, record: WatchRecord) -> None:
    write_atomic(path, record.model_dump_json(indent=1).encode())


def _read_record(path: Path) -> WatchRecord:
    try:
        return WatchRecord.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error.strerror
        raise StoreError(
            f"The watch in {path} cannot be read ({why}). Remove the file, or restore it from a backup"
        ) from None
