"""One page of an open file, as the second look needs it: its text in spans, its form fields and comments, its picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from trigpoint.text.forms import Comment, Field
from trigpoint.text.hidden import TextSpan, has_unusual_style, off_page_lines
from trigpoint.text.images import Box, picture_scale, raster_scale, sheet_scale
from trigpoint.text.layout import Block, PageLayout
from trigpoint.text.mupdf import mupdf, pixels
from trigpoint.text.ocr import Picture
from trigpoint.text.pages import HiddenText, clean_text
from trigpoint.text.table_layer import with_tables
from trigpoint.text.tables import Table

if TYPE_CHECKING:
    from trigpoint.text.ink import Grey

_EVERYWHERE: Box = (-1e6, -1e6, 1e6, 1e6)
_FILLED_OR_STROKED = 16 | 32  # of MuPDF's flags of a character
_KINDS = {2: "check", 3: "choice", 4: "choice", 5: "check", 7: "text"}  # of PDF's widgets; the others hold no text


@dataclass(frozen=True)
class Raster:
    """A picture of a page or of a part of it, and the way from its pixels back to the page."""

    picture: Picture
    to_page: Callable[[Box], Box]
    note: str | None = None

    @property
    def grey(self) -> Grey:
        """Return the picture as an array."""
        import numpy as np  # only here: most readers never look at a picture

        picture = self.picture
        rows: Grey = np.frombuffer(picture.samples, np.uint8).reshape(picture.height, picture.stride)
        return rows[:, : picture.width]

    @property
    def is_blank(self) -> bool:
        """Whether all of it has one colour."""
        return self.picture.samples.count(self.picture.samples[:1]) == len(self.picture.samples)


def _html(layer: Any) -> bytes:
    """Return text with its styles as MuPDF's HTML: the quickest way to all of a page's colours and sizes."""
    low = mupdf().mupdf
    buffer = low.fz_new_buffer(1 << 15)
    output = low.FzOutput(buffer)
    low.fz_print_stext_page_as_html(output, layer.this, 0)
    output.fz_close_output()
    html: bytes = low.fz_buffer_extract_copy(buffer)
    return html


class Sheet:
    """A page. All boxes are in points on the page as it is shown, turned if it says so."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self.number: int = page.number + 1
        self._rotation: int = page.rotation

    @cached_property
    def size(self) -> tuple[float, float]:
        """The width and height of the page as it is shown."""
        x0, y0, x1, y1 = self._bounds
        return (y1 - y0, x1 - x0) if self._rotation in (90, 270) else (x1 - x0, y1 - y0)

    @cached_property
    def _bounds(self) -> Box:
        """The page as it lies."""
        box = self._layer.this.m_internal.mediabox
        return box.x0, box.y0, box.x1, box.y1

    @cached_property
    def _layer(self) -> Any:
        pymupdf = mupdf()
        flags = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_MEDIABOX_CLIP
        flags |= pymupdf.TEXT_PRESERVE_IMAGES | pymupdf.TEXT_COLLECT_VECTORS
        return self._page.get_textpage(flags=flags)

    @cached_property
    def layout(self) -> PageLayout:
        """The page's blocks: text, pictures and drawn shapes."""
        blocks = self._layer.extractBLOCKS() if self._reaches_off_page else self._all_blocks
        return PageLayout.of(blocks, self.size, self._turn if self._rotation else None)

    @cached_property
    def _all_blocks(self) -> Sequence[Block]:
        """The blocks on the page and off it."""
        bounds = self._bounds
        self._look_within(_EVERYWHERE)
        try:
            blocks: Sequence[Block] = self._layer.extractBLOCKS()
        finally:
            self._look_within(bounds)
        return blocks

    @cached_property
    def _reaches_off_page(self) -> bool:
        left, top, right, bottom = self._bounds
        return any(x0 < left or y0 < top or x1 > right or y1 > bottom for x0, y0, x1, y1, _, _, _ in self._all_blocks)

    def _look_within(self, box: Box) -> None:
        """Make MuPDF give only what touches this area of the text that it has collected."""
        rect = mupdf().mupdf.fz_rect()
        rect.x0, rect.y0, rect.x1, rect.y1 = box
        self._layer.this.m_internal.mediabox = rect

    def off_page_text(self) -> tuple[HiddenText, ...]:
        """Return the lines, or parts of lines, that do not touch the page."""
        if not self._reaches_off_page:
            return ()
        bounds = self._bounds
        self._look_within(_EVERYWHERE)
        try:
            words = self._layer.extractWORDS()
        finally:
            self._look_within(bounds)
        return tuple(off_page_lines(words, bounds))

    @cached_property
    def may_hide_text(self) -> bool:
        """Whether the page has text in a style that a reader may not see."""
        return has_unusual_style(_html(self._without_pictures))

    def with_tables(self) -> tuple[str, tuple[Table, ...]]:
        """Return the text with tables as Markdown rows, and the tables."""
        layout = self.layout
        return with_tables(self.number, self._layer, layout.text, layout.lines_drawn(), lambda: self._without_pictures)

    @cached_property
    def _without_pictures(self) -> Any:
        """The text layer alone: pictures would be part of its HTML and of its spans, with all their bytes."""
        if not self.layout.pictures:
            return self._layer
        pymupdf = mupdf()
        return self._page.get_textpage(flags=pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_MEDIABOX_CLIP)

    def spans(self) -> Iterator[TextSpan]:
        """Yield the text in runs of one style."""
        content = self._page.get_text("dict", flags=mupdf().TEXTFLAGS_TEXT)
        for number, block in enumerate(content["blocks"]):
            for line_number, line in enumerate(block.get("lines", ())):
                for span in line["spans"]:
                    yield TextSpan(
                        self._shown(span["bbox"]),
                        span["text"],
                        span["color"],
                        span["alpha"],
                        span["size"],
                        bool(span["char_flags"] & _FILLED_OR_STROKED),
                        number,
                        line_number,
                    )

    def fields(self) -> Iterator[Field]:
        """Yield the form fields that a person fills in."""
        for widget in self._page.widgets():
            kind = _KINDS.get(widget.field_type)
            if kind is not None:
                value = widget.field_value
                is_on = kind == "check" and value not in (None, False, "Off", "")
                text = "" if kind == "check" or value is None else " ".join(clean_text(str(value)).split())
                yield Field(self._shown(widget.rect), kind, text, is_on)

    def comments(self) -> Iterator[Comment]:
        """Yield what people wrote on the page without printing it."""
        for annotation in self._page.annots():
            info = annotation.info
            text = " ".join(clean_text(info.get("content") or "").split())
            if text:
                yield Comment(text, " ".join(clean_text(info.get("title") or "").split()))

    def ocr_scale(self, dpi: int) -> tuple[float, str | None]:
        """Return the pixels per point for reading at this resolution, and a note if the page is too large for it."""
        if self._page.parent.is_pdf:
            wanted = sheet_scale(*self.size, dpi)
        else:
            width, height = pixels(self._page)
            wanted = picture_scale(width, height, dpi) * width / self.size[0]
        scale = raster_scale(*self.size, wanted)
        note = f"too large for {dpi} DPI, read at {scale * 72:.0f} DPI" if scale < wanted else None
        return scale, note

    def raster(self, scale: float, turn: float = 0.0, clip: Box | None = None, dpi: int | None = None) -> Raster:
        """Return the page in grey, at `scale` pixels per point and turned by so many degrees."""
        pymupdf = mupdf()
        matrix = pymupdf.Matrix(scale, scale).prerotate(turn)
        pixmap = self._page.get_pixmap(matrix=matrix, colorspace=pymupdf.csGRAY, alpha=False, clip=clip)
        back, rect = ~matrix, pymupdf.Rect

        def to_page(box: Box) -> Box:
            shifted = (box[0] + pixmap.x, box[1] + pixmap.y, box[2] + pixmap.x, box[3] + pixmap.y)
            return tuple(rect(shifted) * back)

        resolution = dpi if dpi and not self._page.parent.is_pdf else max(70, round(scale * 72))
        picture = Picture(pixmap.width, pixmap.height, pixmap.stride, bytes(pixmap.samples_mv), resolution)
        return Raster(picture, to_page)

    def _shown(self, box: Any) -> Box:
        x0, y0, x1, y1 = box
        return self._turn((x0, y0, x1, y1)) if self._rotation else (x0, y0, x1, y1)

    def _turn(self, box: Box) -> Box:
        """Return a box turned as the page says it is to be shown: text is placed on the sheet as it lies."""
        return tuple(mupdf().Rect(box) * self._page.rotation_matrix)
