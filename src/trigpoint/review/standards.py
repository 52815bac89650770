"""Standards of cycle parking by use, read from `standards.yaml`: national guidance, and local ones when loaded."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib import resources
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from trigpoint.ids import parse_policy_source
from trigpoint.reading.profile import Profile
from trigpoint.reading.uses import Use

StandardName = Literal["cycle_parking_long_stay", "cycle_parking_short_stay"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Rate(_Frozen):
    """So many cycles for so many of a unit: 1 for every 200 m2 of offices."""

    name: StandardName
    use: Use
    count: float = Field(gt=0)
    of: float = Field(1, gt=0)
    unit: str
    at_least: float = Field(0, alias="from")
    below: float = Field(float("inf"))

    @property
    def words(self) -> str:
        """Return `1 per 200 m2`, `1 per bedroom`."""
        number = "" if self.of == 1 else f"{self.of:,g} "
        return f"{self.count:g} per {number}{self.unit}"

    def fits_size(self, size: float) -> bool:
        return self.at_least <= size < self.below


class Standard(_Frozen):
    """The rates that one policy states. `authorities` limits a local standard; none means everywhere."""

    source: Annotated[str, AfterValidator(parse_policy_source)]
    section: str
    national: bool = False
    authorities: tuple[str, ...] = ()
    note: str = ""
    rates: tuple[Rate, ...] = Field(min_length=1)


_STANDARDS = TypeAdapter(tuple[Standard, ...])


@cache
def load_standards() -> tuple[Standard, ...]:
    """Return every standard of `standards.yaml`. Raise ValueError if the file does not fit the schema."""
    return parse_standards(resources.files("trigpoint.review").joinpath("standards.yaml").read_text(encoding="utf-8"))


def parse_standards(text: str) -> tuple[Standard, ...]:
    return _STANDARDS.validate_python(yaml.safe_load(text))


def standard_for(
    name: StandardName,
    profile: Profile,
    in_force: Collection[str],
    standards: tuple[Standard, ...] | None = None,
) -> tuple[Standard, tuple[Rate, ...]] | None:
    """Return the standard that applies to the development with its rates for the uses built, local before national."""
    uses = {size.use for size in profile.uses}
    for standard in sorted(load_standards() if standards is None else standards, key=lambda one: one.national):
        here = not standard.authorities or profile.authority in standard.authorities
        rates = tuple(rate for rate in standard.rates if rate.name == name and rate.use in uses)
        if here and rates and standard.source in in_force:
            return standard, rates
    return None
