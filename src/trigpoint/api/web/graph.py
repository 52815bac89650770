"""The graph: entities of a project, and one entity with its neighbourhood drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from trigpoint.api.web.drawing import draw_neighbourhood
from trigpoint.api.web.paging import Paging
from trigpoint.api.web.resources import Resources
from trigpoint.api.web.templating import page
from trigpoint.graph import queries
from trigpoint.graph.fields import check_uuid
from trigpoint.graph.inputs import BlockFilter, EntityFilter, GraphFilter, PageRequest
from trigpoint.graph.models import Project
from trigpoint.graph.neighbourhood import Caps, entity_graph
from trigpoint.graph.vocabulary import DEFAULT_PROJECT_ID, ENTITY_TYPES, STATUSES

T = TypeVar("T")

_A_PAGE = 20
_MOST_PROJECTS = 100
_DRAWN = Caps(edges=60, nodes=40)
_MOST_BLOCKS = 20


async def entities(request: Request) -> Response:
    asked = _filled_fields(request)
    pages = Paging.of(request, _A_PAGE)

    def read(connection: Connection) -> dict[str, Any]:
        projects, project = _chosen_project(connection, asked)
        if not asked:
            project = _filled(connection, projects, project)
        chosen = EntityFilter.parse(asked)
        listed = queries.list_entities(connection, project, chosen, PageRequest(page=pages.number, limit=_A_PAGE))
        return {
            "projects": projects,
            "project": project,
            "entities": listed.items,
            "pages": pages.counting(listed.pagination.total),
            "total": listed.pagination.total,
        }

    seen = await _read_snapshot(request, read)
    chosen = {name: asked.get(name, "") for name in ("search", "entityType", "status")}
    return page(request, "graph.html", types=ENTITY_TYPES, statuses=STATUSES, chosen=chosen, **seen)


async def entity(request: Request) -> Response:
    asked = _filled_fields(request)
    depth = "2" if asked.get("depth") == "2" else "1"

    def read(connection: Connection) -> dict[str, Any]:
        _, project = _chosen_project(connection, asked)
        entity_id = check_uuid(request.path_params["entity_id"], "entityId")
        neighbourhood = entity_graph(connection, project, entity_id, GraphFilter(depth=int(depth)), _DRAWN)
        blocks = queries.list_blocks(
            connection, project, BlockFilter(entity_id=entity_id), PageRequest(limit=_MOST_BLOCKS)
        )
        return {"project": project, "graph": neighbourhood, "blocks": blocks.items}

    seen = await _read_snapshot(request, read)
    names = {node.id: node.title for node in seen["graph"].nodes}
    return page(request, "entity.html", depth=depth, names=names, drawing=draw_neighbourhood(seen["graph"]), **seen)


def _filled_fields(request: Request) -> dict[str, str]:
    """Return the form's fields without the empty ones, which were left alone."""
    return {name: value.strip() for name, value in request.query_params.items() if value.strip()}


def _chosen_project(connection: Connection, asked: dict[str, str]) -> tuple[list[Project], str]:
    """Return all projects, and the one asked for, else the default one. Raises GraphNotFound."""
    projects = queries.list_projects(connection, PageRequest(limit=_MOST_PROJECTS)).items
    if "project" in asked:
        return projects, queries.project_named(connection, project_id=check_uuid(asked["project"], "project"))
    return projects, queries.project_of_cookie(connection, DEFAULT_PROJECT_ID)


def _filled(connection: Connection, projects: list[Project], project: str) -> str:
    """Return the project, or another one if it has nothing to show."""
    names = (project, *(other.id for other in projects))
    return next((name for name in names if queries.has_entities(connection, name)), project)


async def _read_snapshot(request: Request, work: Callable[[Connection], T]) -> T:
    resources: Resources = request.scope["resources"]

    def run() -> T:
        with resources.graph().snapshot() as connection:
            return work(connection)

    return await asyncio.to_thread(run)


ROUTES = [Route("/graph", entities), Route("/graph/{entity_id}", entity)]
