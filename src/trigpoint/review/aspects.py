"""The aspects of a review, read from `checks/*.yaml` and validated: what to ask, where to look, which policy it rests
on in which revision, the thresholds, and the words of findings, recommendations and conditions.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Annotated, Literal, Self

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from trigpoint.ids import parse_policy_source
from trigpoint.review.models import FOCUS_AREAS, FocusArea

QUANTITY = "<q>"  # in a pattern: a quantity of the check's unit
_MASKED = r"\u27e6(\d+)\u27e7"
_GAP = re.compile(r"\[\^\.\](\{\d+,\d+\})")
_WITHOUT_DENIAL = r"(?:(?!\\b(?:no|not|nor|neither|never|cannot|without)\\b)(?:[^.;]|\\.(?=\\d)))\1"


def _compilable(pattern: str) -> str:
    compile_pattern(pattern)
    return pattern


Pattern = Annotated[str, AfterValidator(_compilable)]
Source = Annotated[str, AfterValidator(parse_policy_source)]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # by libyaml where it is there: this is read at every start


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PolicyBasis(_Frozen):
    """A section that a check rests on. Numbering differs between revisions: `sections` follows the one in force."""

    source: Source
    section: str | None = Field(None, description="The section in every revision.")
    sections: dict[str, str] = Field(default_factory=dict, description="The section by revision id.")
    says: str = Field(min_length=10, description="What it says, in our words.")

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if (self.section is None) == (not self.sections):
            raise ValueError("give either section or sections")
        return self

    def __hash__(self) -> int:
        return hash((self.source, self.section, tuple(sorted(self.sections.items())), self.says))

    def in_revision(self, revision_id: str) -> str | None:
        return self.section or self.sections.get(revision_id)


class Bounds(_Frozen):
    """What is wanted, and what is the least (or most) that can be accepted."""

    desirable: float
    absolute: float

    @property
    def both(self) -> tuple[float, float]:
        return self.desirable, self.absolute


class QuantityRule(_Frozen):
    """A measure that is compared: `find` says where in a sentence it stands."""

    name: str = Field(description="What it is, as a contradiction names it: the width of the route.")
    unit: str
    find: tuple[Pattern, ...] = Field(min_length=1)
    not_find: tuple[Pattern, ...] = Field((), description="Where it stands and is the measure of another thing.")
    not_of: Pattern | None = Field(None, description="In the quantity's own words: it counts another thing.")
    compare: Literal["minimum", "maximum"] = "minimum"
    bounds: dict[str, Bounds] = Field(description="By what the quantity is counted per; `once` where it is not a rate.")
    plausible: tuple[float, float] = (0.0, 1e9)
    subject: tuple[Pattern, ...] = Field((), description="Same subject, other value: a contradiction.")
    show: str = Field("{value:g}", description="How a value is written.")


class Words(_Frozen):
    """The text of a finding by outcome."""

    met: str
    partly: str | None = None
    failed: str
    not_found: str
    contradicted: str | None = None


class _Point(_Frozen):
    """What a sentence must be about to be looked at."""

    about: tuple[Pattern, ...] = Field(min_length=1, description="All of them must match the sentence.")
    not_about: tuple[Pattern, ...] = ()
    under: Pattern | None = Field(None, description="The sentence or its heading must match it.")


class Check(_Point):
    """One point: a quantity, statements that speak for or against, or both."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    requirement: str
    short: str = Field(description="What is met, in a few words: the key issue of a green aspect is made of them.")
    essential: bool = False
    quantity: QuantityRule | None = None
    met: tuple[Pattern, ...] = ()
    partly: tuple[Pattern, ...] = ()
    failed: tuple[Pattern, ...] = ()
    conflict: Literal["partly", "contradicted", "failed"] = Field(
        "partly", description="When statements speak both ways."
    )
    policy: tuple[str, ...] = Field(min_length=1, description="Names of the aspect's policies.")
    origin: str | None = Field(None, description="Where a threshold comes from that no policy of ours states.")
    words: Words
    recommendation: str = Field(description="Here and in a condition, what names a policy stands in brackets.")
    condition: str | None = None


class Sums(_Frozen):
    """Totals whose parts must add up."""

    about: Pattern
    unit: str
    requirement: str
    policy: tuple[str, ...] = Field(min_length=1)
    recommendation: str


class Agreement(_Point):
    """A figure that must be the same wherever it is given."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    what: str
    requirement: str
    unit: str
    find: tuple[Pattern, ...] = Field(min_length=1)
    not_find: tuple[Pattern, ...] = ()
    not_of: Pattern | None = None
    key: tuple[Pattern, ...] = Field((), description="Figures agree or not where all that these match is the same.")
    show: str = "{value:g}"
    policy: tuple[str, ...] = Field(min_length=1)
    recommendation: str


class Aspect(_Frozen):
    """One aspect: the contract's name and focus area, and everything that is looked at for it."""

    id: FocusArea
    name: str
    core: bool = Field(description="Whether it weighs on the overall rating by itself.")
    question: str
    queries: tuple[str, ...] = Field(min_length=2)
    policy_queries: tuple[str, ...] = Field(min_length=1)
    policies: dict[str, PolicyBasis]
    checks: tuple[Check, ...] = Field(min_length=1)
    sums: Sums | None = None
    agreements: tuple[Agreement, ...] = ()

    @model_validator(mode="after")
    def _policies_are_known(self) -> Self:
        parts: list[Check | Agreement | Sums] = [*self.checks, *self.agreements]
        parts += [self.sums] if self.sums else []
        used = [name for part in parts for name in part.policy]
        unknown = sorted(set(used) - set(self.policies))
        unused = sorted(set(self.policies) - set(used))
        if unknown or unused:
            raise ValueError(f"policies not declared: {unknown}; declared and not used: {unused}")
        if len({check.id for check in self.checks}) != len(self.checks):
            raise ValueError("two checks have the same id")
        if not any(check.essential for check in self.checks):
            raise ValueError("no check is essential")
        return self


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A pattern of the checks: case does not count, `<q>` is a quantity, and `[^.]{0,40}` spans no denial."""
    return re.compile(_GAP.sub(_WITHOUT_DENIAL, pattern).replace(QUANTITY, _MASKED), re.IGNORECASE)


@cache
def load_aspects() -> tuple[Aspect, ...]:
    """The ten aspects, in the order of the focus areas. A file that does not fit the schema stops the start."""
    folder = resources.files("trigpoint.review") / "checks"
    found: dict[str, Aspect] = {}
    for area in FOCUS_AREAS:
        text = (folder / f"{area}.yaml").read_text(encoding="utf-8")
        found[area] = Aspect.model_validate(yaml.load(text, Loader=_LOADER))  # noqa: S506  a safe one
        if found[area].id != area:
            raise ValueError(f"checks/{area}.yaml describes {found[area].id}")
    return tuple(found.values())


def aspect(area: str) -> Aspect:
    return next(one for one in load_aspects() if one.id == area)
