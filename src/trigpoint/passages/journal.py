"""A journal of changes, so that a crash leaves none half done: a file holds the whole new passages of the documents.

Chroma has no transactions, and its contract fixes the ids of passages, so that an old and a new set cannot be there at
the same time. Once a change is in the journal, it is applied as often as it takes, by the next process that opens it.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trigpoint.passages.model import Passage, Vector
from trigpoint.storage.files import write_atomic

_SUFFIX = ".change"


@dataclass(frozen=True)
class Change:
    """Documents, all the passages that they will have, and what is kept with them; `before` are the versions they had."""

    documents: Mapping[str, Sequence[Passage]]
    before: Mapping[str, str]
    contents: Mapping[str, str] = field(default_factory=dict)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def passages(self) -> list[Passage]:
        return [passage for passages in self.documents.values() for passage in passages]


class Journal:
    """A folder of changes, and the lock that writers of all processes take in turns."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = folder / "turn.lock"
        self._thread = threading.RLock()
        self._depth = 0
        folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let one change in at a time, in this process and in all others that use the folder."""
        with self._thread:
            if self._depth:
                yield
                return
            with open(self._lock, "ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1

    def idle(self) -> bool:
        """Return whether no writer is at work: then a change that is still here was interrupted."""
        if not self._thread.acquire(blocking=False):
            return False
        try:
            with open(self._lock, "ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
        finally:
            self._thread.release()

    def pending(self) -> list[Path]:
        return [self._folder / name for name in sorted(os.listdir(self._folder)) if name.endswith(_SUFFIX)]

    def commit(self, change: Change) -> Path:
        """Write the change to the journal: from here on it will happen."""
        path = self._folder / f"{change.id}{_SUFFIX}"
        write_atomic(path, pack(change))
        return path


def pack(change: Change) -> bytes:
    passages = change.passages
    rows = [[p.id, p.document_id, p.seq, p.text, dict(p.metadata), p.start, p.end, p.pages] for p in passages]
    about = {"id": change.id, "documents": list(change.documents), "before": dict(change.before), "rows": rows}
    about["contents"] = dict(change.contents)
    vectors: Vector = np.array([p.vector for p in passages], dtype=np.float32)
    buffer = io.BytesIO()
    np.savez(buffer, vectors=vectors, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8))
    return buffer.getvalue()


def unpack(content: bytes) -> Change:
    with np.load(io.BytesIO(content), allow_pickle=False) as packed:
        about: Any = json.loads(packed["about"].tobytes())
        vectors = packed["vectors"]
    documents: dict[str, list[Passage]] = {document_id: [] for document_id in about["documents"]}
    for (key, document_id, seq, text, metadata, start, end, pages), vector in zip(about["rows"], vectors, strict=True):
        documents[document_id].append(Passage(key, document_id, seq, text, metadata, vector, start, end, tuple(pages)))
    return Change(documents, about["before"], about["contents"], about["id"])
