"""Parking standards as data: so many cycles for so many homes, pupils or square metres, and the section that says so.

A person states the standard of a local plan for one revision of it; it is kept in the registry, and applies on the days
when that revision is in force.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from trigpoint.land_uses import Use
from trigpoint.policies.models import Policy, Revision
from trigpoint.policies.placements import Placements
from trigpoint.policies.registry import PolicyRegistry

StandardName = Literal["cycle_parking_long_stay", "cycle_parking_short_stay"]
RateUnit = Literal["dwelling", "bedroom", "m2", "job", "pupil"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Rate(_Frozen):
    """So many cycles for so many of a unit: 1 for every 200 m2 of offices."""

    name: StandardName
    use: Use
    count: float = Field(gt=0, le=1000)
    of: float = Field(1, gt=0, le=1_000_000)
    unit: RateUnit
    at_least: float = Field(0, ge=0, description="Smallest size that the rate is for")
    below: float | None = Field(None, gt=0, description="Size from which another rate counts")

    @property
    def words(self) -> str:
        """Return `1 per 200 m2`, `1 per bedroom`."""
        number = "" if self.of == 1 else f"{self.of:,g} "
        return f"{self.count:g} per {number}{self.unit}"

    @property
    def stay(self) -> str:
        return "long" if self.name == "cycle_parking_long_stay" else "short"

    @property
    def sizes(self) -> str:
        """Return the sizes that the rate is for: `all`, `from 1,000 m2`, `200 to 1,000 m2`."""
        if self.below is None:
            return f"from {self.at_least:,g} {self.unit}" if self.at_least else "all"
        return f"{self.at_least:,g} to {self.below:,g} {self.unit}"

    def fits_size(self, size: float) -> bool:
        return self.at_least <= size and (self.below is None or size < self.below)


class ParkingStandard(_Frozen):
    """The rates that a section of a policy states."""

    section: str = Field(min_length=1, max_length=200, description="The section that states the rates")
    note: str = Field("", max_length=1000, description="What a reader should know about them")
    rates: tuple[Rate, ...] = Field(min_length=1, max_length=200)


@dataclass(frozen=True)
class StatedStandard:
    """A parking standard and the revision that states it."""

    policy: Policy
    revision: Revision
    standard: ParkingStandard


class ParkingStandards:
    """The parking standards that people stated for revisions."""

    def __init__(self, registry: PolicyRegistry) -> None:
        self._registry = registry

    async def get(self, source: str, revision_id: str) -> ParkingStandard | None:
        """Return the standard of a revision, or None. Raise RevisionNotFound if there is no such revision."""
        await self._registry.get_revision(source, revision_id)
        return await self._read(source, revision_id)

    async def put(self, source: str, revision_id: str, standard: ParkingStandard) -> ParkingStandard:
        """State the standard of a revision. Raise InvalidInput if its text has no such section."""
        section = await Placements(self._registry).existing_section(source, revision_id, standard.section)
        known = standard.model_copy(update={"section": section})
        await self._registry.put_parking(source, revision_id, known.model_dump_json())
        return known

    async def remove(self, source: str, revision_id: str) -> None:
        """Take the standard of a revision away. Nothing happens if it has none."""
        await self._registry.put_parking(source, revision_id, None)

    async def in_force(self, policies: Iterable[Policy], day: date) -> list[StatedStandard]:
        """Return the standards that the revisions in force on a day state."""
        stated = []
        for policy in policies:
            revision = policy.in_force(day)
            if revision is not None and (standard := await self._read(policy.source, revision.revision_id)):
                stated.append(StatedStandard(policy, revision, standard))
        return stated

    async def _read(self, source: str, revision_id: str) -> ParkingStandard | None:
        stored = await self._registry.read_parking(source, revision_id)
        return None if stored is None else ParkingStandard.model_validate_json(stored)
