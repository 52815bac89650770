"""DEF Atrium (MasterGov) registers: one page holds an application's details and all of its documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import quote

import httpx
from selectolax.lexbor import LexborHTMLParser

from trigpoint.errors import PageNotUnderstood, RequestFailed
from trigpoint.registers import atrium_documents, atrium_pages, atrium_results
from trigpoint.registers.forms import Form, form_to
from trigpoint.registers.labels import describe
from trigpoint.registers.models import Application, ListedApplication, Listing, RegisterDocument
from trigpoint.registers.register import WebRegister, wards_in
from trigpoint.registers.robots import require_allowed

_MOST_PAGES = 50


@dataclass(frozen=True)
class _SearchForm:
    """A search form, filled in except for its days: the address it is sent to, and the page it comes from."""

    action: str
    page: httpx.URL
    asked: Mapping[str, str]


class _NoFurtherPage(Exception):
    """The first page of a list came, and a later one did not."""

    def __init__(self, cause: RequestFailed | PageNotUnderstood) -> None:
        self.cause = cause


class AtriumRegister(WebRegister):
    """A register whose page of an application is `{address}/Planning/Display/{reference}`."""

    async def application(self, application_ref: str) -> Application:
        return atrium_pages.parse_application(await self._page(application_ref), application_ref)

    async def documents(self, application_ref: str) -> list[RegisterDocument]:
        return atrium_documents.parse_documents(await self._page(application_ref), str(self.site.base))

    async def page_url(self, application_ref: str) -> str:
        return self._page_of(application_ref)

    async def recent(self, since: date, until: date, wards: Sequence[str] = ()) -> Listing:
        """Return the applications that the register received between two days, by its advanced search."""
        form, address = await self._search_form()
        list_of_wards, chosen = wards_in(form, wards)
        rows: list[Application] = []
        for ward in chosen or [""]:
            asked = {**form.fields, "SearchPlanning": "true"}
            if list_of_wards is not None:
                asked[list_of_wards] = ward
            rows += await self._received(_SearchForm(form.action, address, asked), since, until)
        listed = (ListedApplication(one, self._page_of(one.reference)) for one in rows)
        return self._listing(listed, by_ward=list_of_wards is not None)

    async def _search_form(self) -> tuple[Form, httpx.URL]:
        url = self.site.at("Search/Advanced")
        await require_allowed(self.site, url)
        page = await self.site.page(url)
        if await self._accept_if_disclaimer(page.html):
            page = await self.site.page(url)
        form = form_to(page.html, "/Search/Results")
        if page.missing or form is None or not {"DateReceivedFrom", "DateReceivedTo"} <= set(form.fields):
            raise PageNotUnderstood(
                f"The page of the advanced search has no form with the days of receipt (expected one to /Search/Results "
                f"with DateReceivedFrom and DateReceivedTo). Found: {describe(page.html)}"
            )
        return form, page.url

    async def _received(self, search: _SearchForm, since: date, until: date) -> list[Application]:
        """Return what was received between two days. Pages that only a browser can have are avoided by shorter times."""
        try:
            return await self._all_pages(search, since, until)
        except _NoFurtherPage as error:
            if since >= until:
                raise error.cause from None
        middle = since + (until - since) // 2
        first = await self._received(search, since, middle)
        return first + await self._received(search, middle + timedelta(days=1), until)

    async def _all_pages(self, search: _SearchForm, since: date, until: date) -> list[Application]:
        days = {"DateReceivedFrom": f"{since:%d/%m/%Y}", "DateReceivedTo": f"{until:%d/%m/%Y}"}
        target = self.site.on(search.page, search.action)
        page = await self.site.page(target, form={**search.asked, **days}, referer=str(search.page))
        results = page.url
        rows = atrium_results.parse_results(page.html)
        visited: set[str] = set()
        while following := atrium_results.next_page(page.html):
            address = self.site.on(results, following)
            if address in visited:
                break
            if len(visited) >= _MOST_PAGES:
                raise RequestFailed(f"The list has more than {_MOST_PAGES} pages. Watch a shorter time, or fewer wards")
            visited.add(address)
            try:
                page = await self.site.page(address, referer=str(results), by_script=True)
                rows += atrium_results.parse_results(page.html)
            except (RequestFailed, PageNotUnderstood) as error:
                raise _NoFurtherPage(error) from error
        return rows

    def _page_of(self, reference: str) -> str:
        return f"{self.entry.address}/Planning/Display/{quote(reference)}"

    def document_id(self, document_url: str) -> str:
        return atrium_documents.document_id(document_url)

    def name_in_url(self, document_url: str) -> str | None:
        return atrium_documents.name_in_url(document_url)

    async def _page(self, application_ref: str) -> LexborHTMLParser:
        self.entry.check_reference(application_ref)
        url = self.site.at(f"Planning/Display/{application_ref}")
        page = await self.site.page(url)
        if await self._accept_if_disclaimer(page.html):
            page = await self.site.page(url)
            if atrium_pages.disclaimer_action(page.html) is not None:
                raise RequestFailed(f"The register shows its disclaimer again after it was accepted ({url})")
        if page.missing:
            raise self.entry.not_found(application_ref)
        redirected = page.url.path.lower() != url.path.lower()
        atrium_pages.require_application(page.html, application_ref, register=self.entry, redirected=redirected)
        return page.html

    async def _accept_if_disclaimer(self, page: LexborHTMLParser) -> bool:
        action = atrium_pages.disclaimer_action(page)
        if action is not None:
            await self.site.page(self.site.own(action, RequestFailed), form={})
        return action is not None
