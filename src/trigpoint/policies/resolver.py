"""The revision in force on a day: for one policy, for all, and whether a citation was right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Literal

from trigpoint.policies.models import Policy, Revision
from trigpoint.policies.registry import PolicyRegistry

Reason = Literal["date_before_first_revision", "date_in_gap", "no_revisions"]


@dataclass(frozen=True)
class EffectivePolicyResult:
    """The revision in force, or why there is none."""

    policy: Policy
    effective_date: date
    revision: Revision | None
    reason: Reason | None

    @property
    def source(self) -> str:
        return self.policy.source


@dataclass(frozen=True)
class EffectiveSnapshotResult:
    """All policies on a day, by slug, and the slugs in the category they fall in."""

    effective_date: date
    results: tuple[EffectivePolicyResult, ...]

    @property
    def policies_with_revision(self) -> list[str]:
        return [r.source for r in self.results if r.revision is not None]

    @property
    def policies_not_yet_effective(self) -> list[str]:
        return [r.source for r in self.results if r.reason == "date_before_first_revision"]

    @property
    def policies_in_gap(self) -> list[str]:
        return [r.source for r in self.results if r.reason == "date_in_gap"]

    @property
    def policies_without_revisions(self) -> list[str]:
        return [r.source for r in self.results if r.reason == "no_revisions"]


class EffectiveDateResolver:
    """Answers from one snapshot of the registry a call. Only ingested revisions count."""

    def __init__(self, registry: PolicyRegistry) -> None:
        self._registry = registry

    async def resolve_for_policy(self, source: str, day: date) -> EffectivePolicyResult:
        return _resolve(await self._registry.get_policy(source), day)

    async def resolve_snapshot(self, day: date) -> EffectiveSnapshotResult:
        policies = await self._registry.list_policies()
        return EffectiveSnapshotResult(day, tuple(_resolve(policy, day) for policy in policies))

    async def get_revision_ids_for_date(self, day: date, sources: Iterable[str] | None = None) -> dict[str, str | None]:
        """Return revision ids by slug; None if nothing was in force, and for a slug that is not registered."""
        policies = {policy.source: policy for policy in await self._registry.list_policies()}
        wanted = list(policies) if sources is None else list(dict.fromkeys(sources))
        in_force = {s: policies[s].in_force(day) if s in policies else None for s in wanted}
        return {s: None if revision is None else revision.revision_id for s, revision in in_force.items()}

    async def validate_revision_for_date(self, source: str, revision_id: str, day: date) -> bool:
        ids = await self.get_revision_ids_for_date(day, [source])
        return ids[source] == revision_id


def _resolve(policy: Policy, day: date) -> EffectivePolicyResult:
    revision = policy.in_force(day)
    reason: Reason | None = None
    if revision is None:
        timeline = policy.timeline
        if not timeline:
            reason = "no_revisions"
        elif day < timeline[0].start:
            reason = "date_before_first_revision"
        else:
            reason = "date_in_gap"
    return EffectivePolicyResult(policy, day, revision, reason)
