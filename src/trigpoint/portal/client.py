"""The one way to the council's register: polite, pinned to its host, and patient with its faults.

Every request takes its turn (`pace.py`), is tried three times where trying again can help, and follows
redirects only within the register's own origin. Pages come back as text, documents as a file that is whole.
"""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import hashlib
import ipaddress
import logging
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self, TypeVar

import httpx
from selectolax.lexbor import LexborHTMLParser

from trigpoint.config import Settings
from trigpoint.errors import ApplicationNotFound, DownloadFailed, PortalBusy, PortalError, RequestFailed, shorten
from trigpoint.ids import parse_application_ref
from trigpoint.portal import pages
from trigpoint.portal.listing import name_in_url, parse_documents
from trigpoint.portal.models import Application, PortalDocument
from trigpoint.portal.pace import LONGEST_PAUSE, Pace
from trigpoint.portal.sniffing import HTML, Kind, sniff

log = logging.getLogger(__name__)

T = TypeVar("T")

TRIES = 3
MAX_REDIRECTS = 5
MAX_PAGE_BYTES = 32 * 1024 * 1024
MAX_DOCUMENT_BYTES = 200 * 1024 * 1024
_DOCUMENT_TIMEOUTS = 20  # a document may take so many times `SCRAPER_TIMEOUT` as a whole


@dataclass(frozen=True)
class Fetched:
    """A document as it came: in a file of the caller's choice, with what it really is."""

    path: Path
    file_size: int
    sha256: str
    kind: Kind


class PortalClient:
    """A client for the register of `CHERWELL_PORTAL_URL`. Use as an async context manager; safe for many tasks."""

    def __init__(self, settings: Settings, *, max_document_bytes: int = MAX_DOCUMENT_BYTES) -> None:
        self.base = httpx.URL(settings.cherwell_portal_url)
        self.max_document_bytes = max_document_bytes
        self._interval = settings.scraper_rate_limit
        self._timeout = settings.scraper_timeout
        self._pace = Pace(settings.data_dir / "portal", self.base.netloc.decode("ascii"), self._interval)
        self._http = httpx.AsyncClient(
            headers={"User-Agent": settings.scraper_user_agent},
            timeout=httpx.Timeout(self._timeout),
            follow_redirects=False,
            trust_env=not _is_loopback(self.base.host),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._http.aclose()

    # --- what the register knows

    async def application(self, application_ref: str) -> Application:
        """The summary of an application. Raises ApplicationNotFound, RequestFailed, PortalBusy, PageNotUnderstood."""
        return pages.parse_application(await self._page(application_ref), application_ref)

    async def documents(self, application_ref: str) -> list[PortalDocument]:
        """The documents of an application, in the order of the page. Raises as `application` does."""
        return parse_documents(await self._page(application_ref), str(self.base))

    async def fetch(self, document_url: str, path: Path) -> Fetched:
        """Streams a document to `path` and flushes it to disk. Raises DownloadFailed, PortalBusy; leaves nothing then."""
        url = httpx.URL(self.own_address(document_url))
        try:
            fetched = await self._fetch_once(url, path)
            if fetched.kind == HTML and await self._accept_if_disclaimer(path):
                fetched = await self._fetch_once(url, path)
            if fetched.kind == HTML:
                raise DownloadFailed(f"{shorten(url, 200)} gave a web page instead of a document")
            return fetched
        except RequestFailed as error:
            _discard(path)
            raise DownloadFailed(error.message, **error.details) from error
        except BaseException:
            _discard(path)
            raise

    def own_address(self, document_url: str) -> str:
        """An address of the register in full. Raises DownloadFailed for any other; nothing is sent."""
        return str(self._own(document_url, DownloadFailed))

    # --- pages

    async def _page(self, application_ref: str) -> LexborHTMLParser:
        parse_application_ref(application_ref)
        url = self.base.copy_with(path=f"{self.base.path.rstrip('/')}/Planning/Display/{application_ref}")
        page, redirected = await self._html(url, application_ref)
        if (action := pages.disclaimer_action(page)) is not None:
            await self._accept(action)
            page, redirected = await self._html(url, application_ref)
            if pages.disclaimer_action(page) is not None:
                raise RequestFailed(f"The register shows its disclaimer again after it was accepted ({url})")
        pages.require_application(page, application_ref, redirected=redirected)
        return page

    async def _html(self, url: httpx.URL, application_ref: str) -> tuple[LexborHTMLParser, bool]:
        async def read(response: httpx.Response) -> tuple[LexborHTMLParser, bool]:
            if response.status_code in (404, 410):
                raise ApplicationNotFound(
                    "Application not found on Cherwell planning portal", application_ref=application_ref
                )
            _require_ok(response, RequestFailed)
            body = bytearray()
            async for block in response.aiter_bytes():
                body += block
                if len(body) > MAX_PAGE_BYTES:
                    raise RequestFailed(f"The page {url} is larger than {MAX_PAGE_BYTES >> 20} MB")
            page = await asyncio.to_thread(pages.parse_html, _decoded(bytes(body), response.charset_encoding))
            return page, response.url.path.lower() != url.path.lower()

        return await self._try("GET", url, read, seconds=self._timeout)

    async def _accept(self, action: str) -> None:
        """Accepts the disclaimer; the cookie that says so stays with this client."""
        target = self._own(str(self.base.join(action)), RequestFailed)

        async def read(response: httpx.Response) -> None:
            _require_ok(response, RequestFailed)

        await self._try("POST", target, read, seconds=self._timeout)

    async def _accept_if_disclaimer(self, path: Path) -> bool:
        action = await asyncio.to_thread(_disclaimer_in, path)
        if action is not None:
            await self._accept(action)
        return action is not None

    # --- documents

    async def _fetch_once(self, url: httpx.URL, path: Path) -> Fetched:
        async def read(response: httpx.Response) -> Fetched:
            _require_ok(response, DownloadFailed)
            with path.open("wb") as file:
                size, digest = await self._stream(response, file)
            if size == 0:
                raise DownloadFailed(f"{shorten(url, 200)} gave an empty file")
            kind = await asyncio.to_thread(sniff, path, name_in_url(str(url)) or path.name)
            return Fetched(path, size, digest, kind)

        return await self._try("GET", url, read, seconds=self._timeout * _DOCUMENT_TIMEOUTS)

    async def _stream(self, response: httpx.Response, file: IO[bytes]) -> tuple[int, str]:
        size, digest = 0, hashlib.sha256()
        async for block in response.aiter_bytes(1 << 16):
            size += len(block)
            if size > self.max_document_bytes:
                raise DownloadFailed(
                    f"{shorten(response.url, 200)} is larger than {self.max_document_bytes:,} bytes; not fetched"
                )
            digest.update(block)
            file.write(block)
        file.flush()
        await asyncio.to_thread(os.fsync, file.fileno())
        return size, digest.hexdigest()

    # --- requests

    async def _try(
        self, method: str, url: httpx.URL, read: Callable[[httpx.Response], Awaitable[T]], *, seconds: float
    ) -> T:
        """Three tries with growing pauses on 5xx, time-out, connection loss and 429; `read` may take `seconds`."""
        refused, reason = False, ""
        for attempt in range(TRIES):
            if attempt:
                await asyncio.sleep(self._interval * 2 ** (attempt - 1))
            try:
                async with self._exchange(method, url) as response, asyncio.timeout(seconds):
                    refused = response.status_code == 429
                    if not refused and response.status_code < 500:
                        return await read(response)
                    reason = f"HTTP {response.status_code}"
            except TimeoutError:
                refused, reason = False, f"no whole answer within {seconds:g} s"
            except httpx.HTTPError as error:
                refused, reason = False, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            log.info("try %d of %d of %s failed: %s", attempt + 1, TRIES, shorten(url, 200), reason)
        if refused:
            raise PortalBusy(f"The register refused {TRIES} requests as too many (HTTP 429). Try again later")
        raise RequestFailed(f"{shorten(url, 200)} failed {TRIES} times; the last time: {reason}", tries=TRIES)

    @contextlib.asynccontextmanager
    async def _exchange(self, method: str, url: httpx.URL) -> AsyncIterator[httpx.Response]:
        """One answer, redirects within the register followed. Each request of it takes its own turn."""
        for _ in range(MAX_REDIRECTS + 1):
            async with self._pace.turn(), asyncio.timeout(self._timeout):
                response = await self._http.send(self._http.build_request(method, url), stream=True)
                if response.status_code in (429, 503) and (asked := _retry_after(response)) is not None:
                    self._pace.rest(asked)
            try:
                if not response.has_redirect_location:
                    yield response
                    return
                target = response.headers["location"]
                method = method if response.status_code in (307, 308) else "GET"
            finally:
                await response.aclose()
            url = self._own(target, RequestFailed, source=url)
        raise RequestFailed(f"{shorten(url, 200)}: more than {MAX_REDIRECTS} redirects")

    def _own(self, url: str, error: type[PortalError], source: httpx.URL | None = None) -> httpx.URL:
        """An address of the register's own scheme, host and port. Any other is refused before anything is sent."""
        try:
            target = (source or self.base).join(url)
        except (httpx.InvalidURL, ValueError):
            raise error(f"'{shorten(url, 200)}' is not an address") from None
        if _origin(target) != _origin(self.base) or target.userinfo:
            how = "is a redirect" if source is not None else "leads"
            raise error(f"{shorten(url, 200)} {how} away from {self.base}; only the register itself is ever contacted")
        return target


def _discard(path: Path) -> None:
    path.unlink(missing_ok=True)


def _disclaimer_in(path: Path) -> str | None:
    with path.open(encoding="utf-8", errors="replace") as file:
        return pages.disclaimer_action(pages.parse_html(file.read(MAX_PAGE_BYTES)))


def _decoded(body: bytes, charset: str | None) -> str:
    """Text in the declared encoding; UTF-8 where that is none that exists."""
    try:
        return body.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace")


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _require_ok(response: httpx.Response, error: type[PortalError]) -> None:
    if not response.is_success:
        raise error(f"{shorten(response.url, 200)} answered HTTP {response.status_code}")


def _retry_after(response: httpx.Response) -> float | None:
    """`Retry-After` in seconds, as a number or as a date; what cannot be read counts as not said."""
    value = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", value, re.ASCII):
        return min(float(value), LONGEST_PAUSE)
    try:
        return max(0.0, min(email.utils.parsedate_to_datetime(value).timestamp() - time.time(), LONGEST_PAUSE))
    except (ValueError, TypeError, OverflowError):
        return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
