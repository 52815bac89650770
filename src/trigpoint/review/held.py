"""Everything that was handed in to a review while it is being judged, and the outcome of each finding."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from trigpoint.reading.facts import Fact
from trigpoint.reading.profile import Profile
from trigpoint.review.conclusion import LeftOut
from trigpoint.review.findings import Finding, NotAssessed
from trigpoint.review.submitted import DraftConclusion, DraftFinding, DraftOutcome, Support, Verdict

By = Literal["rules", "other findings", "second reader", "comparison", "judge"]


OVERTAKEN = "words that another finding quotes answer or replace it"


class Held(BaseModel):
    """A finding that was handed in, and what became of it.

    It is verified, returned to whoever judges, or dropped. `by` says who returned or dropped it, and so what may still
    become of it: a support that fails by the rules can be left out, and a claim that goes too far can be reworded.
    """

    model_config = ConfigDict(frozen=True)

    given: DraftFinding
    verdict: Verdict
    tries: int = 1
    finding: Finding | None = None
    open_point: NotAssessed | None = None
    support: Support | None = None
    by: By = "rules"
    failures: tuple[str, ...] = Field((), description="What the rules found wrong, without the words of the claim.")
    questioned: bool = Field(False, description="Whether a second reader has already sent it back.")
    instead: str = Field("", description="The claim as the second reader would put it.")
    instead_lacking: str | None = Field(None, description="What is lacking, as the second reader would put it.")
    instead_outcome: DraftOutcome | None = None
    unfit: tuple[str, ...] = Field((), description="References of policies that the second reader found not to fit.")
    reworded: bool = Field(False, description="Whether it counts in the second reader's words.")
    merged_into: str | None = Field(None, description="The finding that says the same.")
    limited_by: tuple[str, ...] = Field((), description="Findings and open points that limit what is met here.")

    @property
    def counts(self) -> bool:
        return self.verdict.verdict == "verified"

    @property
    def left_out(self) -> LeftOut:
        """Return what a review says of it if it does not count: nothing of what it claimed."""
        return LeftOut(
            id=self.verdict.id,
            aspect=self.given.aspect,
            question=self.given.question,
            outcome=self.given.outcome,
            by=self.by,
            why=self._why,
        )

    def ended_by(self, conclusion: DraftConclusion) -> LeftOut:
        """Return what a review says of it if the conclusion took it out."""
        why = "it repeats another finding"
        if self.verdict.id in conclusion.overtaken:
            why = OVERTAKEN
        return self.left_out.model_copy(update={"by": "conclusion", "why": why})

    @property
    def _why(self) -> str:
        if self.merged_into is not None and self.by != "comparison":
            return f"it repeats {self.merged_into}"
        if self.by == "second reader":
            return "the quoted words show less" if self.support == "overstated" else "the quoted words do not show it"
        told = {
            "other findings": "it contradicts another finding",
            "comparison": OVERTAKEN if self.merged_into else "its outcome does not follow from the quoted words",
            "judge": "it was withdrawn",
        }
        return told.get(self.by) or "; ".join(dict.fromkeys(self.failures))


class DraftState(BaseModel):
    """Everything that judging has added to the evidence; `model_dump_json` is the checkpoint."""

    model_config = ConfigDict(frozen=True)

    read: tuple[str, ...] = ()
    told: tuple[str, ...] = Field((), description="Statements that were quoted to the judge in a reason.")
    searches: tuple[str, ...] = ()
    calculated: tuple[str, ...] = Field((), description="Equations of the calculating tool.")
    policies: tuple[dict[str, Any], ...] = Field((), description="Passages of policy that searches brought, in order.")
    facts: tuple[Fact, ...] = ()
    facts_dropped: int = 0
    held: dict[str, Held] = Field(default_factory=dict)
    dismissed: dict[str, str] = Field(default_factory=dict)
    profile: Profile | None = None
    conclusion: DraftConclusion | None = None
