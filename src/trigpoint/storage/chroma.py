"""Chroma: records in collections, on a server of ours for each folder, or on the one at `CHROMA_URL`.

Both are reached over HTTP, so that no code of Chroma runs in this process. A call that gets no answer within 5 s is
reported by the store's name. Ours is started again when it dies or hangs (see keeper.py), and a call that found it away
is repeated until its time is up: every one of them may be done twice.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import httpx
import numpy as np
import numpy.typing as npt
import orjson

from trigpoint.config import Settings
from trigpoint.errors import StoreError, StoreUnavailable
from trigpoint.storage import chroma_server
from trigpoint.storage.files import make_writable
from trigpoint.storage.keeper import joined

log = logging.getLogger(__name__)

Vector = npt.NDArray[np.float32]
Metadata = Mapping[str, str | int | float | bool | None]  # None: the record shall not have this field any longer
Where = Mapping[str, Any]

FINGERPRINT = "embedding_fingerprint"
ANSWER_SECONDS = 4.5  # after which a store is reported, with some time to spare
_WRITTEN_AT_ONCE = 100  # few enough for one request to be done well within its time, even in a large collection
_READ_AT_ONCE = 1000
_DATABASE = "/api/v2/tenants/default_tenant/databases/default_database"
_BEING_MADE = "hnsw segment reader"  # said to readers for a moment while a collection's first records go in
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True)
class Record:
    id: str
    text: str
    metadata: dict[str, Any]
    embedding: Vector | None = None


class ChromaStore:
    """The collections of the store `documents` or `policies`. Use as a context manager, or call `close`."""

    def __init__(self, settings: Settings, store: Literal["documents", "policies"]) -> None:
        self._open = ExitStack()
        self._collections: dict[str, Collection] = {}
        self._opening = threading.Lock()
        self.folder: Path | None = None
        if settings.chroma_url is None:
            self.folder = settings.chroma_dir(store)
            make_writable(self.folder, mode=0o700)
            server = chroma_server.Server(self.folder)
            self._open.enter_context(joined(server))
            self._calls: _Calls = _CallsToOurs(server)
        else:
            self._calls = _Calls(settings.chroma_url, f"Chroma at CHROMA_URL={settings.chroma_url}")
        self._open.callback(self._calls.close)
        try:
            self.ping()
        except BaseException:
            self.close()
            raise

    def collection(self, name: str, fingerprint: str | None = None) -> Collection:
        """Return the collection of that name, created if need be. Warns if its vectors are of another embedding."""
        with self._opening:
            if name not in self._collections:
                self._collections[name] = self._opened(name, fingerprint)
            return self._collections[name]

    def names(self) -> list[str]:
        return sorted(str(collection["name"]) for collection in self._calls.call("GET", f"{_DATABASE}/collections"))

    def ping(self) -> None:
        """Raise StoreUnavailable if the store does not answer."""
        self._calls.call("GET", "/api/v2/heartbeat")

    def close(self) -> None:
        self._open.close()

    def _opened(self, name: str, fingerprint: str | None) -> Collection:
        metadata = {FINGERPRINT: fingerprint} if fingerprint else None
        asked = {"name": name, "metadata": metadata, "get_or_create": True}
        made = self._calls.call("POST", f"{_DATABASE}/collections", asked)
        stored = (made.get("metadata") or {}).get(FINGERPRINT)
        if fingerprint and stored and stored != fingerprint:
            log.warning(
                "Collection %s was written with another embedding (%s, now %s): reindex it so that old and new "
                "vectors compare exactly",
                name,
                stored,
                fingerprint,
            )
        return Collection(self._calls, name, str(made["id"]), dict(made.get("metadata") or {}))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


class Collection:
    """One collection. Calls are synchronous and thread-safe; distances are Chroma's default, squared L2."""

    def __init__(self, calls: _Calls, name: str, key: str, metadata: dict[str, Any]) -> None:
        self._calls = calls
        self._path = f"{_DATABASE}/collections/{key}"
        self.name = name
        self.metadata = metadata

    def upsert(
        self, ids: Sequence[str], embeddings: Vector, documents: Sequence[str], metadatas: Sequence[Metadata]
    ) -> None:
        self._write("upsert", ids, embeddings, documents, metadatas)

    def add(
        self, ids: Sequence[str], embeddings: Vector, documents: Sequence[str], metadatas: Sequence[Metadata]
    ) -> None:
        """Write records whose ids are new; one that exists stays as it is, so that of two writers the first wins."""
        self._write("add", ids, embeddings, documents, metadatas)

    def update(self, ids: Sequence[str], documents: Sequence[str], metadatas: Sequence[Metadata]) -> None:
        """Write new texts and fields of records that exist. Their vectors stay, and Chroma leaves its index as it is."""
        self._write("update", ids, None, documents, metadatas)

    def delete(self, ids: Sequence[str]) -> None:
        for part in _batches(len(ids), _WRITTEN_AT_ONCE):
            self._calls.call("POST", f"{self._path}/delete", {"ids": list(ids[part])})

    def get(
        self,
        *,
        ids: Sequence[str] | None = None,
        where: Where | None = None,
        embeddings: bool = False,
        texts: bool = True,
    ) -> list[Record]:
        """Return records by id (in the order given; unknown ids are left out) or by filter (in order of id)."""
        if ids is None:
            pages = self.pages(where, embeddings=embeddings, texts=texts)
            return sorted((record for page in pages for record in page), key=lambda record: record.id)
        records: dict[str, Record] = {}
        for part in _batches(len(ids), _READ_AT_ONCE):
            page = self._get({"ids": list(ids[part])}, embeddings, texts)
            records |= {record.id: record for record in page}
        return [records[i] for i in ids if i in records]

    def pages(
        self, where: Where | None = None, *, embeddings: bool = False, texts: bool = True
    ) -> Iterator[list[Record]]:
        """Yield all records that match the filter, some at a time."""
        offset = 0
        while True:
            asked = {"where": where, "limit": _READ_AT_ONCE, "offset": offset}
            page = self._get(asked, embeddings, texts)
            yield page
            offset += len(page)
            if len(page) < _READ_AT_ONCE:
                return

    def ids(self, where: Where) -> list[str]:
        answer = self._calls.call("POST", f"{self._path}/get", {"where": where, "include": []})
        return [str(i) for i in answer["ids"]]

    def count(self) -> int:
        return int(self._calls.call("GET", f"{self._path}/count"))

    def _get(self, asked: dict[str, Any], embeddings: bool, texts: bool) -> list[Record]:
        include = ["metadatas", *(["documents"] if texts else []), *(["embeddings"] if embeddings else [])]
        return _records(self._calls.call("POST", f"{self._path}/get", {**asked, "include": include}))

    def _write(
        self,
        how: Literal["add", "upsert", "update"],
        ids: Sequence[str],
        embeddings: Vector | None,
        documents: Sequence[str],
        metadatas: Sequence[Metadata],
    ) -> None:
        for part in _batches(len(ids), _WRITTEN_AT_ONCE):
            body: dict[str, Any] = {
                "ids": list(ids[part]),
                "documents": list(documents[part]),
                "metadatas": [dict(metadata) for metadata in metadatas[part]],
            }
            if embeddings is not None:
                body["embeddings"] = np.ascontiguousarray(embeddings[part], dtype=np.float32)
            self._calls.call("POST", f"{self._path}/{how}", body)


class _Calls:
    """Requests to the server at CHROMA_URL."""

    def __init__(self, url: str | None, what: str) -> None:
        self.what = what
        self._url = url
        self._client = httpx.Client(trust_env=url is not None)

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the answer. Raises StoreUnavailable within 5 s if there is none, StoreError if it is a refusal."""
        content = None if body is None else orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            try:
                return self._once(method, path, content, max(0.1, deadline - time.monotonic()))
            except _BeingMade:
                if time.monotonic() > deadline:
                    raise
            except httpx.HTTPError as error:
                self._failed(error, deadline)
            time.sleep(_PAUSE_SECONDS)

    def close(self) -> None:
        self._client.close()

    def _base(self) -> str:
        return (self._url or "").rstrip("/")

    def _failed(self, error: httpx.HTTPError, deadline: float) -> None:
        """Raise what the caller is told, or return if it is worth another try."""
        raise StoreUnavailable(f"{self.what} cannot be reached ({_reason(error)})") from error

    def _once(self, method: str, path: str, content: bytes | None, seconds: float) -> Any:
        headers = {"content-type": "application/json"}
        url = f"{self._base()}{path}"
        answer = self._client.request(method, url, content=content, headers=headers, timeout=seconds)
        if answer.is_success:
            return orjson.loads(answer.content) if answer.content else None
        if _BEING_MADE in answer.text:
            raise _BeingMade(f"{self.what} is not ready ({answer.text[:300]})")
        raise StoreError(f"{self.what} refused the request ({answer.status_code}: {answer.text[:300]})")


class _CallsToOurs(_Calls):
    """Requests to the server of a folder. It may have another port after each start."""

    def __init__(self, server: chroma_server.Server) -> None:
        super().__init__(None, f"The vector store {server.folder}")
        self._server = server
        self._asked: tuple[int, int] | None = None

    def _base(self) -> str:
        self._asked = known = self._server.address()
        if known is None:
            raise httpx.ConnectError("it is being started")
        return f"http://127.0.0.1:{known[0]}"

    def _failed(self, error: httpx.HTTPError, deadline: float) -> None:
        if isinstance(error, httpx.TimeoutException):
            if self._asked is not None:
                self._server.complain(self._asked[1])
            raise StoreUnavailable(
                f"{self.what} gave no answer within {ANSWER_SECONDS} s and is being restarted. Try again"
            ) from error
        if time.monotonic() > deadline:
            raise StoreUnavailable(
                f"{self.what} does not run ({_reason(error)}) and is being started again. "
                f"See {self._server.folder / 'chroma.log'}"
            ) from error


class _BeingMade(StoreError):
    """A collection's first records are going in: ask again in a moment."""


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _batches(count: int, size: int) -> list[slice]:
    return [slice(start, start + size) for start in range(0, count, size)]


def _records(answer: Any) -> list[Record]:
    ids = answer["ids"]
    nothing = [None] * len(ids)
    documents = answer.get("documents") or nothing
    metadatas = answer.get("metadatas") or nothing
    vectors = nothing if answer.get("embeddings") is None else np.array(answer["embeddings"], dtype=np.float32)
    return [
        Record(i, text or "", {k: v for k, v in (metadata or {}).items() if v is not None}, vector)
        for i, text, metadata, vector in zip(ids, documents, metadatas, vectors, strict=True)
    ]
