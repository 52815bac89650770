"""The routes, one file a resource, each with a `router`."""

from __future__ import annotations

from fastapi import APIRouter

from trigpoint.api.routes import (
    applications,
    downloads,
    events,
    health,
    letters,
    metrics,
    policies,
    reviews,
    revisions,
    webhooks,
)
from trigpoint.config import Settings


def routers(settings: Settings) -> list[APIRouter]:
    """All of them, in the order in which they are looked through. Others (the graph, the pages) are added here."""
    resources = (reviews, applications, letters, downloads, webhooks, events, policies, revisions)
    return [*(module.router for module in resources), health.router, metrics.router]
