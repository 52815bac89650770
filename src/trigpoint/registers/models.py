"""An application and its documents, as a register describes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Application:
    """One application's summary. Everything but the reference may be blank on the page."""

    reference: str
    address: str | None = None
    proposal: str | None = None
    applicant: str | None = None
    agent: str | None = None
    status: str | None = None
    application_type: str | None = None
    ward: str | None = None
    parish: str | None = None
    date_received: date | None = None
    date_validated: date | None = None
    consultation_end: date | None = None
    target_date: date | None = None
    decision_date: date | None = None
    decision: str | None = None
    case_officer: str | None = None


@dataclass(frozen=True)
class RegisterDocument:
    """One row of the document list. `document_type` is the register's category for it."""

    document_id: str
    description: str
    document_type: str
    date_published: date | None
    url: str
    file_size: int | None
    file_name: str
    drawing_ref: str | None


@dataclass(frozen=True)
class ListedApplication:
    """An application in a list of the register, as far as the list tells it, and the address of its page."""

    application: Application
    page_url: str


@dataclass(frozen=True)
class Listing:
    """A register's list of new applications. `left_out` counts rows whose reference does not fit this register.

    `by_ward`: the list was asked for by ward, so that its applications are in the wards that were wanted.
    """

    rows: tuple[ListedApplication, ...]
    by_ward: bool = False
    left_out: int = 0
