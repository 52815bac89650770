"""The policies that we ship, from policies.toml: their revisions, the first day of each, and where they apply."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from trigpoint.dates import parse_day
from trigpoint.policies.models import ONE_DAY, PolicyCategory


@dataclass(frozen=True)
class SeedRevision:
    version_label: str
    effective_from: date
    effective_to: date | None
    url: str | None
    landing: str
    digest: str
    later: bool = False


@dataclass(frozen=True)
class SeedPolicy:
    source: str
    title: str
    description: str
    category: PolicyCategory
    revisions: tuple[SeedRevision, ...]  # oldest first
    authorities: tuple[str, ...] = ()


PolicySet = Literal["default", "current"]


@cache
def load_seed(policy_set: PolicySet = "default") -> tuple[SeedPolicy, ...]:
    """Return the shipped policies: with the seven revisions of the contract, or with all that we know of."""
    text = files("trigpoint.policies").joinpath("policies.toml").read_text(encoding="utf-8")
    policies = tuple(_policy(entry) for entry in tomllib.loads(text)["policy"])
    return tuple(_in_set(policy, policy_set) for policy in policies)


def _in_set(policy: SeedPolicy, policy_set: PolicySet) -> SeedPolicy:
    """Keep the revisions of the set. One that has a later one within its time ends the day before it."""
    kept = [r for r in policy.revisions if policy_set == "current" or not r.later]
    ended = []
    for revision, following in zip(kept, [*kept[1:], None], strict=True):
        end = revision.effective_to
        if end is not None and following is not None and following.effective_from <= end:
            revision = replace(revision, effective_to=following.effective_from - ONE_DAY)
        ended.append(revision)
    return replace(policy, revisions=tuple(ended))


@cache
def shipped_authorities(source: str) -> tuple[str, ...]:
    """Return the authorities that a shipped policy applies to; none for all of England and for policies of others."""
    return next((policy.authorities for policy in load_seed("current") if policy.source == source), ())


def _policy(entry: dict[str, Any]) -> SeedPolicy:
    return SeedPolicy(
        source=entry["source"],
        title=entry["title"],
        description=entry["description"],
        category=PolicyCategory(entry["category"]),
        authorities=tuple(entry.get("authorities", ())),
        revisions=tuple(
            SeedRevision(
                version_label=r["version_label"],
                effective_from=parse_day(r["effective_from"]),
                effective_to=parse_day(r["effective_to"]) if "effective_to" in r else None,
                url=r.get("url"),
                landing=r["landing"],
                digest=r["digest"],
                later=r.get("later", False),
            )
            for r in entry["revision"]
        ),
    )
