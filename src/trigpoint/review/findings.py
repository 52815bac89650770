"""What an analyser says: findings with their outcome and citations, aspects with their rating. Rules and models give
the same; `verify` checks it, `assemble` turns it into the contract's review.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Rating = Literal["green", "amber", "red"]
Outcome = Literal["met", "partly", "failed", "contradicted", "not_found"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Citation(_Frozen):
    """A passage of one of the application's documents, and the words of it that count."""

    passage_id: str
    document_id: str
    document: str
    pages: tuple[int, ...]
    quote: str
    speaks: Outcome = Field("met", description="Which way these words speak.")

    @property
    def place(self) -> str:
        return f"{self.document}, {pages_text(self.pages)}"


class PolicyCitation(_Frozen):
    """A passage of the revision in force. `ref` is the readable form (R9): `LTN 1/20:Table 5-2`."""

    passage_id: str
    source: str
    revision_id: str
    version_label: str
    section_ref: str
    ref: str
    page: int | None
    quote: str


class Finding(_Frozen):
    """One checked point: what was found, where it is written, and what policy says about it."""

    check: str
    requirement: str
    outcome: Outcome
    text: str
    essential: bool
    short: str | None = Field(None, description="What is met, in a few words.")
    citations: tuple[Citation, ...] = ()
    policies: tuple[PolicyCitation, ...] = ()
    derived: tuple[float, ...] = Field((), description="Numbers of the text that were computed, not quoted.")
    recommendation: str | None = None
    condition: str | None = None
    flags: tuple[str, ...] = Field((), description="What verification had to say about it.")


class AspectJudgement(_Frozen):
    id: str
    name: str
    rating: Rating
    key_issue: str
    findings: tuple[Finding, ...]

    @property
    def enough_evidence(self) -> bool:
        return any(finding.outcome != "not_found" for finding in self.findings)


class Judgement(_Frozen):
    """All aspects, and who judged."""

    aspects: tuple[AspectJudgement, ...]
    analyser: Literal["rules", "llm"]
    model: str
    tokens: int = 0
    notes: tuple[str, ...] = ()
    fallback_from: str | None = None


def pages_text(pages: tuple[int, ...]) -> str:
    """`page 14`, `pages 14-15`."""
    if not pages:
        return "page not known"
    if len(pages) == 1:
        return f"page {pages[0]}"
    return f"pages {pages[0]}-{pages[-1]}"
