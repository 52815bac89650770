"""The one module that knows PyMuPDF: opens a file, reads its text layers, rasterises pages for OCR.

What is in `READERS` runs in reader processes (`readers.py`). `DocumentProcessor`, which sends them their work, is
offered here because this is where callers look for it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from trigpoint.errors import ExtractionFailed, NoContent, shorten
from trigpoint.text import ocr
from trigpoint.text.damage import damage, lost_tail
from trigpoint.text.images import (
    IMAGE_SUFFIXES,
    MAX_IMAGE_PIXELS,
    QUICK_LOOK_DPI,
    Box,
    image_kind,
    picture_scale,
    raster_scale,
    sheet_scale,
)
from trigpoint.text.layout import PageLayout
from trigpoint.text.pages import Bookmark, DocumentLook, Extraction, Outline, Page, clean_text, has_text
from trigpoint.text.picture import MAX_PICTURE_PIXELS, PagePicture, find_run
from trigpoint.text.processor import DocumentProcessor
from trigpoint.text.survey import Opened, PageLook, PageOcr, file_identity
from trigpoint.text.table_layer import with_tables

__all__ = ["READERS", "DocumentLook", "DocumentProcessor", "Extraction", "Page"]

MAX_PAGES = 20_000

TURNED_BELOW = 50.0
TURNED_WORDS = 5

DRAWING_MAX_CHARS = 1_000
DRAWING_PATHS = 100
DRAWING_IMAGE_RATIO = 0.25
DRAWING_SHEET = 595 * 842 * 1.2

_open_documents: dict[tuple[object, ...], Any] = {}


@cache
def _mupdf() -> Any:
    """PyMuPDF, loaded in reader processes only, and quiet: what it has to say is asked of it."""
    import pymupdf

    tools: Any = pymupdf.TOOLS
    tools.mupdf_display_errors(False)
    tools.mupdf_display_warnings(False)
    return pymupdf


def _document(path: str) -> Any:
    """The open document; the last one stays open, since its pages come job by job."""
    identity = file_identity(Path(path))
    if identity not in _open_documents:
        while _open_documents:
            _open_documents.popitem()[1].close()
            _mupdf().TOOLS.store_shrink(100)
        opening = _open_image if Path(path).suffix.lower() in IMAGE_SUFFIXES else _open_pdf
        _open_documents[identity] = opening(path)
    return _open_documents[identity]


def _open_pdf(path: str) -> Any:
    name = shorten(Path(path).name)
    if os.path.getsize(path) == 0:
        raise ExtractionFailed(f"{name} is empty: 0 bytes.")
    pymupdf = _mupdf()
    pymupdf.TOOLS.mupdf_warnings(reset=True)
    try:
        document = pymupdf.open(path, filetype="pdf")
        locked = document.needs_pass
        pages = 0 if locked else document.page_count
    except Exception as error:
        why = str(error.__cause__ or error).partition(": ")[2] or str(error)
        if not _says_pdf(path):
            raise ExtractionFailed(f"{name} is not a PDF, whatever its name says.") from None
        raise ExtractionFailed(f"{name} is damaged{lost_tail(path)} and cannot be read: {shorten(why)}.") from None
    if not document.is_pdf:
        raise ExtractionFailed(f"{name} is not a PDF, whatever its name says.")
    if locked:
        raise ExtractionFailed(f"{name} is encrypted: a password is needed to open it.")
    if pages > MAX_PAGES:
        raise ExtractionFailed(f"{name} claims to have {pages} pages; at most {MAX_PAGES} are read.")
    if pages == 0 and (document.is_repaired or lost_tail(path) or pymupdf.TOOLS.mupdf_warnings(reset=True)):
        raise ExtractionFailed(f"{name} is damaged{lost_tail(path)}: no page of it can be recovered.")
    if pages == 0:
        raise NoContent(f"{name} has no pages.")
    return document


def _says_pdf(path: str) -> bool:
    """Readers take what stands before the mark, as mail and web servers put it there."""
    with open(path, "rb") as file:
        return b"%PDF" in file.read(1024)


def _open_image(path: str) -> Any:
    name = shorten(Path(path).name)
    if os.path.getsize(path) == 0:
        raise ExtractionFailed(f"{name} is empty: 0 bytes.")
    kind = image_kind(path)
    if kind is None:
        raise ExtractionFailed(f"{name} is not a PNG, JPEG, TIFF or BMP image, whatever its name says.")
    try:
        document = _mupdf().open(path, filetype=kind)
        sizes = [_pixels(page) for page in document]
    except Exception as error:
        raise ExtractionFailed(f"{name} is damaged: it cannot be decoded as {kind} ({shorten(error)}).") from None
    width, height = max(sizes, key=math.prod, default=(0, 0))
    if not width * height:
        raise ExtractionFailed(f"{name} is damaged: it holds no picture.")
    if width * height > MAX_IMAGE_PIXELS:
        limit = f"at most {MAX_IMAGE_PIXELS // 1_000_000} million are decoded"
        raise ExtractionFailed(f"{name} is {width} × {height} pixels; {limit}. Scale it down and try again.")
    return document


def _pixels(page: Any) -> tuple[int, int]:
    """The size of an image file's picture, from its header: nothing is decoded."""
    image = page.get_image_info()[0]
    return image["width"], image["height"]


def read_opening(path: str, pages: Sequence[int]) -> Iterator[Opened]:
    document = _document(path)
    count = document.page_count
    yield Opened(
        0, count, tuple(damage(path, repaired=document.is_repaired, page_count=count)) if document.is_pdf else ()
    )


def read_text(path: str, pages: Sequence[int]) -> Iterator[PageLook]:
    """The text layers. A page that raises is noted, and the next one is read."""
    flags = _mupdf().TEXTFLAGS_TEXT
    document = _document(path)
    labels = document.is_pdf and bool(document.get_page_labels())
    doubtful = document.is_pdf and (document.is_repaired or bool(lost_tail(path)))
    for number in pages:
        try:
            page = document[number - 1]
            if doubtful and not _exists(document, page.xref):
                yield PageLook(number, "", note="missing from the file", unreadable=True)
                continue
            incomplete = "a part of its content is lost" if doubtful and _lost_content(document, page) else None
            layer, layout = read_layout(page, flags)
            label = (page.get_label() or None) if labels else None
            is_drawing, is_blank = _marks(page, layout)
            text, tables = with_tables(page, layer, layout.text, layout.lines_drawn(), flags)
            yield PageLook(
                number,
                text,
                layout.margins(),
                layout.image_ratio(),
                is_drawing,
                is_blank,
                label,
                incomplete,
                tables=tables,
            )
        except Exception as error:
            yield PageLook(number, "", note=f"could not be read ({shorten(error)})", unreadable=True)


def read_outline(path: str, pages: Sequence[int]) -> Iterator[Outline]:
    """The document's own title and bookmarks; those that lead nowhere are left out."""
    document = _document(path)
    title = " ".join(clean_text((document.metadata or {}).get("title") or "").split())
    entries = [(level, " ".join(clean_text(name).split()), page) for level, name, page, *_ in document.get_toc()]
    bookmarks = tuple(Bookmark(level, name, page) for level, name, page in entries if name and page > 0)
    yield Outline(0, title or None, bookmarks)


def read_layout(page: Any, flags: int) -> tuple[Any, PageLayout]:
    """PyMuPDF's text layer, and the page's blocks as a reader sees them: text, pictures and drawn shapes."""
    pymupdf = _mupdf()
    layer = page.get_textpage(flags=flags | pymupdf.TEXT_PRESERVE_IMAGES | pymupdf.TEXT_COLLECT_VECTORS)
    sheet = page.rect
    turn = _turn(page) if page.rotation else None
    return layer, PageLayout.of(layer.extractBLOCKS(), (sheet.width, sheet.height), turn)


def _turn(page: Any) -> Callable[[Box], Box]:
    """Text is placed on the sheet as it lies; this turns a box as the page says that it is to be shown."""
    rect, matrix = _mupdf().Rect, page.rotation_matrix
    return lambda box: tuple(rect(box) * matrix)


def _exists(document: Any, xref: int) -> bool:
    """Whether the file holds this page; where it does not, MuPDF shows a blank one and says nothing."""
    return 0 < xref < document.xref_length() and bool(document.xref_get_key(xref, "Type")[1] == "/Page")


def _lost_content(document: Any, page: Any) -> bool:
    return not all(document.xref_is_stream(xref) for xref in page.get_contents())


def _marks(page: Any, layout: PageLayout) -> tuple[bool, bool]:
    """Whether the page is a drawing (little text, and many vector paths, or a picture on a sheet larger than A4),
    and whether it is blank: nothing is drawn on it at all."""
    if len(layout.text) >= DRAWING_MAX_CHARS:
        return False, False
    pinned_up = layout.image_ratio() >= DRAWING_IMAGE_RATIO and abs(page.rect) > DRAWING_SHEET and has_text(layout.text)
    blank = layout.is_empty and page.first_annot is None and page.first_widget is None and not page.get_bboxlog()
    return len(layout.shapes) >= DRAWING_PATHS or pinned_up, blank


def read_by_ocr(path: str, pages: Sequence[int], dpi: int, timeout: float) -> Iterator[PageOcr]:
    """Pages as Tesseract sees them. What is wrong with one page is noted on it."""
    document = _document(path)
    engine = ocr.engine()
    for number in pages:
        try:
            yield _read_upright(engine, document[number - 1], dpi, timeout)
        except ExtractionFailed:
            raise
        except Exception as error:
            yield PageOcr(number, "", note=f"could not be read by OCR ({shorten(error)})")
    _mupdf().TOOLS.store_shrink(100)  # decoded images; fonts are not needed here


def _read_upright(engine: ocr.Engine, page: Any, dpi: int, timeout: float) -> PageOcr:
    """Reads the page as it lies and, where that gives little, as it lies best."""
    picture, note = _rasterise(page, dpi)
    turned = 0
    found = engine.read(picture, timeout=timeout) if picture else ocr.NOTHING
    if picture and (found.confidence or 0.0) < TURNED_BELOW:
        looks = {
            turn: engine.read(_rasterise(page, QUICK_LOOK_DPI, turn)[0] or picture, timeout=timeout)
            for turn in (90, 270, 180)
        }
        turn = max(looks, key=lambda angle: looks[angle].confident_words)
        if looks[turn].confident_words >= max(TURNED_WORDS, 2 * found.confident_words):
            turned = turn
            picture, _ = _rasterise(page, dpi, turn)
            found = engine.read(picture, timeout=timeout) if picture else found
    return PageOcr(page.number + 1, clean_text(found.text), found.confidence, found.confident_words, turned, note)


def _rasterise(page: Any, dpi: int, turn: int = 0) -> tuple[ocr.Picture | None, str | None]:
    """The page in grey, None where it is blank; and what had to be done to it."""
    pymupdf = _mupdf()
    is_pdf = page.parent.is_pdf
    sheet = page.rect.width, page.rect.height
    wanted = sheet_scale(*sheet, dpi) if is_pdf else picture_scale(*_pixels(page), dpi) * _pixels(page)[0] / sheet[0]
    scale = raster_scale(*sheet, wanted)
    note = f"too large for {dpi} DPI, read at {scale * 72:.0f} DPI" if scale < wanted else None
    matrix = pymupdf.Matrix(scale, scale).prerotate(turn)
    pixmap = page.get_pixmap(matrix=matrix, colorspace=pymupdf.csGRAY, alpha=False)
    samples = bytes(pixmap.samples_mv)
    if samples.count(samples[:1]) == len(samples):
        return None, note
    return ocr.Picture(
        pixmap.width, pixmap.height, pixmap.stride, samples, max(70, round(scale * 72)) if is_pdf else dpi
    ), note


def draw_picture(path: str, pages: Sequence[int], quote: str, dpi: int) -> Iterator[PagePicture]:
    """Pages in colour, as a screen shows them, with the quotation highlighted where it stands."""
    pymupdf = _mupdf()
    opening = _open_image if Path(path).suffix.lower() in IMAGE_SUFFIXES else _open_pdf
    with opening(path) as document:  # a copy of its own: what is marked here must not be read as text elsewhere
        for number in pages:
            if not 1 <= number <= document.page_count:
                raise ExtractionFailed(f"{shorten(Path(path).name)} has no page {number}.")
            page = document[number - 1]
            marked = document.is_pdf and _highlight(page, quote)
            area = max(page.rect.width * page.rect.height, 1.0)
            scale = min(dpi / 72, math.sqrt(MAX_PICTURE_PIXELS / area))
            pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False)
            yield PagePicture(number, pixmap.tobytes("png"), pixmap.width, pixmap.height, marked)


def _highlight(page: Any, quote: str) -> bool:
    found = page.get_text("words")
    lines: dict[tuple[int, int], Any] = {}
    for index in find_run([word[4] for word in found], quote):
        box, line = _mupdf().Rect(found[index][:4]), tuple(found[index][5:7])
        lines[line] = lines[line] | box if line in lines else box
    if lines:
        mark = page.add_highlight_annot(quads=[box.quad for box in lines.values()])
        mark.set_colors(stroke=(1.0, 0.86, 0.35))
        mark.update()
    return bool(lines)


READERS: Mapping[str, Callable[..., Iterator[Any]]] = {
    "open": read_opening,
    "text": read_text,
    "outline": read_outline,
    "ocr": read_by_ocr,
    "picture": draw_picture,
}
