"""Takes uploaded documents from a form into the application's folder, and queues their review."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from starlette.datastructures import UploadFile

from trigpoint.api.services import Services
from trigpoint.ids import new_review_id
from trigpoint.jobs.reviews import Review, Webhook
from trigpoint.logs import request_id
from trigpoint.registers.entries import load_registers
from trigpoint.registers.folder import FolderRegister, GivenApplication, applications_dir, folder_of
from trigpoint.registers.intake import Given
from trigpoint.registers.submission import Stated, submit_files
from trigpoint.review.models import ReviewOptions
from trigpoint.storage.space import require_space, writing_in

MAX_FILES = 2_000


async def review_files(
    use: Services,
    files: Sequence[UploadFile],
    stated: Stated,
    options: ReviewOptions,
    *,
    webhook: Webhook | None = None,
    review_id: str | None = None,
) -> tuple[Review, GivenApplication]:
    """Take the files in and queue their review. A second call with the same `review_id` finds the first one's folder."""
    require_space(use.settings)
    name = review_id or new_review_id()
    given = await asyncio.to_thread(_taken, use, name, files, stated)
    table = load_registers(use.settings)
    review = await use.reviews.create(
        given.reference,
        options,
        webhook,
        request_id=request_id.get(),
        review_id=name,
        authority=None if table.is_default(given.authority) else given.authority,
        folder=name,
    )
    return review, given


def _taken(use: Services, name: str, files: Sequence[UploadFile], stated: Stated) -> GivenApplication:
    if (folder_of(use.settings, name) / "application.json").exists():  # the answer to the first try was lost on the way
        return FolderRegister(use.settings, name).given
    root = applications_dir(use.settings)
    with writing_in(root), _scratch(root) as scratch:
        given = [_stored(file, scratch / str(number)) for number, file in enumerate(files)]
        return submit_files(use.settings, name, given, stated)


@contextmanager
def _scratch(root: Path) -> Iterator[Path]:
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root, prefix=".incoming.") as folder:
        yield Path(folder)


def _stored(file: UploadFile, path: Path) -> Given:
    """Store a file. Browsers send the path within a dropped folder as its name: its last folder is the category."""
    with path.open("xb") as out:
        shutil.copyfileobj(file.file, out, 1 << 20)
    parts = [
        part for part in (file.filename or "document").replace("\\", "/").split("/") if part not in ("", ".", "..")
    ]
    return Given(parts[-1] if parts else "document", path, parts[-2] if len(parts) > 1 else "")
