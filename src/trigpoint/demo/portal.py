"""A planning portal on this machine: pages of a DEF Atrium register, sample documents, faults, a log of requests.

`DemoPortal` runs in its own thread, so that a test or a command can start and stop it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Self
from urllib.parse import quote, urlsplit

import uvicorn
from pydantic import TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigpoint.demo.atrium_search import AtriumSearch
from trigpoint.demo.faults import Fault, Faults
from trigpoint.demo.register import SampleEntry, Served, display_page, other_page
from trigpoint.errors import StoreError
from trigpoint.http.serving import listen

DISCLAIMER_COOKIE = "demo_disclaimer"
_ADMIN = "/_demo/"
_CHALLENGE = "<title>Just a moment...</title><p>Checking that you are human.</p><div class='cf-turnstile'></div>"


@dataclass(frozen=True)
class _SeenRequest:
    """A request that arrived. `at` is on the monotonic clock."""

    at: float
    method: str
    target: str
    fault: str | None


class DemoPortal:
    """The portal on a port (0: any free one). `url` and `seen` are there while it runs."""

    def __init__(
        self,
        register: Mapping[str, SampleEntry],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        faults: list[Fault] | None = None,
        unknown_redirects: bool = False,
        robots: str | None = None,
        results_a_page: int = 10,
        script_pages: bool = True,
    ) -> None:
        self.register = dict(register)
        self.faults = Faults(faults)
        self.seen: list[_SeenRequest] = []
        self.unknown_redirects = unknown_redirects
        self.robots = robots
        self.results_a_page = results_a_page
        self._search_pages = AtriumSearch(
            lambda: self.register, results_a_page=results_a_page, script_pages=script_pages
        )
        self._address = (host, port)
        self._server = uvicorn.Server(uvicorn.Config(self.app(), log_config=None, log_level="critical", lifespan="off"))

    # --- running

    def start(self) -> Self:
        """Start it, and return once it answers. Raises StoreError if the port is taken."""
        try:
            listening = listen(*self._address)
        except OSError as error:
            host, port = self._address
            raise StoreError(f"The demo portal cannot listen on {host}:{port}: {error.strerror}") from None
        host, port = listening.getsockname()[:2]
        self.url = f"http://{host}:{port}"
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True, name="demo-portal")
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        return self

    def stop(self) -> None:
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(timeout=10)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def wait(self) -> None:
        """Wait until it is stopped."""
        while self._thread.is_alive():
            self._thread.join(timeout=0.5)

    # --- the application

    def app(self) -> ASGIApp:
        administration = [
            Route("/_demo/requests", self._requests),
            Route("/_demo/faults", self._order, methods=["GET", "PUT"]),
            Route("/robots.txt", self._robots),
        ]
        return _Faulty(Starlette(routes=[*self.routes(), *administration]), self)

    def routes(self) -> list[Route]:
        """Return the pages of the register."""
        return [
            Route("/", self._index),
            Route("/Planning/Display/{reference:path}", self._display),
            Route("/Search/Planning", self._search),
            *self._search_pages.routes(),
            Route("/Disclaimer/Accept", self._accept, methods=["POST"]),
            Route("/Document/Download", self._download),
        ]

    @property
    def address(self) -> str:
        """The address that a register's entry names."""
        return self.url

    def error_page(self, title: str, status: int = 200) -> Response:
        return HTMLResponse(other_page(title), status)

    def disclaimer_page(self, target: str) -> Response:
        return HTMLResponse(other_page("Disclaimer", disclaimer=target))

    def fault_page(self) -> Response:
        """Return what the product shows with status 200 when something behind it fails."""
        return HTMLResponse(other_page("An error has occurred"))

    async def _index(self, request: Request) -> Response:
        return HTMLResponse(other_page("Sample applications", entries=self.register.values()))

    async def _display(self, request: Request) -> Response:
        reference = request.path_params["reference"]
        entry = self.register.get(reference)
        if entry is not None:
            return HTMLResponse(display_page(entry, self._record(reference)))
        if self.unknown_redirects:
            return RedirectResponse("/Search/Planning", 302)
        return HTMLResponse(other_page("Page not found"), 404)

    async def _robots(self, request: Request) -> Response:
        return Response("Not found", 404) if self.robots is None else Response(self.robots, media_type="text/plain")

    async def _search(self, request: Request) -> Response:
        return HTMLResponse(other_page("Planning application search", search=True))

    async def _accept(self, request: Request) -> Response:
        target = urlsplit(request.query_params.get("returnUrl", "/"))
        back = (target.path or "/") + (f"?{target.query}" if target.query else "")
        response = RedirectResponse(back if not target.netloc else "/", 302)
        response.set_cookie(DISCLAIMER_COOKIE, "accepted", httponly=True)
        return response

    async def _download(self, request: Request) -> Response:
        document = self._document(request.query_params.get("recordNumber"), request.query_params.get("imageId"))
        if document is None:
            return HTMLResponse(other_page("Document not found"), 404)
        content = await asyncio.to_thread(document.read)
        name = quote(document.file_name, safe="")
        return Response(content, headers={"Content-Disposition": f"attachment; filename*=utf-8''{name}"})

    async def _requests(self, request: Request) -> Response:
        return JSONResponse([asdict(one) for one in self.seen])

    async def _order(self, request: Request) -> Response:
        if request.method == "PUT":
            try:
                self.faults.replace(TypeAdapter(list[Fault]).validate_json(await request.body()))
            except ValidationError as error:
                return JSONResponse({"error": str(error)}, 422)
        return JSONResponse([fault.model_dump() for fault in self.faults.current()])

    # --- finding

    def _record(self, reference: str) -> int:
        return 160_000 + list(self.register).index(reference)

    def _document(self, record: str | None, image: str | None) -> Served | None:
        for reference, entry in self.register.items():
            if str(self._record(reference)) == record:
                numbered = {str(number): document for number, document in enumerate(entry.documents, 1)}
                return numbered.get(image or "")
        return None


class _Faulty:
    """Logs each request and puts the ordered fault between it and the site."""

    def __init__(self, app: ASGIApp, portal: DemoPortal) -> None:
        self.app = app
        self.portal = portal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(_ADMIN):
            await self.app(scope, receive, send)
            return
        at = time.monotonic()
        request = Request(scope)
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        accepted = DISCLAIMER_COOKIE in request.cookies or scope["method"] == "POST"
        fault = None if "moved=1" in target else self.portal.faults.take(target, accepted=accepted)
        self.portal.seen.append(_SeenRequest(at, scope["method"], target, fault.kind if fault else None))
        if fault is None:
            await self.app(scope, receive, send)
        elif fault.kind == "cut":
            with contextlib.suppress(_Cut):
                await self.app(scope, receive, _cutting(send))
        else:
            if fault.kind == "slow":
                await asyncio.sleep(float(fault.value))
            await (_response(fault, target, self.portal) or self.app)(scope, receive, send)


def _response(fault: Fault, target: str, portal: DemoPortal) -> Response | None:
    match fault.kind:
        case "error":
            return portal.error_page("Server error", 500)
        case "too_many":
            return Response("Too many requests", 429, headers={"Retry-After": fault.value})
        case "html":
            return portal.error_page("Document not found")
        case "moved":
            return RedirectResponse(target + ("&" if "?" in target else "?") + "moved=1", 302)
        case "away":
            return RedirectResponse(fault.value, 302)
        case "disclaimer":
            return portal.disclaimer_page(target)
        case "empty":
            return Response(b"")
        case "challenge":
            return HTMLResponse(_CHALLENGE, 403, headers={"cf-mitigated": "challenge"})
        case "passing":
            return portal.fault_page()
        case "strange":
            return HTMLResponse("<title>New planning service</title><h1>We have moved to a new planning service</h1>")
    return None


class _Cut(Exception):
    """Ends the answer before it is whole; the server then closes the connection."""


def _cutting(send: Send) -> Send:
    async def cut(message: Message) -> None:
        if message["type"] == "http.response.body":
            body = message.get("body", b"")
            await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
            raise _Cut
        await send(message)

    return cut
