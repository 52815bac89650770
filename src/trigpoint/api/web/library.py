"""The library: projects, and search in one of them with citations to copy. Asked of the library's server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trigpoint.api.services import Services
from trigpoint.api.web.asking import address, ask, site_of
from trigpoint.api.web.templating import page
from trigpoint.config import Settings
from trigpoint.errors import ConfigurationError, InvalidInput, ToolFailed
from trigpoint.library.citations import STYLES, current_references, formatted, installed_styles, style_named
from trigpoint.library.projects import load_projects
from trigpoint.review.findings import pages_text

_RESULTS = 12
_LONGEST_QUERY = 500


@dataclass(frozen=True)
class _ProjectCard:
    id: str
    model: str
    hybrid: bool
    size: int | None


@dataclass(frozen=True)
class LibraryHit:
    """A passage and how it is cited."""

    text: str
    title: str
    citation: str
    citekey: str | None
    section: str | None
    pages: tuple[int, ...]
    url: str | None
    score: float
    doubt: str | None = None
    chunk_id: str = ""
    doi: str | None = None
    styled: str | None = None

    @property
    def full_citation(self) -> str:
        """The reference with the pages of this passage. In a chosen style it is the entry of a list, without pages."""
        if self.styled is not None:
            return self.styled
        return f"{self.citation.rstrip('. ')}, {pages_text(self.pages)}." if self.pages else self.citation

    @property
    def key_citation(self) -> str | None:
        """The reference as Pandoc and Quarto write it: `[@alden2019, p. 4]`."""
        if self.citekey is None:
            return None
        if not self.pages:
            return f"[@{self.citekey}]"
        first, last = self.pages[0], self.pages[-1]
        pages = f"{first}" if len(self.pages) == 1 else f"{first}-{last}"
        return f"[@{self.citekey}, p. {pages}]"

    @classmethod
    def of(cls, item: dict[str, Any]) -> LibraryHit:
        span = item.get("page_span") or []
        pages = tuple(range(span[0], span[-1] + 1))[:50] if span else ()
        url = item.get("url") or (f"https://doi.org/{item['doi']}" if item.get("doi") else None)
        title = item.get("title") or item.get("citekey") or item["doc_id"]
        return cls(
            text=item.get("full_text") or item["render_text"],
            title=title,
            citation=item.get("citation") or title,
            citekey=item.get("citekey"),
            section=item.get("section"),
            pages=pages,
            url=url if url and url.startswith(("https://", "http://")) else None,
            score=item["score"],
            doubt=item.get("citation_doubt"),
            chunk_id=item.get("chunk_id") or "",
            doi=item.get("doi"),
        )


async def projects(request: Request) -> Response:
    services: Services = request.scope["services"]
    listed = await _projects(services.settings)
    cards = [await _card(services.settings, project) for project in listed]
    where = f"{site_of(address(services.settings, 'library'))}/mcp"
    return page(request, "library.html", projects=cards, address=where)


async def search(request: Request) -> Response:
    services: Services = request.scope["services"]
    listed = await _projects(services.settings)
    project = request.query_params.get("project", "").strip()
    query = request.query_params.get("q", "").strip()[:_LONGEST_QUERY]
    chosen = next((p for p in listed if p["id"] == project), None)
    hits: list[LibraryHit] = []
    problem, weak = None, False
    style = request.query_params.get("style", "harvard")
    if style not in STYLES:
        raise HTTPException(404)
    if chosen is None:
        problem = "Choose one of the projects." if project or query else None
    elif query:
        tool = "query_hybrid" if chosen["hybrid_enabled"] else "find_chunks"
        args = {"project": project, "query": query, "top_k": _RESULTS, "include_full_text": True}
        try:
            answer = await ask(services.settings, "library", tool, args)
            hits = [LibraryHit.of(item) for item in answer["items"]]
            if style != "harvard":
                hits = await asyncio.to_thread(_in_style, services.settings, project, hits, style)
            weak = answer.get("weak", False)
        except (ToolFailed, ConfigurationError, InvalidInput) as error:
            problem = error.message
    return page(
        request,
        "library_search.html",
        422 if problem else 200,
        projects=[p["id"] for p in listed],
        project=project,
        query=query,
        hits=hits,
        weak=weak,
        problem=problem,
        style=style,
        styles=installed_styles(),
    )


def _in_style(settings: Settings, project: str, hits: list[LibraryHit], style: str) -> list[LibraryHit]:
    """Return the passages cited in a style, as far as the project's references have their works."""
    known = load_projects(settings).by_id.get(project)
    references = current_references(known.references if known else None)
    chosen = style_named(style)
    works = [references.find(one.citekey, one.doi) for one in hits]
    return [
        replace(one, styled=formatted(work.csl, chosen) if work else None)
        for one, work in zip(hits, works, strict=True)
    ]


async def _projects(settings: Settings) -> list[dict[str, Any]]:
    answer = await ask(settings, "library", "list_projects", {})
    listed: list[dict[str, Any]] = answer["projects"]
    return listed


async def _card(settings: Settings, project: dict[str, Any]) -> _ProjectCard:
    """Return a project's card, with the number of its passages if the store can tell."""
    size = None
    try:
        seen = await ask(settings, "library", "inspect_collection", {"project": project["id"], "sample": 0})
        size = int(seen["size"])
    except ToolFailed:
        size = None  # shown as not known; the search says what is wrong
    return _ProjectCard(project["id"], project["embed_model"], project["hybrid_enabled"], size)


ROUTES = [Route("/library", projects), Route("/library/search", search)]
