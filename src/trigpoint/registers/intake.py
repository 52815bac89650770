"""Takes in a person's documents, from a folder, an upload or an archive, with an account of every file."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from trigpoint.errors import InvalidInput, shorten
from trigpoint.registers.archives import ArchiveRefused, Budget, unpack
from trigpoint.registers.conversions import CONVERTERS
from trigpoint.registers.sniffing import FileKind, sniff
from trigpoint.storage.files import safe_name, sha256_file, write_atomic

_MAX_FILES = 5_000
_DEEPEST_ARCHIVE = 2
_READ_AS_THEY_ARE = (".pdf", ".png", ".jpg", ".tif")
_SYSTEM = re.compile(r"(?i)\.DS_Store|Thumbs\.db|desktop\.ini|\._.*|~\$.*|\.gitignore")
_UNREADABLE = {
    ".msg": "An Outlook message. Save it as PDF or as .eml",
    ".doc": "A Word 97 file. Save it as PDF or .docx",
    ".xls": "A spreadsheet. Print the sheets that matter to PDF",
    ".xlsx": "A spreadsheet. Print the sheets that matter to PDF",
    ".ppt": "A presentation. Save it as PDF",
    ".pptx": "A presentation. Save it as PDF",
    ".rtf": "A rich text file. Save it as PDF or .docx",
    ".html": "A web page. Print it to PDF",
    ".gif": "A GIF picture. Save it as PNG or PDF",
    ".ole": "An Office file of an old kind. Save it as PDF",
}

IntakeOutcome = Literal["kept", "converted", "duplicate", "unreadable", "unpacked", "ignored"]
Progress = Callable[[int, int, str], None]


class TakenFile(BaseModel):
    """The outcome for one file that was given. `file` is its name with us, `category` the folder it was in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    outcome: IntakeOutcome
    file: str | None = None
    category: str = ""
    archive: str | None = None
    reason: str = ""
    sha256: str | None = None
    size: int = 0


@dataclass(frozen=True)
class Given:
    """A file as it was given."""

    name: str
    path: Path
    category: str = ""
    archive: str | None = None
    depth: int = 0


def files_below(folder: Path) -> list[Given]:
    """Return all files and links of a folder and its subfolders, in order of their names. Raise InvalidInput if none."""
    if not folder.is_dir():
        raise InvalidInput(f"{shorten(folder, 200)} is not a folder. Name the folder that has the documents")
    found = sorted(path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    if not found:
        raise InvalidInput(f"{shorten(folder, 200)} contains no files")
    if len(found) > _MAX_FILES:
        raise InvalidInput(f"{shorten(folder, 200)} contains {len(found):,} files; at most {_MAX_FILES:,} are taken")
    return [Given(path.name, path, path.parent.name if path.parent != folder else "") for path in found]


def take_in(given: Iterable[Given], folder: Path, progress: Progress | None = None) -> tuple[TakenFile, ...]:
    """Copy into `folder` what can be read, and return what became of every file, those in archives included.

    Raises ArchiveRefused for archives that are bombs. Existing files of the folder are not touched.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = list(given)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".intake.") as scratch:
        intake = _Intake(folder, Path(scratch))
        for number, one in enumerate(files):
            if progress is not None:
                progress(number, len(files), one.name)
            intake.take(one)
    return tuple(intake.taken)


class _Intake:
    """One submission: what is there already, by content and by name."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.folder, self.scratch = folder, scratch
        self.taken: list[TakenFile] = []
        self._by_hash: dict[str, str] = {}
        self._names = {path.name.casefold() for path in folder.iterdir()}
        self._budget = Budget()
        self._archives = 0

    def take(self, given: Given) -> None:
        for one in self._outcomes(given):
            self.taken.append(one)

    def _outcomes(self, given: Given) -> Iterator[TakenFile]:
        if given.path.is_symlink():
            yield self._account(given, "unreadable", reason="A link to another place, which is not followed")
            return
        size = given.path.stat().st_size
        if _SYSTEM.fullmatch(given.name) or given.category == "__MACOSX":
            yield self._account(given, "ignored", reason="A file of the operating system, not a document", size=size)
        elif size == 0:
            yield self._account(given, "unreadable", reason="The file is empty")
        else:
            kind = sniff(given.path, given.name)
            if kind.extension == ".zip":
                yield from self._unpacked(given, size)
            else:
                yield self._document(given, kind, size)

    def _unpacked(self, given: Given, size: int) -> Iterator[TakenFile]:
        if given.depth >= _DEEPEST_ARCHIVE:
            yield self._account(
                given, "unreadable", reason="An archive deep within archives. Unpack it first", size=size
            )
            return
        self._archives += 1
        into = self.scratch / f"archive{self._archives}"
        try:
            entries = list(unpack(given.path, into, self._budget))
        except ArchiveRefused as error:
            raise ArchiveRefused(
                f"{shorten(given.name)}: {error.message}. Leave that file out, and send the others again"
            ) from None
        except InvalidInput as error:
            yield self._account(given, "unreadable", reason=error.message, size=size)
            return
        yield self._account(given, "unpacked", reason=f"An archive with {_files(len(entries))}", size=size)
        for entry in entries:
            inner = Given(entry.name, entry.path or given.path, entry.category, given.name, given.depth + 1)
            if entry.path is None:
                yield self._account(inner, "unreadable", reason=entry.problem)
            else:
                yield from self._outcomes(inner)
                entry.path.unlink(missing_ok=True)

    def _document(self, given: Given, kind: FileKind, size: int) -> TakenFile:
        digest = sha256_file(given.path)
        if (first := self._by_hash.get(digest)) is not None:
            return self._account(given, "duplicate", reason=f"The same file as {first}", sha256=digest, size=size)
        try:
            outcome, file, reason = self._stored(given, kind)
        except InvalidInput as error:
            return self._account(given, "unreadable", reason=error.message, sha256=digest, size=size)
        if file is not None:
            self._by_hash[digest] = file
        return self._account(given, outcome, file=file, reason=reason, sha256=digest, size=size)

    def _stored(self, given: Given, kind: FileKind) -> tuple[IntakeOutcome, str | None, str]:
        if kind.extension in _READ_AS_THEY_ARE:
            name = self._free_name(given.name, kind.extension)
            shutil.copyfile(given.path, self.scratch / "copy")
            os.replace(self.scratch / "copy", self.folder / name)
            return "kept", name, ""
        if kind.extension in CONVERTERS:
            what, convert = CONVERTERS[kind.extension]
            content = convert(given.path)
            name = self._free_name(f"{given.name}.pdf", ".pdf")
            write_atomic(self.folder / name, content)
            return "converted", name, f"Read as {what}; page numbers are those of our rendering"
        reason = _UNREADABLE.get(kind.extension, "A kind of file that Trigpoint does not know. Save it as PDF")
        return "unreadable", None, reason

    def _free_name(self, name: str, extension: str) -> str:
        stem = Path(safe_name(name)).stem
        candidates = (f"{stem}{extension}", *(f"{stem} ({number}){extension}" for number in range(2, _MAX_FILES + 2)))
        free = next(one for one in candidates if one.casefold() not in self._names)
        self._names.add(free.casefold())
        return free

    def _account(
        self, given: Given, outcome: IntakeOutcome, *, file: str | None = None, reason: str = "", sha256: str | None = None,
        size: int = 0,
    ) -> TakenFile:  # fmt: skip
        return TakenFile(
            name=shorten(given.name, 200),
            outcome=outcome,
            file=file,
            category=shorten(given.category, 100),
            archive=given.archive,
            reason=reason,
            sha256=sha256,
            size=size,
        )


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
