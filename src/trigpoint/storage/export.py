"""A vector store's records as plain files, and back into an empty store."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from trigpoint.storage.chroma import ChromaStore, Collection

JOURNAL, TURN = "journal", "turn.lock"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold every change of the store in this folder back: writers of all processes take turns with us."""
    (folder / JOURNAL).mkdir(parents=True, exist_ok=True)
    with open(folder / JOURNAL / TURN, "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def export(store: ChromaStore, to: Path) -> None:
    """Write every collection of the store as files."""
    for name in store.names():
        write_records(to, store.collection(name))


def write_records(to: Path, collection: Collection) -> None:
    """Write one collection as `NAME.jsonl` (ids, texts, metadata), `NAME.npy` (vectors) and a line about itself."""
    to.mkdir(parents=True, exist_ok=True)
    vectors: list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = []
    count = 0
    with (to / f"{collection.name}.jsonl").open("w", encoding="utf-8") as rows:
        for page in collection.pages(embeddings=True):
            for record in page:
                rows.write(json.dumps([record.id, record.text, record.metadata], ensure_ascii=False) + "\n")
            count += len(page)
            if page:
                vectors.append(np.array([record.embedding for record in page], dtype=np.float32))
    stacked = np.concatenate(vectors) if vectors else np.empty((0, 0), dtype=np.float32)
    np.save(to / f"{collection.name}.npy", stacked)
    about = {"name": collection.name, "metadata": collection.metadata, "records": count}
    (to / f"{collection.name}.json").write_text(json.dumps(about))


def read_records(folder: Path, name: str) -> tuple[list[str], list[str], list[dict[str, str | int | float | bool]]]:
    """Return ids, texts and metadata of an exported collection."""
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as rows:
        read = [json.loads(line) for line in rows]
    return [r[0] for r in read], [r[1] or "" for r in read], [r[2] or {} for r in read]
