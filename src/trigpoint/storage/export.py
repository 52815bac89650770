"""A vector store's records as plain files, taken while its owner works, and put back into an empty store.

Only the owner process may touch an embedded store (E8), so the owner listens on a socket in the store's folder. Whoever
connects holds every change back for as long as the connection lasts, and may ask for an export meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np

from trigpoint.errors import StoreError, StoreUnavailable
from trigpoint.storage.redis import socket_path

log = logging.getLogger(__name__)

SOCKET = "owner.sock"
_PATIENCE_SECONDS = 300.0  # how long a change may be held back by somebody who says nothing
_ANSWER_SECONDS = 900.0

Hold = Callable[[], AbstractContextManager[Callable[[Path], None]]]


class OwnerDoor:
    """The owner's side: a thread that lets one caller at a time hold the store and have it exported."""

    def __init__(self, folder: Path, hold: Hold) -> None:
        self._hold = hold
        self._path = socket_path(folder, SOCKET)
        self._path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        os.chmod(self._path, 0o600)
        self._listener.listen(4)
        self._thread = threading.Thread(target=self._serve, name="store-export", daemon=True)
        self._thread.start()

    def close(self) -> None:
        with contextlib.suppress(OSError):  # it may never have been waited on
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._path.unlink(missing_ok=True)
        self._thread.join(5)

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return  # closed
            caller.settimeout(_PATIENCE_SECONDS)
            try:
                with caller, self._hold() as export:
                    self._attend(caller, export)
            except Exception:  # a caller that went away, or a store that cannot be read: the owner goes on
                log.exception("export of the store in %s broke off", self._path.parent)

    def _attend(self, caller: socket.socket, export: Callable[[Path], None]) -> None:
        with caller.makefile("rw", encoding="utf-8") as talk:
            _say(talk, "held")
            for line in talk:
                try:
                    export(Path(json.loads(line)))
                except (StoreError, OSError, ValueError) as error:
                    _say(talk, f"failed: {error}")
                else:
                    _say(talk, "exported")


def open_door(folder: Path, hold: Hold) -> OwnerDoor | None:
    """Backups come in by it. A file system that has no sockets is no reason not to open a store."""
    try:
        return OwnerDoor(folder, hold)
    except OSError as error:
        log.warning("%s cannot be backed up while it is open (%s)", folder, error)
        return None


@contextmanager
def held_by_owner(folder: Path) -> Iterator[Callable[[Path], None]]:
    """The other side: while this is open, the owner of the folder changes nothing. Yields `export(to)`."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(_ANSWER_SECONDS)
        try:
            sock.connect(str(socket_path(folder, SOCKET)))
        except OSError as error:
            raise StoreUnavailable(
                f"The owner of the vector store {folder} does not answer ({error}). Try again, or stop it first"
            ) from None
        with sock.makefile("rw", encoding="utf-8") as talk:
            _expect(talk, "held", folder)

            def export(to: Path) -> None:
                _say(talk, json.dumps(str(to)))
                _expect(talk, "exported", folder)

            yield export


def write_records(to: Path, name: str, metadata: object, pages: Iterator[dict[str, object]]) -> None:
    """One collection as `NAME.jsonl` (ids, texts, metadata), `NAME.npy` (vectors) and a line about itself."""
    to.mkdir(parents=True, exist_ok=True)
    vectors: list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = []
    count = 0
    with (to / f"{name}.jsonl").open("w", encoding="utf-8") as rows:
        for page in pages:
            ids, texts, metadatas, embeddings = (page[k] for k in ("ids", "documents", "metadatas", "embeddings"))
            for row in zip(ids, texts, metadatas, strict=True):  # type: ignore[call-overload]
                rows.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
            vectors.append(np.asarray(embeddings, dtype=np.float32))
    np.save(to / f"{name}.npy", np.concatenate(vectors) if vectors else np.empty((0, 0), dtype=np.float32))
    (to / f"{name}.json").write_text(json.dumps({"name": name, "metadata": metadata, "records": count}))


def read_records(folder: Path, name: str) -> tuple[list[str], list[str], list[dict[str, str | int | float | bool]]]:
    """Ids, texts and metadata of an exported collection."""
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as rows:
        read = [json.loads(line) for line in rows]
    return [r[0] for r in read], [r[1] or "" for r in read], [r[2] or {} for r in read]


def _say(talk: object, line: str) -> None:
    print(line.replace("\n", " "), file=talk, flush=True)  # type: ignore[call-overload]


def _expect(talk: object, wanted: str, folder: Path) -> None:
    try:
        line = talk.readline().strip()  # type: ignore[attr-defined]
    except OSError as error:
        line = str(error)
    if line != wanted:
        raise StoreUnavailable(f"The owner of the vector store {folder} did not export it ({line or 'it stopped'})")
