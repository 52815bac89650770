"""Counts for Prometheus. Each process counts its own work; shared figures are read from Redis when asked for.

Labels are few and known beforehand: routes and not paths, tools that exist, codes of our own errors.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_REGISTRY = CollectorRegistry()

_REQUESTS = Histogram(
    "trigpoint_http_request_seconds",
    "Requests to the API and the pages, by route and status.",
    ("method", "route", "status"),
    buckets=(0.005, 0.025, 0.1, 0.5, 2.5, 10.0),
    registry=_REGISTRY,
)
TOOL_CALLS = Histogram(
    "trigpoint_tool_call_seconds",
    "Calls of MCP tools, by server, tool and outcome (ok, or the error's code).",
    ("server", "tool", "outcome"),
    buckets=(0.01, 0.05, 0.25, 1.0, 5.0, 30.0, 300.0),
    registry=_REGISTRY,
)
JOBS = Counter(
    "trigpoint_jobs_total", "Jobs that a worker let go, by kind and outcome.", ("kind", "outcome"), registry=_REGISTRY
)
INGESTED_PAGES = Counter(
    "trigpoint_ingested_pages_total", "Pages read, by store and how.", ("store", "method"), registry=_REGISTRY
)
WEBHOOKS = Counter(
    "trigpoint_webhook_deliveries_total", "Tries to deliver a webhook, by outcome.", ("outcome",), registry=_REGISTRY
)

_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})


def count_request(scope: Any, status: int, seconds: float) -> None:
    """Count one answered request."""
    method = scope["method"] if scope["method"] in _METHODS else "other"
    _request_counter(method, _route_of(scope), status).observe(seconds)


def _route_of(scope: Any) -> str:
    """Return the pattern of the request's route, or the part of the site if no route of the API matches."""
    pattern, mounted_at = getattr(scope.get("route"), "path", None), scope.get("root_path", "")
    if pattern and pattern != mounted_at:  # otherwise only the mount was found, and nothing in it
        return f"{mounted_at}{pattern}"
    path: str = scope["path"]
    if scope.get("endpoint") and scope.get("path_params"):  # a plain route within FastAPI leaves only these
        for name, value in scope["path_params"].items():
            path = path.replace(f"/{value}", f"/{{{name}}}", 1)
        return path
    if path.startswith("/api/"):
        return "unmatched" if path.startswith("/api/v1/") else "graph"
    return "pages"


def exposition() -> bytes:
    """Return this process's counts in Prometheus's text format."""
    return generate_latest(_REGISTRY)


@cache
def _request_counter(method: str, route: str, status: int) -> Any:
    return _REQUESTS.labels(method, route, str(status))
