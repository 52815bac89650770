"""Makes the sample documents: Typst sources become PDFs, the same bytes each time, kept in the data folder.

A scan is a page turned into pixels, tilted and speckled, with no text layer; a picture is pixels only.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from datetime import UTC, datetime, time
from functools import cache
from importlib.metadata import version
from pathlib import Path

import typst

from trigpoint.config import Settings
from trigpoint.demo.applications import FOLDER, SampleApplication, SampleDocument, sample_applications
from trigpoint.demo.scan import image_pages, scanned_pages
from trigpoint.storage.files import data_folder

_SOURCES = FOLDER / "typst"


def sample_documents(settings: Settings) -> dict[str, dict[str, Path]]:
    """Return reference → file name → path for all sample applications. Made once, then found in the data folder."""
    root = data_folder(settings, "demo", f"documents-{_fingerprint()}")
    return {reference: _generated_files(one, root) for reference, one in sample_applications().items()}


def make_documents(application: SampleApplication, folder: Path) -> dict[str, Path]:
    """Write every document of an application into a folder that exists."""
    made = {}
    for document in application.documents:
        path = folder / document.file
        path.write_bytes(make_pdf(application, document))
        made[document.file] = path
    return made


def make_pdf(application: SampleApplication, document: SampleDocument) -> bytes:
    """Return one document as PDF. The creation date is its date on the portal, so that the bytes never change."""
    source = _SOURCES / application.folder_name / f"{document.source}.typ"
    created = datetime.combine(document.date, time(), UTC)
    match document.kind:
        case "text":
            return _one(typst.compile(source, root=_SOURCES, format="pdf", timestamp=created, ignore_system_fonts=True))
        case "scan":
            return scanned_pages(_pixels(source, ppi=200), created)
        case "picture":
            return image_pages(_pixels(source, ppi=110), created)


def _generated_files(application: SampleApplication, root: Path) -> dict[str, Path]:
    folder = root / application.folder_name
    if not folder.is_dir():
        temporary = Path(tempfile.mkdtemp(dir=root, prefix=f".{application.folder_name}."))
        try:
            make_documents(application, temporary)
            temporary.chmod(0o755)
            os.rename(temporary, folder)  # complete or not there; a second process finds the first one's work
        except FileExistsError:
            pass
        except OSError:
            if not folder.is_dir():
                raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return {document.file: folder / document.file for document in application.documents}


def _pixels(source: Path, *, ppi: float) -> list[bytes]:
    pages = typst.compile(source, root=_SOURCES, format="png", ppi=ppi, ignore_system_fonts=True)
    return pages if isinstance(pages, list) else [_one(pages)]


def _one(compiled: bytes | list[bytes] | None) -> bytes:
    assert isinstance(compiled, bytes)
    return compiled


@cache
def _fingerprint() -> str:
    """Return a hash that changes with the sources, the list of documents, the way they are made or Typst itself."""
    digest = hashlib.sha256(version("typst").encode())
    for path in sorted(
        [*_SOURCES.rglob("*.typ"), *FOLDER.glob("applications/*.toml"), Path(__file__), FOLDER / "scan.py"]
    ):
        digest.update(path.relative_to(FOLDER).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]
