"""Puts a backup back: a new data folder is built next to the target and takes its name once it is complete."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import redis

from trigpoint.config import Settings
from trigpoint.errors import BackupError
from trigpoint.storage import keeper
from trigpoint.storage.backup import STORES, Manifest, unpacked
from trigpoint.storage.chroma import FINGERPRINT, ChromaStore
from trigpoint.storage.export import JOURNAL, read_records
from trigpoint.storage.redis import redis_server

Value = str | int | float | bool


def restore(path: Path, to: Path) -> Manifest:
    """Restore a backup into a folder.

    Raises BackupError if the folder is in use or the backup is not whole; then nothing was changed.
    """
    to = to.expanduser().absolute()
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise BackupError(f"{to} is not empty. Restore into a new folder, and point TRIGPOINT_DATA_DIR to it")
    with unpacked(path, to) as (manifest, parts):
        folder = parts / "files"
        folder.mkdir(exist_ok=True)
        here = Settings(trigpoint_data_dir=folder).model_copy(
            update={"redis_url": None, "chroma_url": None, "chroma_persist_dir": None}
        )
        moved = (manifest.data_dir, str(to)) if manifest.data_dir != str(to) else None
        _restore_redis(parts / "redis", here, moved)
        for store in STORES:
            if (parts / "chroma" / store).is_dir():
                with ChromaStore(here, store) as opened:
                    _restore_records(parts / "chroma" / store, opened, moved)
                keeper.wait_until_gone(here.chroma_dir(store))
        _restore_journals(parts, here)
        if to.is_dir():
            to.rmdir()
        os.replace(folder, to)
    return manifest


def _restore_journals(parts: Path, here: Settings) -> None:
    """Restore interrupted changes, and the layouts that backups of version 0.1.0 have as files."""
    for store in STORES:
        for part in (JOURNAL, "layout"):
            if (parts / store / part).is_dir():
                shutil.copytree(parts / store / part, here.chroma_dir(store) / part, dirs_exist_ok=True)


def _restore_redis(snapshot: Path, here: Settings, moved: tuple[str, str] | None) -> None:
    if not snapshot.is_dir():
        return
    shutil.move(snapshot, here.data_dir / "redis")
    with redis_server(here) as url, redis.Redis.from_url(url) as client:
        if moved is not None:
            old, new = (f"{folder}/" for folder in moved)
            _follow(client, os.fsencode(old), os.fsencode(new))
            if json.dumps(old) != f'"{old}"':  # JSON may spell it differently
                _follow(client, json.dumps(old)[1:-1].encode(), json.dumps(new)[1:-1].encode())
    keeper.wait_until_gone(here.data_dir / "redis")


def _follow(client: Any, old: bytes, new: bytes) -> None:
    """Rewrite the absolute paths in records: those below the old data folder now point below the new one."""
    for key in client.scan_iter(count=1000):
        kind = client.type(key)
        if kind == b"string":
            value = client.get(key) or b""
            if old in value:
                client.set(key, value.replace(old, new), keepttl=True)
        elif kind == b"hash":
            changed = {f: v.replace(old, new) for f, v in client.hgetall(key).items() if old in v}
            if changed:
                client.hset(key, mapping=changed)


def _restore_records(exported: Path, store: ChromaStore, moved: tuple[str, str] | None) -> None:
    for about in sorted(exported.glob("*.json")):
        described = json.loads(about.read_text())
        name = str(described["name"])
        collection = store.collection(name, fingerprint=described["metadata"].get(FINGERPRINT))
        ids, texts, metadatas = read_records(exported, name)
        if len(ids) != described["records"]:
            raise BackupError(f"The backup has {len(ids)} of {described['records']} records of {name}")
        if moved is not None:
            texts = [str(_moved(text, moved)) for text in texts]
            metadatas = [{k: _moved(v, moved) if k == "file_path" else v for k, v in m.items()} for m in metadatas]
        if ids:
            collection.upsert(ids, np.load(exported / f"{name}.npy"), texts, metadatas)


def _moved(value: Value, moved: tuple[str, str]) -> Value:
    old, new = moved
    return f"{new}{value[len(old) :]}" if isinstance(value, str) and value.startswith(f"{old}/") else value
