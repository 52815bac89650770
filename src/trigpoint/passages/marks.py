"""A mark that moves with every change of a store: those who keep the store in memory know by it when to look again."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Protocol

import numpy as np

from trigpoint.storage.chroma import Collection
from trigpoint.storage.files import write_atomic

HEAD = "trigpoint:changes"


class Mark(Protocol):
    exclusive: bool  # whether it moves only while a writer has its turn

    def read(self) -> str: ...

    def move(self) -> str: ...


class FileMark:
    """For the processes of one folder: reading it takes microseconds."""

    exclusive = True

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> str:
        try:
            handle = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return ""
        try:
            return os.read(handle, 64).decode("ascii", "replace")
        finally:
            os.close(handle)

    def move(self) -> str:
        mark = uuid.uuid4().hex
        write_atomic(self._path, mark.encode())
        return mark


class RecordMark:
    """For the users of one Chroma server: a record of its own in one of our collections."""

    exclusive = False

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def read(self) -> str:
        records = self._collection.get(ids=[HEAD])
        return str(records[0].metadata.get("mark", "")) if records else ""

    def move(self) -> str:
        mark = uuid.uuid4().hex
        self._collection.upsert([HEAD], np.zeros((1, 1), dtype=np.float32), [""], [{"mark": mark}])
        return mark
