"""The application: what it opens and closes, its layers from the outside in, its routes."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from trigpoint import __version__
from trigpoint.api import uploads
from trigpoint.api.auth import AuthMiddleware
from trigpoint.api.bodies import body_limit
from trigpoint.api.documentation import add_documentation
from trigpoint.api.errors import add_error_handlers
from trigpoint.api.idempotency import Idempotency
from trigpoint.api.ratelimit import RateLimiter
from trigpoint.api.routes import routers
from trigpoint.api.routes.graph import GraphAtApi
from trigpoint.api.routes.reviews import QUICK_STATUS
from trigpoint.api.services import Services
from trigpoint.api.web.app import PagesAtRoot
from trigpoint.api.web.resources import Resources
from trigpoint.config import Settings
from trigpoint.http.context import CatchUnexpected, RequestContext
from trigpoint.http.hosts import HostGuard, allowed_hosts, allowed_origins, is_loopback
from trigpoint.http.limits import BodyLimit
from trigpoint.http.methods import HeadAsGet
from trigpoint.jobs.batch import Batch
from trigpoint.storage.damage import problems_of
from trigpoint.storage.redis import open_redis

API_VERSION = "1.0.0"
DESCRIPTION = """Reviews of planning applications against the policy that was in force on the day, and the
policies themselves with their dated revisions. Every claim is fixed to a passage."""


def create_app(settings: Settings) -> FastAPI:
    """The REST API. Pages and further routers are listed in `routes/__init__.py`."""
    app = FastAPI(
        title="Trigpoint",
        version=API_VERSION,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
        lifespan=_lifespan,
        servers=[{"url": "/", "description": "The server that this document comes from"}],
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.settings = settings
    app.state.version = __version__
    app.state.pages = Resources(settings)
    app.router.routes.insert(0, QUICK_STATUS)
    for router in routers(settings):
        app.include_router(router)
    add_documentation(app)
    add_error_handlers(app)
    hosts = _known_hosts(settings)
    # The last one added is the outermost. A route's unexpected error is caught within the rate limit's headers.
    app.add_middleware(CatchUnexpected)
    app.add_middleware(Idempotency)
    app.add_middleware(BodyLimit, limit_of=body_limit(settings))
    app.add_middleware(AuthMiddleware, keys=settings.key_ring)
    app.add_middleware(HeadAsGet)
    if settings.cors_origins:
        app.add_middleware(CORSMiddleware, **_cross_origin(settings))
    origins = None if hosts is None else hosts | allowed_origins(settings)
    app.add_middleware(HostGuard, hosts=origins, header="Origin")  # the pages and the graph have rules of their own
    app.add_middleware(PagesAtRoot, resources=app.state.pages)  # sign-in by cookie, errors as pages
    app.add_middleware(GraphAtApi, settings=settings)  # outside of auth and limits: the graph has its own
    app.add_middleware(HostGuard, hosts=hosts, header="Host")
    app.add_middleware(CatchUnexpected)
    app.add_middleware(RequestContext, api_version=API_VERSION)
    return app


def _cross_origin(settings: Settings) -> dict[str, Any]:
    """Return what pages of other sites may send and read."""
    return {
        "allow_origins": settings.cors_origins,
        "allow_methods": ["GET", "POST", "PUT", "PATCH", "DELETE"],
        "allow_headers": ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Request-ID"],
        "expose_headers": [
            *("X-Request-ID", "X-API-Version", "Idempotent-Replayed", "Retry-After"),
            *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
        ],
    }


def _known_hosts(settings: Settings) -> frozenset[str] | None:
    """The names we answer to while only this machine can reach us and nobody is asked for a key; else any."""
    if settings.rest_auth_on or not is_loopback(settings.bind_host(auth_on=False)):
        return None
    return allowed_hosts(settings, auth_on=False)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    settings: Settings = app.state.settings
    with ExitStack() as stack:
        stack.callback(app.state.pages.close)
        await asyncio.to_thread(uploads.sweep, settings)
        graph = settings.data_dir / "graph" / "graph.db"
        app.state.problems = await asyncio.to_thread(problems_of, graph, "The database of the graph")
        async with open_redis(settings, insist=False) as redis:
            app.state.redis = redis
            batch = Batch(redis)
            app.state.limiter = RateLimiter(batch, settings.api_rate_limit)
            app.state.services = Services.on(redis, settings, batch)
            gc.freeze()  # what was imported stays; a full collection would halt requests for a tenth of a second
            yield
