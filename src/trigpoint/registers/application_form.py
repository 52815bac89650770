"""The details of an application in its application form: for folders whose owner did not give them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.errors import TrigpointError
from trigpoint.registers.entries import RegisterTable
from trigpoint.registers.intake import TakenFile
from trigpoint.registers.labels import register_day
from trigpoint.text.application_forms import is_form_name
from trigpoint.text.processor import DocumentProcessor

_MOST_FORMS = 3
_LABELS = {
    "address": ("site address", "site location", "address of the site", "location of the site", "site", "location"),
    "proposal": ("description of the proposal", "description of proposal", "proposal", "proposed development"),
    "reference": ("application number", "application reference", "application ref", "reference", "ref"),
    "date_validated": ("date valid", "valid date", "date validated", "validation date"),
    "date_received": ("date received", "received date", "date of application", "date"),
}
_DAYS = ("date_validated", "date_received")
_SEPARATED = re.compile(r"\s*(?:[|:\t]|\s{2,}|$)\s*")
_DAY_IN = re.compile(r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}|[0-9]{1,2} [A-Z][a-z]+ [0-9]{4}")


@dataclass(frozen=True)
class FormDetails:
    """The details in a form. Everything may be missing."""

    address: str | None = None
    proposal: str | None = None
    reference: str | None = None
    date_validated: date | None = None
    date_received: date | None = None
    authority: str | None = None


def read_forms(files: Iterable[TakenFile], folder: Path, settings: Settings, table: RegisterTable) -> FormDetails:
    """Return what the application forms among the files say. A form that cannot be read says nothing."""
    named = [one for one in files if one.file and is_form_name(f"{one.category} {one.name}")]
    details: dict[str, object] = {}
    if named:
        with closing(DocumentProcessor(settings)) as processor:
            for one in named[:_MOST_FORMS]:
                assert one.file is not None
                try:
                    text = "\n".join(page.text for page in processor.extract(folder / one.file).pages)
                except TrigpointError:
                    continue
                details = _details(text, table) | details
    return FormDetails(**details)  # type: ignore[arg-type]


def _details(text: str, table: RegisterTable) -> dict[str, object]:
    pairs = _pairs(text)
    details: dict[str, object] = {}
    for field, labels in _LABELS.items():
        value = next((pairs[label] for label in labels if label in pairs), None)
        if value and field in _DAYS:
            match = _DAY_IN.search(value)
            day = register_day(match[0]) if match else None
            if day is not None:
                details[field] = day
        elif value:
            details[field] = value[:500]
    authority = next((entry.authority for entry in table.entries.values() if entry.name in text), None)
    if authority is not None:
        details["authority"] = authority
    return details


def _pairs(text: str) -> Mapping[str, str]:
    """Return labels and values: `Label: value`, `| Label | value |`, or a label with its value on the next line."""
    pairs: dict[str, str] = {}
    known = sorted((label for labels in _LABELS.values() for label in labels), key=len, reverse=True)
    lines = [line.strip().strip("|").strip() for line in text.splitlines()]
    for number, line in enumerate(lines):
        for label in known:
            if line[: len(label)].casefold() != label:
                continue
            rest = line[len(label) :]
            separator = _SEPARATED.match(rest)
            if separator is None or (rest and not separator[0]):
                break
            value = rest[separator.end() :].strip(" |") or next((one for one in lines[number + 1 :] if one), "")
            pairs.setdefault(label, value.strip())
            break
    return pairs
