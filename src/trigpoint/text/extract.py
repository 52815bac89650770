"""The work of reader processes: open a file, read its text layers, look closely at doubtful pages, draw pages.

The functions in `READERS` run in reader processes (`readers.py`). `DocumentProcessor`, which sends them their work,
is offered here because callers look for it here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trigpoint.errors import ExtractionFailed, shorten
from trigpoint.text import ocr
from trigpoint.text.account import LeftOut
from trigpoint.text.attachments import AttachedFile, attached_file, attachments_of
from trigpoint.text.damage import damage, lost_tail
from trigpoint.text.doubts import Doubt, doubts_of, open_pictures
from trigpoint.text.images import QUICK_LOOK_DPI
from trigpoint.text.layout import PageLayout
from trigpoint.text.mupdf import mupdf, open_document, open_file
from trigpoint.text.pages import Bookmark, DocumentLook, Extraction, Outline, Page, clean_text, has_text
from trigpoint.text.picture import (
    MAX_PICTURE_PIXELS,
    STRIP_HEIGHT,
    STRIP_WIDTH,
    PagePicture,
    find_run,
    strip_around,
)
from trigpoint.text.processor import DocumentProcessor
from trigpoint.text.sheet import Sheet
from trigpoint.text.survey import OpenedFile, PageLook, PageReading, WordCount

__all__ = ["READERS", "DocumentLook", "DocumentProcessor", "Extraction", "Page"]

_DRAWING_MAX_CHARS = 1_000
_DRAWING_PATHS = 100
_DRAWING_IMAGE_RATIO = 0.25
_DRAWING_SHEET = 595 * 842 * 1.2


def _read_opening(path: str, pages: Sequence[int]) -> Iterator[OpenedFile]:
    document = open_document(path, anew=True)
    count = document.page_count
    if not document.is_pdf:
        yield OpenedFile(0, count, ())
        return
    notes = damage(path, repaired=document.is_repaired, page_count=count)
    if (document.metadata or {}).get("encryption"):
        notes.append("The file is encrypted with an empty password, so anybody can read it.")
    yield OpenedFile(0, count, tuple(notes), tuple(attachments_of(document)))


def _read_attachment(path: str, pages: Sequence[int]) -> Iterator[AttachedFile]:
    """Yield the files inside a file, by their place in its list, with their bytes."""
    document = open_document(path)
    for place in pages:
        yield attached_file(document, place)


def _read_text(path: str, pages: Sequence[int]) -> Iterator[PageLook]:
    """Yield the text layers. A page that raises is noted, and the next one is read."""
    document = open_document(path)
    labels = document.is_pdf and bool(document.get_page_labels())
    doubtful = document.is_pdf and (document.is_repaired or bool(lost_tail(path)))
    is_form = document.is_pdf and bool(document.is_form_pdf)
    for number in pages:
        try:
            page = document[number - 1]
            if doubtful and not _exists(document, page.xref):
                yield PageLook(number, "", note="missing from the file", unreadable=True)
                continue
            incomplete = "a part of its content is lost" if doubtful and _lost_content(document, page) else None
            label = (page.get_label() or None) if labels else None
            yield _first_look(page, label, incomplete, is_form=is_form)
        except Exception as error:
            yield PageLook(number, "", note=f"could not be read ({shorten(error)})", unreadable=True)


def _first_look(page: Any, label: str | None, note: str | None, *, is_form: bool) -> PageLook:
    """Return the page's text layer, and every reason to look at the page again."""
    sheet = Sheet(page)
    layout = sheet.layout
    text, tables = sheet.with_tables()
    is_drawing, is_blank = _marks(page, layout)
    doubts: tuple[Doubt, ...] = ()
    if not is_blank:
        doubts = doubts_of(
            layout,
            may_hide_text=sheet.may_hide_text,
            has_fields=is_form and page.first_widget is not None,
            has_comments=page.first_annot is not None,
        )
    return PageLook(
        sheet.number,
        text,
        layout.margins(),
        layout.image_ratio(),
        is_drawing,
        is_blank,
        label,
        note,
        doubts=doubts,
        pictures=open_pictures(layout),
        hidden=sheet.off_page_text(),
        tables=tables,
    )


def _read_outline(path: str, pages: Sequence[int]) -> Iterator[Outline]:
    """Yield the document's own title and bookmarks; those that lead nowhere are left out."""
    document = open_document(path)
    title = " ".join(clean_text((document.metadata or {}).get("title") or "").split())
    entries = [(level, " ".join(clean_text(name).split()), page) for level, name, page, *_ in document.get_toc()]
    bookmarks = tuple(Bookmark(level, name, page) for level, name, page in entries if name and page > 0)
    yield Outline(0, title or None, bookmarks)


def _exists(document: Any, xref: int) -> bool:
    """Return whether the file holds this page; for one that it does not, MuPDF shows a blank page without an error."""
    return 0 < xref < document.xref_length() and bool(document.xref_get_key(xref, "Type")[1] == "/Page")


def _lost_content(document: Any, page: Any) -> bool:
    return not all(document.xref_is_stream(xref) for xref in page.get_contents())


def _marks(page: Any, layout: PageLayout) -> tuple[bool, bool]:
    """Return whether the page is a drawing, and whether it is blank.

    A drawing has little text and many vector paths, or a picture on a sheet larger than A4. On a blank page, nothing
    is drawn at all.
    """
    if len(layout.text) >= _DRAWING_MAX_CHARS:
        return False, False
    pinned_up = (
        layout.image_ratio() >= _DRAWING_IMAGE_RATIO and abs(page.rect) > _DRAWING_SHEET and has_text(layout.text)
    )
    blank = layout.is_empty and page.first_annot is None and page.first_widget is None and not page.get_bboxlog()
    return len(layout.shapes) >= _DRAWING_PATHS or pinned_up, blank


def _count_words(path: str, pages: Sequence[int], timeout: float) -> Iterator[WordCount]:
    """Yield how many words Tesseract is sure of at a quick look. A page that cannot be rasterised has none."""
    document = open_document(path)
    engine = ocr.engine()
    for number in pages:
        sheet = Sheet(document[number - 1])
        scale, _ = sheet.ocr_scale(QUICK_LOOK_DPI)
        raster = sheet.raster(scale, dpi=QUICK_LOOK_DPI)
        reading = ocr.NOTHING if raster.is_blank else engine.read(raster.picture, timeout=timeout)
        yield WordCount(number, reading.confident_words)
    mupdf().TOOLS.store_shrink(100)  # decoded images; fonts are not needed here


def _read_closely(
    path: str, pages: Sequence[int], doubts: Sequence[Doubt], timeout: float, with_ocr: bool
) -> Iterator[PageReading]:
    """Yield the pages about which the first look raised a doubt. A problem with one page is noted on it."""
    from trigpoint.text.close_look import look_closely  # with numpy, which readers of plain documents never need

    document = open_document(path)
    engine = ocr.engine() if with_ocr else None
    for number in pages:
        try:
            yield look_closely(Sheet(document[number - 1]), doubts, engine, timeout=timeout)
        except ExtractionFailed:
            raise
        except Exception as error:
            reason = f"could not be looked at closely ({shorten(error)})"
            yield PageReading(number, "", "none", left_out=(LeftOut("page", reason),))
    mupdf().TOOLS.store_shrink(100)


def _draw_picture(path: str, pages: Sequence[int], quote: str, dpi: int) -> Iterator[PagePicture]:
    """Yield pages in colour, as a screen shows them, with the quotation highlighted."""
    pymupdf = mupdf()
    for number, page, box in _marked_pages(path, pages, quote):
        area = max(page.rect.width * page.rect.height, 1.0)
        scale = min(dpi / 72, math.sqrt(MAX_PICTURE_PIXELS / area))
        pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False)
        top = 0.0 if box is None else (box.y0 - page.rect.y0) / max(page.rect.height, 1.0)
        yield PagePicture(number, pixmap.tobytes("png"), pixmap.width, pixmap.height, box is not None, top)


def _draw_strip(path: str, pages: Sequence[int], quote: str) -> Iterator[PagePicture]:
    """Yield a strip of each page around the quotation; the whole page, small, if there is nothing to highlight."""
    pymupdf = mupdf()
    for number, page, box in _marked_pages(path, pages, quote):
        window = page.rect if box is None else pymupdf.Rect(strip_around(tuple(box), tuple(page.rect)))
        scale = min(STRIP_WIDTH / max(window.width, 1.0), STRIP_HEIGHT / max(window.height, 1.0))
        drawn = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), clip=window, alpha=False)
        paper = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, STRIP_WIDTH, STRIP_HEIGHT), False)
        paper.clear_with(255)
        drawn.set_origin((STRIP_WIDTH - drawn.width) // 2, 0)
        paper.copy(drawn, drawn.irect)
        yield PagePicture(number, paper.tobytes("png"), STRIP_WIDTH, STRIP_HEIGHT, box is not None)


def _marked_pages(path: str, pages: Sequence[int], quote: str) -> Iterator[tuple[int, Any, Any]]:
    """Yield each page with the quotation highlighted, and the box around it; None if it is not on the page."""
    with open_file(path) as document:  # its own copy: highlights drawn here must not be read as text elsewhere
        for number in pages:
            if not 1 <= number <= document.page_count:
                raise ExtractionFailed(f"{shorten(Path(path).name)} has no page {number}.")
            page = document[number - 1]
            yield number, page, _highlight(page, quote) if document.is_pdf else None


def _highlight(page: Any, quote: str) -> Any | None:
    words = page.get_text("words")
    lines: dict[tuple[int, int], Any] = {}
    for index in find_run([word[4] for word in words], quote):
        box, line = mupdf().Rect(words[index][:4]), tuple(words[index][5:7])
        lines[line] = lines[line] | box if line in lines else box
    if not lines:
        return None
    mark = page.add_highlight_annot(quads=[box.quad for box in lines.values()])
    mark.set_colors(stroke=(1.0, 0.86, 0.35))
    mark.update()
    whole = mupdf().Rect()
    for box in lines.values():
        whole |= box
    return whole * page.rotation_matrix


READERS: Mapping[str, Callable[..., Iterator[Any]]] = {
    "open": _read_opening,
    "text": _read_text,
    "outline": _read_outline,
    "attachment": _read_attachment,
    "words": _count_words,
    "closely": _read_closely,
    "picture": _draw_picture,
    "strip": _draw_strip,
}
