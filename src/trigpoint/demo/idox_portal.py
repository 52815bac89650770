"""An Idox-like register on this machine: session, token, search, tabs, paged lists and files that only a session can have."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from trigpoint.demo.faults import Fault
from trigpoint.demo.portal import DISCLAIMER_COOKIE, DemoPortal
from trigpoint.demo.register import FICTIONAL, SampleEntry, Served, templates

_BASE = "/online-applications"
_SESSION = "JSESSIONID"


class IdoxDemoPortal(DemoPortal):
    """The samples in the structure of Public Access. `address` is what a register's entry names.

    `documents_a_page` splits the documents tab, `straight_to_details` skips the list of a search with one result, and
    `needs_referer` serves files only to visitors from the documents tab, as some councils do.
    """

    def __init__(
        self,
        register: Mapping[str, SampleEntry],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        faults: list[Fault] | None = None,
        documents_a_page: int = 1000,
        results_a_page: int = 10,
        straight_to_details: bool = False,
        needs_referer: bool = False,
        robots: str | None = None,
    ) -> None:
        self.documents_a_page = documents_a_page
        self.straight_to_details = straight_to_details
        self.needs_referer = needs_referer
        self._tokens: dict[str, str] = {}
        self._results: dict[str, list[str]] = {}
        super().__init__(register, host=host, port=port, faults=faults, robots=robots, results_a_page=results_a_page)

    @property
    def address(self) -> str:
        return self.url + _BASE

    def routes(self) -> list[Route]:
        return [
            Route("/", self._start),
            Route(f"{_BASE}/search.do", self._search_form),
            Route(f"{_BASE}/simpleSearchResults.do", self._simple_results, methods=["POST"]),
            Route(f"{_BASE}/weeklyListResults.do", self._weekly_results, methods=["POST"]),
            Route(f"{_BASE}/pagedSearchResults.do", self._paged_results),
            Route(f"{_BASE}/applicationDetails.do", self._details),
            Route(f"{_BASE}/acceptDisclaimer.do", self._accept_disclaimer, methods=["POST"]),
            Route(_BASE + "/files/{hash}/{rest:path}", self._file),
        ]

    def error_page(self, title: str, status: int = 200) -> Response:
        return self._page(title, status, message=title, error=True)

    def disclaimer_page(self, target: str) -> Response:
        return self._page("Disclaimer", disclaimer=target)

    def fault_page(self) -> Response:
        return self._page("Error", message="Unable to perform this task. A remote exception occurred.", error=True)

    async def _start(self, request: Request) -> Response:
        return RedirectResponse(f"{_BASE}/search.do?action=simple")

    async def _search_form(self, request: Request) -> Response:
        session = request.cookies.get(_SESSION) or secrets.token_hex(16)
        token = self._tokens.setdefault(session, secrets.token_hex(8))
        weekly = request.query_params.get("action") == "weeklyList"
        response = self._page(
            "Weekly list" if weekly else "Simple search",
            form="weekly" if weekly else "simple",
            csrf=token,
            wards=sorted({entry.application.ward for entry in self.register.values()}),
            weeks=[_week(day) for day in _weeks(self.register.values())],
        )
        response.set_cookie(_SESSION, session, httponly=True)
        return response

    async def _simple_results(self, request: Request) -> Response:
        given = {name: str(value) for name, value in (await request.form()).items()}
        if (refused := self._refused(request, given)) is not None:
            return refused
        if given.get("searchCriteria.simpleSearch") != "true":
            return self._page(
                "Search", message="Too many results found. Please enter some more parameters.", error=True
            )
        wanted = given.get("searchCriteria.simpleSearchString", "").strip().upper()
        found = [reference for reference in self.register if wanted and wanted in reference]
        if len(found) == 1 and self.straight_to_details:
            return RedirectResponse(f"{_BASE}/applicationDetails.do?activeTab=summary&keyVal={_key_of(found[0])}", 302)
        return self._first_page(request, found)

    async def _weekly_results(self, request: Request) -> Response:
        given = {name: str(value) for name, value in (await request.form()).items()}
        if (refused := self._refused(request, given)) is not None:
            return refused
        ward = given.get("searchCriteria.ward", "")
        found = [
            reference
            for reference, entry in self.register.items()
            if given.get("week") == _week(_monday(entry.application.date_validated))
            and ward in ("", entry.application.ward)
        ]
        return self._first_page(request, found)

    def _first_page(self, request: Request, found: list[str]) -> Response:
        self._results[request.cookies[_SESSION]] = found
        return self._results_page(found, 1)

    async def _paged_results(self, request: Request) -> Response:
        found = self._results.get(request.cookies.get(_SESSION, ""))
        if found is None:
            return self.error_page("Your session has expired", 500)
        return self._results_page(found, int(request.query_params.get("searchCriteria.page", "1")))

    def _results_page(self, found: Sequence[str], number: int) -> Response:
        if not found:
            return self._page("Results", message="No results found.")
        start = (number - 1) * self.results_a_page
        shown = found[start : start + self.results_a_page]
        more = start + len(shown) < len(found)
        following = f"{_BASE}/pagedSearchResults.do?action=page&searchCriteria.page={number + 1}" if more else None
        return self._page(
            "Results for Application Search",
            results=[_result_row(self.register[reference]) for reference in shown],
            following=following,
            showing=f"Showing {start + 1}-{start + len(shown)} of {len(found)}",
        )

    async def _details(self, request: Request) -> Response:
        key, tab = request.query_params.get("keyVal", ""), request.query_params.get("activeTab", "summary")
        reference = next((one for one in self.register if _key_of(one) == key), None)
        if reference is None:
            return self.error_page("Application not found", 404)
        application = self.register[reference].application
        shown: dict[str, Any] = {"tabs": True, "key": key}
        if tab == "documents":
            shown |= self._documents(reference, int(request.query_params.get("page", "1")))
        else:
            shown |= {"table_id": "applicationDetails" if tab == "details" else "simpleDetailsTable"}
            shown |= {"labels": _LABELS.get(tab, _LABELS["summary"])(application)}
        return self._page(f"{reference} | {tab}", **shown)

    def _documents(self, reference: str, page: int) -> dict[str, Any]:
        start = (page - 1) * self.documents_a_page
        documents = self.register[reference].documents
        shown = documents[start : start + self.documents_a_page]
        more = start + len(shown) < len(documents)
        link = f"{_BASE}/applicationDetails.do?activeTab=documents&keyVal={_key_of(reference)}&page={page + 1}"
        listed = [_document_row(reference, one, number) for number, one in enumerate(shown, start)]
        return {"documents": listed, "following": link if more else None}

    async def _file(self, request: Request) -> Response:
        document = self._document_of(request.path_params["hash"])
        from_tab = "activeTab=documents" in request.headers.get("referer", "")
        if (
            document is None
            or request.cookies.get(_SESSION) not in self._tokens
            or (self.needs_referer and not from_tab)
        ):
            return self.error_page("Page not found", 404)
        content = await asyncio.to_thread(document.read)
        return Response(content, media_type="application/pdf")

    async def _accept_disclaimer(self, request: Request) -> Response:
        response = RedirectResponse(f"{_BASE}/search.do?action=simple", 302)
        if (await request.form()).get("accept"):
            response.set_cookie(DISCLAIMER_COOKIE, "accepted", httponly=True)
        return response

    def _document_of(self, given: str) -> Served | None:
        for reference, entry in self.register.items():
            for number, document in enumerate(entry.documents):
                if _document_hash(reference, number) == given:
                    return document
        return None

    def _refused(self, request: Request, given: Mapping[str, str]) -> Response | None:
        token = self._tokens.get(request.cookies.get(_SESSION, ""))
        if token is None:
            return self.error_page("Your session has expired", 500)
        return None if secrets.compare_digest(given.get("_csrf", ""), token) else self.error_page("Forbidden", 403)

    def _page(self, title: str, status: int = 200, **shown: Any) -> HTMLResponse:
        defaults: dict[str, Any] = {
            "message": None, "error": False, "disclaimer": "", "form": None, "csrf": "", "wards": [], "weeks": [],
            "results": None, "tabs": False, "key": "", "labels": None, "table_id": "", "documents": None,
            "following": None, "showing": "",
        }  # fmt: skip
        text = templates.get_template("idox.html").render(
            fictional=FICTIONAL, base=_BASE, title=title, **(defaults | shown)
        )
        return HTMLResponse(text, status)


def _key_of(reference: str) -> str:
    return hashlib.sha256(reference.encode()).hexdigest()[:13].upper()


def _document_hash(reference: str, number: int) -> str:
    return hashlib.md5(f"{reference}#{number}".encode(), usedforsecurity=False).hexdigest().upper()


def _document_row(reference: str, document: Served, number: int) -> dict[str, Any]:
    folder = "pdf/" if document.file_name.lower().endswith(".pdf") else ""
    return {
        "name": document.file_name,
        "day": _idox_day(document.date),
        "section": document.section,
        "drawing_ref": document.drawing_ref,
        "description": document.description,
        "href": f"{_BASE}/files/{_document_hash(reference, number)}/{folder}{quote(document.file_name, safe='')}",
    }


def _result_row(entry: SampleEntry) -> dict[str, str]:
    application = entry.application
    return {
        "key": _key_of(application.reference),
        "reference": application.reference,
        "proposal": application.proposal,
        "address": application.address,
        "received": _idox_day(application.date_received),
        "validated": _idox_day(application.date_validated),
        "status": application.status,
    }


def _summary(application: Any) -> list[tuple[str, str]]:
    return [
        ("Reference", application.reference),
        ("Application Received", _idox_day(application.date_received)),
        ("Application Validated", _idox_day(application.date_validated)),
        ("Address", application.address),
        ("Proposal", application.proposal),
        ("Status", application.status),
        ("Appeal Status", "Unknown"),
        ("Appeal Decision", "Not Available"),
    ]


def _further(application: Any) -> list[tuple[str, str]]:
    return [
        ("Application Type", application.application_type),
        ("Expected Decision Level", "Delegated"),
        ("Case Officer", application.case_officer),
        ("Parish", application.parish),
        ("Ward", application.ward),
        ("Applicant Name", application.applicant),
        ("Agent Name", application.agent or ""),
        ("Agent Address", "1 Agent Street (fictional)"),
    ]


def _dates(application: Any) -> list[tuple[str, str]]:
    return [
        ("Application Received Date", _idox_day(application.date_received)),
        ("Application Validated Date", _idox_day(application.date_validated)),
        ("Standard Consultation Expiry Date", _idox_day(application.consultation_end)),
        ("Determination Deadline", _idox_day(application.target_date)),
        ("Decision Issued Date", "Not Available"),
    ]


_LABELS = {"summary": _summary, "details": _further, "dates": _dates}


def _weeks(entries: Any) -> list[date]:
    return sorted({_monday(entry.application.date_validated) for entry in entries}, reverse=True)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _week(day: date) -> str:
    return day.strftime("%d %b %Y")


def _idox_day(day: date) -> str:
    return day.strftime("%a %d %b %Y")
