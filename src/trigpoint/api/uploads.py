"""Uploaded PDFs: recognised by their first bytes, limited in size, and never left behind half-written."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fastapi import UploadFile
from starlette.datastructures import UploadFile as SentFile

from trigpoint.config import Settings
from trigpoint.errors import PayloadTooLarge, UnsupportedFileType, shorten
from trigpoint.http.limits import too_large
from trigpoint.storage.files import inside, safe_name
from trigpoint.storage.space import require_space, writing_in
from trigpoint.text.pdf_mark import HEAD_BYTES, is_pdf

_COPY_BYTES = 1024 * 1024
_ABANDONED_SECONDS = 86_400


@dataclass(frozen=True)
class Upload:
    """A file that has come in whole. `path_template` names its place but for the revision's id."""

    temporary: Path
    folder: Path
    name: str
    size: int

    @property
    def path_template(self) -> str:
        return str(self.folder / "{revision_id}" / self.name)

    async def keep_for(self, revision_id: str) -> None:
        """Move the file to its place. Before this it belongs to nobody and goes when the context ends."""
        place = inside(self.folder, revision_id) / self.name
        await asyncio.to_thread(_move, self.temporary, place)


def check_is_file(sent: object) -> object:
    """Return what was sent if it is a file, as a form may hold text instead.

    Raises the ValueError that pydantic wants.
    """
    if not isinstance(sent, SentFile):
        raise ValueError("Send the PDF as a file, with a file name")
    return sent


def check_is_pdf(file: UploadFile) -> None:
    """Raise UnsupportedFileType unless the bytes say PDF, whatever the name or the declared type."""
    start = file.file.read(HEAD_BYTES)
    file.file.seek(0)
    if not is_pdf(start):
        raise UnsupportedFileType(
            "Only PDF files are supported",
            content_type=shorten(file.content_type or ""),
            filename=shorten(file.filename or ""),
        )


@asynccontextmanager
async def stored(file: UploadFile, source: str, settings: Settings) -> AsyncIterator[Upload]:
    """Yield the upload on disk below the data folder; unless it is kept, it is removed.

    Raises PayloadTooLarge, NoSpace.
    """
    require_space(settings)
    limit = settings.max_upload_mb * 1024 * 1024
    if file.size is not None and file.size > limit:
        raise PayloadTooLarge(too_large(limit), limit_mb=settings.max_upload_mb)
    folder = inside(settings.data_dir / "policy", source)
    temporary = settings.data_dir / "policy" / ".incoming" / f"{uuid.uuid4().hex}.pdf"
    try:
        size = await asyncio.to_thread(_copy, file, temporary)
        yield Upload(temporary, folder, safe_name(file.filename or "", fallback="policy.pdf"), size)
    finally:
        temporary.unlink(missing_ok=True)


def sweep(settings: Settings) -> None:
    """Remove what a crash left of uploads that never came to their end."""
    for path in (settings.data_dir / "policy" / ".incoming").glob("*.pdf"):
        if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
            path.unlink(missing_ok=True)


def _copy(file: UploadFile, place: Path) -> int:
    with writing_in(place.parent):
        return _copied(file, place)


def _copied(file: UploadFile, place: Path) -> int:
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as out:
        shutil.copyfileobj(file.file, out, _COPY_BYTES)
        out.flush()
        os.fsync(out.fileno())
        return out.tell()


def _move(temporary: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    os.replace(temporary, place)
