"""The pages as a separate application: their paths, their guard, their errors.

Every answer carries a strict content policy. A program that asks for a path that is not a page is answered by the REST API.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import quote

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigpoint.api.bodies import FORM_BYTES, files_limit, upload_limit
from trigpoint.api.errors import allowed_methods
from trigpoint.api.services import services_in
from trigpoint.api.web import (
    documents,
    given,
    graph,
    letter,
    library,
    library_projects,
    policies,
    policy_texts,
    reviews,
    sign_in,
    status,
    watch,
)
from trigpoint.api.web.resources import Resources
from trigpoint.api.web.sessions import COOKIE, Sessions, is_own_form
from trigpoint.api.web.templating import STATIC, page, serve_static
from trigpoint.config import Settings
from trigpoint.errors import ServerUnreachable, StoreUnavailable, ToolFailed, TrigpointError
from trigpoint.http.limits import READING, BodyLimit, too_large
from trigpoint.keys import KeyScope
from trigpoint.storage.space import full_disk_behind

log = logging.getLogger(__name__)

_PARTS = frozenset(
    {"", "reviews", "watch", "policies", "library", "graph", "status", "sign-in", "sign-out", "static", "favicon.ico"}
)
_OTHERS = frozenset({"api", "health", "docs", "redoc", "openapi.json", "metrics"})
_PUBLIC = frozenset({"sign-in", "static", "favicon.ico"})
_MANY_FILES = frozenset({"/reviews/files", "/library/project"})

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class GuardedPages:
    """The pages behind their guard: who may see them, which site a form may come from, how large it may be."""

    def __init__(self, resources: Resources, rest: ASGIApp) -> None:
        self._rest = rest
        self._resources = resources
        self._sessions = Sessions(resources.settings.key_ring)
        self._limited = BodyLimit(self._guarded, limit_of=_body_limit(resources.settings), refuse=_refuse_size)
        self._pages = _pages_app()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _is_page(scope):
            await self._rest(scope, receive, send)
            return
        services = services_in(scope)
        scope = {
            **scope,
            "services": services,
            "limiter": services.limiter,
            "resources": self._resources,
            "sessions": self._sessions,
        }
        await self._limited(scope, receive, _with_headers(send))

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Decide who may see a page, and which site a form may come from. The good path is last."""
        request = Request(scope)
        part = scope["path"].split("/")[1]
        key = None
        if self._sessions.required and part != "static":
            try:
                key = await self._sessions.holder(scope["services"].redis, request.cookies.get(COOKIE, ""))
            except StoreUnavailable as error:
                await (await _ours(request, error))(scope, receive, send)
                return
        scope["signed_in"] = signed_in = key is not None
        if request.method not in READING and not is_own_form(request):
            refusal = "This form was not sent from one of our own pages. Open the page again and repeat what you did."
            await _error_page(request, 403, refusal)(scope, receive, send)
        elif self._sessions.required and not signed_in and part not in _PUBLIC:
            here = scope["path"] + (f"?{request.url.query}" if request.url.query else "")
            target = "/sign-in" if here == "/" or request.method not in READING else f"/sign-in?next={quote(here)}"
            await RedirectResponse(target, 303, {"Cache-Control": "no-store"})(scope, receive, send)
        elif (
            key is not None and part != "sign-out" and (needed := _scope_needed(request.method, part)) not in key.scopes
        ):
            refusal = f"The key '{key.name}' that you signed in with may not do this: it lacks the scope '{needed}'."
            await _error_page(request, 403, refusal)(scope, receive, send)
        else:
            await self._pages(scope, receive, send)


def _body_limit(settings: Settings) -> Callable[[Scope], int]:
    """Return the limit of a form by its page. Anybody may try to sign in, and a key is short."""
    one, many = upload_limit(settings), files_limit(settings)

    def limit_of(scope: Scope) -> int:
        if scope["path"] == "/sign-in":
            return FORM_BYTES
        return many if scope["path"] in _MANY_FILES else one

    return limit_of


def _pages_app() -> Starlette:
    """Return all routes of all pages."""

    async def static(request: Request) -> Response:
        name = request.path_params.get("name", "mark.svg")
        if name not in STATIC:
            raise HTTPException(404)
        return serve_static(name)

    made = Starlette(
        routes=[
            *given.ROUTES,
            *reviews.ROUTES,
            *letter.ROUTES,
            *documents.ROUTES,
            *policy_texts.ROUTES,
            *policies.ROUTES,
            *library_projects.ROUTES,
            *library.ROUTES,
            *graph.ROUTES,
            *status.ROUTES,
            *watch.ROUTES,
            *sign_in.ROUTES,
            Route("/static/{name}", static),
            Route("/favicon.ico", static),
        ],
        exception_handlers={
            TrigpointError: _ours,
            HTTPException: _http_error_page,
            ValidationError: _invalid,
            RequestValidationError: _invalid,
            OSError: _system,
            Exception: _unexpected,
        },
    )
    made.router.redirect_slashes = False
    return made


def _error_page(request: Request, status: int, message: str, title: str | None = None) -> Response:
    shown = title or {404: "Not found", 503: "A part cannot be reached"}.get(status) or HTTPStatus(status).phrase
    return page(request, "error.html", status, title=shown, message=message, status=status)


def _is_page(scope: Scope) -> bool:
    part = scope["path"].split("/")[1] if scope["path"].startswith("/") else ""
    if part in _PARTS:
        return True
    accepts = next((value for name, value in scope["headers"] if name == b"accept"), b"")
    return part not in _OTHERS and scope["method"] in ("GET", "HEAD") and b"text/html" in accepts


def _scope_needed(method: str, part: str) -> KeyScope:
    """Return the scope that a key needs for a page."""
    if method in READING:
        return "read"
    return "submit" if part in ("", "reviews", "watch") else "manage"


async def _refuse_size(scope: Scope, receive: Receive, send: Send, limit: int) -> None:
    await _error_page(Request(scope), 413, f"{too_large(limit)}.")(scope, receive, send)


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, TrigpointError)
    if error.status >= 500:
        log.warning("%s %s: %s: %s", request.method, request.url.path, error.code, error.message)
    title = "A part cannot be reached" if isinstance(error, ServerUnreachable | StoreUnavailable) else None
    return _error_page(request, _status(error), error.message, title)


def _status(error: TrigpointError) -> int:
    """Return the status of an error: a tool that refuses a request has not failed; the request was wrong."""
    if isinstance(error, ToolFailed) and error.code.lower().endswith("not_found"):
        return 404
    if isinstance(error, ToolFailed) and error.code.lower() in ("validation_error", "invalid_input"):
        return 422
    return error.status


async def _http_error_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405 and request.method == "OPTIONS":
        return Response(status_code=204, headers={"Allow": allowed_methods(request)})
    said = {404: "There is no such page. It may have been removed, or the address may be mistyped."}
    shown = _error_page(request, error.status_code, said.get(error.status_code, str(error.detail)))
    if error.status_code == 405:
        shown.headers["Allow"] = allowed_methods(request)
    return shown


async def _invalid(request: Request, error: Exception) -> Response:
    return _error_page(request, 422, _problem_text(error), "The input is not valid")


async def _system(request: Request, error: Exception) -> Response:
    """Tell a full disk apart from errors that nobody expected."""
    if (full := full_disk_behind(error)) is None:
        raise error
    return await _ours(request, full)


async def _unexpected(request: Request, error: Exception) -> Response:
    return _error_page(request, 500, "Something went wrong on our side. It has been logged.", "Something went wrong")


def _problem_text(error: Exception) -> str:
    """Return the message that a person reads about a refused value."""
    assert isinstance(error, ValidationError | RequestValidationError)
    return "; ".join(str(problem["msg"]).removeprefix("Value error, ") for problem in error.errors()[:3])
