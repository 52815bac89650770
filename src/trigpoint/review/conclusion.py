"""The conclusion of a judged review, in sentences that name the findings they rest on."""

from __future__ import annotations

from collections.abc import Set
from typing import Literal

from pydantic import Field

from trigpoint.review.findings import Stored


class Sentence(Stored):
    """A sentence and the findings that it rests on, by their `check`. None: it tells what is proposed."""

    text: str
    rests_on: tuple[str, ...] = ()
    part: Literal["proposed", "good", "decides"] | None = Field(
        None, description="Of a sentence of the summary, which part of it; None if nobody said."
    )


class Conclusion(Stored):
    """What a review comes to. Everything in it rests on findings that were verified."""

    summary: tuple[Sentence, ...] = ()
    recommendations: tuple[Sentence, ...] = ()
    conditions: tuple[Sentence, ...] = ()
    main: tuple[str, ...] = Field((), description="The findings of the report's main part, weightiest first.")

    def resting_on(self, checks: Set[str]) -> Conclusion:
        """Return the conclusion without the sentences that rest on a finding which is not among these."""
        parts = ("summary", "recommendations", "conditions")
        kept = {part: tuple(one for one in getattr(self, part) if set(one.rests_on) <= checks) for part in parts}
        return self.model_copy(update={**kept, "main": tuple(one for one in self.main if one in checks)})


class Spent(Stored):
    """What one pass of a model cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = Field(0, description="Input tokens that the provider read from its cache.")


class LeftOut(Stored):
    """A finding that was handed in and does not count: who turned it down, and why."""

    id: str
    aspect: str
    question: str | None = None
    outcome: str
    by: str = Field(
        description="rules, other findings, second reader, comparison, conclusion, or the judge who gave it up."
    )
    why: str = Field(description="What was wrong. It repeats nothing of what the finding claimed.")


class Quality(Stored):
    """How a judged review came about: what was handed in, checked, sent back and left out."""

    submitted: int = Field(0, description="Findings that were handed in.")
    verified: int = Field(0, description="Those that count.")
    corrected: int = Field(0, description="Those that count after they were sent back once.")
    reworded: int = Field(0, description="Those that count in the second reader's words, which say less.")
    merged: int = Field(0, description="Those that said the same as another one.")
    dropped: int = Field(0, description="Those that could not be proved.")
    left_out: tuple[LeftOut, ...] = Field((), description="Every finding that was dropped or merged, with the reason.")
    facts: int = Field(0, description="Facts that were read and found on their page.")
    facts_dropped: int = 0
    sentences_dropped: int = Field(0, description="Sentences of the conclusion that nothing proved.")
    pages_read: int = 0
    pages: int = Field(0, description="Pages that have text.")
    pages_not_read: str = Field(
        "", description="Those that were searched by their words and not read whole, by document."
    )
    support_checked: int = Field(0, description="Findings that a second, independent call checked for meaning.")
    passes: dict[str, Spent] = Field(default_factory=dict)
    cost: float | None = Field(None, description="In the currency of the configured prices.")

    def sentence(self) -> str:
        """Return the same in one sentence for readers."""
        calls = sum(one.calls for one in self.passes.values())
        asked = f" over {calls} calls" if calls else ""
        return (
            f"Findings: {self.submitted} handed in{asked}, {self.verified} verified ({self.corrected} of them after a "
            f"correction), {self.dropped} dropped; {self.support_checked} checked by a second reader."
        )

    def reading(self) -> str:
        """Return how many pages whoever judged read whole, and which not, in a sentence for readers; nothing without pages."""
        if not self.pages:
            return ""
        if self.pages_read >= self.pages:
            return (
                f"All {self.pages} pages with text were read whole."
                if self.pages > 1
                else "Its only page was read whole."
            )
        read, left = self.pages_read, self.pages - self.pages_read
        named = f": {self.pages_not_read}" if self.pages_not_read else ""
        return (
            f"{read} of {self.pages} pages with text {_was(read)} read whole; {left} {_was(left)} only searched for "
            f"words{named}."
        )


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
