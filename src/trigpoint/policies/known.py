"""Revisions that we know of and that are not loaded: what a question about their time should be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from trigpoint.policies.models import Policy
from trigpoint.policies.seed import SeedPolicy, SeedRevision, load_seed

_SAME_TIME = timedelta(days=31)
HOW = "`trigpoint policies update`, or one click on the policies page, adds it"


@dataclass(frozen=True)
class MissingRevision:
    """A revision of a registered policy that exists in the world and not here."""

    policy: SeedPolicy
    revision: SeedRevision

    @property
    def source(self) -> str:
        return self.policy.source

    def was_in_force(self, day: date) -> bool:
        end = self.revision.effective_to
        return self.revision.effective_from <= day and (end is None or day <= end)

    @property
    def message(self) -> str:
        """Return it as a sentence for people and models."""
        end = self.revision.effective_to
        time = (
            f"since {self.revision.effective_from}" if end is None else f"from {self.revision.effective_from} to {end}"
        )
        return f"{self.source}: the revision of {self.revision.version_label}, in force {time}, is known and not loaded. {HOW}"

    @property
    def consequence(self) -> str:
        """Return the sentence for a review dated within its time: the text that is cited is not the one in force."""
        title = self.policy.title
        return (
            f"An earlier text of the {title} is cited: the one of {self.revision.version_label}, which applies to this "
            "application, is not loaded, and its paragraph numbers may differ."
        )


def missing_revisions(policies: Sequence[Policy], day: date | None = None) -> list[MissingRevision]:
    """Return the known revisions of these policies that are not loaded; with a day, those in force on it."""
    registered = {policy.source: policy for policy in policies}
    missing = [
        MissingRevision(known, revision)
        for known in load_seed("current")
        if known.source in registered
        for revision in known.revisions
        if revision.later and not _is_loaded(registered[known.source], revision)
    ]
    return [m for m in missing if day is None or m.was_in_force(day)]


def _is_loaded(policy: Policy, revision: SeedRevision) -> bool:
    """Return whether a text that can answer begins at that time, regardless of who loaded it and for which day."""
    return any(r.queryable and abs(r.effective_from - revision.effective_from) <= _SAME_TIME for r in policy.revisions)
