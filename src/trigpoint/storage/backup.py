"""Backup of a data folder while it is in use, and restoring it into an empty one.

A backup is what a power cut at one instant would have left, and every part repairs that at its next start. The instant
is made like this: all changes of the vector stores are held back, and meanwhile Redis forks its snapshot. Files
are linked after that instant (one that was named by then is still there: a deletion is recorded before its file goes).
The SQL files each have an instant of their own: nothing outside refers to them. Word indexes are derived and left out.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import redis
from pydantic import TypeAdapter, ValidationError

from trigpoint import __version__
from trigpoint.config import Settings
from trigpoint.errors import BackupError, StoreUnavailable, shorten
from trigpoint.storage import archive
from trigpoint.storage.chroma import ChromaStore
from trigpoint.storage.export import JOURNAL, export, held
from trigpoint.storage.redis import redis_server

FORMAT = 1
MANIFEST = "trigpoint-backup.json"
LEFT_OUT = (".lock", ".part", ".sock", "-wal", "-shm")
DERIVED = ("lexical", ".incoming", ".backup", "damaged")
_SNAPSHOT_SECONDS = 600.0

Store = Literal["documents", "policies"]
STORES: tuple[Store, ...] = ("documents", "policies")


@dataclass(frozen=True)
class Manifest:
    """The content of a backup, and what it cannot hold: stores that a URL points to are backed up separately."""

    format: int
    version: str
    created_at: str
    data_dir: str
    elsewhere: tuple[str, ...]
    files: int
    size: int


def back_up(settings: Settings, to: Path) -> Manifest:
    """Write the archive. Raises BackupError, StoreUnavailable; then there is none."""
    check_target(to)
    if not settings.data_dir.is_dir():
        raise BackupError(f"{settings.data_dir}: there is no such data folder. Name it in TRIGPOINT_DATA_DIR")
    with _staging(settings.data_dir) as staging:
        with ExitStack() as still:
            opened = {
                store: still.enter_context(_frozen_store(settings, store)) for store in _embedded_stores(settings)
            }
            with _redis_snapshot(settings, staging / "redis"):
                _link_files(settings, staging)
                for store, chroma in opened.items():
                    export(chroma, staging / "chroma" / store)
        _copy_databases(settings, staging)
        manifest = _manifest(settings, staging)
        (staging / MANIFEST).write_text(json.dumps(asdict(manifest), indent=1) + "\n")
        archive.pack(staging, to.absolute())
    return manifest


def check_target(to: Path) -> None:
    """Raise BackupError if the name is not a backup's, or its folder does not exist."""
    archive.check_suffix(to)
    if not to.absolute().parent.is_dir():
        raise BackupError(f"{to}: there is no folder {to.absolute().parent}. Make it, or choose another place")


@contextmanager
def _staging(data_dir: Path) -> Iterator[Path]:
    """Yield a folder on the same disk, so that files can be linked; one backup at a time."""
    with (data_dir / "backup.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(f"Another backup of {data_dir} is under way. Wait for it to end") from None
        folder = data_dir / ".backup"
        shutil.rmtree(folder, ignore_errors=True)  # what a killed one left
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


def _embedded_stores(settings: Settings) -> list[Store]:
    if settings.chroma_url is not None:
        return []
    return [store for store in STORES if (settings.chroma_dir(store) / "chroma.sqlite3").is_file()]


@contextmanager
def _frozen_store(settings: Settings, store: Store) -> Iterator[ChromaStore]:
    with held(settings.chroma_dir(store)), ChromaStore(settings, store) as opened:
        yield opened


@contextmanager
def _redis_snapshot(settings: Settings, to: Path) -> Iterator[None]:
    """Take Redis as of the moment at which this is entered; on leaving, its file is in the folder."""
    if settings.redis_url is not None or not (settings.data_dir / "redis").is_dir():
        yield
        return
    with redis_server(settings) as url, redis.Redis.from_url(url, socket_timeout=30) as client:
        deadline = time.monotonic() + _SNAPSHOT_SECONDS
        _begin_snapshot(client, deadline)
        yield
        while client.info("persistence")["rdb_bgsave_in_progress"]:
            _not_for_ever(deadline)
            time.sleep(0.02)
        if client.info("persistence")["rdb_last_bgsave_status"] != "ok":
            raise StoreUnavailable(f"Valkey could not write its snapshot. See {settings.data_dir / 'redis/valkey.log'}")
        base = to / "appendonlydir" / "appendonly.aof.1.base.rdb"
        base.parent.mkdir(parents=True)
        shutil.move(settings.data_dir / "redis" / "dump.rdb", base)
        manifest = f"file {base.name} seq 1 type b\n"  # the server starts from it as from its own append-only file
        (base.parent / "appendonly.aof.manifest").write_text(manifest)


def _begin_snapshot(client: redis.Redis, deadline: float) -> None:
    while True:
        try:
            client.bgsave(schedule=False)
            return
        except redis.ResponseError as error:  # it is rewriting its append-only file
            if "progress" not in str(error).lower() and "child" not in str(error).lower():
                raise StoreUnavailable(f"Valkey refused to write a snapshot ({error})") from error
        _not_for_ever(deadline)
        time.sleep(0.05)


def _not_for_ever(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise StoreUnavailable(f"Valkey did not finish its snapshot within {_SNAPSHOT_SECONDS:.0f} s")


def _link_files(settings: Settings, staging: Path) -> None:
    """Link every file that is written once and renamed into place: a link keeps it as it is at this moment."""
    for store in STORES:  # changes that were interrupted, to be finished once the backup is restored
        _link_tree(settings.chroma_dir(store) / JOURNAL, staging / store / JOURNAL)
    chroma = settings.chroma_dir("policies").parent
    for path in sorted(settings.data_dir.iterdir()):
        if path.is_dir() and path.name not in ("redis", *DERIVED) and path != chroma:
            _link_tree(path, staging / "files" / path.name)
        elif path.is_file() and not path.name.endswith(LEFT_OUT):
            _link(path, staging / "files" / path.name)


def _link_tree(folder: Path, to: Path) -> None:
    for parent, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if f not in DERIVED and not f.startswith("lexical")]
        for name in names:
            path = Path(parent) / name
            if not name.endswith((*LEFT_OUT, ".db")) and path.is_file() and not path.is_symlink():
                _link(path, to / path.relative_to(folder))


def _link(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, to)
    except FileNotFoundError:
        return  # gone since it was listed
    except OSError:  # a file system without links
        shutil.copy2(path, to)


def _databases(settings: Settings) -> Iterator[Path]:
    for folder in sorted(settings.data_dir.glob("*")):
        if folder.is_dir() and folder.name not in ("redis", "chroma", *DERIVED):
            yield from sorted(folder.glob("*.db"))


def _copy_databases(settings: Settings, staging: Path) -> None:
    for path in _databases(settings):
        to = staging / "files" / path.relative_to(settings.data_dir)
        to.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=30)) as source, closing(sqlite3.connect(to)) as target:
            source.backup(target)


def _manifest(settings: Settings, staging: Path) -> Manifest:
    urls = ("redis_url", "chroma_url", "database_url", "qdrant_url")
    sizes = [p.stat().st_size for p in staging.rglob("*") if p.is_file()]
    return Manifest(
        format=FORMAT,
        version=__version__,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        data_dir=str(settings.data_dir),
        elsewhere=tuple(name.upper() for name in urls if getattr(settings, name) is not None),
        files=len(sizes),
        size=sum(sizes),
    )


@contextmanager
def unpacked(path: Path, near: Path) -> Iterator[tuple[Manifest, Path]]:
    """Yield a backup's contents in a temporary folder on the disk of `near`.

    Raises BackupError if it is not one of ours.
    """
    archive.check_suffix(path)
    near.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=near.parent, prefix=f".{near.name}.") as name:
        folder = Path(name)
        archive.unpack(path, folder)
        try:
            manifest = TypeAdapter(Manifest).validate_json((folder / MANIFEST).read_bytes(), strict=True)
        except (OSError, ValidationError):
            raise BackupError(f"{path} is an archive, but not one that `trigpoint backup` made") from None
        if stray := [part.name for part in folder.iterdir() if part.name != MANIFEST and not part.is_dir()]:
            raise BackupError(f"{path} has a file {shorten(stray[0])} that no backup has. Nothing was changed")
        unpacked_files = sum(1 for p in folder.rglob("*") if p.is_file()) - 1
        if manifest.format != FORMAT or unpacked_files != manifest.files:
            raise BackupError(
                f"{path} is of format {manifest.format} with {unpacked_files} of {manifest.files} files; "
                f"this version reads format {FORMAT}, whole"
            )
        yield manifest, folder
