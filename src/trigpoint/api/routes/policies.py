"""Policies: register, list, read, change, and which revision was in force on a day."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import APIRouter, Query

from trigpoint.api.bodies import StrictRoute
from trigpoint.api.schemas.errors import errors
from trigpoint.api.schemas.policies import (
    AddedRevisions,
    EffectivePolicies,
    EffectivePolicy,
    PolicyCreation,
    PolicyDetail,
    PolicyPage,
    PolicySummary,
    PolicyUpdate,
    RevisionSummary,
)
from trigpoint.api.schemas.values import Day, PolicySource
from trigpoint.api.services import Use
from trigpoint.dates import today
from trigpoint.jobs.policy_update import add_missing_revisions
from trigpoint.logs import request_id
from trigpoint.policies.models import PolicyCategory, PolicyChanges
from trigpoint.storage.space import require_space

router = APIRouter(prefix="/policies", tags=["Policies"], route_class=StrictRoute)


@router.post("", status_code=201, responses=errors(400, 409, 413))
async def create_policy(policy: PolicyCreation, use: Use) -> PolicyDetail:
    """Register a new policy document."""
    created = await use.registry.create_policy(
        policy.source, policy.title, policy.category, policy.description, policy.authorities
    )
    return PolicyDetail.of(created, today())


@router.get("", responses=errors())
async def list_policies(
    use: Use,
    category: Annotated[PolicyCategory | None, Query(description="Filter by category")] = None,
    source: Annotated[PolicySource | None, Query(description="Filter by source slug")] = None,
) -> PolicyPage:
    """List all policies, by slug."""
    listed = await use.registry.list_policies(category, source)
    policies = [PolicySummary.of(policy, today()) for policy in listed]
    return PolicyPage(policies=policies, total=len(policies))


@router.get("/effective", responses=errors())
async def list_effective_policies(
    use: Use, date: Annotated[Day, Query(description="`YYYY-MM-DD`")]
) -> EffectivePolicies:
    """Return the revision of each policy that was in force on the given date."""
    snapshot = await use.resolver.resolve_snapshot(date)
    policies = [
        EffectivePolicy(
            source=result.source,
            title=result.policy.title,
            category=result.policy.category,
            effective_revision=RevisionSummary.of(result.revision),
        )
        for result in snapshot.results
    ]
    return EffectivePolicies(
        effective_date=date, policies=policies, policies_not_yet_effective=snapshot.policies_not_yet_effective
    )


@router.post("/update", status_code=202, responses=errors(409, 507))
async def update_shipped_policies(use: Use) -> AddedRevisions:
    """Add the shipped revisions that were missing or came later, and queue their ingestion."""
    require_space(use.settings)
    added = await add_missing_revisions(use.registry, use.queue, use.settings, request_id=request_id.get())
    summaries = [summary for revision in added if (summary := RevisionSummary.of(revision)) is not None]
    return AddedRevisions(added=summaries, total=len(summaries))


@router.get("/{source}", responses=errors(404))
async def get_policy(source: str, use: Use) -> PolicyDetail:
    """Return the policy with all its revisions."""
    return PolicyDetail.of(await use.registry.get_policy(source), today())


@router.patch("/{source}", responses=errors(400, 404, 413))
async def update_policy(source: str, update: PolicyUpdate, use: Use) -> PolicyDetail:
    """Change the fields that are given, and no others."""
    changes = cast(PolicyChanges, {name: getattr(update, name) for name in update.model_fields_set})
    return PolicyDetail.of(await use.registry.update_policy(source, changes), today())
