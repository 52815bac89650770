"""Fetches documents into folders: which folders are allowed, what is already there, one failure at a time.

A run can be killed at any moment; the next one fetches only what is missing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock

from trigpoint.config import Settings
from trigpoint.errors import BotChallenge, DownloadFailed, NoSpace, PortalBusy, PortalError, UnsafePath, shorten
from trigpoint.ids import ref_as_name
from trigpoint.registers.filters import FilterVerdict, Wanted, judge
from trigpoint.registers.manifest import Manifest, ManifestEntry
from trigpoint.registers.models import RegisterDocument
from trigpoint.registers.pace import acquire
from trigpoint.registers.register import Register
from trigpoint.storage.files import inside
from trigpoint.storage.space import writing_in

log = logging.getLogger(__name__)

Progress = Callable[[int, int, str], Awaitable[None]]
_GIVE_UP_AFTER = 5  # documents in a row without an answer: a register that is down is not asked 2,000 times more
_LOCK_FILE = ".downloads.lock"


@dataclass(frozen=True)
class Download:
    """The outcome for one document."""

    document: RegisterDocument
    status: Literal["downloaded", "already_present", "failed"]
    path: Path | None = None
    entry: ManifestEntry | None = None
    error: PortalError | None = None


@dataclass(frozen=True)
class Run:
    """The outcome for all documents of an application."""

    application_ref: str
    folder: Path
    total_documents: int
    downloads: tuple[Download, ...]
    filtered: tuple[tuple[RegisterDocument, FilterVerdict], ...]

    def count(self, status: Literal["downloaded", "already_present", "failed"]) -> int:
        return sum(one.status == status for one in self.downloads)


def downloads_dir(settings: Settings) -> Path:
    """Return the folder for documents if no other is given."""
    return settings.data_dir / "downloads"


def allowed_folder(settings: Settings, output_dir: str) -> Path:
    """Return the folder a caller named, if documents may be written there. Raises DownloadFailed.

    Allowed are `downloads` in the data folder and the folders of `DOCUMENT_ROOTS`; the rest of the data
    folder holds stores, which no caller may write into. A relative path is taken below `downloads`.
    """
    roots = [downloads_dir(settings), *settings.document_roots]
    for root in roots if Path(output_dir).is_absolute() else roots[:1]:
        try:
            return inside(root, output_dir or ".")
        except UnsafePath:
            continue
    raise DownloadFailed(
        f"output_dir '{shorten(output_dir)}' is outside the folders that documents may be written to: "
        f"{', '.join(str(root) for root in roots)}. Use one below them, or add one to DOCUMENT_ROOTS"
    )


async def download_one(
    register: Register, url: str, folder: Path, filename: str | None = None
) -> tuple[Path, ManifestEntry]:
    """Fetch one document into a folder, unless the folder has it already; it is there under `filename` in both cases.

    Raises DownloadFailed, PortalBusy, NoSpace.
    """
    url = register.own_address(url)
    async with _Folder(folder) as manifest:
        key = register.document_id(url)
        entry = await asyncio.to_thread(manifest.present, key)
        if entry is None:
            entry = await _fetch(register, manifest, key, url, filename or register.name_in_url(url) or "document")
        elif filename is not None:
            entry = await asyncio.to_thread(_also_as, manifest, key, entry, filename)
        return folder / entry.file, entry


async def download_all(
    register: Register,
    application_ref: str,
    output_dir: Path,
    *,
    skip_filter: bool = False,
    wanted: Wanted = Wanted(),
    progress: Progress | None = None,
) -> Run:
    """Fetch those of an application's documents that the filter keeps. One that fails does not stop the others."""
    documents = await register.documents(application_ref)
    judged = [(document, judge(document, wanted)) for document in documents]
    chosen = [document for document, verdict in judged if skip_filter or verdict.keep]
    folder = inside(output_dir, ref_as_name(application_ref))

    async def report(number: int, message: str) -> None:
        if progress is not None:
            await progress(number, len(chosen), message)

    async with _Folder(folder) as manifest:
        visit = _Visit(register, manifest)
        for number, document in enumerate(chosen):
            await report(number, f"Downloading {document.description}")
            await visit.obtain(document)
        for document in visit.worth_another_try():
            await report(len(chosen), f"Trying again: {document.description}")
            await visit.obtain(document)
        manifest.clear_parts({document.document_id for document in chosen})
    await report(len(chosen), "Download finished")
    return Run(
        application_ref=application_ref,
        folder=folder,
        total_documents=len(documents),
        downloads=tuple(visit.outcomes.values()),
        filtered=tuple((document, verdict) for document, verdict in judged if not skip_filter and not verdict.keep),
    )


class _Folder:
    """A folder and its manifest, held by one run at a time: a second one waits, and then finds the files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def __aenter__(self) -> Manifest:
        try:
            with writing_in(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
                self._lock = FileLock(self._folder / _LOCK_FILE, thread_local=False)
                await acquire(self._lock)
                return self._manifest()
        except OSError as error:
            raise DownloadFailed(f"Cannot write to {shorten(self._folder, 200)}: {error.strerror or error}") from None

    def _manifest(self) -> Manifest:
        try:
            return Manifest(self._folder)
        except BaseException:
            self._lock.release()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()


class _Visit:
    """One run through an application's documents: what became of each, and when to leave the register alone."""

    def __init__(self, register: Register, manifest: Manifest) -> None:
        self._register, self._manifest = register, manifest
        self.outcomes: dict[str, Download] = {}
        self._unanswered = 0  # in a row
        self._leave: str | None = None

    async def obtain(self, document: RegisterDocument) -> None:
        """Fetch a document unless it is there; note what became of it."""
        one = await self._outcome(document)
        self.outcomes[document.document_id] = one
        if isinstance(one.error, BotChallenge):
            self._leave = "Not tried: the register asks for proof that a person is there"
        elif _is_unanswered(one):
            self._unanswered += 1
        elif one.status == "downloaded":
            self._unanswered = 0
        if self._unanswered >= _GIVE_UP_AFTER:
            self._leave = f"Not tried: the register failed {_GIVE_UP_AFTER} documents in a row. Run again later"

    def worth_another_try(self) -> list[RegisterDocument]:
        """Return the documents that failed, unless the register itself is down or does not want us."""
        if self._leave is not None:
            return []
        return [one.document for one in self.outcomes.values() if one.status == "failed"]

    async def _outcome(self, document: RegisterDocument) -> Download:
        key = document.document_id
        if (entry := await asyncio.to_thread(self._manifest.present, key)) is not None:
            return Download(document, "already_present", self._manifest.folder / entry.file, entry)
        try:
            if self._leave is not None:
                raise DownloadFailed(self._leave)
            entry = await _fetch(self._register, self._manifest, key, document.url, document.file_name)
        except PortalError as error:
            log.warning("document %s: %s", key, error.code)  # its name or address may be somebody's
            return Download(document, "failed", error=error)
        return Download(document, "downloaded", self._manifest.folder / entry.file, entry)


def _is_unanswered(one: Download) -> bool:
    """Return whether the register gave no answer after all tries, as opposed to a wrong one."""
    return isinstance(one.error, PortalBusy) or (one.error is not None and "tries" in one.error.details)


def _also_as(manifest: Manifest, key: str, entry: ManifestEntry, filename: str) -> ManifestEntry:
    try:
        with writing_in(manifest.folder):
            return manifest.also_as(key, entry, filename)
    except OSError as error:
        raise DownloadFailed(f"Cannot write to {manifest.folder}: {error.strerror}") from None


async def _fetch(register: Register, manifest: Manifest, key: str, url: str, name: str) -> ManifestEntry:
    part = manifest.part(key)
    try:
        with writing_in(manifest.folder):
            fetched = await register.fetch(url, part)
            file = manifest.free_name(key, name, fetched.kind.extension)
            entry = ManifestEntry(url, file, fetched.sha256, fetched.file_size, fetched.kind.content_type)
            # not in a thread: a cancelled run must not continue to write after it has released the folder
            manifest.keep(key, entry)
    except NoSpace:
        part.unlink(missing_ok=True)
        raise
    except OSError as error:
        part.unlink(missing_ok=True)
        raise DownloadFailed(f"Cannot write to {manifest.folder}: {error.strerror}") from None
    return entry
