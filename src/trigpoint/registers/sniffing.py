"""The kind of a downloaded file by its first bytes: extension and media type follow the content, not the name."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from trigpoint.text.pdf_mark import is_pdf

_HEAD_BYTES = 4096


@dataclass(frozen=True)
class FileKind:
    extension: str
    content_type: str


_PDF = FileKind(".pdf", "application/pdf")
HTML = FileKind(".html", "text/html")
_BINARY = FileKind(".bin", "application/octet-stream")
_OFFICE = "application/vnd.openxmlformats-officedocument."
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", FileKind(".png", "image/png")),
    (b"\xff\xd8\xff", FileKind(".jpg", "image/jpeg")),
    (b"II*\x00", FileKind(".tif", "image/tiff")),
    (b"MM\x00*", FileKind(".tif", "image/tiff")),
    (b"GIF8", FileKind(".gif", "image/gif")),
    (b"{\\rtf", FileKind(".rtf", "application/rtf")),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_KINDS = (
    ("__properties_version1.0", FileKind(".msg", "application/vnd.ms-outlook")),
    ("WordDocument", FileKind(".doc", "application/msword")),
    ("Workbook", FileKind(".xls", "application/vnd.ms-excel")),
    ("PowerPoint Document", FileKind(".ppt", "application/vnd.ms-powerpoint")),
)
_ZIP_KINDS = (
    ("word/", FileKind(".docx", _OFFICE + "wordprocessingml.document")),
    ("xl/", FileKind(".xlsx", _OFFICE + "spreadsheetml.sheet")),
    ("ppt/", FileKind(".pptx", _OFFICE + "presentationml.presentation")),
)
_TEXT_KINDS = {".txt": "text/plain", ".csv": "text/csv", ".eml": "message/rfc822"}
_BEFORE_HTML = rb"\s*(?:<\?xml[^>]{0,200}>\s*|<!--.{0,2000}?-->\s*)*"
_FIRST_TAG = rb"<(?:!doctype\s+html|html|head|body|title|script|meta|div|form|h[1-6]|p|table)\b"
_HTML_START = re.compile(_BEFORE_HTML + _FIRST_TAG, re.IGNORECASE | re.DOTALL)


def sniff(path: Path, declared_name: str) -> FileKind:
    """Return the kind of a whole file. The declared name only decides between kinds of plain text."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if head.startswith(b"%PDF-"):
        return _PDF
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    if head.startswith(_OLE):
        return _ole_kind(path)
    if head.startswith(b"PK\x03\x04"):
        return _zip_kind(path)
    if _HTML_START.match(head.removeprefix(b"\xef\xbb\xbf")):
        return HTML
    if is_pdf(head):
        return _PDF
    extension = Path(declared_name).suffix.lower()
    if extension in _TEXT_KINDS and b"\x00" not in head:
        return FileKind(extension, _TEXT_KINDS[extension])
    return _BINARY


def _ole_kind(path: Path) -> FileKind:
    """Return the kind by the names of its streams: Outlook, Word and Excel share one container."""
    with path.open("rb") as file:
        carried = b""
        found: set[str] = set()
        while block := file.read(1 << 20):
            window = carried + block
            found |= {name for name, _ in _OLE_KINDS if name.encode("utf-16-le") in window}
            carried = window[-64:]
    return next((kind for name, kind in _OLE_KINDS if name in found), FileKind(".ole", "application/x-ole-storage"))


def _zip_kind(path: Path) -> FileKind:
    plain = FileKind(".zip", "application/zip")
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return plain
    return next((kind for folder, kind in _ZIP_KINDS if any(n.startswith(folder) for n in names)), plain)
