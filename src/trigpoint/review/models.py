"""What goes into a review: the request, its options and progress, and the two things a pipeline needs from whoever runs
it (tools to call, checkpoints to resume from). The finished review is in `result`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, StrictBool, WithJsonSchema, field_validator

from trigpoint.errors import shorten
from trigpoint.reading.vocabulary import ASPECTS, Aspect

FocusArea = Aspect
FOCUS_AREAS = ASPECTS
_AreaName = Annotated[str, WithJsonSchema({"type": "string", "enum": list(FOCUS_AREAS)})]

Server = Literal["scraper", "document-store", "policy-kb"]
ToolProgress = Callable[[float, float | None, str | None], Awaitable[None]]


PhaseName = Literal[
    "fetching_metadata", "downloading_documents", "ingesting_documents", "analysing_application", "generating_review"
]


@dataclass(frozen=True)
class Phase:
    """One of the contract's five phases; the weight is its share of the percentage (R3)."""

    name: PhaseName
    number: int
    weight: int


PHASES = (
    Phase("fetching_metadata", 1, 5),
    Phase("downloading_documents", 2, 20),
    Phase("ingesting_documents", 3, 30),
    Phase("analysing_application", 4, 30),
    Phase("generating_review", 5, 15),
)


class ReviewOptions(BaseModel):
    """The contract's `options`. No focus areas: all ten aspects are reviewed (R8)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    focus_areas: tuple[_AreaName, ...] | None = Field(None, description="Aspects to review. None: all.")
    output_format: Literal["markdown", "json"] = "markdown"
    include_policy_matrix: StrictBool = True
    include_suggested_conditions: StrictBool = True
    include_consultation_responses: StrictBool | None = Field(
        None, description="Read responses of consultees. Default: no from a register, yes from files that were given."
    )
    include_public_comments: StrictBool | None = Field(
        None, description="Read comments of the public. Default: no from a register, yes from files that were given."
    )
    include_superseded: StrictBool = Field(False, description="Read documents that a later one has superseded.")

    @field_validator("focus_areas")
    @classmethod
    def _known(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        unknown = [area for area in value or () if area not in FOCUS_AREAS]
        if unknown:
            raise ValueError(f"Unknown focus area: {shorten(unknown[0])}. Valid ones: {', '.join(FOCUS_AREAS)}")
        if value is None:
            return None
        return tuple(area for area in FOCUS_AREAS if area in value) or None

    @property
    def aspects(self) -> tuple[str, ...]:
        return self.focus_areas or FOCUS_AREAS


@dataclass(frozen=True)
class ReviewRequest:
    """One application to review: of an authority's register (None: the default one), or of a folder of given files."""

    review_id: str
    application_ref: str
    options: ReviewOptions
    authority: str | None = None
    folder: str | None = None

    @property
    def where(self) -> dict[str, Any]:
        """Return the arguments by which the register's tools know the application."""
        known = {"application_ref": self.application_ref, "authority": self.authority, "folder": self.folder}
        return {name: value for name, value in known.items() if value is not None}

    @property
    def reading(self) -> dict[str, bool]:
        """Return which kinds of documents are read besides the applicant's own."""
        given = self.folder is not None
        chosen = self.options.include_consultation_responses, self.options.include_public_comments
        consultees, public = (given if choice is None else choice for choice in chosen)
        return {
            "include_consultation_responses": consultees,
            "include_public_comments": public,
            "include_superseded": self.options.include_superseded,
        }


@dataclass(frozen=True)
class Progress:
    """How far a review is; `percent_complete` never falls, and is below 100 until the review is stored."""

    phase: str
    phase_number: int
    total_phases: int
    percent_complete: int
    detail: str


class Tools(Protocol):
    """The MCP servers as the pipeline sees them. Raises a TrigpointError whose `code` is the tool's error type."""

    async def call(
        self, server: Server, tool: str, args: dict[str, Any], *, progress: ToolProgress | None = None
    ) -> dict[str, Any]: ...


class Checkpoints(Protocol):
    """The results that a finished phase left behind, so that a later try starts after it."""

    async def load(self, phase: str) -> dict[str, Any] | None: ...

    async def save(self, phase: str, data: dict[str, Any]) -> None: ...
