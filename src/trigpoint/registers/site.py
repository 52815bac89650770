"""The only way to a council's register: polite, pinned to its host, and patient with its faults.

Every request takes its turn (`pace.py`), is tried three times if trying again can help, and follows
redirects only within the register's own origin. Pages are returned as text, documents as a complete file.
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
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TypeVar

import httpx
from selectolax.lexbor import LexborHTMLParser

from trigpoint.config import Settings
from trigpoint.errors import BotChallenge, DownloadFailed, PortalBusy, PortalError, RequestFailed, shorten
from trigpoint.registers.challenges import LOOKED_AT, challenge_by
from trigpoint.registers.entries import WAY_OUT
from trigpoint.registers.labels import parse_html
from trigpoint.registers.pace import LONGEST_PAUSE, Pace
from trigpoint.registers.sniffing import HTML, FileKind, sniff

log = logging.getLogger(__name__)

T = TypeVar("T")

TRIES = 3
_MAX_REDIRECTS = 5
MAX_PAGE_BYTES = 32 * 1024 * 1024
MAX_DOCUMENT_BYTES = 200 * 1024 * 1024
_CHALLENGING = (403, 405, 429, 503)  # statuses with which firewalls send their challenges
_DOCUMENT_TIMEOUTS = 20  # a whole document may take this many times `SCRAPER_TIMEOUT`


@dataclass(frozen=True)
class Fetched:
    """A document as it came: in a file of the caller's choice, with what it really is."""

    path: Path
    file_size: int
    sha256: str
    kind: FileKind


@dataclass(frozen=True)
class RegisterPage:
    """A page that came whole. `missing`: the register answered that it does not exist."""

    html: LexborHTMLParser
    url: httpx.URL
    missing: bool = False
    text: str = ""


class Site:
    """One register's site: its pages as parsed HTML, its documents as files. Nothing else is ever contacted."""

    def __init__(self, settings: Settings, address: str, *, max_document_bytes: int = MAX_DOCUMENT_BYTES) -> None:
        self.base = httpx.URL(address)
        self.user_agent = settings.scraper_user_agent
        self.max_document_bytes = max_document_bytes
        self._interval = settings.scraper_rate_limit
        self._timeout = settings.scraper_timeout
        self._pace = Pace(settings.data_dir / "portal", self.base.netloc.decode("ascii"), self._interval)
        self._http = httpx.AsyncClient(
            headers={"User-Agent": self.user_agent},
            timeout=httpx.Timeout(self._timeout),
            follow_redirects=False,
            trust_env=not _is_loopback(self.base.host),
        )

    async def close(self) -> None:
        await self._http.aclose()

    def at(self, path: str, **query: str) -> httpx.URL:
        """Return the address of a path below the register's own, slashes literal."""
        url = self.base.copy_with(path=f"{self.base.path.rstrip('/')}/{path}")
        return url.copy_with(params=query) if query else url

    def on(self, page_url: httpx.URL, target: str) -> str:
        """Return the address that a link on a page leads to. Raises RequestFailed if it leaves the register."""
        try:
            return str(self.own(str(page_url.join(target)), RequestFailed))
        except (httpx.InvalidURL, ValueError):
            raise RequestFailed(f"'{shorten(target, 200)}' is not an address") from None

    async def page(
        self,
        url: httpx.URL | str,
        *,
        form: Mapping[str, str] | None = None,
        referer: str | None = None,
        by_script: bool = False,
    ) -> RegisterPage:
        """Return a page; a form is posted. Raises RequestFailed, PortalBusy, BotChallenge.

        `by_script`: as the register's own script asks for a part of a page.
        """
        target = self.own(str(url), RequestFailed)

        async def read(response: httpx.Response) -> RegisterPage:
            missing = response.status_code in (404, 410)
            if not missing:
                _require_ok(response, RequestFailed)
            body = bytearray()
            async for block in response.aiter_bytes():
                body += block
                if len(body) > MAX_PAGE_BYTES:
                    raise RequestFailed(f"The page {shorten(target, 200)} is larger than {MAX_PAGE_BYTES >> 20} MB")
            self._refuse_challenge(response, bytes(body))
            text = _decode_body(bytes(body), response.charset_encoding)
            return RegisterPage(await asyncio.to_thread(parse_html, text), response.url, missing, text)

        sent = _Sent("GET" if form is None else "POST", target, dict(form or {}), referer, by_script)
        return await self._try(sent, read, seconds=self._timeout)

    async def save(self, url: str, path: Path, *, name: str | None, referer: str | None = None) -> Fetched:
        """Stream an answer to a file, flushed. Raises DownloadFailed, RequestFailed, PortalBusy, BotChallenge."""

        async def read(response: httpx.Response) -> Fetched:
            _require_ok(response, DownloadFailed)
            with path.open("wb") as file:
                size, digest = await self._stream(response, file)
            if size == 0:
                raise DownloadFailed(f"{shorten(url, 200)} gave an empty file")
            kind = await asyncio.to_thread(sniff, path, name or path.name)
            if kind == HTML:
                self._refuse_challenge(response, await asyncio.to_thread(_start_of, path))
            return Fetched(path, size, digest, kind)

        sent = _Sent("GET", self.own(url, DownloadFailed), {}, referer)
        return await self._try(sent, read, seconds=self._timeout * _DOCUMENT_TIMEOUTS)

    def own(self, url: str, error: type[PortalError], source: httpx.URL | None = None) -> httpx.URL:
        """Return an address of the register's own scheme, host and port. Refuses any other before anything is sent."""
        try:
            target = (source or self.base).join(url)
        except (httpx.InvalidURL, ValueError):
            raise error(f"'{shorten(url, 200)}' is not an address") from None
        if _origin(target) != _origin(self.base) or target.userinfo:
            how = "is a redirect" if source is not None else "leads"
            raise error(f"{shorten(url, 200)} {how} away from {self.base}; only the register itself is ever contacted")
        return target

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

    def _refuse_challenge(self, response: httpx.Response, body: bytes) -> None:
        who = challenge_by(response.headers, body, success=response.is_success)
        if who is not None:
            raise BotChallenge(
                f"The register at {self.base} asks for proof that a person is there ({who}), and Trigpoint does not "
                f"work around that. Open {shorten(response.url, 300)} in a browser, {WAY_OUT}",
                bot_challenge=who,
                link=shorten(response.url, 300),
            )

    # --- requests

    async def _try(self, sent: _Sent, read: Callable[[httpx.Response], Awaitable[T]], *, seconds: float) -> T:
        """Try three times, with growing pauses, on 5xx, time-out, connection loss and 429;

        `read` may take `seconds`.
        """
        refused, silent, reason, url = False, True, "", sent.url
        for attempt in range(TRIES):
            if attempt:
                await asyncio.sleep(self._interval * 2 ** (attempt - 1))
            try:
                async with self._exchange(sent) as response, asyncio.timeout(seconds):
                    if response.status_code in _CHALLENGING:
                        self._refuse_challenge(response, await _beginning(response))
                    refused = response.status_code == 429
                    if not refused and response.status_code < 500:
                        return await read(response)
                    silent, reason = False, f"HTTP {response.status_code}"
            except TimeoutError:
                refused, silent, reason = False, True, f"no whole answer within {seconds:g} s"
            except httpx.HTTPError as error:
                refused, silent = False, True
                reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            log.info("try %d of %d at %s failed: %s", attempt + 1, TRIES, url.host, reason)
        if refused:
            raise PortalBusy(f"The register refused {TRIES} requests as too many (HTTP 429). Try again later")
        raise RequestFailed(
            f"The register at {url.host} cannot be reached: {shorten(url, 200)} failed {TRIES} times; the last time: "
            f"{reason}. Try again later. Or {WAY_OUT}",
            tries=TRIES,
            silent=silent,
        )

    @contextlib.asynccontextmanager
    async def _exchange(self, sent: _Sent) -> AsyncIterator[httpx.Response]:
        """Yield one answer, redirects within the register followed. Each request of it takes its own turn."""
        for _ in range(_MAX_REDIRECTS + 1):
            async with self._pace.turn(), asyncio.timeout(self._timeout):
                response = await self._http.send(sent.request(self._http), stream=True)
                if response.status_code in (429, 503) and (asked := _retry_after(response)) is not None:
                    self._pace.rest(asked)
            try:
                if not response.has_redirect_location:
                    yield response
                    return
                target = response.headers["location"]
            finally:
                await response.aclose()
            sent = sent.redirected(self.own(target, RequestFailed, source=sent.url), response.status_code)
        raise RequestFailed(f"{shorten(sent.url, 200)}: more than {_MAX_REDIRECTS} redirects")


@dataclass(frozen=True)
class _Sent:
    """A request that can be sent again."""

    method: str
    url: httpx.URL
    form: dict[str, str]
    referer: str | None
    by_script: bool = False

    def request(self, client: httpx.AsyncClient) -> httpx.Request:
        headers = {"Referer": self.referer} if self.referer else {}
        if self.by_script:
            headers["X-Requested-With"] = "XMLHttpRequest"
        return client.build_request(self.method, self.url, headers=headers, data=self.form or None)

    def redirected(self, url: httpx.URL, status: int) -> _Sent:
        if status in (307, 308):
            return replace(self, url=url)
        return replace(self, url=url, method="GET", form={})


async def _beginning(response: httpx.Response) -> bytes:
    """Return the first bytes of a refusal, to tell a challenge from an error."""
    body = b""
    async for block in response.aiter_bytes():
        body += block
        if len(body) >= LOOKED_AT:
            break
    return body


def _start_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LOOKED_AT)


def _decode_body(body: bytes, charset: str | None) -> str:
    """Return the text in the declared encoding; in UTF-8 if there is no such encoding."""
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
    """Return `Retry-After` in seconds, from a number or a date; None if it cannot be read."""
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
