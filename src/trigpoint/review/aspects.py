"""The aspects of a review, read from `checks/*.yaml` and validated: what each check asks, of which development, which
facts decide it, the provisions of policy it rests on, and the words of findings, recommendations and conditions.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Annotated, Literal, Self

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from trigpoint.land_uses import Use
from trigpoint.policies.parking import StandardName
from trigpoint.policies.provisions import provision_by_id
from trigpoint.reading.kinds import Kind
from trigpoint.reading.profile import Profile, Scale
from trigpoint.reading.vocabulary import PROVISION, Status, Topic, aspects_of
from trigpoint.review.models import FOCUS_AREAS, FocusArea
from trigpoint.review.wording import any_of

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # by libyaml if it is there: this is read at every start

Judged = Literal["standard", "figure", "statement", "person"]
Fit = Literal["yes", "no", "unknown"]


def _known_provision(name: str) -> str:
    if name not in provision_by_id():
        raise ValueError(f"there is no provision {name!r} in policies/provisions.yaml")
    return name


Provision = Annotated[str, AfterValidator(_known_provision)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Applies(_Frozen):
    """The developments of which something is asked. An empty list excludes nobody."""

    uses: tuple[Use, ...] = ()
    scales: tuple[Scale, ...] = ()
    not_kinds: tuple[Kind, ...] = ()

    def fits(self, profile: Profile) -> Fit:
        """Return whether the development is one of those, or `unknown` if the profile does not tell."""
        if profile.kind in self.not_kinds or (self.scales and profile.scale not in (*self.scales, "unknown")):
            return "no"
        built = {size.use for size in profile.uses}
        if self.uses and built and not built & set(self.uses):
            return "no"
        return "unknown" if (self.scales and profile.scale == "unknown") or (self.uses and not built) else "yes"


class Figure(_Frozen):
    """A measure with its bounds: `desirable` meets the requirement, `absolute` meets it in part."""

    unit: str
    per: str | None = None
    compare: Literal["minimum", "maximum"]
    desirable: float
    absolute: float
    plausible: tuple[float, float]
    take: Literal["every", "best"] = Field("every", description="best: the nearest stop counts, not every stop.")
    origin: str = Field("", description="Where a bound comes from that no policy of ours states.")
    show: str = Field(description="How a value is written, for example `{value:g} m`.")
    only_of: tuple[str, ...] = Field(
        (), description="Words of which a statement must have one: the bounds are not those of its other kinds."
    )

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        better, worse = (
            (self.desirable, self.absolute) if self.compare == "minimum" else (self.absolute, self.desirable)
        )
        if better < worse:
            raise ValueError("the desirable bound is easier to meet than the absolute one")
        return self

    def shown(self, value: float) -> str:
        return self.show.format(value=value)

    def bounds(self, statement: str) -> bool:
        """Return whether the bounds are those of what a statement speaks of."""
        return not self.only_of or any_of(*map(re.escape, self.only_of)).search(statement) is not None


class Words(_Frozen):
    """The text of a finding by outcome, with `{value}` for figures, and the subject for a check that is not judged."""

    subject: str = Field(description="Completes: We found no statement of …")
    met: str | None = None
    partly: str | None = None
    failed: str | None = None


class Check(_Frozen):
    """One point of an aspect."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    requirement: str
    short: str = Field(description="What is met, in a few words, for the key issue of a green aspect.")
    essential: bool = False
    applies: Applies = Applies()
    judged_by: Judged = Field(
        description="standard: a table of rates by use. figure: bounds below. statement: a certain statement that it is "
        "provided or ruled out. person: rules only quote what is said."
    )
    topics: tuple[Topic, ...] = Field(min_length=1)
    statuses: tuple[Status, ...] = Field(tuple(sorted(PROVISION)), description="Statuses of facts that can decide it.")
    answered_by: tuple[Status, ...] = Field(
        (), description="Further statuses that answer it for a reader: existing, or assumption for a forecast."
    )
    standard: StandardName | None = None
    figure: Figure | None = None
    provisions: tuple[Provision, ...] = Field(min_length=1)
    mentions: tuple[str, ...] = Field(
        min_length=1, description="Words that mention the subject. Unless no page has one of them, nothing is absent."
    )
    words: Words
    show: bool = Field(False, description="Whether to ask for it to be shown if no page has a word of it.")
    recommendation: str | None = None
    condition: str | None = None

    @model_validator(mode="after")
    def _has_what_its_judging_needs(self) -> Self:
        needed: dict[Judged, tuple[str, ...]] = {
            "standard": ("standard",),
            "figure": ("figure",),
            "statement": (),
            "person": (),
        }
        missing = [name for name in needed[self.judged_by] if getattr(self, name) is None]
        if self.judged_by != "person":
            missing += [f"words.{name}" for name in ("met", "failed") if getattr(self.words, name) is None]
            missing += ["recommendation"] if self.recommendation is None else []
        if missing:
            raise ValueError(f"check {self.id} is judged by {self.judged_by} and lacks {', '.join(missing)}")
        return self


class Aspect(_Frozen):
    """One aspect: the contract's name and focus area, what policy asks, and its checks."""

    id: FocusArea
    name: str
    core: bool = Field(description="Whether it weighs on the overall rating by itself.")
    question: str
    queries: tuple[str, ...] = Field(min_length=2, description="Searches that bring a model its passages.")
    policy_queries: tuple[str, ...] = Field(min_length=1)
    applies: Applies = Applies()
    asks: tuple[Provision, ...] = Field(min_length=1, description="What policy asks, in the order it is shown.")
    checks: tuple[Check, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if len({check.id for check in self.checks}) != len(self.checks):
            raise ValueError("two checks have the same id")
        if not any(check.essential for check in self.checks):
            raise ValueError("no check is essential")
        strange = [t for check in self.checks for t in check.topics if self.id not in aspects_of(t)]
        if strange:
            raise ValueError(f"topics of another aspect: {', '.join(strange)}")
        return self

    @property
    def provisions(self) -> tuple[str, ...]:
        """Every provision that the aspect or one of its checks names, once."""
        named = [*self.asks, *(name for check in self.checks for name in check.provisions)]
        return tuple(dict.fromkeys(named))

    def check(self, check_id: str) -> Check | None:
        return next((check for check in self.checks if check.id == check_id), None)

    def fits(self, check: Check, profile: Profile) -> Fit:
        """Return whether a check is asked of the development: both the aspect and the check must apply.

        A check that names scales is asked of those and no others: small schemes are asked other things than large ones.
        """
        own = check.applies
        around = self.applies.model_copy(update={"scales": own.scales}) if own.scales else self.applies
        both = {around.fits(profile), own.fits(profile)}
        for doubt in ("no", "unknown"):
            if doubt in both:
                return doubt
        return "yes"

    def asked(self, profile: Profile) -> list[Check]:
        """Return the checks that are asked of the development, or may be."""
        return [check for check in self.checks if self.fits(check, profile) != "no"]

    def asks_for(self, provision: str, profile: Profile) -> bool:
        """Return whether a provision is asked of the development: showers are not asked of homes."""
        resting = [check for check in self.checks if provision in check.provisions]
        if not resting:
            return self.applies.fits(profile) != "no"
        return any(self.fits(check, profile) != "no" for check in resting)


@cache
def load_aspects() -> tuple[Aspect, ...]:
    """Return the aspects in the order of the focus areas. Raise if a file is missing or does not fit the schema."""
    folder = resources.files("trigpoint.review") / "checks"
    loaded: dict[str, Aspect] = {}
    for area in FOCUS_AREAS:
        text = (folder / f"{area}.yaml").read_text(encoding="utf-8")
        loaded[area] = Aspect.model_validate(yaml.load(text, Loader=_LOADER))  # noqa: S506  a safe one
        if loaded[area].id != area:
            raise ValueError(f"checks/{area}.yaml describes {loaded[area].id}")
    return tuple(loaded.values())


def aspect(area: str) -> Aspect:
    return next(one for one in load_aspects() if one.id == area)
