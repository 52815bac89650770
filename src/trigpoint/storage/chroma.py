"""Chroma: vectors and passages, embedded with one owner process (E8), or on the server at `CHROMA_URL`.

A filtered search is exact (P16). Embedded, the owner keeps the vectors in memory (mirror.py) and scores all that the
filter lets through. On a server others write too: a filtered set of fewer than 400 records is scored here, and of a
larger one the 400 best of the server's index are taken.
"""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self
from urllib.parse import urlsplit

import httpx
import numpy as np
import numpy.typing as npt

from trigpoint.config import Settings
from trigpoint.errors import StoreError, StoreInUse, StoreUnavailable
from trigpoint.storage.export import OwnerDoor, open_door, write_records
from trigpoint.storage.mirror import Mirror, Where, rounded_cosines

log = logging.getLogger("trigpoint.storage")

Vector = npt.NDArray[np.float32]
Metadata = Mapping[str, str | int | float | bool]

_LARGEST_BATCH = 2000  # Chroma refuses more than 5,461
_PAGE = 5000
_OVERFETCH = 400  # asked of a server's approximate index, so that the best few are among them
FINGERPRINT = "embedding_fingerprint"
_BEING_MADE = "hnsw segment reader"  # a server says so to readers for a moment while a collection's first records go in
_CONNECT_SECONDS = 4.0
_ANSWER_SECONDS = 60.0
_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class Record:
    id: str
    text: str
    metadata: dict[str, Any]
    embedding: Vector | None = None


@dataclass(frozen=True)
class Hit:
    """A record and its cosine with the query (P15), rounded to 4 places (D9)."""

    id: str
    score: float
    text: str
    metadata: dict[str, Any]


class Collection:
    """One collection. Calls are synchronous and thread-safe; distances are Chroma's default, squared L2."""

    def __init__(self, collection: Any, *, owned: bool) -> None:
        self._collection = collection
        self._owned = owned
        self._mirror: Mirror | None = None
        self._writing = threading.RLock()

    @property
    def name(self) -> str:
        return str(self._collection.name)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nothing changes meanwhile; changes of others wait."""
        with self._writing:
            yield

    def upsert(
        self, ids: Sequence[str], embeddings: Vector, documents: Sequence[str], metadatas: Sequence[Metadata]
    ) -> None:
        with self._writing:
            for part in _batches(len(ids)):
                self._change(
                    self._collection.upsert,
                    ids=list(ids[part]),
                    embeddings=embeddings[part],
                    documents=list(documents[part]),
                    metadatas=[dict(m) for m in metadatas[part]],
                )
            if self._mirror is not None:
                self._mirror.upsert(ids, embeddings, metadatas)

    def add(
        self, ids: Sequence[str], embeddings: Vector, documents: Sequence[str], metadatas: Sequence[Metadata]
    ) -> None:
        """Write records whose ids are new; one that exists stays as it is, so that of two writers the first wins."""
        with self._writing:
            for part in _batches(len(ids)):
                self._change(
                    self._collection.add,
                    ids=list(ids[part]),
                    embeddings=embeddings[part],
                    documents=list(documents[part]),
                    metadatas=[dict(m) for m in metadatas[part]],
                )
            self._mirror = None

    def update_metadatas(self, ids: Sequence[str], metadatas: Sequence[Metadata]) -> None:
        """Replace fields of existing records; text and vector stay."""
        with self._writing:
            for part in _batches(len(ids)):
                self._change(self._collection.update, ids=list(ids[part]), metadatas=[dict(m) for m in metadatas[part]])
            if self._mirror is not None:
                self._mirror.update(ids, metadatas)

    def delete(self, ids: Sequence[str]) -> None:
        with self._writing:
            for part in _batches(len(ids)):
                self._change(self._collection.delete, ids=list(ids[part]))
            if self._mirror is not None:
                self._mirror.delete(ids)

    def get(
        self, *, ids: Sequence[str] | None = None, where: Where | None = None, include_embeddings: bool = False
    ) -> list[Record]:
        """Records by id (in the order given; unknown ids are left out) or by filter (in order of id)."""
        include = ["documents", "metadatas", *(["embeddings"] if include_embeddings else [])]
        if ids is None:
            return sorted(self._pages(where, include), key=lambda record: record.id)
        found: dict[str, Record] = {}
        for part in _batches(len(ids)):
            answer = _ask(self._collection.get, ids=list(ids[part]), include=include)
            found |= {record.id: record for record in _records(answer)}
        return [found[i] for i in ids if i in found]

    def ids(self, where: Where | None = None) -> list[str]:
        if self._owned:
            mirror = self._loaded()
            return sorted(mirror.ids_where(where))
        return sorted(record.id for record in self._pages(where, []))

    def count(self, where: Where | None = None) -> int:
        return int(_ask(self._collection.count)) if where is None else len(self.ids(where))

    def nearest(self, vector: Vector, k: int, where: Where | None = None) -> list[Hit]:
        """The k records nearest to the vector among those that the filter lets through, exactly; ties by id."""
        if k < 1:
            return []
        if not self._owned:
            return self._nearest_on_server(vector, k, where)
        chosen = self._loaded().nearest(vector, k, where)
        return self._hits(chosen)

    def scores(self, vector: Vector, where: Where | None = None) -> dict[str, float]:
        """The cosine of every record that the filter lets through."""
        if self._owned:
            return self._loaded().scores(vector, where)
        records = self._pages(where, ["embeddings"])
        return _cosines_of(records, vector)

    def score_of(self, vector: Vector, ids: Sequence[str], where: Where | None = None) -> dict[str, float]:
        """The cosine of these records; unknown ids, and what the filter does not let through, are left out."""
        if self._owned:
            return self._loaded().score_of(vector, ids, where)
        records: list[Record] = []
        for part in _batches(len(ids)):
            records += _records(_ask(self._collection.get, ids=list(ids[part]), where=where, include=["embeddings"]))
        return _cosines_of(records, vector)

    def _nearest_on_server(self, vector: Vector, k: int, where: Where | None) -> list[Hit]:
        wanted = max(_OVERFETCH, 10 * k)
        answer = _ask(
            self._collection.query,
            query_embeddings=[vector.tolist()],
            n_results=wanted,
            where=where,
            include=["distances"],
        )
        ids, distances = answer["ids"][0], answer["distances"][0]
        if len(ids) < wanted:  # the filter lets few through: score each of them, the index may have missed some
            scores = self.scores(vector, where)
        else:
            scores = {i: round(max(0.0, 1 - d / 2), 4) for i, d in zip(ids, distances, strict=True)}
        return self._hits(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k])

    def _hits(self, chosen: Sequence[tuple[str, float]]) -> list[Hit]:
        records = {record.id: record for record in self.get(ids=[i for i, _ in chosen])}
        return [
            Hit(i, score, records[i].text, records[i].metadata)
            for i, score in chosen
            if i in records  # deleted since it was scored
        ]

    def _loaded(self) -> Mirror:
        if self._mirror is None:
            with self._writing:
                if self._mirror is None:
                    records = self._pages(None, ["embeddings", "metadatas"])
                    self._mirror = Mirror(
                        [r.id for r in records],
                        [r.embedding for r in records if r.embedding is not None],
                        [r.metadata for r in records],
                    )
        return self._mirror

    def _change(self, call: Any, **arguments: Any) -> None:
        try:
            _ask(call, **arguments)
        except StoreError:
            self._mirror = None  # half a change may have gone in: read it anew before the next search
            raise

    def _pages(self, where: Where | None, include: list[str]) -> list[Record]:
        records: list[Record] = []
        while True:
            answer = _ask(self._collection.get, where=where, include=include, limit=_PAGE, offset=len(records))
            page = _records(answer)
            records += page
            if len(page) < _PAGE:
                return records


class ChromaStore:
    """Opens the store `documents` or `policies`. Use as a context manager, or call `close`."""

    def __init__(self, settings: Settings, store: Literal["documents", "policies"]) -> None:
        self._lock: IO[str] | None = None
        self._door: OwnerDoor | None = None
        self._collections: dict[str, Collection] = {}
        self._opening = threading.RLock()
        self.folder: Path | None = None
        if settings.chroma_url is not None:
            self._client = _connect(settings.chroma_url)
        else:
            self.folder = settings.chroma_dir(store)
            self._lock = _own(self.folder)
            self._client = _open_folder(self.folder)
            self._door = open_door(self.folder, self.held)

    @property
    def owned(self) -> bool:
        """Whether this process alone writes here (embedded), or a server is shared with others."""
        return self.folder is not None

    def collection(self, name: str, fingerprint: str | None = None) -> Collection:
        """The collection of that name, made if need be. Warns when its vectors are of another embedding (D10)."""
        if name in self._collections:
            return self._collections[name]
        with self._opening:
            metadata = {FINGERPRINT: fingerprint} if fingerprint else None
            raw = _ask(self._client.get_or_create_collection, name, metadata=metadata, embedding_function=None)
            stored = (raw.metadata or {}).get(FINGERPRINT)
            if fingerprint and stored and stored != fingerprint:
                log.warning(
                    "Collection %s was written with another embedding (%s, now %s): reindex it so that old and new "
                    "vectors compare exactly",
                    name,
                    stored,
                    fingerprint,
                )
            return self._collections.setdefault(name, Collection(raw, owned=self.owned))

    @contextmanager
    def held(self) -> Iterator[Callable[[Path], None]]:
        """The whole store stands still; yields `export(folder)`, which writes every collection as files."""
        with self._opening, ExitStack() as still:
            for name in sorted(self._collections):
                still.enter_context(self._collections[name].held())
            yield self._export

    def _export(self, to: Path) -> None:
        for raw in _ask(self._client.list_collections):
            write_records(to, str(raw.name), dict(raw.metadata or {}), _raw_pages(raw))

    def ping(self) -> None:
        """Raises StoreUnavailable when the store does not answer."""
        _ask(self._client.heartbeat)

    def close(self) -> None:
        if self._door is not None:
            self._door.close()
            self._door = None
        self._client.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _raw_pages(raw: Any) -> Iterator[dict[str, object]]:
    offset, include = 0, ["documents", "metadatas", "embeddings"]
    while page := _ask(raw.get, include=include, limit=_PAGE, offset=offset):
        if not page["ids"]:
            return
        yield page
        offset += len(page["ids"])


def _open_folder(folder: Path) -> Any:
    import chromadb  # slow to import, so only when a store is opened
    from chromadb.config import Settings as ChromaSettings

    return chromadb.PersistentClient(path=str(folder), settings=ChromaSettings(anonymized_telemetry=False))


def _connect(url: str) -> Any:
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 8000)
    settings = ChromaSettings(anonymized_telemetry=False)
    try:
        socket.create_connection((host, port), _CONNECT_SECONDS).close()  # Chroma's own client would wait for ever
        client = chromadb.HttpClient(host, port, ssl=parts.scheme == "https", settings=settings)
    except Exception as error:
        raise StoreUnavailable(f"Chroma at CHROMA_URL={url} cannot be reached ({error})") from error
    session = getattr(getattr(client, "_server", None), "_session", None)
    if isinstance(session, httpx.Client):
        session.timeout = httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
    return client


def _own(folder: Path) -> IO[str]:
    """The owner's lock on a folder; it goes with the process, however that ends."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "owner.lock").open("a+", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        holder = lock.read().strip() or "another process"
        lock.close()
        raise StoreInUse(
            f"The vector store {folder} is in use by {holder}. Stop it, choose another TRIGPOINT_DATA_DIR, "
            "or share one Chroma server by CHROMA_URL"
        ) from None
    lock.truncate(0)
    lock.write(f"process {os.getpid()} ({Path(sys.argv[0]).name or 'python'})")
    lock.flush()
    return lock


def _ask(call: Any, *args: Any, **kwargs: Any) -> Any:
    """Chroma raises many things; ours say which store it was."""
    for pause in (*_PAUSES, None):
        try:
            return call(*args, **kwargs)
        except (OSError, httpx.TransportError) as error:
            raise StoreUnavailable(f"The Chroma server (CHROMA_URL) cannot be reached ({error})") from error
        except Exception as error:
            if pause is not None and _BEING_MADE in str(error):
                time.sleep(pause)
                continue
            if "connect" in str(error).lower():
                raise StoreUnavailable(f"The Chroma server (CHROMA_URL) cannot be reached ({error})") from error
            raise StoreError(f"Chroma refused the request ({error})") from error
    raise AssertionError("unreachable")


def _batches(count: int) -> list[slice]:
    return [slice(start, start + _LARGEST_BATCH) for start in range(0, count, _LARGEST_BATCH)]


def _records(answer: Any) -> list[Record]:
    ids = answer["ids"]
    nothing = [None] * len(ids)
    documents = answer.get("documents") or nothing
    metadatas = answer.get("metadatas") or nothing
    embeddings = nothing if answer.get("embeddings") is None else answer["embeddings"]
    return [
        Record(i, text or "", dict(metadata or {}), None if e is None else np.asarray(e, dtype=np.float32))
        for i, text, metadata, e in zip(ids, documents, metadatas, embeddings, strict=True)
    ]


def _cosines_of(records: Sequence[Record], vector: Vector) -> dict[str, float]:
    if not records:
        return {}
    matrix = np.stack([r.embedding for r in records if r.embedding is not None])
    return dict(zip((r.id for r in records), rounded_cosines(matrix, vector).tolist(), strict=True))
