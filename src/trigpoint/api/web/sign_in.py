"""Signing in and out. A key travels in the body of a form only; failed tries are counted by address."""

from __future__ import annotations

import logging

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from trigpoint.api.web.sessions import COOKIE, Sessions, safe_next, set_cookie
from trigpoint.api.web.templating import page
from trigpoint.http.bearer import client_address

log = logging.getLogger(__name__)


async def form(request: Request) -> Response:
    sessions: Sessions = request.scope["sessions"]
    if not sessions.required:
        return RedirectResponse("/", 303)
    return page(request, "sign_in.html", next=safe_next(request.query_params.get("next", "/")), problem=None)


async def sign_in(request: Request) -> Response:
    sessions: Sessions = request.scope["sessions"]
    sent = await request.form()
    then = safe_next(str(sent.get("next", "/")))
    key = sessions.key(str(sent.get("key", "")).strip())
    address = client_address(request.scope)
    window = await request.scope["limiter"].take(key.secret if key else None, address)
    if not window.allowed:
        problem = f"Too many attempts. Wait {window.retry_after} seconds."
        return page(request, "sign_in.html", 429, next=then, problem=problem)
    if key is None:
        log.warning("refused a sign-in from %s", address)
        return page(request, "sign_in.html", 401, next=then, problem="That key is not known here.")
    answer = RedirectResponse(then, 303)
    cookie = await sessions.open(request.scope["services"].redis, key)
    set_cookie(answer, cookie, secure=request.url.scheme == "https")
    return answer


async def sign_out(request: Request) -> Response:
    sessions: Sessions = request.scope["sessions"]
    await sessions.end(request.scope["services"].redis, request.cookies.get(COOKIE, ""))
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return answer


ROUTES = [
    Route("/sign-in", form),
    Route("/sign-in", sign_in, methods=["POST"]),
    Route("/sign-out", sign_out, methods=["POST"]),
]
