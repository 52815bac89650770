"""Keeps a project in step with its folders and Zotero: adds new files, reads changed ones again, removes missing ones.

Nothing is removed because a place is empty or missing as a whole: a disk that is not mounted is not a deleted library.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trigpoint.errors import InvalidInput
from trigpoint.passages.model import DocumentRow
from trigpoint.passages.store import PassageStore

_ZOTERO = "zotero://"
_DATABASE_FILES = ("zotero.sqlite", "zotero.sqlite-wal", "zotero.sqlite-journal")

PlacesState = frozenset[tuple[str, int, int]]


@dataclass(frozen=True)
class Pruned:
    """The documents removed, and those kept because too many would have gone."""

    removed: tuple[str, ...] = ()
    refused: str | None = None


def prune_files(passages: PassageStore, roots: Iterable[Path], *, allow_empty: bool = False) -> Pruned:
    """Remove the documents below these folders, and of these files, that are no longer there."""
    places = [root.expanduser().absolute() for root in roots]
    rows = [row for row in passages.documents() if row.path and _is_below(Path(row.path), places)]
    gone = [row for row in rows if not Path(str(row.path)).is_file()]
    where = ", ".join(map(str, places))
    return _remove_gone(passages, rows, gone, f"every file of {where} is missing", allow_empty=allow_empty)


def prune_zotero(passages: PassageStore, names: Iterable[str], *, allow_empty: bool = False) -> Pruned:
    """Remove what came from Zotero and is not among these origins any more."""
    present = set(names)
    rows = [row for row in passages.documents() if row.path and row.path.startswith(_ZOTERO)]
    gone = [row for row in rows if row.path not in present]
    return _remove_gone(passages, rows, gone, "Zotero has none of the items", allow_empty=allow_empty)


def _remove_gone(
    passages: PassageStore, rows: Sequence[DocumentRow], gone: Sequence[DocumentRow], reason: str, *, allow_empty: bool
) -> Pruned:
    if gone and len(gone) == len(rows) and not allow_empty:
        return Pruned(refused=f"Nothing was removed: {reason}. If this is intended, add --allow-empty")
    for row in gone:
        passages.delete(row.document_id)
    return Pruned(tuple(str(row.path) for row in gone))


def _is_below(path: Path, places: Sequence[Path]) -> bool:
    return any(path == place or place in path.parents for place in places)


def state_of(folders: Iterable[Path], zotero: Path | None) -> PlacesState:
    """Return a fingerprint of these places that differs whenever something in them has changed."""
    files = [file for folder in folders for file in _files_at(folder.expanduser())]
    if zotero is not None:
        files += [zotero.expanduser() / name for name in _DATABASE_FILES]
    return frozenset(seen for file in files if (seen := _seen(file)))


def watch(
    look: Callable[[], PlacesState],
    act: Callable[[], object],
    *,
    every: float = 5.0,
    sleep: Callable[[float], None] = time.sleep,
    rounds: int | None = None,
) -> None:
    """Act once, then whenever what is seen has changed and stayed so for one look. Ends with an interrupt."""
    if every <= 0:
        raise InvalidInput(f"--every {every:g}: expected seconds above 0")
    done = look()
    act()
    before = done
    for _ in _rounds(rounds):
        sleep(every)
        now = look()
        if now != done and now == before:  # the writer has finished
            done = now
            act()
        before = now


def _rounds(count: int | None) -> Iterator[int]:
    number = 0
    while count is None or number < count:
        yield number
        number += 1


def _files_at(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from (path for path in place.rglob("*") if not path.name.startswith("."))
    else:
        yield place


def _seen(file: Path) -> tuple[str, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return str(file), status.st_mtime_ns, status.st_size
