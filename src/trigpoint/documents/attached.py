"""Files inside a PDF become documents of their own, written next to the store under a name that tells their origin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from trigpoint.documents.models import AttachedDocument, IngestOutcome
from trigpoint.errors import Cancelled, TrigpointError, shorten
from trigpoint.storage.files import inside, write_atomic
from trigpoint.text.account import Attachment
from trigpoint.text.extract import DocumentProcessor

MOST_BYTES = 500 * 1024 * 1024  # of all attachments of one file

_LONGEST_NAME = 200  # bytes; file systems allow 255


class AttachedFiles:
    """Takes attachments out of PDFs and has them ingested. One level deep: what they carry themselves is only listed."""

    def __init__(self, processor: DocumentProcessor, folder: Path, supported: tuple[str, ...]) -> None:
        self._processor = processor
        self._folder = folder
        self._supported = supported

    def ingest(self, path: Path, file_hash: str, ingest: Callable[[Path], IngestOutcome]) -> Iterator[AttachedDocument]:
        """Yield what became of each file inside this one. A failure concerns its own file only. Raises Cancelled."""
        taken = 0
        for place, attachment in enumerate(self._processor.attachments(path)):
            taken += attachment.size
            if not attachment.name.lower().endswith(self._supported):
                reason = f"Its type is not supported. Supported: {', '.join(self._supported)}"
                yield AttachedDocument(name=attachment.name, status="not_ingested", reason=reason)
            elif taken > MOST_BYTES:
                reason = f"The attachments have more than {MOST_BYTES >> 20} MiB in all"
                yield AttachedDocument(name=attachment.name, status="not_ingested", reason=reason)
            else:
                yield self._ingest_one(path, file_hash, place, attachment, ingest)

    def _ingest_one(
        self,
        path: Path,
        file_hash: str,
        place: int,
        attachment: Attachment,
        ingest: Callable[[Path], IngestOutcome],
    ) -> AttachedDocument:
        try:
            file = inside(self._folder, file_hash[:16], _file_name(path, place, attachment.name))
            if not file.is_file():
                write_atomic(file, self._processor.attachment(path, place).content)
            outcome = ingest(file)
        except Cancelled:
            raise
        except TrigpointError as error:
            return AttachedDocument(name=attachment.name, status="not_ingested", reason=error.message)
        if outcome.status == "skipped":
            return AttachedDocument(name=attachment.name, status="not_ingested", reason="It is a picture without text")
        return AttachedDocument(name=attachment.name, status="ingested", document_id=outcome.document_id)


def _file_name(path: Path, place: int, name: str) -> str:
    """Return a name such as `Portfolio, attachment 2, Travel Plan.pdf`, never longer than file systems allow."""
    suffix = Path(name).suffix
    start = f"{shorten(path.stem, 60)}, attachment {place + 1}, "
    stem = Path(name).stem
    while len(f"{start}{stem}{suffix}".encode()) > _LONGEST_NAME and stem:
        stem = stem[:-1]
    return f"{start}{stem}{suffix}".replace("/", "_")
