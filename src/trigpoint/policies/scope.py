"""The policies that a question is about, and what its answer should add: unknown, not in force, or not loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from trigpoint.errors import shorten
from trigpoint.ids import UNKNOWN_AUTHORITY
from trigpoint.policies.known import missing_revisions
from trigpoint.policies.models import Policy, PolicyCategory, Revision, RevisionStatus

NOTHING_LOADED = (
    "No policy is loaded. `trigpoint policies seed --digest` loads short digests, `trigpoint policies fetch` and "
    "`seed` the official texts"
)


@dataclass(frozen=True)
class Scope:
    """The policies that may answer, with warnings for the reader of the answer."""

    policies: tuple[Policy, ...]
    warnings: tuple[str, ...]
    local_policies: tuple[str, ...] = ()  # slugs of local policies that apply to the authority
    not_loaded: tuple[str, ...] = ()  # what a review must say of revisions that were in force and are not loaded


def scope_of(
    policies: Sequence[Policy], sources: Sequence[str] | None, authority: str | None, day: date | None
) -> Scope:
    """Choose the policies by slug and by authority. An unknown name leads to a warning, not to an empty result."""
    if not policies:
        return Scope((), (NOTHING_LOADED,))
    known = {policy.source: policy for policy in policies}
    named = [known[s] for s in dict.fromkeys(sources) if s in known] if sources else list(policies)
    chosen = named
    local: tuple[str, ...] = ()
    warnings, not_loaded = list[str](), list[str]()
    if sources:
        warnings += _unknown(sources, known)
    if authority is not None:
        chosen = [policy for policy in named if policy.applies_to(authority)]
        local = tuple(p.source for p in policies if p.local and p.applies_to(authority))
        warnings += _elsewhere(named if sources else (), authority)
        warnings += _without_local_plan(policies, authority)
    if day is not None:
        missing = missing_revisions(chosen, day)
        unread = [(p, r) for p in chosen for r in _unread(p, day)]
        warnings += [_not_in_force(policy, day) for policy in chosen if policy.in_force(day) is None]
        warnings += [f"{p.source}: the text of {r.version_label} cannot be used. {r.error}" for p, r in unread]
        warnings += [one.message for one in missing]
        not_loaded += [one.consequence for one in missing]
        not_loaded += [
            f"The {p.title} is not cited: the text of {r.version_label}, which applies to this application, could not be read."
            for p, r in unread
        ]
    return Scope(tuple(chosen), tuple(warnings), local, tuple(not_loaded))


def _unread(policy: Policy, day: date) -> list[Revision]:
    """Return the revisions in force on the day whose text has failed, if no other one answers for that day."""
    if policy.in_force(day) is not None:
        return []
    return [
        revision
        for revision in policy.revisions
        if revision.status is RevisionStatus.FAILED
        and revision.effective_from <= day
        and (revision.effective_to is None or day <= revision.effective_to)
    ]


def _unknown(sources: Sequence[str], known: dict[str, Policy]) -> list[str]:
    names = ", ".join(sorted(known))
    return [f"There is no policy '{shorten(s)}'. Known are: {names}" for s in dict.fromkeys(sources) if s not in known]


def _elsewhere(named: Sequence[Policy], authority: str) -> list[str]:
    return [
        f"{policy.source} does not apply to {authority} and was left out. It applies to {', '.join(policy.authorities)}"
        for policy in named
        if not policy.applies_to(authority)
    ]


def _without_local_plan(policies: Sequence[Policy], authority: str) -> list[str]:
    if any(p.category is PolicyCategory.LOCAL_PLAN and p.applies_to(authority) for p in policies):
        return []
    if authority == UNKNOWN_AUTHORITY:
        return ["The planning authority of the site is not known. Only national policy and guidance can be cited"]
    return [f"No local plan of {authority} is loaded. Only national policy and what else applies there can be cited"]


def _not_in_force(policy: Policy, day: date) -> str:
    timeline = policy.timeline
    if not timeline:
        return f"{policy.source} has no text that has been ingested"
    if day < timeline[0].start:
        first = timeline[0].revision
        return f"{policy.source}: {day} is before its first loaded revision ({first.version_label}, from {timeline[0].start})"
    return f"{policy.source}: no loaded revision was in force on {day}, which falls in a gap"
