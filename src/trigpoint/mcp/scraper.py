"""The planning registers' MCP server (`cherwell-scraper-mcp`): four tools, port 3001. Thin: parse, call, shape."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from trigpoint.config import Settings
from trigpoint.errors import TrigpointError
from trigpoint.mcp.answers import Cut
from trigpoint.mcp.server import PlainText, Tool, ToolCall, ToolInput, ToolServer
from trigpoint.registers.directory import Directory
from trigpoint.registers.downloads import Download, Run, allowed_folder, download_all, download_one
from trigpoint.registers.entries import RegisterEntry
from trigpoint.registers.filters import Wanted
from trigpoint.registers.folder import FolderRegister
from trigpoint.registers.models import RegisterDocument
from trigpoint.registers.register import WebRegister
from trigpoint.registers.sources import SourceKind, source_kind
from trigpoint.storage.files import data_folder

_ERROR_TYPES = {
    "application_not_found",
    "invalid_reference",
    "rate_limited",
    "request_failed",
    "download_failed",
    "validation_error",
    "unknown_authority",
    "unknown_tool",
}
_OUTPUT_DIR = (
    "Folder to write to: below `downloads` in the data folder (a relative path is taken from there) or below one "
    "of DOCUMENT_ROOTS"
)
_INSTRUCTIONS = (
    "Councils' planning registers. Look an application up by its reference, list its documents, fetch them. "
    "Requests go out one a second, so fetching a large application takes many minutes: follow the progress."
)

Reference = Annotated[PlainText, Field(max_length=100)]


Authority = Annotated[
    Annotated[PlainText, Field(min_length=1, max_length=100)] | None,
    Field(
        description="Whose register: a slug such as york, or the authority's name. By default the installation's own "
        "register, whose references look like 25/01178/REM"
    ),
]


class ReferenceInput(ToolInput):
    application_ref: Reference = Field(description="Planning application reference, e.g. 25/01178/REM")
    authority: Authority = None
    folder: Annotated[PlainText, Field(min_length=1, max_length=64)] | None = Field(
        None, description="Instead of a register: the folder of an application whose documents were given as files"
    )


class DownloadInput(ToolInput):
    authority: Authority = None
    document_url: Annotated[PlainText, Field(min_length=1, max_length=4096)] = Field(
        description="Address of the document, as list_application_documents gives it"
    )
    output_dir: Annotated[PlainText, Field(max_length=4096)] = Field(description=_OUTPUT_DIR)
    filename: Annotated[PlainText, Field(min_length=1, max_length=1000)] | None = Field(
        None, description="Name of the file. By default the portal's; the extension always follows the content"
    )


class DownloadAllInput(ReferenceInput):
    output_dir: Annotated[PlainText, Field(max_length=4096)] = Field(
        description=_OUTPUT_DIR + ". Files go to a folder of the application's own below it"
    )
    skip_filter: bool = Field(False, description="Fetch every document, whatever it is")
    include_consultation_responses: bool = Field(False, description="Fetch responses of consultees as well")
    include_public_comments: bool = Field(False, description="Fetch comments of the public as well")
    include_superseded: bool = Field(False, description="Fetch documents that a later one has superseded as well")


class ApplicationOut(BaseModel):
    reference: str
    address: str | None
    proposal: str | None
    applicant: str | None
    agent: str | None
    status: str | None
    application_type: str | None
    ward: str | None
    parish: str | None
    date_received: date | None
    date_validated: date | None
    consultation_end: date | None
    target_date: date | None
    decision_date: date | None
    decision: str | None
    case_officer: str | None


class RegisterOut(BaseModel):
    authority: str
    name: str | None
    page_url: str | None
    post: str | None = Field(None, description="The council's postal address, if it is known")


class DetailsAnswer(BaseModel):
    status: Literal["success"] = "success"
    application: ApplicationOut
    register_entry: RegisterOut | None = Field(
        description="The register, and the address of the application's page there"
    )
    notes: list[str] = Field([], description="Where details come from that no register has confirmed")


class DocumentOut(BaseModel):
    document_id: str
    description: str
    document_type: str
    date_published: date | None
    url: str
    file_size: int | None
    file_name: str
    drawing_ref: str | None


class ListAnswer(BaseModel):
    status: Literal["success"] = "success"
    application_ref: str
    document_count: int
    documents: list[DocumentOut]


class DownloadAnswer(BaseModel):
    status: Literal["success"] = "success"
    file_path: str
    file_size: int
    sha256: str
    content_type: str


class DownloadOut(BaseModel):
    """One document of a run. `error` and `error_type` are set if it failed, the rest if it did not."""

    document_id: str
    description: str
    document_type: str
    url: str
    status: Literal["downloaded", "already_present", "failed"]
    file_path: str | None
    file_size: int | None
    sha256: str | None
    content_type: str | None
    error_type: str | None
    error: str | None
    source_kind: SourceKind = Field(description="Who wrote it, by the register's category and its title")


class FilteredOut(DocumentOut):
    filter_reason: str
    source_kind: SourceKind


class UnreadableOut(BaseModel):
    """A given file that is no document which can be read: unreadable, a duplicate, an archive, a system file."""

    name: str
    outcome: str
    reason: str


class DownloadAllAnswer(BaseModel):
    """`skipped_count` were there already; `successful_downloads` counts them and those fetched now."""

    status: Literal["success"] = "success"
    application_ref: str
    output_dir: str
    total_documents: int
    downloaded_count: int
    skipped_count: int
    filtered_count: int
    successful_downloads: int
    failed_downloads: int
    downloads: list[DownloadOut]
    filtered_documents: list[FilteredOut]
    unreadable_documents: list[UnreadableOut] = Field([], description="Of given files: those that are not read")


class Scraper:
    """The tools' handlers. One client for the process: all callers share its turn."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Directory]:
        await asyncio.to_thread(data_folder, self.settings, "downloads")  # a folder that cannot be written is said now
        async with Directory(self.settings) as directory:
            yield directory

    async def details(self, arguments: ReferenceInput, call: ToolCall) -> DetailsAnswer:
        if arguments.folder is not None:
            return self._folder_details(arguments.folder, call)
        register, reference = _register(call, arguments)
        application = await register.application(reference)
        entry, page_url = register.entry, await register.page_url(reference)
        return DetailsAnswer(
            application=ApplicationOut(**dataclasses.asdict(application)),
            register_entry=_register_out(entry.authority, entry, page_url),
        )

    def _folder_details(self, name: str, call: ToolCall) -> DetailsAnswer:
        register = FolderRegister(self.settings, name)
        authority = register.given.authority
        entry = _directory(call).table.find(authority)
        known = _register_out(authority, entry, None) if authority else None
        return DetailsAnswer(
            application=ApplicationOut(**dataclasses.asdict(register.application())),
            register_entry=known,
            notes=register.given.notes(),
        )

    async def documents(self, arguments: ReferenceInput, call: ToolCall) -> ListAnswer:
        if arguments.folder is not None:
            given = FolderRegister(self.settings, arguments.folder)
            reference, documents = given.given.reference, given.documents()
        else:
            register, reference = _register(call, arguments)
            documents = await register.documents(reference)
        return ListAnswer(
            application_ref=reference, document_count=len(documents), documents=[_document(one) for one in documents]
        )

    async def download(self, arguments: DownloadInput, call: ToolCall) -> DownloadAnswer:
        folder = allowed_folder(self.settings, arguments.output_dir)
        register = _directory(call).get(arguments.authority)
        path, entry = await download_one(register, arguments.document_url, folder, arguments.filename)
        return DownloadAnswer(
            file_path=str(path), file_size=entry.file_size, sha256=entry.sha256, content_type=entry.content_type
        )

    async def download_all(self, arguments: DownloadAllInput, call: ToolCall) -> DownloadAllAnswer:
        wanted = Wanted(
            arguments.include_consultation_responses, arguments.include_public_comments, arguments.include_superseded
        )
        if arguments.folder is not None:
            given = FolderRegister(self.settings, arguments.folder)
            run = await asyncio.to_thread(given.collect, skip_filter=arguments.skip_filter, wanted=wanted)
            unread = [one for one in given.given.files if one.file is None]
            return _all(run, [UnreadableOut(name=o.name, outcome=o.outcome, reason=o.reason) for o in unread])
        register, reference = _register(call, arguments)
        folder = allowed_folder(self.settings, arguments.output_dir)
        run = await download_all(
            register,
            reference,
            folder
            if _directory(call).table.is_default(register.entry.authority)
            else folder / register.entry.authority,
            skip_filter=arguments.skip_filter,
            wanted=wanted,
            progress=call.progress,
        )
        return _all(run)


def error_body(error: TrigpointError) -> dict[str, Any]:
    """Return the error object of this server: it has `details` in addition to the message."""
    code = error.code if error.code in _ERROR_TYPES else "internal_error"
    return {"status": "error", "error_type": code, "message": error.message, "details": error.details}


def server(settings: Settings) -> ToolServer:
    scraper = Scraper(settings)
    tools = [
        Tool(
            "get_application_details",
            "Look up a planning application in the council's register: address, proposal, people, dates, decision.",
            ReferenceInput,
            DetailsAnswer,
            scraper.details,
            read_only=True,
            idempotent=True,
            open_world=True,
        ),
        Tool(
            "list_application_documents",
            "List all documents that the register holds for an application, with their addresses. Fetches none.",
            ReferenceInput,
            ListAnswer,
            scraper.documents,
            read_only=True,
            idempotent=True,
            open_world=True,
            cut=Cut("documents", None, "document_count counts them all"),
        ),
        Tool(
            "download_document",
            "Fetch one document from the register to a file on the server. Only the register's own addresses work.",
            DownloadInput,
            DownloadAnswer,
            scraper.download,
            idempotent=True,
            open_world=True,
        ),
        Tool(
            "download_all_documents",
            "Fetch the documents of an application that matter for a review. What is there already is not fetched "
            "again; what fails is reported and does not stop the rest.",
            DownloadAllInput,
            DownloadAllAnswer,
            scraper.download_all,
            idempotent=True,
            open_world=True,
            cut=Cut("downloads", None, "The counts are of all files, and all of them are in output_dir"),
        ),
    ]
    return ToolServer(
        "cherwell-scraper-mcp",
        tools,
        settings,
        error_body=error_body,
        lifespan=scraper.open,
        instructions=_INSTRUCTIONS,
    )


def _directory(call: ToolCall) -> Directory:
    directory: Directory = call.state
    return directory


def _register(call: ToolCall, arguments: ReferenceInput) -> tuple[WebRegister, str]:
    """Return the register that is meant, and the reference as it writes them."""
    register = _directory(call).get(arguments.authority)
    return register, register.entry.check_reference(arguments.application_ref)


def _all(run: Run, unreadable: Sequence[UnreadableOut] = ()) -> DownloadAllAnswer:
    downloaded, present = run.count("downloaded"), run.count("already_present")
    return DownloadAllAnswer(
        application_ref=run.application_ref,
        output_dir=str(run.folder),
        total_documents=run.total_documents,
        downloaded_count=downloaded,
        skipped_count=present,
        filtered_count=len(run.filtered),
        successful_downloads=downloaded + present,
        failed_downloads=run.count("failed"),
        downloads=[_download(one) for one in run.downloads],
        filtered_documents=[
            FilteredOut(**dataclasses.asdict(document), filter_reason=verdict.reason, source_kind=source_kind(document))
            for document, verdict in run.filtered
        ],
        unreadable_documents=list(unreadable),
    )


def _document(document: RegisterDocument) -> DocumentOut:
    return DocumentOut(**dataclasses.asdict(document))


def _download(one: Download) -> DownloadOut:
    document, entry = one.document, one.entry
    return DownloadOut(
        document_id=document.document_id,
        description=document.description,
        document_type=document.document_type,
        url=document.url,
        status=one.status,
        file_path=str(one.path) if one.path else None,
        file_size=entry.file_size if entry else None,
        sha256=entry.sha256 if entry else None,
        content_type=entry.content_type if entry else None,
        error_type=one.error.code if one.error else None,
        error=one.error.message if one.error else None,
        source_kind=source_kind(document),
    )


def _register_out(authority: str, entry: RegisterEntry | None, page_url: str | None) -> RegisterOut:
    name, post = (entry.name, entry.post or None) if entry else (None, None)
    return RegisterOut(authority=authority, name=name, page_url=page_url, post=post)
