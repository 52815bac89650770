"""Everything that the judge of a review hands in: facts, findings, corrections of the profile and the conclusion.

A model of ours, somebody else's agent over MCP and a script in a test all submit these types. Nothing in them is
trusted: `ReviewDraft` answers each with a `Verdict`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from trigpoint.land_uses import Use
from trigpoint.reading.kinds import Kind
from trigpoint.reading.profile import Scale
from trigpoint.reading.vocabulary import Polarity, Status, Topic
from trigpoint.review.letter import Stance
from trigpoint.review.models import FocusArea

SizeUnit = Literal["dwelling", "m2", "bed", "pupil", "place", "job", "pitch", "unit"]
SummaryPart = Literal["proposed", "good", "decides"]
DraftOutcome = Literal["met", "partly", "failed", "contradicted", "noted", "not_shown"]
Support = Literal["supported", "overstated", "not_supported"]
Lack = Literal["shown", "not_shown"]

MOST_SENTENCES = 6
MOST_RECOMMENDATIONS = 10
MOST_CONDITIONS = 10
MOST_MAIN = 15
MOST_OPEN = 6
MOST_GROUNDS = 8
MOST_QUOTES = 16
"""Limits of a conclusion, which its instructions name, and of the quotations of a finding: no more is taken."""

_Text = Annotated[str, Field(min_length=5, max_length=600)]
_Words = Annotated[str, Field(min_length=2, max_length=600)]


class Submitted(BaseModel):
    """Something handed in by whoever judges. Unknown fields are refused, so that nothing is silently ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Quote(Submitted):
    """Words of one of the application's documents, copied exactly."""

    document: str = Field(min_length=1, max_length=300, description="Label of the document, for example D3.")
    page: int | None = Field(None, description="Page on which the words are; none if the document has no pages.")
    words: _Words = Field(description="One sentence, bullet or table row, or part of it, copied word for word.")


class Pages(Submitted):
    """Pages of a document."""

    document: str = Field(max_length=300, description="Label, for example D3.")
    first: int = Field(ge=1)
    last: int = Field(ge=1)


class PolicyQuote(Submitted):
    """Words of a policy in force, copied exactly."""

    policy: str = Field(min_length=1, max_length=200, description="Label of the policy passage, for example P4.")
    words: str | None = Field(
        None, max_length=600, description="The words that ask for it, at least four; of a table, the row that applies."
    )


class DraftFact(Submitted):
    """What a statement of a document says about a topic."""

    topic: Topic
    status: Status
    polarity: Polarity = "neutral"
    quote: Quote


class DraftFinding(Submitted):
    """One judged point.

    `not_shown`, and a lack that nothing quoted shows, name what was looked for. A derived figure needs its calculation,
    written as an equation.
    """

    id: str | None = Field(None, description="Only for a finding that was returned: its id, for example F7.")
    aspect: FocusArea
    question: str | None = Field(
        None,
        max_length=60,
        description="Id of the question that it answers, for example long_stay. None: another point.",
    )
    outcome: DraftOutcome
    statement: _Text = Field(description="The point in one or two sentences, with its figures.")
    lacking: str | None = Field(
        None,
        max_length=400,
        description="For partly: what is lacking, in one sentence, as words show it or as a search.",
    )
    requirement: str | None = Field(
        None, max_length=200, description="What is asked for. Needed only without a question."
    )
    evidence: tuple[Quote, ...] = Field((), max_length=MOST_QUOTES, description="Of a sum, every row that is added up.")
    policy: tuple[PolicyQuote, ...] = Field((), max_length=6)
    standard: Quote | None = Field(
        None,
        description="Words of a document that quote the standard by which it is measured, if no policy passage gives it.",
    )
    calculations: tuple[Annotated[str, Field(max_length=200)], ...] = Field(
        (), max_length=6, description="Equations of figures that are quoted, for example `127 + 7 = 134`."
    )
    looked_for: tuple[Annotated[str, Field(max_length=200)], ...] = Field(
        (), max_length=8, description="For what was not found: the words that were searched for."
    )
    looked_in: tuple[Pages, ...] = Field(
        (), max_length=4, description="Where, if not everywhere: for example the pages of the conditions."
    )
    settles: tuple[str, ...] = Field(
        (), max_length=6, description="Ids of suspected discrepancies that it reports (C2)."
    )
    recommendation: str | None = Field(None, max_length=400, description="What to change, naming the place.")
    condition: str | None = Field(None, max_length=700, description="A planning condition that would cure it.")


class Dismissal(Submitted):
    """A suspected discrepancy that is none, and why."""

    candidate: str = Field(description="Its id, for example C2.")
    why: _Text


class SizeCorrection(Submitted):
    """The size of one use of the development, as a document or the proposal states it."""

    use: Use
    size: float = Field(gt=0, description="As stated, for example 96.")
    unit: SizeUnit = Field(
        description="What is counted: `bed` for rooms of students, patients or guests, `pitch` for tents and caravans, `unit` "
        "for lodges and pods."
    )
    quote: Quote | None = Field(None, description="The words that state it, unless the proposal itself does.")


class WrongSize(Submitted):
    """A size in the profile that is none of this development's."""

    use: Use
    unit: SizeUnit


class ProfileCorrection(Submitted):
    """A correction of what the development is. Only what is wrong or missing is given."""

    kind: Kind | None = None
    scale: Scale | None = None
    uses: tuple[Use, ...] | None = Field(None, description="All uses of the development, if the list is wrong.")
    sizes: tuple[SizeCorrection, ...] = Field(
        (),
        max_length=12,
        description="Sizes that are wrong or missing. Each replaces what was read of that use and unit.",
    )
    no_sizes: tuple[WrongSize, ...] = Field(
        (),
        max_length=12,
        description="Sizes of the profile to strike out: of what exists already, of another use, or of another scheme.",
    )
    quote: Quote | None = Field(None, description="The words that show it, unless the proposal itself does.")


class Cited(Submitted):
    """A sentence and the findings that it rests on."""

    text: _Text
    rests_on: tuple[str, ...] = Field(
        (), max_length=12, description="Ids of findings, for example F3. None: the proposal."
    )


class SummarySentence(Cited):
    """A sentence of the summary, and which of its three parts it belongs to."""

    part: SummaryPart | None = Field(
        None,
        description="proposed: what is proposed. good: what is good about it. decides: what falls short or decides.",
    )


class DraftGround(Cited):
    """One ground of the letter: a short heading and a paragraph."""

    text: Annotated[str, Field(min_length=5, max_length=1500)]
    heading: str = Field("", max_length=120, description="A few words, without a full stop.")
    asks: str = Field(
        "",
        max_length=400,
        description='What would put it right. Completes "I ask the council, before it decides, to …" in a list at the end of '
        "the letter, so it names the place by itself.",
    )
    welcomes: bool = Field(
        False, description="True for the one entry that welcomes what is good: it is printed first and is no ground."
    )


class DraftConclusion(Submitted):
    """The review as a whole: what is proposed, what is good, what decides, what to change and what to ask for."""

    summary: tuple[SummarySentence, ...] = Field(min_length=1, max_length=MOST_SENTENCES)
    recommendations: tuple[Cited, ...] = Field((), max_length=MOST_RECOMMENDATIONS)
    conditions: tuple[Cited, ...] = Field((), max_length=MOST_CONDITIONS)
    main: tuple[str, ...] = Field(
        (),
        max_length=MOST_MAIN,
        description=f"Ids of the findings that matter most, weightiest first; at most {MOST_OPEN} of them open points.",
    )
    stance: Stance
    why_stance: str = Field("", max_length=400, description="Why this stance, in one sentence.")
    letter: tuple[DraftGround, ...] = Field(
        (),
        max_length=MOST_GROUNDS + 1,
        description=f"At most {MOST_GROUNDS} grounds, weightiest first, and one entry that welcomes what is good.",
    )
    repeats: tuple[str, ...] = Field((), max_length=40, description="Ids of findings that only repeat another one.")
    overtaken: tuple[str, ...] = Field(
        (), max_length=20, description="Ids of findings that words quoted by another finding answer or replace."
    )
    outdated: tuple[str, ...] = Field(
        (), max_length=12, description="Ids of consultees' answers (K1) that a later document withdraws or replaces."
    )

    @property
    def left_out(self) -> frozenset[str]:
        """The findings that the conclusion takes out of the review."""
        return frozenset((*self.repeats, *self.overtaken))


class Twin(Submitted):
    """A finding, and another one that is told instead."""

    id: str = Field(description="Id of the finding that is left out, for example F12.")
    other: str = Field(description="Id of the finding that is told instead, for example F3.")


class OutcomeTested(Submitted):
    """The outcome of a finding, put to the test: the words that carry it come first, and then whether it stands."""

    id: str = Field(description="Id of the finding, for example F3.")
    because: str = Field(
        max_length=300,
        description="Which words ask for what is missing, and whose they are; or which words provide all that is asked for.",
    )
    stands: bool
    limited_by: tuple[str, ...] = Field(
        (), max_length=4, description="If it is met and stands: ids of findings or open points that limit it (F7)."
    )


class UnfitPolicies(Submitted):
    """Policies that a finding cites and that do not ask for its point, by their references."""

    id: str
    policies: tuple[Annotated[str, Field(max_length=200)], ...] = Field(min_length=1, max_length=6)


class Comparison(Submitted):
    """What a reader of all findings side by side would leave out, or tell without a verdict."""

    repeats: tuple[Twin, ...] = Field((), max_length=40)
    overtaken: tuple[Twin, ...] = Field((), max_length=30)
    outcomes: tuple[OutcomeTested, ...] = Field(
        (), max_length=120, description="One for every finding with an outcome."
    )
    unfit: tuple[UnfitPolicies, ...] = Field((), max_length=40)

    @property
    def named(self) -> frozenset[str]:
        """The findings on which it says something that ends or tests them."""
        left_out = [one.id for one in (*self.repeats, *self.overtaken)]
        return frozenset((*left_out, *(one.id for one in self.outcomes)))


class Verdict(Submitted):
    """The answer to something that was handed in.

    `verified`: it counts. `returned`: it does not yet; mend it and hand it in once more under the same id. `dropped`: it
    was returned before, or can never count, and is gone with everything that rests on it.
    """

    id: str
    verdict: Literal["verified", "returned", "dropped"]
    reasons: tuple[str, ...] = ()
    remarks: tuple[str, ...] = Field((), description="What was corrected without being asked, such as a page number.")
