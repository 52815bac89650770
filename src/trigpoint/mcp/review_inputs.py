"""The arguments of the reviewer's tools."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from trigpoint.mcp.tools import NO_NUL, PlainText, ToolInput
from trigpoint.review.models import FocusArea
from trigpoint.review.submitted import Dismissal, DraftConclusion, DraftFact, DraftFinding, ProfileCorrection

Line = Annotated[PlainText, Field(min_length=1, max_length=300)]


class ReviewInput(ToolInput):
    review: Line = Field(description="As open_review gave it: rev_…-…")


class OpenInput(ToolInput):
    application_ref: Line | None = Field(None, description="Reference in the council's register, e.g. 25/01178/REM")
    folder: Annotated[PlainText, Field(min_length=1, max_length=4096)] | None = Field(
        None, description="Instead: absolute path of a folder with the application's documents"
    )
    review: Line | None = Field(None, description="Instead: a review that was opened before, to go on with it")
    authority: Line | None = Field(None, description="Planning authority, by name or slug. Default: the server's own")
    address: Annotated[PlainText, Field(max_length=1000)] | None = Field(None, description="With folder: of the site")
    proposal: Annotated[PlainText, Field(max_length=5000)] | None = Field(
        None, description="With folder: what is proposed"
    )
    date_validated: Line | None = Field(
        None, description="With folder: YYYY-MM-DD; decides which policy applies. Default: as its application form says"
    )
    focus_areas: list[FocusArea] | None = Field(None, description="Aspects to judge. Default: all ten")
    take_over: bool = Field(False, description="Go on in place of another agent. Only if the user wants that")


class StatusInput(ToolInput):
    review: Line | None = Field(
        None, description="As open_review gave it, or the review's id. None: list what agents lead"
    )


class PagesInput(ReviewInput):
    document: Line = Field(description="Label of the document, e.g. D3")
    page: int | None = Field(None, ge=1, description="First page. Default: the document's first")
    to: int | None = Field(None, ge=1, description="Last page. Default: that one page")
    offset: int = Field(0, ge=0, description="Where in that page to begin, if an answer says next_offset")


class SearchInput(ReviewInput):
    query: Annotated[PlainText, Field(min_length=2, max_length=500)]
    max_results: int = Field(12, ge=1, le=30)


class PolicySearchInput(ReviewInput):
    query: Annotated[PlainText, Field(min_length=2, max_length=500)]


class PolicyInput(ReviewInput):
    policy: Line = Field(description="Label or reference of a policy passage, e.g. P4 or LTN 1/20:Table 11-1")
    offset: int = Field(0, ge=0, description="Where in its text to begin, if an answer says next_offset")


class CalculateInput(ReviewInput):
    expression: Line = Field(description="e.g. 127 + 7, or 96 / 240 * 100")


class ProfileInput(ReviewInput):
    correction: Annotated[ProfileCorrection, NO_NUL]


class FactsInput(ReviewInput):
    facts: Annotated[list[DraftFact], NO_NUL] = Field(min_length=1, max_length=40)


class FindingsInput(ReviewInput):
    findings: Annotated[list[DraftFinding], NO_NUL] = Field(default_factory=list, max_length=12)
    dismiss: Annotated[list[Dismissal], NO_NUL] = Field(
        default_factory=list, max_length=20, description="Suspected discrepancies that you looked at and that are none"
    )


class LetterInput(ReviewInput):
    conclusion: Annotated[DraftConclusion, NO_NUL]


class FinishInput(ReviewInput):
    conclusion: Annotated[DraftConclusion | None, NO_NUL] = Field(
        None, description="Default: the one that draft_letter took; without any, the findings alone"
    )
