"""Removes documents, downloaded and submitted ones, a set time after they were last used."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.registers.downloads import downloads_dir
from trigpoint.registers.folder import DESCRIPTION, applications_dir
from trigpoint.registers.manifest import FILE_NAME

_DAY = 86_400
_ABANDONED_DAYS = 1  # for the remains of a submission that was never completed


def remove_old_documents(settings: Settings) -> int:
    """Remove the folders of applications that nobody has used for `DOWNLOADS_KEPT_DAYS`; return how many.

    Unfinished submissions go after a day, whatever the setting says. Reviews and the text in the document store stay.
    """
    days = settings.downloads_kept_days
    removed = 0
    for folder, unfinished in list(_folders(settings)):
        limit = _ABANDONED_DAYS if unfinished else days
        if limit is not None and time.time() - _last_used(folder) > limit * _DAY:
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    return removed


def _folders(settings: Settings) -> Iterator[tuple[Path, bool]]:
    for folder in _below(applications_dir(settings)):
        yield folder, not (folder / DESCRIPTION).is_file()
    for manifest in downloads_dir(settings).rglob(FILE_NAME):
        yield manifest.parent, False


def _below(root: Path) -> list[Path]:
    return [path for path in root.iterdir() if path.is_dir() and not path.is_symlink()] if root.is_dir() else []


def _last_used(folder: Path) -> float:
    """Return the newest change or read of anything in the folder."""
    paths = [folder, *(path for path in folder.iterdir() if not path.is_symlink())]
    return max(
        max(status.st_mtime, status.st_atime if path.is_file() else 0) for path in paths if (status := path.stat())
    )
