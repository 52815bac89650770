"""The kind of a downloaded file by its first bytes: extension and media type follow the content, not the name."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from trigpoint.text.pdf_mark import is_pdf

HEAD_BYTES = 4096


@dataclass(frozen=True)
class Kind:
    extension: str
    content_type: str


PDF = Kind(".pdf", "application/pdf")
HTML = Kind(".html", "text/html")
_BINARY = Kind(".bin", "application/octet-stream")
_OFFICE = "application/vnd.openxmlformats-officedocument."
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", Kind(".png", "image/png")),
    (b"\xff\xd8\xff", Kind(".jpg", "image/jpeg")),
    (b"II*\x00", Kind(".tif", "image/tiff")),
    (b"MM\x00*", Kind(".tif", "image/tiff")),
    (b"GIF8", Kind(".gif", "image/gif")),
    (b"{\\rtf", Kind(".rtf", "application/rtf")),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_KINDS = (
    ("__properties_version1.0", Kind(".msg", "application/vnd.ms-outlook")),
    ("WordDocument", Kind(".doc", "application/msword")),
    ("Workbook", Kind(".xls", "application/vnd.ms-excel")),
    ("PowerPoint Document", Kind(".ppt", "application/vnd.ms-powerpoint")),
)
_ZIP_KINDS = (
    ("word/", Kind(".docx", _OFFICE + "wordprocessingml.document")),
    ("xl/", Kind(".xlsx", _OFFICE + "spreadsheetml.sheet")),
    ("ppt/", Kind(".pptx", _OFFICE + "presentationml.presentation")),
)
_TEXT_KINDS = {".txt": "text/plain", ".csv": "text/csv", ".eml": "message/rfc822"}
_BEFORE_HTML = rb"\s*(?:<\?xml[^>]{0,200}>\s*|<!--.{0,2000}?-->\s*)*"
_FIRST_TAG = rb"<(?:!doctype\s+html|html|head|body|title|script|meta|div|form|h[1-6]|p|table)\b"
_HTML_START = re.compile(_BEFORE_HTML + _FIRST_TAG, re.IGNORECASE | re.DOTALL)


def sniff(path: Path, declared_name: str) -> Kind:
    """Return the kind of a whole file. The declared name only decides between kinds of plain text."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if head.startswith(b"%PDF-"):
        return PDF
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
        return PDF
    extension = Path(declared_name).suffix.lower()
    if extension in _TEXT_KINDS and b"\x00" not in head:
        return Kind(extension, _TEXT_KINDS[extension])
    return _BINARY


def _ole_kind(path: Path) -> Kind:
    """Return the kind by the names of its streams: Outlook, Word and Excel share one container."""
    with path.open("rb") as file:
        carried = b""
        found: set[str] = set()
        while block := file.read(1 << 20):
            window = carried + block
            found |= {name for name, _ in _OLE_KINDS if name.encode("utf-16-le") in window}
            carried = window[-64:]
    return next((kind for name, kind in _OLE_KINDS if name in found), Kind(".ole", "application/x-ole-storage"))


def _zip_kind(path: Path) -> Kind:
    plain = Kind(".zip", "application/zip")
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return plain
    return next((kind for folder, kind in _ZIP_KINDS if any(n.startswith(folder) for n in names)), plain)
