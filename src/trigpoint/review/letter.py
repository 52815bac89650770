"""The letter to the council as data. Rules, a model, somebody's agent and a person's edits all fill this one type; the
page and every file are made from it. Nothing in it is markup, and nothing in it tells how it was made.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Literal, Self

from pydantic import Field, model_validator

from trigpoint.review.findings import Stored

Stance = Literal["object", "support", "comment"]
PointKind = Literal["shortfall", "contradiction", "request", "question", "strength", "remark"]

LINE = 300
PARAGRAPH = 6_000
LONGEST_ADDRESS = 1_000
MOST_POINTS = 60


class Reference(Stored):
    """A place where the reader can check a point, as a person would write it. The other fields lead to its page."""

    text: str = Field(max_length=LINE, description='"NPPF, paragraph 117" or "Transport Assessment, page 11".')
    quote: str = Field("", max_length=PARAGRAPH, description="The words at that place, if the letter quotes them.")
    document_id: str | None = Field(None, max_length=LINE)
    passage_id: str | None = Field(None, max_length=LINE)
    pages: tuple[int, ...] = Field((), max_length=100)


class Ground(Stored):
    """One point of the letter. Its place in the letter's list is its weight: the most important comes first."""

    id: str = Field(pattern=r"^[a-z0-9_.-]{1,80}$", description="Unique within the letter.")
    kind: PointKind = Field(
        "shortfall",
        description="shortfall: evidence that policy is not met. contradiction: documents that disagree. request: "
        "something essential that is not shown. question: something for the council to check. strength: something to "
        "welcome. remark: a point that a person added.",
    )
    heading: str = Field("", max_length=LINE, description="A few words, without a full stop.")
    text: str = Field(max_length=PARAGRAPH, description="The argument, in whole sentences.")
    references: tuple[Reference, ...] = Field((), max_length=20, description="What the text is checked by.")
    asks: str = Field(
        "",
        max_length=PARAGRAPH,
        description='What would put it right. Completes "I ask the council, before it decides, to …".',
    )
    ticked: bool = Field(True, description="False: left out of the letter, and kept for later.")
    annex: bool = Field(False, description="Whether the point is printed in the annex.")
    rests_on: tuple[str, ...] = Field(
        (), max_length=20, description="Checks of the findings it rests on. If verification drops one, the point goes."
    )


class Condition(Stored):
    """A planning condition to ask for, should permission be granted."""

    text: str = Field(max_length=PARAGRAPH)
    ticked: bool = True
    annex: bool = False
    rests_on: tuple[str, ...] = Field((), max_length=20)


class Council(Stored):
    """Whom the letter is addressed to. An empty name or address is printed as a blank to fill in."""

    name: str = Field("", max_length=LINE)
    department: str = Field("Development Management", max_length=LINE)
    address: str = Field("", max_length=LONGEST_ADDRESS, description="One line of the address on each line.")


class Sender(Stored):
    """Who signs. An empty name or address is printed as a blank; with an organisation the letter says "we"."""

    name: str = Field("", max_length=LINE)
    organisation: str = Field("", max_length=LINE)
    address: str = Field("", max_length=LONGEST_ADDRESS, description="One line of the address on each line.")
    email: str = Field("", max_length=LINE)


class Suggestion(Stored):
    """The stance that the judgement suggests, and why. It is shown to the writer and never printed."""

    stance: Stance
    why: str = Field(max_length=PARAGRAPH)


class Letter(Stored):
    """A letter. The judge fills stance, suggestion, points and conditions; the rest comes from the register and the
    sender. An empty `opening` or `closing` is printed in the usual words for the stance.
    """

    stance: Stance
    suggestion: Suggestion | None = None
    reference: str = Field("", max_length=LINE, description="The application's reference.")
    site: str = Field("", max_length=1_000, description="The address of the site.")
    proposal: str = Field("", max_length=PARAGRAPH, description="What is proposed, as the subject line says it.")
    date: str = Field("", max_length=40, description="YYYY-MM-DD. Empty: the day on which it is printed.")
    council: Council = Council()
    sender: Sender = Sender()
    opening: str = Field("", max_length=PARAGRAPH)
    consultees: tuple[str, ...] = Field(
        (), max_length=12, description="What others recommend, a sentence each, printed after the opening."
    )
    grounds: tuple[Ground, ...] = Field((), max_length=MOST_POINTS)
    conditions: tuple[Condition, ...] = Field((), max_length=MOST_POINTS)
    closing: str = Field("", max_length=PARAGRAPH)

    @model_validator(mode="after")
    def _has_distinct_points(self) -> Self:
        ids = [ground.id for ground in self.grounds]
        twice = next((one for one in ids if ids.count(one) > 1), None)
        if twice is not None:
            raise ValueError(f"two points of the letter have the id '{twice}'")
        return self

    def resting_on(self, checks: Set[str]) -> Letter:
        """Return the letter without the points and conditions that rest on a finding which is not among these."""
        return self.model_copy(
            update={
                "grounds": tuple(one for one in self.grounds if set(one.rests_on) <= checks),
                "conditions": tuple(one for one in self.conditions if set(one.rests_on) <= checks),
            }
        )
