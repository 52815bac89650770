"""The routes: one file for each resource, each with a `router`."""

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


def routers() -> list[APIRouter]:
    """Return all of them, in the order in which they are searched."""
    resources = (reviews, applications, letters, downloads, webhooks, events, policies, revisions)
    return [*(module.router for module in resources), health.router, metrics.router]
