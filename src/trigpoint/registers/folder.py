"""A folder of documents as a register: what a person gave and said about an application, kept below the data folder."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from trigpoint.config import Settings
from trigpoint.errors import ApplicationNotFound, InvalidReference, shorten
from trigpoint.ids import ref_as_name
from trigpoint.registers.downloads import Download, Run
from trigpoint.registers.filters import FilterVerdict, Wanted, judge
from trigpoint.registers.intake import TakenFile
from trigpoint.registers.manifest import ManifestEntry
from trigpoint.registers.models import Application, RegisterDocument
from trigpoint.registers.sniffing import sniff
from trigpoint.storage.files import inside, write_atomic

DESCRIPTION = "application.json"
_FOLDER_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_BY_TOGGLE = ("superseded", "consultee category", "public category", "public title", "consultation title")

DetailOrigin = Literal["given", "application form"]


class GivenApplication(BaseModel):
    """The details of an application that came as files. `origins` names the source of each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reference: str
    authority: str | None = None
    address: str | None = None
    proposal: str | None = None
    date_validated: date | None = None
    date_received: date | None = None
    origins: dict[str, DetailOrigin] = {}
    files: tuple[TakenFile, ...] = ()

    def notes(self) -> list[str]:
        """Return what a reader of the review should know about these details."""
        taken = sorted(name.replace("_", " ") for name, origin in self.origins.items() if origin == "application form")
        said = [f"Taken from the application form: {', '.join(taken)}"] if taken else []
        if self.date_validated is None and self.date_received is not None:
            said.append(
                f"No date of validation was given; policy is that of {self.date_received}, the date on the form"
            )
        return said


class FolderRegister:
    """The application in a folder of `applications` in the data folder."""

    def __init__(self, settings: Settings, folder: str) -> None:
        self.folder = folder_of(settings, folder)
        try:
            self.given = GivenApplication.model_validate_json((self.folder / DESCRIPTION).read_bytes())
        except FileNotFoundError:
            raise ApplicationNotFound(f"There is no folder of documents '{shorten(folder)}'", folder=folder) from None
        except ValidationError as error:
            raise ApplicationNotFound(
                f"The description of the folder '{shorten(folder)}' cannot be read: {error.errors()[0]['msg']}"
            ) from None

    def application(self) -> Application:
        given = self.given
        return Application(
            reference=given.reference,
            address=given.address,
            proposal=given.proposal,
            date_received=given.date_received,
            date_validated=given.date_validated,
        )

    def documents(self) -> list[RegisterDocument]:
        """Return the documents that can be read, in the order in which they were given."""
        return [_as_register_document(one) for one in self.given.files if one.file is not None]

    def collect(self, *, skip_filter: bool, wanted: Wanted) -> Run:
        """Return the documents as a run over a register would: there already, left out on request, or unreadable."""
        judged = [(document, _verdict_on(document, wanted)) for document in self.documents()]
        chosen = [document for document, verdict in judged if skip_filter or verdict.keep]
        return Run(
            application_ref=self.given.reference,
            folder=self.folder,
            total_documents=len(judged),
            downloads=tuple(self._present(document) for document in chosen),
            filtered=tuple((document, verdict) for document, verdict in judged if not skip_filter and not verdict.keep),
        )

    def _present(self, document: RegisterDocument) -> Download:
        path = self.folder / document.file_name
        one = next(taken for taken in self.given.files if taken.file == document.file_name)
        kind = sniff(path, path.name)
        entry = ManifestEntry(
            document.url, document.file_name, one.sha256 or "", path.stat().st_size, kind.content_type
        )
        return Download(document, "already_present", path, entry)


def applications_dir(settings: Settings) -> Path:
    """Return the folder of applications that came as files."""
    return settings.data_dir / "applications"


def folder_of(settings: Settings, name: str) -> Path:
    """Return the folder of one application. Raises InvalidReference for a name that could not be one of ours."""
    if _FOLDER_NAME.fullmatch(name) is None:
        raise InvalidReference(f"'{shorten(name)}' is not the name of a folder of documents")
    return inside(applications_dir(settings), name)


def describe_folder(folder: Path, given: GivenApplication) -> None:
    """Write the description, whole or not at all. From here on the folder is an application."""
    write_atomic(folder / DESCRIPTION, given.model_dump_json(indent=1).encode())


def made_up_reference(folder: str) -> str:
    """Return a reference for an application that has none."""
    return f"UPLOAD-{ref_as_name(folder)[-8:].upper()}"


def _as_register_document(one: TakenFile) -> RegisterDocument:
    assert one.file is not None
    return RegisterDocument(
        document_id=(one.sha256 or "")[:12],
        description=Path(one.name).stem,
        document_type=one.category,
        date_published=None,
        url=f"folder:{one.file}",
        file_size=one.size,
        file_name=one.file,
        drawing_ref=None,
    )


def _verdict_on(document: RegisterDocument, wanted: Wanted) -> FilterVerdict:
    """Return the verdict on a file. A person chose it, so only the toggles can leave it out."""
    verdict = judge(document, wanted)
    if verdict.rule in _BY_TOGGLE:
        return verdict
    return FilterVerdict(True, "given", "Chosen by the person who gave it")
