"""Files that the extraction tests make for themselves."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pymupdf

LETTER = (
    "Dear Sir or Madam, I write about the planning application for forty dwellings on land north of the village. "
    "The access road is narrow and there is no cycle route to the station. Please provide covered cycle parking "
    "near the entrance and a safe crossing of the main road. Yours faithfully, a resident of the parish."
)


def letter_picture(text: str = LETTER, dpi: int = 150, size: float = 14) -> pymupdf.Pixmap:
    """A page of print, as a scanner sees it."""
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_textbox(pymupdf.Rect(60, 60, 535, 780), text, fontsize=size)
        return page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY, alpha=False)


def photograph(side: int = 400) -> pymupdf.Pixmap:
    """A picture without words."""
    samples = bytes((x * x + y * 3) // 7 % 256 for y in range(side) for x in range(side))
    return pymupdf.Pixmap(pymupdf.csGRAY, side, side, samples, False)


def add_picture(document: pymupdf.Document, picture: pymupdf.Pixmap, box: pymupdf.Rect | None = None) -> pymupdf.Page:
    page = document.new_page()
    page.insert_image(box or page.rect, pixmap=picture, keep_proportion=False)
    return page


def write_text_pdf(path: Path, pages: int) -> Path:
    with pymupdf.open() as document:
        for number in range(1, pages + 1):
            page = document.new_page()
            page.insert_textbox(
                pymupdf.Rect(60, 60, 535, 780), f"Page {number} of the statement. {LETTER}", fontsize=12
            )
        document.save(path)
    return path


def write_hanging_pdf(path: Path) -> Path:
    """Four pages of text; the third draws a form that draws a form… 2^60 times, which keeps any reader busy for ever."""
    write_text_pdf(path, 4)
    with pymupdf.open(path) as document:
        inner = None
        for _ in range(60):
            form = document.get_new_xref()
            inside = f"/Resources<</XObject<</F {inner} 0 R>>>>" if inner else ""
            document.update_object(form, f"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]{inside}>>")
            document.update_stream(form, b"/F Do /F Do" if inner else b"0 0 1 1 re f")
            inner = form
        page = document[2]
        resources = int(document.xref_get_key(page.xref, "Resources")[1].split()[0])
        document.xref_set_key(resources, "XObject", f"<</F {inner} 0 R>>")
        content = page.get_contents()[0]
        document.update_stream(content, document.xref_stream(content) + b"\n/F Do\n")
        document.saveIncr()
    return path


def png_of_zeros(width: int, height: int) -> bytes:
    """A small file that would be a huge picture: one bit a pixel, all black."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((width // 8 + 1) * height), 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
