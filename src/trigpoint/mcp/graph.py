# ruff: noqa: N815  arguments are named as in the contract
"""The graph's MCP server: six tools of the contract and one more, port 3005 and stdio. All of them only read.

A thin adapter: it holds no data and asks the backend over HTTP, with the caller's bearer token. What is allowed,
valid or there at all, the backend says.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal
from urllib.parse import urlencode

import httpx
from pydantic import BaseModel, ConfigDict, Field, create_model
from starlette.applications import Starlette

from trigpoint.config import Settings
from trigpoint.errors import (
    ConfigurationError,
    GraphBadRequest,
    GraphConflict,
    GraphError,
    GraphForbidden,
    GraphNotFound,
    GraphUnauthorized,
    InvalidInput,
    TrigpointError,
    UnknownTool,
    shorten,
)
from trigpoint.graph import models, performance
from trigpoint.graph.vocabulary import RELATION_TYPES
from trigpoint.ids import parse_uuid
from trigpoint.mcp.server import PlainText, Tool, ToolCall, ToolInput, ToolServer

_SECONDS = 30.0  # for a whole answer, its last byte included
_LONGEST_QUERY = 32_000  # bytes as a part of the URL; servers and proxies refuse longer ones each in their own way
_ERRORS: dict[str, type[GraphError]] = {
    kind.code: kind for kind in (GraphBadRequest, GraphUnauthorized, GraphForbidden, GraphNotFound, GraphConflict)
}
_INSTRUCTIONS = (
    "A read-only view of content projects: entities (guides, concepts, projects, news), how they relate, how they do in "
    "Google Search, and quotable statements with their sources. Start with list_projects, then pass a projectId. Nothing "
    "can be changed here."
)


class Paged(ToolInput):
    page: int = Field(1, ge=1, description="Page number from 1. Not together with cursor")
    limit: int = Field(20, ge=1, le=100, description="Rows a page, at most 100")
    cursor: PlainText | None = Field(
        None, description="pagination.nextCursor of the answer before: the next page, stable under inserts"
    )
    fields: PlainText | None = Field(
        None, description="Comma-separated field names to answer with, to save space. Default: all"
    )


class ListProjects(Paged):
    pass


class SearchEntities(Paged):
    entityType: Literal["guide", "concept", "project", "news"] | None = Field(None, description="Only this type")
    status: Literal["draft", "publish_requested", "published", "archived"] | None = Field(
        None, description="Only this status"
    )
    conceptKind: Literal["standard", "model", "comparison"] | None = Field(
        None, description="Only concepts of this kind"
    )
    search: PlainText | None = Field(None, description="Text that the title or slug must contain; case does not matter")


class GetEntity(ToolInput):
    entityId: PlainText = Field(description="UUID of the entity")
    fields: PlainText | None = Field(None, description="Comma-separated field names to answer with. Default: all")


class GetEntityGraph(ToolInput):
    entityId: PlainText = Field(description="UUID of the entity to start from")
    depth: int = Field(1, ge=1, le=2, description="1: its own relationships. 2: also those of its neighbours")
    relationshipTypes: PlainText | None = Field(
        None, description=f"Comma-separated types to follow. Default: all of {', '.join(RELATION_TYPES)}"
    )
    cursor: PlainText | None = Field(
        None, description="nextCursor of the answer before: the next relationships of an entity that has many"
    )


class OfSearch(Paged):
    query: PlainText | None = Field(None, description="Text that the search query must contain; case does not matter")
    pageUrl: PlainText | None = Field(None, description="Text that the page's URL must contain; case does not matter")
    entityId: PlainText | None = Field(None, description="Only rows linked to this entity (UUID)")


class ListSearchPerformance(OfSearch):
    dateStart: PlainText | None = Field(
        None, description="Only periods that start on or after this: YYYY-MM-DD or a UTC timestamp"
    )
    dateEnd: PlainText | None = Field(
        None, description="Only periods that end on or before this: YYYY-MM-DD or a UTC timestamp"
    )


class CompareSearchPerformance(ToolInput):
    firstStart: PlainText = Field(description="Start of the first period, YYYY-MM-DD")
    firstEnd: PlainText = Field(description="End of the first period, YYYY-MM-DD")
    secondStart: PlainText = Field(description="Start of the second period, YYYY-MM-DD")
    secondEnd: PlainText = Field(description="End of the second period, YYYY-MM-DD")
    query: PlainText | None = Field(None, description="Text that the search query must contain")
    pageUrl: PlainText | None = Field(None, description="Text that the page's URL must contain")
    entityId: PlainText | None = Field(None, description="Only rows linked to this entity (UUID)")


class ListQuotableBlocks(Paged):
    entityId: PlainText | None = Field(None, description="Only blocks of this entity (UUID)")
    claimType: Literal["statistic", "comparison", "definition", "howto_step"] | None = Field(
        None, description="Only this type"
    )
    topicTag: PlainText | None = Field(None, description="Text that the topic tag must contain; case does not matter")
    verifiedUntilBefore: PlainText | None = Field(
        None, description="Only claims verified until this or earlier: YYYY-MM-DD"
    )
    verifiedUntilAfter: PlainText | None = Field(
        None, description="Only claims verified until this or later: YYYY-MM-DD"
    )


class Bridge:
    """The way to the backend, open for as long as the server runs."""

    def __init__(self, settings: Settings) -> None:
        self.url = settings.server_url("graph")
        self._own_key = settings.key_ring.own("read")
        self._own: Starlette | None = None
        self._http = httpx.AsyncClient(base_url=self.url, timeout=_SECONDS, trust_env=False, follow_redirects=False)

    async def get(self, path: str, call: ToolCall, *, project_id: str | None = None, **params: Any) -> dict[str, Any]:
        """Return the backend's answer. Raises its error as it came, or GraphError if there is no answer."""
        headers = {b"x-project-id": project_id.encode()} if project_id is not None else {}
        if call.authorization is not None:
            headers[b"authorization"] = call.authorization.encode("latin-1")  # the bytes that came
        elif call.over_stdio and self._own_key is not None:  # the process's starter knows its environment
            headers[b"authorization"] = f"Bearer {self._own_key}".encode()
        query = _query(params)
        try:
            async with asyncio.timeout(_SECONDS):
                answer = await self._http.get(path, params=query, headers=headers)
            body = answer.json()
        except (httpx.HTTPError, TimeoutError, ValueError) as error:
            reason = shorten(error) or type(error).__name__
            raise GraphError(
                f"The graph's backend at {self.url} did not answer: {reason}. Check that it runs, and TRIGPOINT_GRAPH_URL"
            ) from None
        if answer.status_code != 200 or not isinstance(body, dict):
            raise _backend_error(body)
        return body

    async def answers(self) -> bool:
        """Return whether anything answers at the backend's address."""
        try:
            await self._http.get("/health", timeout=2)
        except httpx.HTTPError:
            return False
        return True

    async def bring_own(self, settings: Settings) -> None:
        """Use a backend within this process, on the same database."""
        from trigpoint.api.routes.graph import graph_app

        await self._http.aclose()
        self._own = graph_app(settings)
        transport = httpx.ASGITransport(app=self._own, raise_app_exceptions=False)
        self._http = httpx.AsyncClient(base_url="http://127.0.0.1", timeout=_SECONDS, transport=transport)

    async def close(self) -> None:
        await self._http.aclose()
        if self._own is not None:
            self._own.state.store.close()


def _query(params: dict[str, Any]) -> str:
    given = {name: value for name, value in params.items() if value is not None}
    query = urlencode(given)
    if len(query) > _LONGEST_QUERY:
        longest = max(given, key=lambda name: len(str(given[name])))
        raise GraphBadRequest(
            f"The arguments are too long: {len(query)} bytes in a URL, at most {_LONGEST_QUERY} are sent. "
            f"Shorten '{longest}'"
        )
    return query


def _backend_error(body: Any) -> GraphError:
    error = body.get("error") if isinstance(body, dict) else None
    error = error if isinstance(error, dict) else {}
    kind = _ERRORS.get(str(error.get("code")), GraphError)
    return kind(str(error.get("message", "The graph's backend failed")))


def server(settings: Settings) -> ToolServer:
    """Return the server of graph reads. `TRIGPOINT_GRAPH_PROJECT` pins it to one project."""
    pinned = _pinned(settings.trigpoint_graph_project)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[Bridge]:
        bridge = Bridge(settings)
        try:
            yield bridge
        finally:
            await bridge.close()

    async def with_backend(bridge: Bridge) -> None:
        """Start a backend if none answers: a client may have started this server where nothing else runs."""
        if settings.trigpoint_graph_url is None and not await bridge.answers():
            await bridge.bring_own(settings)

    return ToolServer(
        "graph",
        _tools(pinned),
        settings,
        error_body=graph_error,
        unauthorized=GraphUnauthorized.code,
        lifespan=lifespan,
        instructions=_INSTRUCTIONS,
        prepare_alone=with_backend,
    )


def graph_error(error: TrigpointError) -> dict[str, Any]:
    """Return the graph's envelope. Arguments that do not fit the schema are BAD_REQUEST."""
    if isinstance(error, GraphError):
        code = error.code
    else:
        code = "BAD_REQUEST" if isinstance(error, InvalidInput | UnknownTool) else "SERVER_ERROR"
    return {"error": {"code": code, "message": error.message}}


Handler = Callable[[Any, ToolCall], Awaitable[dict[str, Any]]]


def _tools(pinned: str | None) -> list[Tool]:
    def tool(
        name: str, description: str, arguments: type[ToolInput], output: type[BaseModel], handler: Handler
    ) -> Tool:
        return Tool(name, description, arguments, output, handler, read_only=True, idempotent=True)

    def scoped(path: str) -> Handler:
        async def handler(arguments: Any, call: ToolCall) -> dict[str, Any]:
            # without defaults: a default page must not be sent along with a cursor
            given: dict[str, Any] = arguments.model_dump(exclude_unset=True)
            project_id = _project(given.pop("projectId", None), pinned)
            entity_id = _checked(given.pop("entityId"), "entityId") if "{entity}" in path else ""
            bridge: Bridge = call.state
            return await bridge.get(path.format(entity=entity_id), call, project_id=project_id, **given)

        return handler

    async def list_projects(arguments: ListProjects, call: ToolCall) -> dict[str, Any]:
        bridge: Bridge = call.state
        return await bridge.get("/api/projects", call, projectId=pinned, **arguments.model_dump(exclude_unset=True))

    return [
        tool(
            "list_projects",
            "List the projects, by slug. Every other tool needs the id of one as projectId.",
            ListProjects,
            _page_of(models.Project),
            list_projects,
        ),
        tool(
            "search_entities",
            "List a project's entities (guides, concepts, projects, news), newest first, filtered by type, status, kind "
            "of concept, or text in title and slug.",
            _in_project(SearchEntities, pinned),
            _page_of(models.Entity),
            scoped("/api/entities"),
        ),
        tool(
            "get_entity",
            "One entity with all its fields, by its id.",
            _in_project(GetEntity, pinned),
            _one_of(models.Entity),
            scoped("/api/entities/{entity}"),
        ),
        tool(
            "get_entity_graph",
            "An entity and its relationships, one or two steps away, newest first. `truncated` tells when there are more "
            "than one answer holds; `nextCursor` then leads to the entity's next ones.",
            _in_project(GetEntityGraph, pinned),
            _one_of(models.EntityGraph),
            scoped("/api/entities/{entity}/graph"),
        ),
        tool(
            "list_search_performance",
            "Google Search Console rows of a project, latest period first: which queries led to which pages, with "
            "impressions, clicks, rate and position. Data is about three days behind.",
            _in_project(ListSearchPerformance, pinned),
            _page_of(models.SearchPerformance),
            scoped("/api/seo/search-performance"),
        ),
        tool(
            "list_quotable_blocks",
            "Statements of a project that can be quoted on their own, newest first, with source, topic and how long they "
            "are verified.",
            _in_project(ListQuotableBlocks, pinned),
            _page_of(models.QuotableBlock),
            scoped("/api/quotable-blocks"),
        ),
        tool(
            "compare_search_performance",
            "Sums of search performance in two periods and the change between them. They are sums of stored rows, not "
            "totals of the site: Search Console leaves rare queries out.",
            _in_project(CompareSearchPerformance, pinned),
            _one_of(performance.Comparison),
            scoped("/api/seo/search-performance/compare"),
        ),
    ]


def _pinned(setting: str | None) -> str | None:
    if not setting:
        return None
    try:
        return parse_uuid(setting)
    except InvalidInput:
        raise ConfigurationError(
            f"TRIGPOINT_GRAPH_PROJECT={shorten(setting)}: must be the UUID of a project, as list_projects gives it"
        ) from None


def _project(given: str | None, pinned: str | None) -> str:
    project_id = _checked(given, "projectId") if given is not None else pinned
    if project_id is None or (pinned is not None and project_id != pinned):
        raise GraphNotFound("Project not found")
    return project_id


def _checked(value: str, name: str) -> str:
    try:
        return parse_uuid(value)
    except InvalidInput:
        raise GraphBadRequest(f"Invalid {name}: '{shorten(value)}'. Must be a UUID") from None


def _in_project(arguments: type[ToolInput], pinned: str | None) -> type[ToolInput]:
    """Return the arguments with projectId: required, unless the server is pinned to one."""
    described = (
        Field(None, description=f"UUID of the project; {pinned} unless given")
        if pinned
        else Field(description="UUID of the project")
    )
    kind: Any = PlainText | None if pinned else PlainText
    return create_model(arguments.__name__, __base__=arguments, projectId=(kind, described))


def _loose(shape: type[BaseModel]) -> type[BaseModel]:
    """Return a model with the same fields, none of them required: `fields` may leave some out."""
    names = {field.alias or name: (field.annotation, None) for name, field in shape.model_fields.items()}
    made: type[BaseModel] = create_model(shape.__name__, __config__=ConfigDict(extra="allow"), **names)  # type: ignore[call-overload]
    return made


def _page_of(shape: type[BaseModel]) -> type[BaseModel]:
    item: Any = list[_loose(shape)]  # type: ignore[misc]
    return create_model(f"{shape.__name__}Page", data=(item, ...), pagination=(models.Pagination, ...))


def _one_of(shape: type[BaseModel]) -> type[BaseModel]:
    item: Any = _loose(shape) if shape is models.Entity else shape
    return create_model(f"{shape.__name__}Answer", data=(item, ...))
