"""An application that comes as files: taken in, completed from its own application form, and described."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.errors import DetailsMissing, InvalidInput, InvalidReference, shorten
from trigpoint.registers.application_form import FormDetails, read_forms
from trigpoint.registers.entries import RegisterTable, load_registers
from trigpoint.registers.folder import DetailOrigin, GivenApplication, describe_folder, folder_of, made_up_reference
from trigpoint.registers.intake import Given, Progress, TakenFile, take_in

_REFERENCE = re.compile(r"[A-Z0-9][A-Z0-9/._-]{2,39}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LONGEST_DETAIL = 5_000  # characters of an address or a proposal
_NEEDED = {
    "date_validated": "the date on which the application was validated (it decides which policy applies)",
    "authority": "the planning authority (it decides which local policy applies)",
}


@dataclass(frozen=True)
class Stated:
    """A person's details of the application. Those that the application form has may be left out."""

    reference: str | None = None
    authority: str | None = None
    address: str | None = None
    proposal: str | None = None
    date_validated: date | None = None


def submit_files(
    settings: Settings, name: str, files: Sequence[Given], stated: Stated, progress: Progress | None = None
) -> GivenApplication:
    """Take files in as the application in the folder `name`, and return its description with the account of every file.

    Raises DetailsMissing, InvalidInput, InvalidReference, ArchiveRefused. Nothing is left in the folder then.
    """
    table = load_registers(settings)
    stated = _checked_details(stated, table)
    folder = folder_of(settings, name)
    try:
        taken = take_in(files, folder, progress)
        _require_documents(taken)
        given = _completed(stated, taken, folder, settings, table, name)
        describe_folder(folder, given)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return given


def _authority_slug(authority: str, table: RegisterTable) -> str:
    """Return the slug of an authority, by slug or name; one that has no register here gets one from its name."""
    entry = table.by_name(authority)
    if entry is not None:
        return entry.authority
    slug = re.sub(r"[^a-z0-9]+", "-", authority.strip().lower()).strip("-")
    if not slug or len(slug) > 40:
        raise InvalidInput(f"'{shorten(authority)}' is not the name of an authority")
    return slug


def _checked_details(stated: Stated, table: RegisterTable) -> Stated:
    authority = _authority_slug(stated.authority, table) if stated.authority else None
    reference = stated.reference.strip().upper() if stated.reference else None
    if reference is not None and (not _REFERENCE.fullmatch(reference) or ".." in reference or "//" in reference):
        raise InvalidReference(
            f"Invalid application reference: {shorten(stated.reference)}. "
            "Expected 3 to 40 letters, digits, slashes, dots, hyphens (e.g. 25/01178/REM)"
        )
    for name, text in (("address", stated.address), ("proposal", stated.proposal)):
        _require_plain(name, text or "")
    return replace(stated, authority=authority, reference=reference or None)


def _require_plain(name: str, text: str) -> None:
    if len(text) > _LONGEST_DETAIL:
        raise InvalidInput(f"The {name} has {len(text):,} characters; at most {_LONGEST_DETAIL:,} are allowed")
    if _CONTROL.search(text):
        raise InvalidInput(f"The {name} contains control characters ({shorten(text)}). Type it without them")


def _require_documents(taken: Sequence[TakenFile]) -> None:
    if not any(one.file for one in taken):
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in taken[:5])
        raise InvalidInput(f"None of the {len(taken)} files can be read. {reasons}" if taken else "No files were given")


def _completed(
    stated: Stated, taken: tuple[TakenFile, ...], folder: Path, settings: Settings, table: RegisterTable, name: str
) -> GivenApplication:
    """Return the details that were given, and from the application form those that were not."""
    complete = all((stated.authority, stated.date_validated, stated.proposal, stated.address, stated.reference))
    form = FormDetails() if complete else read_forms(taken, folder, settings, table)
    if form.reference and not _REFERENCE.fullmatch(form.reference.upper()):
        form = replace(form, reference=None)
    values: dict[str, object] = {}
    origins: dict[str, DetailOrigin] = {}
    for field in ("reference", "authority", "address", "proposal", "date_validated"):
        said, read = getattr(stated, field), getattr(form, field)
        if said or read:
            values[field], origins[field] = said or read, "given" if said else "application form"
    if "date_validated" not in values and form.date_received is not None:
        values["date_received"], origins["date_received"] = form.date_received, "application form"
    _require_details(values)
    values.setdefault("reference", made_up_reference(name))
    return GivenApplication(**values, origins=origins, files=taken)


def _require_details(values: dict[str, object]) -> None:
    missing = [field for field in _NEEDED if field not in values]
    if "date_received" in values and "date_validated" in missing:
        missing.remove("date_validated")
    if missing:
        wanted = " and ".join(_NEEDED[field] for field in missing)
        raise DetailsMissing(
            f"Say {wanted}: neither you nor an application form among the files gives it", missing=missing
        )
