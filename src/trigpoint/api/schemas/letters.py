"""The letter of a review over the wire."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator

from trigpoint.review.letter import Letter


class LetterSave(BaseModel):
    """A letter to keep as a new version."""

    model_config = ConfigDict(extra="forbid")

    based_on: int = Field(
        ge=0, le=1_000_000, strict=True, description="The version that was changed; 0 for the first draft."
    )
    letter: Letter

    @field_validator("letter")
    @classmethod
    def _of_plain_text(cls, letter: Letter) -> Letter:
        if "\\u0000" in letter.model_dump_json():
            raise ValueError("contains a NUL character, which no letter can hold")
        return letter


class LetterRow(BaseModel):
    """A saved version without its text."""

    version: int
    saved_at: str
    based_on: int
    aside: bool = Field(description="Saved while somebody else had saved another version, and kept next to it.")
    current: bool


class LetterAnswer(BaseModel):
    """A letter. Version 0 is the first draft, which nobody has saved."""

    review_id: str
    version: int
    saved_at: str | None
    based_on: int
    aside: bool
    current: bool
    pages: float = Field(description="Pages that the letter takes without its annex, to a tenth.")
    letter: Letter


class LetterVersions(BaseModel):
    review_id: str
    versions: list[LetterRow]
    total: int
