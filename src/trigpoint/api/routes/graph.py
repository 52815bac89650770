"""The graph's backend, at `/api`, next to `/api/v1`: parses, calls one function of the graph, shapes the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

import orjson
from sqlalchemy import Connection
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trigpoint.api.graph_access import GraphAccess, json_response, on_error, refuse_size
from trigpoint.config import Settings
from trigpoint.errors import GraphBadRequest, TrigpointError, shorten
from trigpoint.graph import queries, writes
from trigpoint.graph.fields import Input, check_slug, check_uuid
from trigpoint.graph.ingest import ingest_rows, parse_rows
from trigpoint.graph.inputs import (
    BlockFilter,
    EntityChanges,
    EntityFilter,
    GraphFilter,
    NewBlock,
    NewEntity,
    NewProject,
    NewRelation,
    PageRequest,
    PerformanceFilter,
    Periods,
    parse_fields,
)
from trigpoint.graph.listing import Page
from trigpoint.graph.models import Entity, Project, QuotableBlock, SearchPerformance
from trigpoint.graph.neighbourhood import Caps, entity_graph
from trigpoint.graph.performance import compare_periods, list_performance
from trigpoint.graph.store import GraphStore
from trigpoint.graph.vocabulary import DEFAULT_PROJECT_ID, LIFECYCLE
from trigpoint.http.limits import BodyLimit
from trigpoint.http.parts import Part

_MOST_BODY = 32 * 1024 * 1024  # 25,000 rows of Search Console, with room
Answer = dict[str, Any]
Work = Callable[[Request, Connection], Answer]
WriteWork = Callable[[Request, Connection, Any], Answer]


class Ingest(Input):
    rows: Any = None


def graph_app(settings: Settings) -> Starlette:
    """Return the graph's backend to be served alone, at `/api`."""
    backend = graph_backend(settings)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        backend.state.store.close()

    app = Starlette(routes=[Part("/api", backend)], lifespan=lifespan)
    app.state.store = backend.state.store
    return app


def graph_backend(settings: Settings, *inner: Middleware) -> Starlette:
    """Return the routes of the graph. `state.store` opens at the first request; the caller closes it.

    `inner` are layers between its access control and its routes.
    """
    store = GraphStore(settings)
    caps = Caps(settings.graph_max_edges, settings.graph_max_nodes)

    def get(path: str, work: Work) -> Route:
        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(_read, store, work, request)

        return Route(path, endpoint, methods=["GET"])

    def write(method: str, path: str, work: WriteWork, status: int = 200) -> Route:
        async def endpoint(request: Request) -> Response:
            body = await _json_body(request)
            return await run_in_threadpool(_write, store, work, request, body, status)

        return Route(path, endpoint, methods=[method])

    def graph(request: Request, connection: Connection) -> Answer:
        entity_id = check_uuid(request.path_params["id"], "entityId")
        chosen = GraphFilter.parse(request.query_params)
        neighbourhood = entity_graph(connection, _project(request, connection), entity_id, chosen, caps)
        return {"data": neighbourhood.shown()}

    app = Starlette(
        routes=[
            get("/projects", _projects),
            get("/entities", _entities),
            get("/entities/{id}", _entity),
            get("/entities/{id}/graph", graph),
            get("/seo/search-performance", _performance),
            get("/seo/search-performance/compare", _compare),
            get("/quotable-blocks", _blocks),
            write("POST", "/projects", _new_project, 201),
            write("POST", "/entities", _new_entity, 201),
            write("PATCH", "/entities/{id}", _change_entity),
            *(write("POST", f"/entities/{{id}}/{action}", _lifecycle(action)) for action in LIFECYCLE),
            write("POST", "/entities/{id}/verify-freshness", _verify),
            write("POST", "/relationships", _new_relation, 201),
            write("DELETE", "/relationships", _delete_relation),
            write("DELETE", "/relationships/{id}", _delete_relation),
            write("POST", "/quotable-blocks", _new_block, 201),
            write("POST", "/seo/search-performance/ingest", _ingest),
        ],
        middleware=[
            Middleware(GraphAccess, settings=settings),
            Middleware(BodyLimit, limit_of=lambda scope: _MOST_BODY, refuse=refuse_size),
            *inner,
        ],
        exception_handlers={TrigpointError: on_error, HTTPException: on_error, Exception: on_error},
    )
    app.router.redirect_slashes = False
    app.state.store = store
    return app


def _read(store: GraphStore, work: Work, request: Request) -> Response:
    with store.snapshot() as connection:
        return json_response(work(request, connection))


def _write(store: GraphStore, work: WriteWork, request: Request, body: Any, status: int) -> Response:
    with store.writing() as connection:
        answer = work(request, connection, body)
    return json_response(answer, status)


async def _json_body(request: Request) -> Any:
    """Return the JSON body, or None if there is none."""
    taken = await request.body()
    if not taken:
        return None
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise GraphBadRequest("The body must be sent as Content-Type: application/json")
    try:
        return orjson.loads(taken)
    except orjson.JSONDecodeError as error:
        raise GraphBadRequest(f"The body is not valid JSON: {shorten(error)}") from None


def _project(request: Request, connection: Connection) -> str:
    """Return the project by `x-project-id`, else `x-project-slug`, else the cookie, else the default.

    A malformed header never falls through to the next one.
    """
    if project_id := request.headers.get("x-project-id", "").strip():
        return queries.project_named(connection, project_id=check_uuid(project_id, "x-project-id"))
    if slug := request.headers.get("x-project-slug", "").strip():
        return queries.project_named(connection, slug=check_slug(slug, "x-project-slug"))
    try:
        cookie = check_uuid(request.cookies.get("projectId"), "projectId")
    except GraphBadRequest:
        cookie = DEFAULT_PROJECT_ID
    return queries.project_of_cookie(connection, cookie)


def _entity_id(request: Request) -> str:
    return check_uuid(request.path_params["id"], "entityId")


def _page_answer(page: Page[Any], fields: tuple[str, ...] | None) -> Answer:
    return {"data": [item.shown(fields) for item in page.items], "pagination": page.pagination.shown()}


# --- reads ------------------------------------------------------------------------------------


def _projects(request: Request, connection: Connection) -> Answer:
    params = request.query_params
    fields, only = parse_fields(params, Project.json_fields()), params.get("projectId") or None
    only = check_uuid(only, "projectId") if only else None
    return _page_answer(queries.list_projects(connection, PageRequest.parse(params), only=only), fields)


def _entities(request: Request, connection: Connection) -> Answer:
    params = request.query_params
    fields, chosen, page = (
        parse_fields(params, Entity.json_fields()),
        EntityFilter.parse(params),
        PageRequest.parse(params),
    )
    return _page_answer(queries.list_entities(connection, _project(request, connection), chosen, page), fields)


def _entity(request: Request, connection: Connection) -> Answer:
    entity_id, fields = _entity_id(request), parse_fields(request.query_params, Entity.json_fields())
    return {"data": queries.find_entity(connection, _project(request, connection), entity_id).shown(fields)}


def _performance(request: Request, connection: Connection) -> Answer:
    params = request.query_params
    fields = parse_fields(params, SearchPerformance.json_fields())
    chosen, page = PerformanceFilter.parse(params), PageRequest.parse(params)
    return _page_answer(list_performance(connection, _project(request, connection), chosen, page), fields)


def _compare(request: Request, connection: Connection) -> Answer:
    params = request.query_params
    periods = Periods.parse(params)
    base = PerformanceFilter.parse({n: v for n, v in params.items() if n not in ("dateStart", "dateEnd")})
    first, second = (
        base.model_copy(update={"date_start": start, "date_end": end})
        for start, end in (
            (periods.first_start, periods.first_end),
            (periods.second_start, periods.second_end),
        )
    )
    return {"data": compare_periods(connection, _project(request, connection), first, second).shown()}


def _blocks(request: Request, connection: Connection) -> Answer:
    params = request.query_params
    fields = parse_fields(params, QuotableBlock.json_fields())
    chosen, page = BlockFilter.parse(params), PageRequest.parse(params)
    return _page_answer(queries.list_blocks(connection, _project(request, connection), chosen, page), fields)


# --- writes -----------------------------------------------------------------------------------


def _new_project(request: Request, connection: Connection, body: Any) -> Answer:
    return {"data": writes.create_project(connection, NewProject.parse(body)).shown()}


def _new_entity(request: Request, connection: Connection, body: Any) -> Answer:
    new = NewEntity.parse(body)
    return {"data": writes.create_entity(connection, _project(request, connection), new).shown()}


def _change_entity(request: Request, connection: Connection, body: Any) -> Answer:
    entity_id, changes = _entity_id(request), EntityChanges.parse(body)
    return {"data": writes.change_entity(connection, _project(request, connection), entity_id, changes).shown()}


def _lifecycle(action: str) -> WriteWork:
    def work(request: Request, connection: Connection, body: Any) -> Answer:
        entity_id = _entity_id(request)
        return {"data": writes.move_entity(connection, _project(request, connection), entity_id, action).shown()}

    return work


def _verify(request: Request, connection: Connection, body: Any) -> Answer:
    entity_id = _entity_id(request)
    return {"data": writes.verify_freshness(connection, _project(request, connection), entity_id).shown()}


def _new_relation(request: Request, connection: Connection, body: Any) -> Answer:
    new = NewRelation.parse(body)
    return {"data": writes.create_relation(connection, _project(request, connection), new).shown()}


def _delete_relation(request: Request, connection: Connection, body: Any) -> Answer:
    relation_id = check_uuid(request.path_params.get("id") or request.query_params.get("id"), "id")
    return {"data": writes.delete_relation(connection, _project(request, connection), relation_id).shown()}


def _new_block(request: Request, connection: Connection, body: Any) -> Answer:
    new = NewBlock.parse(body)
    block, warnings = writes.create_block(connection, _project(request, connection), new)
    return {"data": block.shown(), "warnings": warnings}


def _ingest(request: Request, connection: Connection, body: Any) -> Answer:
    rows = parse_rows(Ingest.parse(body).rows)
    return {"data": asdict(ingest_rows(connection, _project(request, connection), rows))}
