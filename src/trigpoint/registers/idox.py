"""Idox Public Access registers: an application is found by a search, and its details are on tabs behind an opaque key."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from datetime import date
from pathlib import Path

import httpx
from selectolax.lexbor import LexborHTMLParser

from trigpoint.config import Settings
from trigpoint.errors import PageNotUnderstood, RequestFailed
from trigpoint.registers import idox_pages
from trigpoint.registers.entries import RegisterEntry
from trigpoint.registers.forms import Form, disclaimer_form, form_to
from trigpoint.registers.labels import application_of, describe, same_reference
from trigpoint.registers.models import Application, ListedApplication, Listing, RegisterDocument
from trigpoint.registers.register import WebRegister, wards_in
from trigpoint.registers.robots import require_allowed
from trigpoint.registers.site import MAX_DOCUMENT_BYTES, TRIES, Fetched, RegisterPage

_MOST_PAGES = 100
_SESSION_SECONDS = 15 * 60  # the product ends a session after half an hour of silence
_TABS = ("summary", "details", "dates")


class IdoxRegister(WebRegister):
    """A register of Public Access, at `{address}/search.do`. One session for all callers of this object."""

    def __init__(
        self, entry: RegisterEntry, settings: Settings, *, max_document_bytes: int = MAX_DOCUMENT_BYTES
    ) -> None:
        super().__init__(entry, settings, max_document_bytes=max_document_bytes)
        self._keys: dict[str, str] = {}  # reference: the register's own key
        self._last_answer: float | None = None
        self._referer: str | None = None

    async def application(self, application_ref: str) -> Application:
        key = await self._key(application_ref)
        pairs: list[tuple[str, str | None]] = []
        shown = ""
        for tab in _TABS:
            page = await self._tab(tab, key)
            if tab == "summary":
                idox_pages.require_details(page.html, tab, application_ref)
                shown = describe(page.html)
            pairs += list(idox_pages.details(page.html))
        return application_of(pairs, application_ref, page=shown)

    async def documents(self, application_ref: str) -> list[RegisterDocument]:
        page = await self._tab("documents", await self._key(application_ref))
        self._referer = str(page.url)
        documents = idox_pages.parse_documents(page.html, str(page.url))
        visited = {str(page.url)}
        while (following := idox_pages.next_page(page.html, str(page.url))) and following not in visited:
            if len(visited) >= _MOST_PAGES:
                raise RequestFailed(f"The documents tab of {application_ref} has more than {_MOST_PAGES} pages")
            visited.add(following)
            page = await self._visit(following)
            documents += idox_pages.parse_documents(page.html, str(page.url))
        return list({one.document_id: one for one in reversed(documents)}.values())[::-1]

    async def page_url(self, application_ref: str) -> str:
        return str(self._address_of("summary", await self._key(application_ref)))

    async def recent(self, since: date, until: date, wards: Sequence[str] = ()) -> Listing:
        """Return the applications of the register's weekly lists of validated applications, from the week of `since`."""
        address = self.site.at("search.do", action="weeklyList", searchType="Application")
        await require_allowed(self.site, address)
        form, page = await self._form(address, "weeklyListResults.do", "a weekly list")
        list_of_weeks = form.list_called("week")
        if list_of_weeks is None:
            raise PageNotUnderstood(
                f"The page of weekly lists has no list of weeks (expected select[name=week]). Found: {describe(page.html)}"
            )
        list_of_wards, chosen = wards_in(form, wards)
        rows: list[ListedApplication] = []
        for week in idox_pages.weeks_between(form.choices[list_of_weeks], since, until):
            for ward in chosen or [""]:
                asked = {**form.fields, list_of_weeks: week, "dateType": "DC_Validated"}
                if list_of_wards is not None:
                    asked[list_of_wards] = ward
                async for result in self._results(form, page, asked):
                    rows.append(ListedApplication(result.application(), str(self._address_of("summary", result.key))))
        return self._listing(rows, by_ward=list_of_wards is not None)

    def document_id(self, document_url: str) -> str:
        return idox_pages.document_id(document_url)

    def name_in_url(self, document_url: str) -> str | None:
        return idox_pages.name_in_url(document_url)

    # --- finding an application

    async def _key(self, application_ref: str) -> str:
        """Return the register's key of an application. Raises ApplicationNotFound."""
        reference = self.entry.check_reference(application_ref)
        if reference not in self._keys or self._session_is_stale():
            self._keys[reference] = await self._search(reference)
        return self._keys[reference]

    async def _search(self, reference: str) -> str:
        address = self.site.at("search.do", action="simple", searchType="Application")
        form, page = await self._form(address, "simpleSearchResults.do", "a simple search")
        asked = {
            **form.fields,
            "searchType": "Application",
            "searchCriteria.simpleSearch": "true",
            "searchCriteria.simpleSearchString": reference,
        }
        page = await self._visit(self.site.on(page.url, form.action), form=asked, referer=str(page.url))
        for _ in range(_MOST_PAGES):
            if (key := idox_pages.key_of_details(page.html, reference)) is not None:
                return key
            for result in idox_pages.parse_results(page.html):
                if same_reference(result.reference, reference):
                    return result.key
            following = idox_pages.next_page(page.html, str(page.url))
            if following is None:
                break
            page = await self._visit(following)
        raise self.entry.not_found(reference)

    async def _form(self, address: httpx.URL, action: str, what: str) -> tuple[Form, RegisterPage]:
        """Return the form of a search page. Raises PageNotUnderstood if the page has none."""
        page = await self._visit(str(address))
        form = form_to(page.html, action)
        if form is None:
            raise PageNotUnderstood(
                f"The search page has no form for {what} (expected one to {action}). Found: {describe(page.html)}"
            )
        return form, page

    async def _results(
        self, form: Form, page: RegisterPage, asked: dict[str, str]
    ) -> AsyncIterator[idox_pages.FoundApplication]:
        """Yield the applications that a form finds, on all pages of its results."""
        page = await self._visit(self.site.on(page.url, form.action), form=asked, referer=str(page.url))
        visited: set[str] = set()
        while True:
            for result in idox_pages.parse_results(page.html):
                yield result
            following = idox_pages.next_page(page.html, str(page.url))
            if following is None or following in visited:
                return
            if len(visited) >= _MOST_PAGES:
                raise RequestFailed(f"The list has more than {_MOST_PAGES} pages. Watch a shorter time, or fewer wards")
            visited.add(following)
            page = await self._visit(following)

    # --- pages

    async def _tab(self, tab: str, key: str) -> RegisterPage:
        return await self._visit(str(self._address_of(tab, key)))

    def _address_of(self, tab: str, key: str) -> httpx.URL:
        return self.site.at("applicationDetails.do", activeTab=tab, keyVal=key)

    async def _visit(self, url: str, *, form: dict[str, str] | None = None, referer: str | None = None) -> RegisterPage:
        """Return a page, its disclaimer accepted. The product's passing faults, sent with status 200, are tried again."""
        target = str(self.site.own(url, RequestFailed))
        accepted = False
        for _ in range(TRIES):
            page = await self.site.page(target, form=form, referer=referer)
            self._last_answer = time.monotonic()
            if page.missing:
                raise RequestFailed(
                    f"{target} answered HTTP 404. Is {self.entry.address} still the register's address?"
                )
            if not accepted and await self._accept_disclaimer_of(page):
                accepted = True
                page = await self.site.page(target, form=form, referer=referer)
            if not idox_pages.is_fault(page.html):
                return page
        raise RequestFailed(f"{target} answered {TRIES} times that an error occurred. Try again later", tries=TRIES)

    def _session_is_stale(self) -> bool:
        return self._last_answer is None or time.monotonic() - self._last_answer > _SESSION_SECONDS

    async def _accept_if_disclaimer(self, page: LexborHTMLParser) -> bool:
        return await self._accept_disclaimer_of(RegisterPage(page, self.site.at("search.do")))

    async def _accept_disclaimer_of(self, page: RegisterPage) -> bool:
        form = disclaimer_form(page.html)
        if form is not None:
            await self.site.page(self.site.on(page.url, form.action), form=form.fields)
        return form is not None

    # --- documents

    async def _save(self, url: str, path: Path) -> Fetched:
        """Save a file, with session and referrer: some councils demand a session, some a visit to the documents tab."""
        if self._session_is_stale():
            await self._visit(str(self.site.at("search.do", action="simple", searchType="Application")))
        self._last_answer = time.monotonic()
        referer = self._referer or str(self.site.at("applicationDetails.do", activeTab="documents"))
        return await self.site.save(url, path, name=self.name_in_url(url), referer=referer)
