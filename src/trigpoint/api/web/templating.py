"""Templates, with every value escaped, and their static files. All dates and words are formatted here."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import date, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from trigpoint import __version__
from trigpoint.api.web.charts import draw_comparison
from trigpoint.review.citing import document_title, policy_place
from trigpoint.review.findings import listed_pages, pages_text
from trigpoint.review.overview import deadline, plain_text
from trigpoint.review.people import is_public_comment

STATIC = {
    "site.css": "text/css; charset=utf-8",
    "review.css": "text/css; charset=utf-8",
    "review.js": "text/javascript; charset=utf-8",
    "site.js": "text/javascript; charset=utf-8",
    "letter.css": "text/css; charset=utf-8",
    "letter.js": "text/javascript; charset=utf-8",
    "mark.svg": "image/svg+xml",
}
_YEAR = "public, max-age=31536000, immutable"


@cache
def _static_file(name: str) -> bytes:
    return (files("trigpoint.api.web") / "static" / name).read_bytes()


@cache
def _static_url(name: str) -> str:
    """Return an address that changes with the content, so that it may be cached forever."""
    return f"/static/{name}?v={hashlib.sha256(_static_file(name)).hexdigest()[:12]}"


def serve_static(name: str) -> Response:
    return Response(_static_file(name), headers={"Content-Type": STATIC[name], "Cache-Control": _YEAR})


def _day_in_words(value: date | str | None) -> str:
    """Return `2024-12-12` as `12 December 2024`; a value that is not a day is shown as it is."""
    if value is None:
        return "no end"
    try:
        shown = value if isinstance(value, date) else date.fromisoformat(value[:10])
    except ValueError:
        return str(value)
    return f"{shown.day} {shown:%B %Y}"


def _moment(value: datetime | str) -> str:
    """Return a moment to the minute, in UTC like everything here."""
    iso = value.isoformat() if isinstance(value, datetime) else value
    return f"{_day_in_words(iso)}, {iso[11:16]} UTC"


def _words(value: object) -> str:
    """Return `cycle_parking` as `Cycle parking`."""
    text = str(value).replace("_", " ").strip()
    return text[:1].upper() + text[1:].lower() if text.isupper() or text.islower() else text


def _snippet(text: str) -> str:
    """Return the first words of a text, on one line."""
    return " ".join(text[:120].split())[:60]


def web_address(value: str | None) -> str | None:
    """Return an address that a link may lead to: http or https, and nothing else."""
    return value if value and value.startswith(("https://", "http://")) else None


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("trigpoint.api.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "day": _day_in_words,
        "moment": _moment,
        "words": _words,
        "snippet": _snippet,
        "document_title": document_title,
        "plain_text": plain_text,
        "deadline": deadline,
        "policy_place": policy_place,
        "chart": draw_comparison,
        "listed_pages": lambda pages: listed_pages(tuple(pages)),
        "pages_text": lambda pages: pages_text(tuple(pages)),
    }
    made.tests |= {"public_comment": is_public_comment}
    made.globals |= {"static": _static_url, "version": __version__}
    return made


def _graph_link(request: Request) -> bool:
    resources = request.scope.get("resources")
    return resources is not None and resources.graph_has_something()


class _Page(HTMLResponse):
    """A page that is rendered when it is sent, in a thread: a long one takes tens of milliseconds, and no other answer
    should wait for it."""

    def __init__(self, template: str, context: dict[str, Any], status_code: int) -> None:
        super().__init__(status_code=status_code, headers={"Cache-Control": "no-store"})
        self._template, self._context = template, context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.body = await asyncio.to_thread(self._render)
        self.headers["Content-Length"] = str(len(self.body))
        await super().__call__(scope, receive, send)

    def _render(self) -> bytes:
        return environment().get_template(self._template).render(self._context).encode()


def page(request: Request, template: str, http_status: int = 200, /, **context: Any) -> HTMLResponse:
    """Return a page. `path` marks the current part of the site; `signed_in` shows the way out."""
    shown = {
        "path": request.url.path,
        "signed_in": request.scope.get("signed_in", False),
        "notice": None,
        "graph_link": request.url.path.startswith("/graph") or _graph_link(request),
        **context,
    }
    return _Page(template, shown, http_status)
