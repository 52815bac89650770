"""Standards of cycle parking by use: national guidance (`standards.yaml`), and local ones that are stated as data."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from importlib import resources
from typing import Annotated

import yaml
from pydantic import AfterValidator, TypeAdapter

from trigpoint.ids import parse_policy_source
from trigpoint.land_uses import Use
from trigpoint.policies.parking import ParkingStandard, Rate, StandardName
from trigpoint.reading.profile import Profile


class Standard(ParkingStandard):
    """The rates that one policy states: national guidance, or a local policy that applies to the site."""

    source: Annotated[str, AfterValidator(parse_policy_source)]

    def rates_for(self, name: StandardName | None, uses: Collection[Use]) -> tuple[Rate, ...]:
        return tuple(rate for rate in self.rates if rate.name == name and rate.use in uses)


_STANDARDS = TypeAdapter(tuple[Standard, ...])


@cache
def load_standards() -> tuple[Standard, ...]:
    """Return every standard of `standards.yaml`. Raise ValueError if the file does not fit the schema."""
    text = resources.files("trigpoint.review").joinpath("standards.yaml").read_text(encoding="utf-8")
    return _STANDARDS.validate_python(yaml.safe_load(text))


def standard_for(
    name: StandardName, profile: Profile, in_force: Collection[str], local: Sequence[Standard] = ()
) -> tuple[Standard, tuple[Rate, ...]] | None:
    """Return the standard that applies to the development with its rates for the uses built, local before national."""
    uses = {size.use for size in profile.uses}
    for standard in (*local, *load_standards()):
        rates = standard.rates_for(name, uses)
        if rates and standard.source in in_force:
            return standard, rates
    return None
