"""The interface of a planning register, and what all registers on the web share."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from selectolax.lexbor import LexborHTMLParser

from trigpoint.config import Settings
from trigpoint.errors import DownloadFailed, InvalidInput, InvalidReference, RequestFailed, shorten
from trigpoint.registers.entries import RegisterEntry
from trigpoint.registers.forms import Form
from trigpoint.registers.labels import parse_html
from trigpoint.registers.models import Application, ListedApplication, Listing, RegisterDocument
from trigpoint.registers.site import MAX_DOCUMENT_BYTES, MAX_PAGE_BYTES, Fetched, Site
from trigpoint.registers.sniffing import HTML


class Register(Protocol):
    """The applications of one authority. All methods raise PortalError and its kinds."""

    entry: RegisterEntry

    async def application(self, application_ref: str) -> Application:
        """Return the details of an application."""

    async def documents(self, application_ref: str) -> list[RegisterDocument]:
        """Return the documents of an application, in the register's order."""

    async def page_url(self, application_ref: str) -> str:
        """Return the address of the application's page, for people."""

    async def recent(self, since: date, until: date, wards: Sequence[str] = ()) -> Listing:
        """Return the applications that the register lists as new between two days, in these wards if it can."""

    async def fetch(self, document_url: str, path: Path) -> Fetched:
        """Stream a document to `path`, whole and flushed to disk, or leave nothing there."""

    def own_address(self, document_url: str) -> str:
        """Return an address of this register in full. Raises DownloadFailed for any other; nothing is sent."""

    def document_id(self, document_url: str) -> str:
        """Return 12 hex digits that identify the document behind an address."""

    def name_in_url(self, document_url: str) -> str | None:
        """Return the file name that an address tells."""


class WebRegister(ABC):
    """The common part of registers on the web. Use as an async context manager; safe for many tasks."""

    def __init__(
        self, entry: RegisterEntry, settings: Settings, *, max_document_bytes: int = MAX_DOCUMENT_BYTES
    ) -> None:
        self.entry = entry
        self.site = Site(settings, entry.address, max_document_bytes=max_document_bytes)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.site.close()

    def own_address(self, document_url: str) -> str:
        return str(self.site.own(document_url, DownloadFailed))

    async def fetch(self, document_url: str, path: Path) -> Fetched:
        """Stream a document to `path`. Raises DownloadFailed, PortalBusy, BotChallenge; leaves nothing then.

        Raises RequestFailed if the register does not answer: whoever asked may wait and ask again.
        """
        url = self.own_address(document_url)
        try:
            fetched = await self._save(url, path)
            if fetched.kind == HTML and await self._accept_if_disclaimer(await asyncio.to_thread(_page_in, path)):
                fetched = await self._save(url, path)
            if fetched.kind == HTML:
                raise DownloadFailed(f"{shorten(url, 200)} gave a web page instead of a document")
            return fetched
        except RequestFailed as error:
            _discard(path)
            if error.details.get("silent"):
                raise
            raise DownloadFailed(error.message, **error.details) from error
        except BaseException:
            _discard(path)
            raise

    def _listing(self, rows: Iterable[ListedApplication], *, by_ward: bool) -> Listing:
        """Return rows as a list: each application once, those with a reference of this register only."""
        ours: dict[str, ListedApplication] = {}
        left_out = 0
        for row in rows:
            try:
                ours.setdefault(self.entry.check_reference(row.application.reference), row)
            except InvalidReference:
                left_out += 1
        return Listing(tuple(ours.values()), by_ward, left_out)

    async def _save(self, url: str, path: Path) -> Fetched:
        return await self.site.save(url, path, name=self.name_in_url(url))

    @abstractmethod
    async def application(self, application_ref: str) -> Application: ...

    @abstractmethod
    async def documents(self, application_ref: str) -> list[RegisterDocument]: ...

    @abstractmethod
    async def page_url(self, application_ref: str) -> str: ...

    @abstractmethod
    async def recent(self, since: date, until: date, wards: Sequence[str] = ()) -> Listing: ...

    @abstractmethod
    def document_id(self, document_url: str) -> str: ...

    @abstractmethod
    def name_in_url(self, document_url: str) -> str | None: ...

    @abstractmethod
    async def _accept_if_disclaimer(self, page: LexborHTMLParser) -> bool:
        """Accept the register's disclaimer if this page is one, and return whether it is."""


def wards_in(form: Form, wards: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the name of a form's list of wards and the values of those wanted. Raises InvalidInput for an unknown one.

    A form without such a list gives None, and nothing to choose.
    """
    name = form.list_called("ward")
    if not wards or name is None:
        return None, []
    offered = {shown.casefold(): value for shown, value in form.choices[name].items() if value}
    unknown = [ward for ward in wards if ward.casefold() not in offered]
    if unknown:
        known = ", ".join(shown for shown, value in form.choices[name].items() if value)
        raise InvalidInput(f"The register has no ward {shorten(unknown[0])}. Its wards are: {shorten(known, 2000)}")
    return name, [offered[ward.casefold()] for ward in wards]


def _discard(path: Path) -> None:
    path.unlink(missing_ok=True)


def _page_in(path: Path) -> LexborHTMLParser:
    with path.open(encoding="utf-8", errors="replace") as file:
        return parse_html(file.read(MAX_PAGE_BYTES))
