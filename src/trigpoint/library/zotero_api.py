"""Zotero's records over its local API, by pyzotero, paged to the end. Zotero must be running, and allow it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx2
from pyzotero.errors import PyZoteroError, ResourceNotFoundError
from pyzotero.zotero import Zotero

from trigpoint.errors import StoreUnavailable
from trigpoint.library.zotero import Collection, Record

LOCAL_API = "http://127.0.0.1:23119/api"
_PAGE = 100


class ZoteroApi:
    """The user's own library."""

    def __init__(self, url: str = LOCAL_API) -> None:
        self._url = url
        self._zotero = Zotero("0", "user", local=True)
        self._zotero.endpoint = url

    def collections(self) -> list[Collection]:
        found = self._all(self._zotero.collections)
        listed = [Collection(c["key"], c["data"]["name"], c["data"].get("parentCollection") or None) for c in found]
        return sorted(listed, key=lambda c: (c.name, c.key))

    def records(self) -> list[Record]:
        return [_record(item) for item in self._all(self._zotero.items) if not item["data"].get("deleted")]

    def file_of(self, attachment: Record) -> Path | None:
        address = urlsplit(str(attachment.get("href") or ""))
        return Path(unquote(address.path)) if address.scheme == "file" else None

    def cached_text(self, attachment_key: str) -> str | None:
        try:
            with self._explained():
                answer = self._zotero.fulltext_item(attachment_key)
        except _Nothing:
            return None
        return str(answer.get("content") or "") or None if isinstance(answer, dict) else None

    def _all(self, query: Callable[..., Any]) -> list[Any]:
        with self._explained():
            return list(self._zotero.everything(query(limit=_PAGE)))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except ResourceNotFoundError as error:
            raise _Nothing from error
        except (PyZoteroError, httpx2.HTTPError) as error:
            raise StoreUnavailable(
                f"Zotero's API at {self._url} cannot be used ({str(error).strip() or type(error).__name__}). Start Zotero, "
                "and allow other applications to communicate with it (Settings, Advanced)"
            ) from error


class _Nothing(Exception):
    """Zotero has no such thing."""


def _record(item: dict[str, Any]) -> Record:
    enclosure = (item.get("links") or {}).get("enclosure") or {}
    return {**item["data"], "href": enclosure.get("href")}
