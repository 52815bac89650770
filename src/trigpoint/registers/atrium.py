"""DEF Atrium (MasterGov) registers: one page holds an application's details and all of its documents."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from trigpoint.errors import RequestFailed
from trigpoint.registers import atrium_documents, atrium_pages
from trigpoint.registers.models import Application, RegisterDocument
from trigpoint.registers.register import WebRegister


class AtriumRegister(WebRegister):
    """A register whose page of an application is `{address}/Planning/Display/{reference}`."""

    async def application(self, application_ref: str) -> Application:
        return atrium_pages.parse_application(await self._page(application_ref), application_ref)

    async def documents(self, application_ref: str) -> list[RegisterDocument]:
        return atrium_documents.parse_documents(await self._page(application_ref), str(self.site.base))

    async def page_url(self, application_ref: str) -> str:
        return f"{self.entry.address}/Planning/Display/{application_ref}"

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
