"""Revisions whose passages the registry claims and the store does not have: a deleted folder, a lost collection.

They are rebuilt from the stored files. Meanwhile no question is answered from what is left: that would look as if
nothing had been in force.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from trigpoint.errors import (
    Cancelled,
    CannotReindex,
    RegistryUnavailable,
    RevisionNotFound,
    StoreError,
    StoreUnavailable,
    TrigpointError,
)
from trigpoint.policies.models import Policy, Revision
from trigpoint.policies.registry import PolicyRegistry

log = logging.getLogger(__name__)


@dataclass
class LostRevisions:
    """The revisions whose passages are lost. `count` counts those of a revision, `ingest` makes them from its file."""

    registry: PolicyRegistry
    count: Callable[[str], Awaitable[int]]
    ingest: Callable[[Revision], Awaitable[None]]
    lost: dict[str, Revision] = field(default_factory=dict)

    async def find(self) -> None:
        """Look which revisions that may answer claim passages and have none."""
        for policy in await self.registry.list_policies():
            for revision in policy.revisions:
                if revision.queryable and revision.chunk_count and not await self.count(revision.revision_id):
                    self.lost[revision.revision_id] = revision
                    log.warning("%s", _announcement(revision))

    async def rebuild(self) -> None:
        """Rebuild what is lost, one after the other. Raises errors that justify another try."""
        for revision in list(self.lost.values()):
            try:
                await self.ingest(revision)
                log.warning("The passages of %s have been rebuilt", revision.revision_id)
            except CannotReindex:
                log.info("%s is being ingested by another job", revision.revision_id)
                continue
            except RevisionNotFound:
                log.info("%s was deleted meanwhile", revision.revision_id)
            except (Cancelled, StoreError, RegistryUnavailable):
                raise
            except TrigpointError as error:
                problem = (
                    f"Its passages were lost and cannot be rebuilt: {error.message}. Delete it and upload it again"
                )
                await self.registry.mark_lost(revision.source, revision.revision_id, problem)
                log.error("%s: %s", revision.revision_id, problem)
            del self.lost[revision.revision_id]

    def require_none(self, policies: Sequence[Policy]) -> None:
        """Raise StoreUnavailable while a text of one of these policies is being rebuilt."""
        sources = {policy.source for policy in policies}
        waiting = [revision for revision in self.lost.values() if revision.source in sources]
        if waiting:
            names = ", ".join(f"{one.source} ({one.version_label})" for one in waiting)
            raise StoreUnavailable(
                f"The passages of {names} were lost and are being rebuilt from the stored files. Try again in a minute"
            )

    @property
    def problems(self) -> list[str]:
        return [_announcement(revision) for revision in self.lost.values()]


def _announcement(revision: Revision) -> str:
    return (
        f"The passages of {revision.source} ({revision.version_label}, {revision.revision_id}) are not in the vector "
        f"store. They are being rebuilt from {revision.file_path or 'its file'}"
    )
