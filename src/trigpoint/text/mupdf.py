"""The one module that imports PyMuPDF, in reader processes only: it opens files and says what is wrong with them."""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path
from typing import Any

from trigpoint.errors import ExtractionFailed, NoContent, shorten
from trigpoint.text.damage import lost_tail
from trigpoint.text.images import IMAGE_SUFFIXES, MAX_IMAGE_PIXELS, image_kind
from trigpoint.text.pdf_mark import file_is_pdf

_MAX_PAGES = 20_000

_kept_open: dict[tuple[object, ...], Any] = {}


@cache
def mupdf() -> Any:
    """Return PyMuPDF, loaded on first use and kept from printing: what it has to say is asked of it."""
    import pymupdf

    tools: Any = pymupdf.TOOLS
    tools.mupdf_display_errors(False)
    tools.mupdf_display_warnings(False)
    return pymupdf


def open_document(path: str, *, anew: bool = False) -> Any:
    """Return the open document; the last one stays open, since its pages come job by job.

    `anew` opens it again: a damaged file forgets its pages once one of them could not be read.
    """
    identity = _identity(Path(path))
    if anew or identity not in _kept_open:
        while _kept_open:
            _kept_open.popitem()[1].close()
            mupdf().TOOLS.store_shrink(100)
        _kept_open[identity] = open_file(path)
    return _kept_open[identity]


def _identity(path: Path) -> tuple[object, ...]:
    """Return an identity that differs for another file, and for the same one after a change."""
    status = path.stat()
    return str(path), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def open_file(path: str) -> Any:
    """Open a PDF or an image. Raises ExtractionFailed or NoContent, saying what is wrong with the file."""
    return _open_image(path) if Path(path).suffix.lower() in IMAGE_SUFFIXES else _open_pdf(path)


def _open_pdf(path: str) -> Any:
    name = shorten(Path(path).name)
    if os.path.getsize(path) == 0:
        raise ExtractionFailed(f"{name} is empty: 0 bytes.")
    pymupdf = mupdf()
    pymupdf.TOOLS.mupdf_warnings(reset=True)
    try:
        document = pymupdf.open(path, filetype="pdf")
        locked = document.needs_pass
        pages = 0 if locked else document.page_count
    except Exception as error:
        why = str(error.__cause__ or error).partition(": ")[2] or str(error)
        if not file_is_pdf(Path(path)):
            raise ExtractionFailed(f"{name} is not a PDF, whatever its name says.") from None
        raise ExtractionFailed(f"{name} is damaged{lost_tail(path)} and cannot be read: {shorten(why)}.") from None
    if not document.is_pdf:
        raise ExtractionFailed(f"{name} is not a PDF, whatever its name says.")
    if locked:
        raise ExtractionFailed(f"{name} is encrypted: a password is needed to open it.")
    if pages > _MAX_PAGES:
        raise ExtractionFailed(f"{name} claims to have {pages} pages; at most {_MAX_PAGES} are read.")
    if pages == 0 and (document.is_repaired or lost_tail(path) or pymupdf.TOOLS.mupdf_warnings(reset=True)):
        raise ExtractionFailed(f"{name} is damaged{lost_tail(path)}: no page of it can be recovered.")
    if pages == 0:
        raise NoContent(f"{name} has no pages.")
    return document


def _open_image(path: str) -> Any:
    name = shorten(Path(path).name)
    if os.path.getsize(path) == 0:
        raise ExtractionFailed(f"{name} is empty: 0 bytes.")
    kind = image_kind(path)
    if kind is None:
        raise ExtractionFailed(f"{name} is not a PNG, JPEG, TIFF or BMP image, whatever its name says.")
    try:
        document = mupdf().open(path, filetype=kind)
        sizes = [pixels(page) for page in document]
    except Exception as error:
        raise ExtractionFailed(f"{name} is damaged: it cannot be decoded as {kind} ({shorten(error)}).") from None
    width, height = max(sizes, key=math.prod, default=(0, 0))
    if not width * height:
        raise ExtractionFailed(f"{name} is damaged: it holds no picture.")
    if width * height > MAX_IMAGE_PIXELS:
        limit = f"at most {MAX_IMAGE_PIXELS // 1_000_000} million are decoded"
        raise ExtractionFailed(f"{name} is {width} × {height} pixels; {limit}. Scale it down and try again.")
    return document


def pixels(page: Any) -> tuple[int, int]:
    """Return the size of an image file's picture, from its header: nothing is decoded."""
    image = page.get_image_info()[0]
    return image["width"], image["height"]
