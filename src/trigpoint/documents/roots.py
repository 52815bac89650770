"""The folders from which documents may come: the data folder, and those that the operator named."""

from __future__ import annotations

from pathlib import Path

from trigpoint.config import Settings
from trigpoint.errors import FileMissing, shorten


class DocumentRoots:
    """Resolves links first, so that none leads out. What lies outside is as absent as what does not exist."""

    def __init__(self, settings: Settings) -> None:
        self.folders = tuple(_resolved(folder) for folder in (settings.data_dir, *settings.document_roots))

    def find(self, file_path: str) -> Path:
        """Return the file at this path. Raises FileMissing for anything that is not a file below a root."""
        path = Path(file_path)
        real = _real(path)
        if real is None or not path.is_absolute() or not any(folder in real.parents for folder in self.folders):
            raise FileMissing(
                f"File not found: {shorten(file_path, 300)}. "
                "Documents are read by absolute path from the data folder and the folders of DOCUMENT_ROOTS"
            )
        if not real.is_file():
            raise FileMissing(f"File not found: {shorten(file_path, 300)} is not a file. Name a file, not a folder")
        return path

    def find_folder(self, folder: str) -> Path:
        """Return the folder at this path. Raises FileMissing for all that is not a folder at or below a root."""
        path = Path(folder).expanduser()
        real = _real(path)
        within = real is not None and any(root == real or root in real.parents for root in self.folders)
        if real is None or not path.is_absolute() or not within or not real.is_dir():
            raise FileMissing(
                f"Folder not found: {shorten(folder, 300)}. Folders are read by absolute path from those that the server "
                "may read: start it with --root FOLDER, or name them in DOCUMENT_ROOTS"
            )
        return real


def _real(path: Path) -> Path | None:
    """Return the path with links followed; None if it leads nowhere."""
    try:
        return path.resolve(strict=True)
    except (OSError, ValueError, RuntimeError):  # absent, too long, a NUL in it, links in a circle
        return None


def _resolved(folder: Path) -> Path:
    return folder.expanduser().resolve()
