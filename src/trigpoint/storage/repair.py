"""Repairs the damaged files of a data folder that nobody uses. What is replaced or cut is kept in `damaged/`."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.errors import StoreInUse
from trigpoint.storage import aof, valkey
from trigpoint.storage.chroma_server import DATABASE
from trigpoint.storage.damage import damage_of
from trigpoint.storage.keeper import KEEPER, MEMBERS, is_held

KEPT = "damaged"
_THOROUGH_SECONDS = 600.0
LEAVING_SECONDS = 15.0

_REBUILT = "The next start rebuilds the passages of all policies from their stored files"
_INGESTED_AGAIN = "Documents are ingested again by the next review of their application"
_LIBRARY = "Run `trigpoint library ingest` for your projects; chunks that other programs stored have to be sent again"
_NOT_REPAIRED = "It cannot be repaired. Restore a backup into a new folder with `trigpoint restore`"
_GRAPH = "Load your files again with `trigpoint graph load`"


@dataclass(frozen=True)
class Repair:
    """The damage, what was done about it, and what the operator should know."""

    what: str
    problem: str
    done: str
    repaired: bool = True


def repair(settings: Settings) -> list[Repair]:
    """Repair what is damaged. Raises StoreInUse while Trigpoint runs."""
    require_unused(settings)
    kept = settings.data_dir / KEPT / datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    return [*_redis(settings, kept), *_chroma(settings, kept), *_databases(settings, kept)]


def require_unused(settings: Settings) -> None:
    """Raise StoreInUse while a process of ours uses an embedded store of this data folder.

    The keeper of a server whose last user has just left gets some time to stop it.
    """
    deadline = time.monotonic() + LEAVING_SECONDS
    for folder in (settings.data_dir / "redis", settings.chroma_dir("policies"), settings.chroma_dir("documents")):
        while folder.is_dir() and (is_held(folder, KEEPER) or is_held(folder, MEMBERS)):
            if time.monotonic() < deadline:
                time.sleep(0.1)
                continue
            raise StoreInUse(f"{folder} is in use. Stop every Trigpoint on {settings.data_dir}, then repair")


def _redis(settings: Settings, kept: Path) -> Iterator[Repair]:
    folder = settings.data_dir / "redis"
    if settings.redis_url is not None or not folder.is_dir():
        return
    if problem := aof.list_problem(folder):
        yield _relist(folder, problem, kept)
    if broken := aof.find_break(folder):
        shutil.copytree(folder / "appendonlydir", kept / "redis" / "appendonlydir")
        lost, cut = broken.lost_kinds(), broken.cut
        aof.cut_off(broken)
        yield Repair(
            f"The log of the embedded Valkey, {broken.path}",
            f"damaged after byte {broken.whole} of {broken.size}",
            f"Kept: everything up to there. Cut: {cut} bytes{_concerning(lost)}. The whole log is in {kept / 'redis'}",
        )
    if base := aof.base_is_damaged(folder, valkey.Server.binary()):
        yield Repair(
            f"The snapshot of the embedded Valkey, {base}",
            "damaged",
            f"{_NOT_REPAIRED}; or move {folder} away to begin without the reviews of this folder: shipped policies are loaded again",
            repaired=False,
        )


def _relist(folder: Path, problem: str, kept: Path) -> Repair:
    manifest = folder / "appendonlydir" / aof.MANIFEST
    what = f"The list of the embedded Valkey's log, {manifest}"
    if manifest.is_file():
        (kept / "redis").mkdir(parents=True, exist_ok=True)
        shutil.copy2(manifest, kept / "redis")
    if aof.rebuild_list(folder):
        return Repair(
            what, problem, "Rebuilt from the files of the log that are there; what a missing one held is lost"
        )
    return Repair(what, problem, _NOT_REPAIRED, repaired=False)


def _concerning(lost: dict[str, int]) -> str:
    if not lost:
        return ""
    named = ", ".join(f"{kind} ({count})" for kind, count in lost.items())
    return f", the last changes of these records: {named}"


def _chroma(settings: Settings, kept: Path) -> Iterator[Repair]:
    if settings.chroma_url is not None:
        return
    advice = {"policies": _REBUILT, "documents": _INGESTED_AGAIN}
    for store, said in advice.items():
        folder = settings.chroma_dir(store)  # type: ignore[arg-type]
        problem = damage_of(folder / DATABASE, seconds=_THOROUGH_SECONDS)
        if problem is not None:
            _move(folder, kept / "chroma" / store)
            yield Repair(f"The vector store {folder}", problem, f"Moved to {kept / 'chroma' / store}. {said}")


def _databases(settings: Settings, kept: Path) -> Iterator[Repair]:
    named: list[tuple[str, Path, str]] = []
    if settings.qdrant_url is None:
        named.append(("The store of the library", settings.data_dir / "library" / "library.db", _LIBRARY))
    if settings.database_url is None:
        named.append(("The database of the graph", settings.data_dir / "graph" / "graph.db", _GRAPH))
    for what, path, advice in named:
        problem = damage_of(path, seconds=_THOROUGH_SECONDS)
        if problem is not None:
            yield Repair(f"{what}, {path}", problem, _replace_database(path, kept / path.parent.name, advice))


def _replace_database(path: Path, kept: Path, advice: str) -> str:
    """Replace a database by a copy of all its rows, if they can all be read; else begin with none."""
    copy = path.with_name(f".{path.name}.rebuilt")
    copy.unlink(missing_ok=True)
    whole = _copied(path, copy)
    for suffix in ("", "-wal", "-shm"):
        if (part := path.with_name(path.name + suffix)).exists():
            _move(part, kept / part.name)
    if whole:
        copy.replace(path)
        return f"Rebuilt with all of its rows. The damaged file is in {kept}"
    copy.unlink(missing_ok=True)
    return f"Moved to {kept}: it cannot be read through. {advice}"


def _copied(path: Path, copy: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            connection.execute("vacuum into ?", (str(copy),))
    except sqlite3.Error:
        return False
    return damage_of(copy, seconds=_THOROUGH_SECONDS) is None


def _move(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(path, to)
