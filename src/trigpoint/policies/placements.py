"""The section of each revision that states a provision: as found in the text, or as a person confirmed or set it.

Kept in the registry. What was found can always be found again; what a person said is kept apart and is never lost
to a new search. A provision that is not found is never dropped: its section is "to be confirmed".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from enum import StrEnum

from trigpoint.dates import micro_timestamp, now, parse_micro_timestamp
from trigpoint.errors import InvalidInput, NotPlacedYet, ProvisionNotFound, RevisionNotFound, shorten
from trigpoint.policies.digest import OWN_NUMBERS
from trigpoint.policies.locate import VERSION, Located
from trigpoint.policies.models import Policy, Revision
from trigpoint.policies.provisions import Provision, load_provisions
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.policies.scope import Scope
from trigpoint.policies.section_lookup import section_key

TO_BE_CONFIRMED = "section to be confirmed"
_STAMP, _SECTIONS = "_stamp", "_sections"


class PlacementStatus(StrEnum):
    CONFIRMED = "confirmed"
    FOUND = "found"
    TO_BE_CONFIRMED = "to_be_confirmed"
    NOT_STATED = "not_stated"


@dataclass(frozen=True)
class Choice:
    """A person's decision: the section, or None for "this revision does not state it"."""

    section_ref: str | None
    chosen_at: datetime


@dataclass(frozen=True)
class Placement:
    """The section in which a revision states a provision. `excerpt` is the clause of its text that fits best."""

    provision: Provision
    revision: Revision
    status: PlacementStatus
    section_ref: str | None
    confidence: float
    excerpt: str = ""
    page: int | None = None
    runner_up: str | None = None
    note: str | None = None

    @property
    def citable(self) -> bool:
        """Whether the section can be cited without a reservation."""
        return self.section_ref is not None and self.status in (PlacementStatus.CONFIRMED, PlacementStatus.FOUND)

    @property
    def where(self) -> str:
        """Return the place in words: `Para 117`, `Policy TR4 (section to be confirmed)`."""
        if self.status is PlacementStatus.NOT_STATED:
            return "not stated in this revision"
        if self.citable:
            return str(self.section_ref)
        return f"{self.section_ref} ({TO_BE_CONFIRMED})" if self.section_ref else TO_BE_CONFIRMED


@dataclass(frozen=True)
class RevisionPlacements:
    """All provisions of one revision. `current` is False while its text has changed and is still being searched."""

    revision: Revision
    placements: tuple[Placement, ...]
    sections: tuple[str, ...]
    current: bool

    def of(self, provision_id: str) -> Placement | None:
        return next((p for p in self.placements if p.provision.id == provision_id), None)


@dataclass(frozen=True)
class Record:
    """The stored placements of a revision: the search's result, and people's choices."""

    stamp: str = ""
    sections: tuple[str, ...] = ()
    found: Mapping[str, Located] = field(default_factory=dict)
    chosen: Mapping[str, Located] = field(default_factory=dict)  # the best clause of the section that was chosen
    choices: Mapping[str, Choice] = field(default_factory=dict)


class Placements:
    """Reads placements and records what people decide. Searching texts is the policy server's (see placing.py)."""

    def __init__(self, registry: PolicyRegistry) -> None:
        self._registry = registry

    async def of_policy(self, policy: Policy) -> list[RevisionPlacements]:
        """Return the placements of every revision that can answer, newest first."""
        records = await self.records(policy)
        stamps = wanted_stamps(policy, records)
        return [
            _placed(policy, revision, records[revision.revision_id], stamps[revision.revision_id])
            for revision in policy.revisions
            if revision.queryable
        ]

    async def of_revision(self, source: str, revision_id: str) -> RevisionPlacements:
        """Return the placements of one revision. Raise RevisionNotFound if it does not exist or cannot answer yet."""
        policy = await self._registry.get_policy(source)
        placed = next((p for p in await self.of_policy(policy) if p.revision.revision_id == revision_id), None)
        if placed is None:
            raise RevisionNotFound(source, revision_id)
        return placed

    async def confirm(self, source: str, revision_id: str, provision_id: str) -> Placement:
        """Confirm the section that was found."""
        placed = await self.of_revision(source, revision_id)
        placement = _known(placed, provision_id)
        if not placed.sections:
            raise NotPlacedYet(source, revision_id)
        if placement.section_ref is None:
            raise InvalidInput(f"No section was found for {provision_id} in {revision_id}. Set one instead")
        return await self._choose(placement, placement.section_ref)

    async def set_section(self, source: str, revision_id: str, provision_id: str, section_ref: str | None) -> Placement:
        """Set the section, or None for "not stated in this revision". Raise InvalidInput for an unknown section."""
        placed = await self.of_revision(source, revision_id)
        placement = _known(placed, provision_id)
        return await self._choose(placement, None if section_ref is None else _existing(placed, section_ref))

    async def existing_section(self, source: str, revision_id: str, section_ref: str) -> str:
        """Return a section's reference as the revision has it. Raise InvalidInput if there is no such section."""
        return _existing(await self.of_revision(source, revision_id), section_ref)

    async def forget_choice(self, source: str, revision_id: str, provision_id: str) -> Placement:
        """Take a confirmation or correction back: what was found counts again."""
        await self._placement(source, revision_id, provision_id)
        await self._registry.choose_section(source, revision_id, provision_id, None)
        return await self._placement(source, revision_id, provision_id)

    async def records(self, policy: Policy) -> dict[str, Record]:
        """Return what is stored for each revision that can answer."""
        ids = [r.revision_id for r in policy.revisions if r.queryable]
        stored = await self._registry.read_placements(policy.source, ids)
        return {revision_id: _record(*stored[revision_id]) for revision_id in ids}

    async def put(
        self,
        revision: Revision,
        stamp: str,
        sections: Sequence[str],
        found: Sequence[Located],
        chosen: Sequence[Located],
    ) -> bool:
        """Store the result of a search. False: the text has been replaced or deleted since."""
        by_id = {located.provision_id: located for located in chosen}
        fields = {
            located.provision_id: json.dumps(
                {"found": asdict(located), "chosen": _as_dict(by_id.get(located.provision_id))}
            )
            for located in found
        }
        fields |= {_STAMP: stamp, _SECTIONS: json.dumps(list(sections))}
        return await self._registry.put_placements(revision, fields)

    async def _placement(self, source: str, revision_id: str, provision_id: str) -> Placement:
        return _known(await self.of_revision(source, revision_id), provision_id)

    async def _choose(self, placement: Placement, section_ref: str | None) -> Placement:
        revision = placement.revision
        choice = json.dumps({"section_ref": section_ref, "chosen_at": micro_timestamp(now())})
        await self._registry.choose_section(revision.source, revision.revision_id, placement.provision.id, choice)
        return await self._placement(revision.source, revision.revision_id, placement.provision.id)


def provisions_of(policy: Policy) -> list[Provision]:
    """Return the provisions that a policy may state."""
    return [provision for provision in load_provisions() if provision.may_be_stated_in(policy)]


def predecessor(policy: Policy, revision: Revision) -> Revision | None:
    """Return the revision before this one that can answer."""
    older = [r for r in policy.revisions if r.queryable and r.effective_from < revision.effective_from]
    return max(older, key=lambda r: r.effective_from, default=None)


def wanted_stamps(policy: Policy, records: Mapping[str, Record]) -> dict[str, str]:
    """Return by revision what its placements depend on: method, provisions, text, choices, and the revision before."""
    provisions = json.dumps([p.model_dump(mode="json") for p in provisions_of(policy)])
    stamps: dict[str, str] = {}
    for revision in sorted((r for r in policy.revisions if r.queryable), key=lambda r: r.effective_from):
        before = predecessor(policy, revision)
        choices = {i: c.section_ref for i, c in sorted(records[revision.revision_id].choices.items())}
        depends = [
            VERSION,
            provisions,
            "" if revision.ingested_at is None else micro_timestamp(revision.ingested_at),
            choices,
            "" if before is None else stamps[before.revision_id],
        ]
        stamps[revision.revision_id] = hashlib.sha256(json.dumps(depends).encode()).hexdigest()[:32]
    return stamps


@dataclass(frozen=True)
class ProvisionsInForce:
    """The requirements of policy on a day: the section of each provision, and those not placed, with the reason."""

    placements: tuple[Placement, ...]
    unavailable: Mapping[str, str]
    warnings: tuple[str, ...]
    titles: Mapping[str, str]  # of the policies, by slug
    local_policies: tuple[str, ...] = ()
    not_loaded: tuple[str, ...] = ()


def provisions_in_force(
    scope: Scope, placements: Sequence[Placement], day: date, provision_ids: Sequence[str] | None
) -> ProvisionsInForce:
    """Sort the placements of a day into an answer that accounts for every provision asked for."""
    known = {provision.id: provision for provision in load_provisions()}
    wanted = [i for i in dict.fromkeys(provision_ids or known) if i in known]
    unknown = [i for i in provision_ids or () if i not in known]
    placed = {placement.provision.id for placement in placements}
    return ProvisionsInForce(
        tuple(p for p in placements if p.provision.id in set(wanted)),
        {i: _why_not(known[i], scope.policies, day) for i in wanted if i not in placed},
        (*(f"There is no provision '{shorten(i)}'" for i in unknown), *scope.warnings),
        {policy.source: policy.title for policy in scope.policies},
        scope.local_policies,
        scope.not_loaded,
    )


def _why_not(provision: Provision, policies: Sequence[Policy], day: date) -> str:
    stating = [policy for policy in policies if provision.may_be_stated_in(policy)]
    if not stating:
        return f"No policy that states it is loaded for this place ({provision.source or provision.category})"
    names = ", ".join(policy.source for policy in stating)
    return f"No revision of {names} was in force on {day.isoformat()}"


def _placed(policy: Policy, revision: Revision, record: Record, wanted: str) -> RevisionPlacements:
    placements = tuple(_place(provision, revision, record) for provision in provisions_of(policy))
    return RevisionPlacements(revision, placements, record.sections, record.stamp == wanted)


def _place(provision: Provision, revision: Revision, record: Record) -> Placement:
    found, choice = record.found.get(provision.id), record.choices.get(provision.id)
    if choice is not None and choice.section_ref is None:
        return Placement(provision, revision, PlacementStatus.NOT_STATED, None, 1.0)
    if choice is not None and (choice.section_ref in record.sections or not record.sections):
        return _by_choice(provision, revision, str(choice.section_ref), found, record.chosen.get(provision.id))
    note = f"{choice.section_ref} was confirmed and is not in this text" if choice is not None else None
    if note is None and found is not None and _numbered_by_digest(revision, found.section_ref):
        note = "The number is the digest's, not the plan's"
    if found is None:
        return Placement(provision, revision, PlacementStatus.TO_BE_CONFIRMED, None, 0.0, note=note)
    sure = found.sure and note is None
    status = PlacementStatus.FOUND if sure else PlacementStatus.TO_BE_CONFIRMED
    return Placement(
        provision,
        revision,
        status,
        found.section_ref,
        found.confidence,
        found.excerpt,
        found.page,
        found.runner_up,
        note,
    )


def _numbered_by_digest(revision: Revision, section_ref: str | None) -> bool:
    return OWN_NUMBERS in (revision.notes or "") and (section_ref or "").startswith("Section")


def _by_choice(
    provision: Provision, revision: Revision, ref: str, found: Located | None, chosen: Located | None
) -> Placement:
    best = next((located for located in (chosen, found) if located is not None and located.section_ref == ref), None)
    excerpt, page = ("", None) if best is None else (best.excerpt, best.page)
    return Placement(provision, revision, PlacementStatus.CONFIRMED, ref, 1.0, excerpt, page)


def _known(placed: RevisionPlacements, provision_id: str) -> Placement:
    placement = placed.of(provision_id)
    if placement is None:
        raise ProvisionNotFound(placed.revision.source, provision_id)
    return placement


def _existing(placed: RevisionPlacements, section_ref: str) -> str:
    if not placed.sections:
        raise NotPlacedYet(placed.revision.source, placed.revision.revision_id)
    wanted = section_key(section_ref)
    found = next((ref for ref in placed.sections if section_key(ref) == wanted), None)
    if found is None:
        some = ", ".join(placed.sections[:8])
        raise InvalidInput(
            f"{placed.revision.revision_id} has no section '{shorten(section_ref)}'. Its sections are {some} … "
            f"({len(placed.sections)} in all)",
            field="section_ref",
        )
    return found


def _record(stored: Mapping[str, str], choices: Mapping[str, str]) -> Record:
    rows = {name: json.loads(text) for name, text in stored.items() if not name.startswith("_")}
    return Record(
        stored.get(_STAMP, ""),
        tuple(json.loads(stored.get(_SECTIONS, "[]"))),
        {name: Located(**row["found"]) for name, row in rows.items()},
        {name: Located(**row["chosen"]) for name, row in rows.items() if row["chosen"]},
        {name: _choice(text) for name, text in choices.items()},
    )


def _choice(text: str) -> Choice:
    stored = json.loads(text)
    return Choice(stored["section_ref"], parse_micro_timestamp(stored["chosen_at"]))


def _as_dict(located: Located | None) -> dict[str, object] | None:
    return None if located is None else asdict(located)
