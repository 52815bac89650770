"""Applications that are submitted as files, over the wire."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from trigpoint.api.schemas.reviews import ReviewAccepted


class GivenFile(BaseModel):
    """The outcome for one file. Files of an archive are listed after it."""

    name: str
    outcome: Literal["kept", "converted", "duplicate", "unreadable", "unpacked", "ignored"]
    archive: str | None
    reason: str


class ApplicationAccepted(ReviewAccepted):
    """The queued review, what is known about the application, and the account of every file."""

    authority: str | None
    address: str | None
    proposal: str | None
    date_validated: date | None
    date_received: date | None
    taken_from_form: list[str] = Field(description="Details that come from the application form among the files")
    files: list[GivenFile]
