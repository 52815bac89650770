"""The site: three applications mounted next to each other, what they share, and what is opened and closed with them."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from trigpoint.api import uploads
from trigpoint.api.auth import AuthMiddleware
from trigpoint.api.bodies import JSON_BYTES, body_limit
from trigpoint.api.cross_origin import CrossOrigin, cross_origin
from trigpoint.api.documentation import AT, add_documentation
from trigpoint.api.errors import add_error_handlers
from trigpoint.api.graph_access import PROJECT_HEADERS, send_graph_error
from trigpoint.api.idempotency import Idempotency
from trigpoint.api.ratelimit import WINDOW_SECONDS
from trigpoint.api.routes import routers
from trigpoint.api.routes.graph import graph_backend
from trigpoint.api.routes.reviews import QUICK_STATUS
from trigpoint.api.services import Services
from trigpoint.api.web.app import GuardedPages
from trigpoint.api.web.resources import Resources
from trigpoint.config import Settings
from trigpoint.http.context import CatchUnexpected, RequestContext
from trigpoint.http.hosts import HostGuard, allowed_hosts, allowed_origins, is_loopback
from trigpoint.http.limits import BodyLimit
from trigpoint.http.methods import HeadAsGet
from trigpoint.http.parts import Part
from trigpoint.storage.damage import problems_of
from trigpoint.storage.redis import open_redis

API_VERSION = "1.0.0"
DESCRIPTION = """Reviews of planning applications against the policy that was in force on the day, and the
policies themselves with their dated revisions. Every claim is linked to the passage it comes from.

Limits: {requests} requests in any {seconds} seconds for each key, if keys are used, and a 429 with `Retry-After` beyond them.
JSON bodies of up to {json_mb} MB, a policy's PDF of up to {upload_mb} MB, the files of an application of up to
{application_mb} MB together, and a 413 beyond them. Any `POST` can be sent again safely with an `Idempotency-Key`."""


def create_app(settings: Settings) -> Starlette:
    """Return the whole site: the REST API, the graph's backend and the pages, each with rules of its own."""
    rest, resources = rest_app(settings), Resources(settings)
    graph = graph_backend(
        settings, Middleware(Idempotency, refuse=send_graph_error, headers=frozenset(PROJECT_HEADERS))
    )
    site = Starlette(
        routes=[
            *(Route(path, rest) for path in (AT, "/health", "/metrics", "/docs", "/redoc", "/openapi.json")),
            Part(AT, rest),
            Part("/api", graph),
            Part("/", GuardedPages(resources, rest)),
        ],
        middleware=[
            Middleware(RequestContext, api_version=API_VERSION),
            Middleware(CatchUnexpected),
            Middleware(HostGuard, hosts=_known_hosts(settings), header="Host"),
        ],
        lifespan=lambda _: _opened(settings, resources, graph),
    )
    site.router.redirect_slashes = False
    site.state.begin_stop = resources.begin_stop
    return site


def rest_app(settings: Settings) -> FastAPI:
    """Return the REST API: its resources are listed in `routes/__init__.py`."""
    app = FastAPI(
        title="Trigpoint",
        version=API_VERSION,
        description=DESCRIPTION.format(
            requests=settings.api_rate_limit,
            seconds=WINDOW_SECONDS,
            json_mb=JSON_BYTES // 2**20,
            upload_mb=settings.max_upload_mb,
            application_mb=settings.max_application_mb,
        ),
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
        servers=[{"url": "/", "description": "The server that this document comes from"}],
        root_path_in_servers=False,  # the paths in the document begin at the root, wherever it is read
        generate_unique_id_function=lambda route: route.name,
    )
    app.router.routes.insert(0, QUICK_STATUS)
    for router in routers():
        app.include_router(router)
    add_documentation(app)
    add_error_handlers(app)
    # The last one added is the outermost. A route's unexpected error is caught within the rate limit's headers.
    app.add_middleware(CatchUnexpected)
    app.add_middleware(Idempotency)
    app.add_middleware(BodyLimit, limit_of=body_limit(settings))
    app.add_middleware(AuthMiddleware, keys=settings.key_ring)
    app.add_middleware(HeadAsGet)
    if settings.cors_origins:
        app.add_middleware(CrossOrigin, **cross_origin(settings))
    hosts = _known_hosts(settings)
    origins = None if hosts is None else hosts | allowed_origins(settings)
    app.add_middleware(HostGuard, hosts=origins, header="Origin")  # the pages and the graph have rules of their own
    return app


def _known_hosts(settings: Settings) -> frozenset[str] | None:
    """Return the host names we answer to if only this machine can reach us and no key is needed; None for any."""
    if settings.rest_auth_on or not is_loopback(settings.bind_host(auth_on=False)):
        return None
    return allowed_hosts(settings, auth_on=False)


@asynccontextmanager
async def _opened(settings: Settings, resources: Resources, graph: Starlette) -> AsyncIterator[dict[str, Services]]:
    """Open what the three surfaces work with. Every request finds it in its `state`."""
    with ExitStack() as stack:
        stack.callback(resources.close)
        stack.callback(graph.state.store.close)
        await asyncio.to_thread(uploads.sweep, settings)
        database = settings.data_dir / "graph" / "graph.db"
        problems = await asyncio.to_thread(problems_of, database, "The database of the graph")
        async with open_redis(settings, insist=False) as redis:
            gc.freeze()  # imported objects stay: a full collection would halt requests for a tenth of a second
            yield {"services": Services.on(redis, resources, tuple(problems))}
