"""Zotero's records over its API, by pyzotero, paged to the end: of a running Zotero, or of zotero.org.

A list is complete and of one moment, or it is an error: a list that changed while it was read is read again, and one that
stays incomplete is an error, because `sync` removes what a list does not have. Pauses that the server asks for are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx2
from pyzotero.errors import PyZoteroError, ResourceNotFoundError
from pyzotero.zotero import Zotero

from trigpoint.errors import InvalidInput, StoreUnavailable, shorten
from trigpoint.library.zotero import ZoteroCollection, ZoteroRecord

_LOCAL_API = "http://127.0.0.1:23119/api"
_WEB_API = "https://api.zotero.org"
_PAGE = 100
_TRIES = 5
_LONGEST_PAUSE_SECONDS = 120.0
_TIMEOUT_SECONDS = 30.0
_LOCAL_HELP = "Start Zotero, and allow other applications to communicate with it (Settings, Advanced)"
_WEB_HELP = "Check the library's number, and that ZOTERO_API_KEY may read it"


class ZoteroApi:
    """The library of the user whose Zotero runs here; with `library`, one on zotero.org: `users/123` or `groups/456`."""

    def __init__(self, url: str | None = None, *, library: str | None = None, key: str | None = None) -> None:
        kind, number = _kind_and_number(library or "users/0")
        self._pages: list[httpx2.Response] = []
        self._text: tuple[str, str | None] | None = None
        hooks = {"response": [self._pages.append, _pause]}
        local = library is None  # a proxy of the environment is not for this machine
        client = httpx2.Client(event_hooks=hooks, follow_redirects=True, timeout=_TIMEOUT_SECONDS, trust_env=not local)
        self._zotero = Zotero(number, kind, key, local=local, client=client)
        self._zotero.endpoint = self._url = url or (_LOCAL_API if local else _WEB_API)
        self._help = _LOCAL_HELP if local else _WEB_HELP

    def version(self) -> int:
        """Return the number that moves on with every change of the library."""
        with self._explained():
            return int(self._zotero.last_modified_version())

    def collections(self) -> list[ZoteroCollection]:
        records = self._all(self._zotero.collections)
        listed = [
            ZoteroCollection(c["key"], c["data"]["name"], c["data"].get("parentCollection") or None) for c in records
        ]
        return sorted(listed, key=lambda c: (c.name, c.key))

    def records(self) -> list[ZoteroRecord]:
        return [_record_of_item(item) for item in self._all(self._zotero.items) if not item["data"].get("deleted")]

    def file_of(self, attachment: ZoteroRecord) -> Path | None:
        address = urlsplit(str(attachment.get("href") or ""))
        return Path(unquote(address.path)) if address.scheme == "file" else None

    def cached_text(self, attachment_key: str) -> str | None:
        """Return the indexed text. The last one is kept, because a text is asked for several times in a row."""
        if self._text is None or self._text[0] != attachment_key:
            self._text = (attachment_key, self._fetched_text(attachment_key))
        return self._text[1]

    def _fetched_text(self, attachment_key: str) -> str | None:
        try:
            with self._explained():
                answer = self._zotero.fulltext_item(attachment_key)
        except _Nothing:
            return None
        return str(answer.get("content") or "") or None if isinstance(answer, dict) else None

    def _all(self, query: Callable[..., Any]) -> list[Any]:
        """Return every object of a list, all of one version of the library."""
        for left in reversed(range(_TRIES)):
            self._pages.clear()
            try:
                with self._explained():
                    records = list(self._zotero.everything(query(limit=_PAGE)))
            except StoreUnavailable:
                if left and self._pages and self._pages[-1].is_server_error:
                    time.sleep(_pause(self._pages[-1]))
                    continue
                raise
            if _is_complete(records, [page for page in self._pages if page.is_success]):
                return records
        raise StoreUnavailable(
            f"Zotero's API at {self._url} did not give a whole list in {_TRIES} tries: the library changed meanwhile, or "
            "pages were missing. Nothing was changed; try again when nobody is changing it"
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except ResourceNotFoundError as error:
            raise _Nothing from error
        except (PyZoteroError, httpx2.HTTPError, ValueError, KeyError) as error:
            reason = shorten(str(error).strip() or type(error).__name__, 200)
            raise StoreUnavailable(f"Zotero's API at {self._url} cannot be used ({reason}). {self._help}") from error


class _Nothing(StoreUnavailable):
    """Zotero has no such thing."""

    def __init__(self) -> None:
        super().__init__("Zotero's API has no such library or item. Check its number")


def _kind_and_number(library: str) -> tuple[str, str]:
    kind, _, number = library.partition("/")
    if kind not in ("users", "groups") or not (number.isascii() and number.isdigit()):
        raise InvalidInput(f"'{shorten(library)}' is not a library of Zotero. Expected users/NUMBER or groups/NUMBER")
    return kind.removesuffix("s"), number


def _pause(answer: httpx2.Response) -> float:
    """Return the seconds for which the server asks to be left alone. Raise StoreUnavailable if that is too long to wait."""
    asked = answer.headers.get("backoff") or answer.headers.get("retry-after") or "1"
    if not (asked.isascii() and asked.isdigit() and int(asked) <= _LONGEST_PAUSE_SECONDS):
        raise StoreUnavailable(f"Zotero's server asks for a pause ({shorten(asked)} s). Try again after that")
    return float(asked)


def _is_complete(records: list[Any], pages: list[httpx2.Response]) -> bool:
    versions = {page.headers.get("last-modified-version") for page in pages}
    totals = {page.headers.get("total-results") for page in pages}
    return (
        len(versions) <= 1
        and totals <= {None, str(len(records))}
        and len({one["key"] for one in records}) == len(records)
    )


def _record_of_item(item: dict[str, Any]) -> ZoteroRecord:
    enclosure = (item.get("links") or {}).get("enclosure") or {}
    return {**item["data"], "href": enclosure.get("href")}
