"""The provisions that checks rest on, read from `provisions.yaml` and validated.

A provision is something that policy requires, whatever its number in a revision: "priority first for walking and
cycling" was paragraph 112, then 116, then 117 of the NPPF, and is policy TR4 today.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Annotated, Self

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from trigpoint.ids import parse_policy_source
from trigpoint.policies.models import Policy, PolicyCategory


class ProvisionKind(StrEnum):
    PRIORITY = "priority"
    LOCATION = "location"
    ACCESS = "access"
    DESIGN = "design"
    STANDARD = "standard"
    REFUSAL_TEST = "refusal_test"
    MITIGATION = "mitigation"
    CONTRIBUTION = "contribution"
    PLAN = "plan"
    PROCESS = "process"


class Provision(BaseModel):
    """One requirement of policy, in our words, with the ways in which texts usually put it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{2,59}$")
    source: Annotated[str, AfterValidator(parse_policy_source)] | None = Field(
        None, description="The policy that states it."
    )
    category: PolicyCategory | None = Field(None, description="Instead: any policy of this category may state it.")
    kind: ProvisionKind
    title: str = Field(min_length=5, max_length=80)
    requires: str = Field(min_length=20)
    phrasings: tuple[Annotated[str, Field(min_length=10)], ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _stated_somewhere(self) -> Self:
        if (self.source is None) == (self.category is None):
            raise ValueError(f"provision {self.id}: give either source or category")
        return self

    def may_be_stated_in(self, policy: Policy) -> bool:
        """Return whether this policy is one that states the provision."""
        return self.source == policy.source if self.source is not None else self.category == policy.category


_PROVISIONS = TypeAdapter(tuple[Provision, ...])


@cache
def load_provisions() -> tuple[Provision, ...]:
    """Return all provisions in the order of the file. Raise ValueError if one is malformed or an id is used twice."""
    return parse_provisions(files("trigpoint.policies").joinpath("provisions.yaml").read_text(encoding="utf-8"))


def parse_provisions(text: str) -> tuple[Provision, ...]:
    """Read provisions from YAML and check them."""
    provisions = _PROVISIONS.validate_python(yaml.safe_load(text))
    twice = [name for name, uses in Counter(p.id for p in provisions).items() if uses > 1]
    if twice:
        raise ValueError(f"provisions.yaml uses an id more than once: {', '.join(twice)}")
    return provisions


@cache
def provision_by_id() -> dict[str, Provision]:
    """Return the provisions by their ids."""
    return {provision.id: provision for provision in load_provisions()}
