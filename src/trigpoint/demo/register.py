"""The demo portal's pages: the structure of the council's register, filled with sample applications."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import jinja2

from trigpoint.config import Settings
from trigpoint.demo.applications import FOLDER, SampleApplication, sample_applications
from trigpoint.demo.documents import sample_documents

FICTIONAL = "FICTIONAL SAMPLE. A demo register on this machine, made by Trigpoint. Nothing here is a real application."

templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(FOLDER / "templates"), autoescape=True, undefined=jinja2.StrictUndefined
)


@dataclass(frozen=True)
class Served:
    """A document of the demo portal: how it is listed and what its download gives."""

    file_name: str
    content: bytes | Path
    section: str
    description: str
    date: date
    drawing_ref: str | None = None

    def read(self) -> bytes:
        return self.content.read_bytes() if isinstance(self.content, Path) else self.content

    @property
    def size(self) -> int:
        return self.content.stat().st_size if isinstance(self.content, Path) else len(self.content)


@dataclass(frozen=True)
class SampleEntry:
    """An application in the register."""

    application: SampleApplication
    documents: tuple[Served, ...]


def sample_register(settings: Settings) -> dict[str, SampleEntry]:
    """Return the sample applications with their documents, which are made now if they are not there yet."""
    files = sample_documents(settings)
    return {
        reference: SampleEntry(
            application,
            tuple(
                Served(one.file, files[reference][one.file], one.section, one.description, one.date, one.drawing_ref)
                for one in application.documents
            ),
        )
        for reference, application in sample_applications().items()
    }


def display_page(entry: SampleEntry, record: int) -> str:
    """Return the one page of an application, in the structure of DEF Atrium."""
    listed = [_table_row(document, record, number) for number, document in enumerate(entry.documents)]
    sections = [(section, list(group)) for section, group in groupby(listed, key=lambda one: one["section"])]
    labels = _labels(entry.application)
    return templates.get_template("display.html").render(
        fictional=FICTIONAL,
        application=entry.application,
        rows=list(zip(labels[::2], labels[1::2], strict=True)),
        sections=sections,
    )


def other_page(title: str, *, search: bool = False, disclaimer: str = "", entries: Iterable[SampleEntry] = ()) -> str:
    """Return the search page, the disclaimer, the list of samples, or an error in the shape of a page."""
    return templates.get_template("other.html").render(
        fictional=FICTIONAL,
        title=title,
        search=search,
        disclaimer=quote(disclaimer, safe=""),
        applications=[(entry.application.reference, entry.application.address) for entry in entries],
    )


def _labels(application: SampleApplication) -> list[tuple[str, str]]:
    return [
        ("Application Type", application.application_type),
        ("Status", application.status),
        ("Applicant", application.applicant),
        ("Agent", application.agent or "-"),
        ("Received Date", _atrium_day(application.date_received)),
        ("Valid Date", _atrium_day(application.date_validated)),
        ("Consultation End", _atrium_day(application.consultation_end)),
        ("Target Date", _atrium_day(application.target_date)),
        ("Ward", application.ward),
        ("Parish", application.parish),
        ("Case Officer", application.case_officer),
        ("Decision Level", "Delegated"),
        ("Decision", "N/A"),
        ("Decision Date", "-"),
    ]


def _table_row(document: Served, record: int, number: int) -> dict[str, Any]:
    query = {
        "module": "PLA",
        "recordNumber": record,
        "planId": 2_000_000 + record * 10_000 + number,
        "imageId": number + 1,
        "isPlan": str(document.section.endswith("Plans")),
        "fileName": document.file_name,
    }
    shown = {field.name: getattr(document, field.name) for field in dataclasses.fields(document)}
    return shown | {
        "href": f"/Document/Download?{urlencode(query, quote_via=quote)}",
        "day": _atrium_day(document.date),
        "size": document.size,
        "shown_size": f"{max(1, document.size // 1024)} KB",
    }


def _atrium_day(day: date) -> str:
    return day.strftime("%d/%m/%Y")
