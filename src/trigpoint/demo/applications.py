"""The sample applications: what the demo portal shows of each, and the list of its documents.

They are data, `applications/*.toml`; the documents themselves are the Typst sources below `typst/`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Literal

from trigpoint.dates import parse_day
from trigpoint.ids import parse_application_ref, ref_as_name

FOLDER = Path(__file__).parent
MAIN_REFERENCE = "25/01178/REM"


@dataclass(frozen=True)
class SampleDocument:
    """One document as the portal lists it. `kind`: text with a text layer, a scan without, or a picture."""

    file: str
    source: str
    section: str
    description: str
    date: date
    kind: Literal["text", "scan", "picture"] = "text"
    drawing_ref: str | None = None


@dataclass(frozen=True)
class SampleApplication:
    reference: str
    address: str
    proposal: str
    applicant: str
    status: str
    application_type: str
    ward: str
    parish: str
    date_received: date
    date_validated: date
    consultation_end: date
    target_date: date
    case_officer: str
    documents: tuple[SampleDocument, ...]
    agent: str | None = None

    @property
    def folder_name(self) -> str:
        return ref_as_name(self.reference)


@cache
def sample_applications() -> dict[str, SampleApplication]:
    """Return all of them by reference, the one that the demo reviews first."""
    loaded = [_read_sample(path) for path in (FOLDER / "applications").glob("*.toml")]
    loaded.sort(key=lambda one: (one.reference != MAIN_REFERENCE, one.reference))
    return {one.reference: one for one in loaded}


def _read_sample(path: Path) -> SampleApplication:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    documents = tuple(SampleDocument(**_with_days(one, "date")) for one in data.pop("document"))
    parse_application_ref(data["reference"])
    days = ("date_received", "date_validated", "consultation_end", "target_date")
    return SampleApplication(documents=documents, **_with_days(data, *days))


def _with_days(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return data | {name: parse_day(data[name]) for name in names}
