"""Zip archives unpacked safely: no name leaves the folder, no bomb fills the disk, and every entry is accounted for."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trigpoint.errors import InvalidInput, shorten
from trigpoint.storage.space import writing_in

_MAX_ENTRIES = 5_000
_MAX_ENTRY_BYTES = 200 * 1024 * 1024
MAX_TOTAL_BYTES = 2 * 1024 * 1024 * 1024
_MAX_RATIO = 200  # a drawing of white paper compresses a hundredfold, a bomb a thousandfold
_RATIO_FROM_BYTES = 10 * 1024 * 1024
_BLOCK = 1 << 20
_ENCRYPTED = 0x1


class ArchiveRefused(InvalidInput):
    """An archive that would fill the disk: nothing of the submission is taken."""


@dataclass
class Budget:
    """The rest that may be unpacked of one submission, archives within archives included."""

    entries: int = _MAX_ENTRIES
    total: int = MAX_TOTAL_BYTES


@dataclass(frozen=True)
class Unpacked:
    """One entry: its file, or why there is none. `category` is the folder in which it was."""

    name: str
    path: Path | None = None
    category: str = ""
    problem: str = ""


@dataclass(frozen=True)
class _Unpacking:
    archive: zipfile.ZipFile
    budget: Budget


def unpack(archive: Path, into: Path, budget: Budget) -> Iterator[Unpacked]:
    """Write each entry to its own numbered file below `into`. Raises InvalidInput if it is not an
    archive, ArchiveRefused if it is a bomb, NoSpace if the disk is full.
    """
    try:
        with zipfile.ZipFile(archive) as opened, writing_in(into):
            reading = _Unpacking(opened, budget)
            for number, entry in enumerate(opened.infolist()):
                if not entry.is_dir():
                    yield _unpack_entry(reading, entry, into / f"{number:05d}")
    except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InvalidInput(f"The archive cannot be read: {shorten(error)}") from None


def _unpack_entry(reading: _Unpacking, entry: zipfile.ZipInfo, path: Path) -> Unpacked:
    inner = PurePosixPath(entry.filename.replace("\\", "/"))
    name, category = inner.name or "document", inner.parent.name
    reading.budget.entries -= 1
    if reading.budget.entries < 0:
        raise ArchiveRefused(f"More than {_MAX_ENTRIES:,} files in archives. Submit fewer at once")
    if entry.flag_bits & _ENCRYPTED:
        return Unpacked(name, None, category, "It is encrypted. Unpack it with its password and submit the files")
    if (entry.external_attr >> 16) & 0o170000 == 0o120000:
        return Unpacked(name, None, category, "It is a link, not a file")
    try:
        _copy(reading, entry, path)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        path.unlink(missing_ok=True)
        return Unpacked(name, None, category, f"It cannot be unpacked: {shorten(error)}")
    return Unpacked(name, path, category)


def _copy(reading: _Unpacking, entry: zipfile.ZipInfo, path: Path) -> None:
    """Copy by what really comes out, since declared sizes can lie. Raises ArchiveRefused at the limits."""
    size = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with reading.archive.open(entry) as source, path.open("xb") as target:
        while block := source.read(_BLOCK):
            size += len(block)
            reading.budget.total -= len(block)
            if size > _RATIO_FROM_BYTES and size > _MAX_RATIO * max(entry.compress_size, 1):
                raise ArchiveRefused(
                    f"The archive expands more than {_MAX_RATIO}-fold at {shorten(entry.filename)}: refused"
                )
            if size > _MAX_ENTRY_BYTES or reading.budget.total < 0:
                limit = _MAX_ENTRY_BYTES if size > _MAX_ENTRY_BYTES else MAX_TOTAL_BYTES
                raise ArchiveRefused(
                    f"Unpacked, {shorten(entry.filename)} exceeds the limit of {limit >> 20:,} MB: refused"
                )
            target.write(block)
