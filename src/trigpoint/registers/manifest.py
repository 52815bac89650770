"""The record of a folder's documents: which one is which file, with its hash. Survives a kill at any moment."""

from __future__ import annotations

import json
import logging
import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from trigpoint.storage.files import safe_name, sha256_file, write_atomic

log = logging.getLogger(__name__)

FILE_NAME = ".downloads.json"
_PART = ".part"


@dataclass(frozen=True)
class ManifestEntry:
    url: str
    file: str
    sha256: str
    file_size: int
    content_type: str


class Manifest:
    """The manifest of one folder. An entry is written before its file gets its name: see `keep`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / FILE_NAME
        self.entries = self._load()

    def part(self, document_id: str) -> Path:
        """Return the path at which a document is written while it is being fetched."""
        return self.folder / f".{document_id}{_PART}"

    def present(self, document_id: str) -> ManifestEntry | None:
        """Return the entry of a document whose file is there, whole, finishing what a killed run left half done."""
        entry = self.entries.get(document_id)
        if entry is None:
            return None
        path, part = self.folder / entry.file, self.part(document_id)
        if not path.exists() and part.is_file() and sha256_file(part) == entry.sha256:
            os.replace(part, path)
        return entry if path.is_file() and path.stat().st_size == entry.file_size else None

    def keep(self, document_id: str, entry: ManifestEntry) -> None:
        """Record a fetched document, then give its file the final name."""
        self.entries[document_id] = entry
        write_atomic(self._path, json.dumps({"version": 1, "documents": self._plain()}, indent=1).encode())
        os.replace(self.part(document_id), self.folder / entry.file)

    def free_name(self, document_id: str, name: str, extension: str) -> str:
        """Return a name for a document that no other file in the folder has, on any file system.

        The extension follows from the content.
        """
        own = self.entries.get(document_id)
        taken = self._taken(document_id)
        if own is not None:
            taken.discard(own.file.casefold())
        wanted, apart = _names_to_try(document_id, name, extension)
        return next((free for free in (wanted, apart) if free.casefold() not in taken), f"{document_id}{extension}")

    def also_as(self, document_id: str, entry: ManifestEntry, name: str) -> ManifestEntry:
        """Return a document that is here under this name too: a link to its file if that has another.

        The first name stays.
        """
        taken = self._taken(document_id)
        for candidate in _names_to_try(document_id, name, Path(entry.file).suffix):
            path = self.folder / candidate
            if candidate.casefold() == entry.file.casefold():
                return entry
            if candidate.casefold() not in taken:
                self._link(document_id, self.folder / entry.file, path)
                return replace(entry, file=candidate)
            if path.is_file() and path.stat().st_size == entry.file_size and sha256_file(path) == entry.sha256:
                return replace(entry, file=candidate)
        return entry

    def _link(self, document_id: str, file: Path, path: Path) -> None:
        try:
            os.link(file, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            shutil.copyfile(file, self.part(document_id))
            os.replace(self.part(document_id), path)

    def _taken(self, document_id: str) -> set[str]:
        names = {path.name for path in self.folder.iterdir()}
        names |= {entry.file for key, entry in self.entries.items() if key != document_id}
        return {name.casefold() for name in names}

    def clear_parts(self, document_ids: set[str]) -> None:
        """Remove what killed runs left of these documents and of the record; called under the folder's lock, after `present`."""
        for document_id in document_ids:
            self.part(document_id).unlink(missing_ok=True)
        for record in self.folder.glob(f".{FILE_NAME}.*{_PART}"):
            record.unlink(missing_ok=True)

    def _plain(self) -> dict[str, dict[str, object]]:
        return {key: asdict(entry) for key, entry in self.entries.items()}

    def _load(self) -> dict[str, ManifestEntry]:
        try:
            data = json.loads(self._path.read_bytes())
            entries = {str(key): ManifestEntry(**one) for key, one in data["documents"].items()}
            if any(safe_name(entry.file) != entry.file for entry in entries.values()):
                raise ValueError("a file name that leaves the folder")
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            aside = self._path.with_suffix(".unreadable")
            log.warning("%s cannot be read (%s); set aside as %s, fetching documents again", self._path, error, aside)
            os.replace(self._path, aside)
            return {}
        return entries


def _names_to_try(document_id: str, name: str, extension: str) -> tuple[str, str]:
    """Return the names to try for a document: as asked for, and with its id if another has that name."""
    name = safe_name(name)
    stem = name[: -len(Path(name).suffix)] if _is_extension(Path(name).suffix) else name
    return f"{stem}{extension}", f"{stem} ({document_id}){extension}"


def _is_extension(suffix: str) -> bool:
    """Return whether it is an extension: `.pdf` is; the `.1 Transport` of `Appendix 5.1 Transport` is not."""
    return 2 <= len(suffix) <= 6 and suffix[1:].isalnum() and not suffix[1:].isdigit()
