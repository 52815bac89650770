"""The advanced search of the demo portal: a form with a token, a list in the session, further pages for its own script."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import date

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from trigpoint.demo.register import FICTIONAL, SampleEntry, other_page, templates
from trigpoint.registers.labels import register_day

_SESSION = "demo_search"


class AtriumSearch:
    """The pages below `/Search`. `script_pages=False`: later pages are refused, as to visitors without the register's script."""

    def __init__(
        self, register: Callable[[], Mapping[str, SampleEntry]], *, results_a_page: int = 10, script_pages: bool = True
    ) -> None:
        self._register = register
        self._results_a_page = results_a_page
        self._script_pages = script_pages
        self._tokens: dict[str, str] = {}
        self._found: dict[str, list[str]] = {}

    def routes(self) -> list[Route]:
        return [
            Route("/Search/Advanced", self._form),
            Route("/Search/Results", self._results, methods=["POST"]),
            Route("/Search/ResultsPage/{number:int}", self._further),
        ]

    async def _form(self, request: Request) -> Response:
        session = request.cookies.get(_SESSION) or secrets.token_hex(16)
        response = HTMLResponse(_search_page(token=self._tokens.setdefault(session, secrets.token_hex(8))))
        response.set_cookie(_SESSION, session, httponly=True)
        return response

    async def _results(self, request: Request) -> Response:
        given = {name: str(value) for name, value in (await request.form()).items()}
        session = request.cookies.get(_SESSION, "")
        token = self._tokens.get(session)
        if token is None or given.get("__RequestVerificationToken") != token:
            return HTMLResponse(other_page("Bad request"), 400)
        if given.get("SearchPlanning") != "true":  # the product shows its form again, and no reason
            return HTMLResponse(_search_page(token=token))
        first, last = register_day(given.get("DateReceivedFrom", "")), register_day(given.get("DateReceivedTo", ""))
        self._found[session] = [
            reference for reference, entry in self._register().items() if _received_within(entry, first, last)
        ]
        return self._list(self._found[session], 1)

    async def _further(self, request: Request) -> Response:
        found = self._found.get(request.cookies.get(_SESSION, ""))
        by_script = request.headers.get("x-requested-with") == "XMLHttpRequest"
        if found is None or not by_script or not self._script_pages:
            return HTMLResponse(other_page("Page not found"), 404)
        return self._list(found, request.path_params["number"])

    def _list(self, found: Sequence[str], number: int) -> Response:
        start = (number - 1) * self._results_a_page
        shown = found[start : start + self._results_a_page]
        more = start + len(shown) < len(found)
        following = f"/Search/ResultsPage/{number + 1}?module=PLA" if more else ""
        applications = [self._register()[reference].application for reference in shown]
        return HTMLResponse(
            _search_page(results=list(zip(shown, applications, strict=True)), total=len(found), following=following)
        )


def _received_within(entry: SampleEntry, first: date | None, last: date | None) -> bool:
    received = entry.application.date_received
    return (first or received) <= received <= (last or received)


def _search_page(token: str = "", results: Sequence[object] | None = None, total: int = 0, following: str = "") -> str:
    return templates.get_template("search.html").render(
        fictional=FICTIONAL, token=token, results=results, total=total, following=following
    )
