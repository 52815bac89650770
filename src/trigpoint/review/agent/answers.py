"""The answers that the model hands in at the end of each pass."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from trigpoint.review.submitted import (
    Dismissal,
    DraftFact,
    DraftFinding,
    DraftOutcome,
    Lack,
    Pages,
    ProfileCorrection,
    Quote,
    Submitted,
    Support,
)

MOST_FACTS = 150
"""Facts of one reading call: the instructions say so, and no more are taken."""
MOST_FINDINGS = 40


class Oriented(Submitted):
    """A correction of the profile, if it is wrong, and pages to read beyond the reading list."""

    profile: ProfileCorrection | None = None
    also_read: tuple[Pages, ...] = Field((), max_length=10)


class ReadFacts(Submitted):
    """The facts of the pages that were shown."""

    facts: tuple[DraftFact, ...] = Field(max_length=MOST_FACTS)


class Judged(Submitted):
    """The findings on the aspects, and suspected discrepancies that are none."""

    findings: tuple[DraftFinding, ...] = Field(max_length=MOST_FINDINGS)
    dismissed: tuple[Dismissal, ...] = Field((), max_length=40)
    give_up: tuple[str, ...] = Field((), max_length=MOST_FINDINGS, description="Ids of returned findings to withdraw.")


class Opinion(Submitted):
    """What a second reader says of one claim."""

    id: str = Field(description="Id of the claim, for example F3.")
    support: Support
    why: Annotated[str, Field(max_length=300)] = Field("", description="Needed unless supported: what is wrong.")
    instead: str = Field(
        "",
        max_length=600,
        description="For overstated: the claim as the quoted words show it, in one or two sentences.",
    )
    lack: Lack = Field("shown", description="not_shown if neither words nor the search bear what is called lacking.")
    lack_instead: str = Field(
        "", max_length=400, description="What is lacking, in words that say no more than is shown."
    )
    unfit: tuple[str, ...] = Field(
        (), max_length=8, description="References of quoted policies that do not ask for the point, as they are shown."
    )
    also: tuple[Quote, ...] = Field(
        (),
        max_length=3,
        description="Words of statements under `also said` without which the outcome would be another.",
    )
    outcome: DraftOutcome = Field(description="The outcome that follows from the words, as you find it yourself.")


class Opinions(Submitted):
    """One opinion on every claim that was shown."""

    opinions: tuple[Opinion, ...] = Field(max_length=60)


class Mended(Submitted):
    """Mended findings under their ids, and the ids of those that are given up."""

    findings: tuple[DraftFinding, ...] = Field((), max_length=60)
    give_up: tuple[str, ...] = Field((), max_length=60)
