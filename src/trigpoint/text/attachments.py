"""Files inside a PDF: listed with every document, and given out one by one."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trigpoint.errors import ExtractionFailed
from trigpoint.text.account import Attachment
from trigpoint.text.pages import clean_text

_MOST_ATTACHMENTS = 200
_LARGEST = 200 * 1024 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file out of another one. `number` is its place in the list of attachments."""

    number: int
    name: str
    content: bytes


def attachments_of(document: Any) -> Iterator[Attachment]:
    """Yield the files that a PDF carries, in the order of its own list."""
    for place in range(min(document.embfile_count(), _MOST_ATTACHMENTS)):
        about = _about(document, place)
        name = _file_name(about)
        media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        yield Attachment(name, int(about.get("length") or about.get("size") or 0), media_type)


def attached_file(document: Any, place: int) -> AttachedFile:
    """Return one of the files. Raises ExtractionFailed if it is too large or damaged."""
    name = _file_name(_about(document, place))
    try:
        length = int(document.embfile_info(place).get("length") or 0)
        content = document.embfile_get(place) if length <= _LARGEST else None
    except Exception as error:  # PyMuPDF raises nothing more specific
        raise ExtractionFailed(f"The attachment {name} is damaged: {error}") from None
    if content is None:
        raise ExtractionFailed(f"The attachment {name} is larger than {_LARGEST >> 20} MiB.")
    return AttachedFile(place, name, content)


def _about(document: Any, place: int) -> dict[str, Any]:
    """Return the PDF's entry for the file. Of a damaged one only the name is known, and the document can still be read."""
    try:
        return dict(document.embfile_info(place))
    except Exception:  # PyMuPDF raises nothing more specific
        return {"name": document.embfile_names()[place]}


def _file_name(about: dict[str, Any]) -> str:
    """Return the last part of the name that the file gives itself, so that it never names a folder."""
    given = clean_text(str(about.get("ufilename") or about.get("filename") or about.get("name") or ""))
    return " ".join(given.replace("\\", "/").rpartition("/")[2].split())[:200] or "attachment"
