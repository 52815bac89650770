"""The second look at a page about which the first one raised a doubt: what is text, what must be read by OCR, what is hidden.

The text layer counts as far as it is plausible and visible. Ink that it does not cover is read by OCR, region by region
or as a whole page, and both readings are merged in reading order. Everything that stays out is listed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from trigpoint.text import ocr
from trigpoint.text.account import LeftOut, ReadBy
from trigpoint.text.doubts import NEEDS_OCR, Doubt
from trigpoint.text.forms import comment_lines, fill_in
from trigpoint.text.hidden import kept_apart, unseen
from trigpoint.text.images import OCR_DPI, QUICK_LOOK_DPI, Box, overlap
from trigpoint.text.ink import Ink, is_inked, may_be_text, skew
from trigpoint.text.layout import margin_lines
from trigpoint.text.merge import Piece, insert, is_read_already, joined, merged
from trigpoint.text.pages import HiddenText, clean_text, has_text
from trigpoint.text.plausible import has_odd_codes, is_plausible
from trigpoint.text.sheet import Raster, Sheet
from trigpoint.text.survey import PageReading
from trigpoint.text.tables import Table

_INK_SCALE = 48 / 72
_SKEW_SCALE = 75 / 72
_MOST_INK_PIXELS = 2_000_000

_TURNED_BELOW = 50.0
_TURNED_WORDS = 5
_LEAST_SKEW = 0.7

_WHOLE_PAGE = 0.45  # of the page's area: regions that are larger are read as one page
_LEAST_REGION = 0.003
_SURE = 60.0  # a line read inside a page of text needs this confidence: drawings give much noise
_ONE_BLOCK = 0.12
_VISIBLE_CONTRAST = 40
_SHORT_BLOCK = 80
_REREAD = 0.3  # of a block's area
_DOUBTFUL = "a part of its text layer may not be what is printed: check it against the page"


@dataclass
class _Layer:
    """The trusted part of a page's text layer."""

    pieces: list[Piece]
    garbled: list[Piece] = field(default_factory=list)
    hidden: list[HiddenText] = field(default_factory=list)
    is_changed: bool = False

    @property
    def boxes(self) -> list[Box]:
        return [piece.box for piece in self.pieces]


@dataclass
class _Ocr:
    """The result of OCR on a page."""

    pieces: list[Piece] = field(default_factory=list)
    lines: list[ocr.OcrLine] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skew: float = 0.0
    turned: int = 0

    @property
    def confidence(self) -> float | None:
        letters = sum(len(line.text) for line in self.lines)
        return sum(line.confidence * len(line.text) for line in self.lines) / letters if letters else None


def look_closely(sheet: Sheet, doubts: Collection[Doubt], engine: ocr.Engine | None, *, timeout: float) -> PageReading:
    """Return the page, read as well as it can be. Without an engine, what OCR would have read is listed as unread."""
    layer = _trusted_layer(sheet)
    if not layer.garbled and not NEEDS_OCR.intersection(doubts):
        return _merge(sheet, layer, None, _Ocr())
    ink = _ink(sheet)
    if engine is None:
        seen = _read_unread_ink(sheet, layer, ink)
    elif not has_text(joined(layer.pieces)) or _is_scan(sheet, layer, ink):
        seen = _whole_page(sheet, layer, engine, timeout)
    else:
        seen = _regions(sheet, layer, ink, engine, timeout)
    return _merge(sheet, _better(layer, seen), ink, seen)


def _better(layer: _Layer, recognised: _Ocr) -> _Layer:
    """Return the layer with those of its garbled parts for which OCR found nothing better: a foreign script, a code."""
    readable = _is_readable(recognised)
    kept = [
        piece
        for piece in layer.garbled
        if not has_odd_codes(piece.text) and not (readable and _is_reread(piece, recognised.pieces))
    ]
    if not kept:
        return layer
    recognised.pieces = [piece for piece in recognised.pieces if not is_read_already(piece, kept)]
    recognised.notes.append(_DOUBTFUL)
    garbled = [piece for piece in layer.garbled if piece not in kept]
    return _Layer(merged(layer.pieces, kept), garbled, layer.hidden, is_changed=True)


def _is_reread(piece: Piece, pieces: Iterable[Piece]) -> bool:
    return sum(overlap(piece.box, other.box) for other in pieces) >= _REREAD


def _is_readable(recognised: _Ocr) -> bool:
    return (recognised.confidence or 0.0) >= _SURE and is_plausible(_as_read(recognised))


def _trusted_layer(sheet: Sheet) -> _Layer:
    """Return the text layer without what is hidden or garbled, and with the values of form fields."""
    layer = _visible(sheet)
    fields = list(sheet.fields())
    if fields:
        layer.pieces = fill_in(_by_line(layer.pieces), fields)
        layer.is_changed = True
    short = [piece for piece in layer.pieces if len(piece.text) < _SHORT_BLOCK]
    short_are_plausible = is_plausible(" ".join(piece.text for piece in short))
    for piece in list(layer.pieces):
        is_short = len(piece.text) < _SHORT_BLOCK
        if not (is_plausible(piece.text) and (short_are_plausible or not is_short)):
            layer.pieces.remove(piece)
            layer.garbled.append(piece)
            layer.is_changed = True
    return layer


def _visible(sheet: Sheet) -> _Layer:
    blocks = [Piece(block[:4], block[4]) for block in sheet.layout.blocks]
    outside = list(sheet.off_page_text())
    drawn_over = sheet.layout.drawn_over()
    spans = list(sheet.spans()) if drawn_over or sheet.may_hide_text else []

    def stands_out(box: Box) -> bool:
        return is_inked(sheet.raster(QUICK_LOOK_DPI / 72, clip=box).grey, _VISIBLE_CONTRAST)

    hidden = unseen(spans, [block[:4] for block in sheet.layout.pictures], drawn_over, stands_out)
    if not hidden:
        return _Layer(blocks, hidden=outside)
    apart = [HiddenText(kind, span.text.strip(), span.box) for span, kind in hidden.items()]
    lines: dict[tuple[int, int], list[str]] = {}
    boxes: dict[tuple[int, int], Box] = {}
    for span in spans:
        if span not in hidden:
            place = span.block, span.line
            lines.setdefault(place, []).append(span.text)
            boxes[place] = _around(boxes.get(place, span.box), span.box)
    pieces = [Piece(boxes[place], "".join(texts) + "\n") for place, texts in lines.items()]
    return _Layer(pieces, hidden=[*apart, *outside], is_changed=True)


def _around(one: Box, other: Box) -> Box:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _by_line(pieces: Iterable[Piece]) -> list[Piece]:
    """Return blocks cut into lines, evenly spaced."""
    lines = []
    for piece in pieces:
        texts = piece.text.splitlines(keepends=True)
        x0, y0, x1, y1 = piece.box
        step = (y1 - y0) / max(1, len(texts))
        lines += [Piece((x0, y0 + n * step, x1, y0 + (n + 1) * step), text) for n, text in enumerate(texts)]
    return lines


def _ink(sheet: Sheet) -> Ink:
    width, height = sheet.size
    scale = min(_INK_SCALE, (_MOST_INK_PIXELS / max(1.0, width * height)) ** 0.5)
    ruled = [block[:4] for block in sheet.layout.shapes if "is-rect: true" in block[4] or _is_thin(block[:4])]
    return Ink.of(sheet.raster(scale).grey, scale).without_rules(ruled)


def _is_thin(box: Box) -> bool:
    return min(box[2] - box[0], box[3] - box[1]) <= 3.0


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _open_regions(sheet: Sheet, layer: _Layer, ink: Ink) -> tuple[list[Box], list[Box]]:
    """Return the inked regions without text: those that may be print, and those that are pictures."""
    page = sheet.size[0] * sheet.size[1]
    regions = [box for box in ink.regions(layer.boxes) if _area(box) >= _LEAST_REGION * page]
    print_like = [box for box in regions if may_be_text(sheet.raster(QUICK_LOOK_DPI / 72, clip=box).grey)]
    return print_like, [box for box in regions if box not in print_like]


def _is_scan(sheet: Sheet, layer: _Layer, ink: Ink) -> bool:
    """Return whether most of the page is print that its text layer does not have."""
    regions, _ = _open_regions(sheet, layer, ink)
    return sum(map(_area, regions)) >= _WHOLE_PAGE * sheet.size[0] * sheet.size[1]


def _read_unread_ink(sheet: Sheet, layer: _Layer, ink: Ink) -> _Ocr:
    regions, pictures = _open_regions(sheet, layer, ink)
    left_out = [LeftOut("unread_region", "print without a text layer was not read: OCR is off", 0, b) for b in regions]
    return _Ocr(left_out=[*left_out, *_wordless(pictures)])


def _wordless(pictures: Iterable[Box]) -> list[LeftOut]:
    return [LeftOut("picture", "a picture without words", 0, box) for box in pictures]


def _whole_page(sheet: Sheet, layer: _Layer, engine: ocr.Engine, timeout: float) -> _Ocr:
    """Read the page as one picture, straight and upright; lines that the text layer has are not repeated."""
    scale, note = sheet.ocr_scale(OCR_DPI)
    angle = _skew(sheet)
    raster = sheet.raster(scale, angle, dpi=OCR_DPI)
    if raster.is_blank:
        return _Ocr(notes=[note] if note else [])
    reading, turned = engine.read(raster.picture, timeout=timeout), 0
    if (reading.confidence or 0.0) < _TURNED_BELOW:
        turned = _best_turn(sheet, engine, reading, angle, timeout)
        if turned:
            raster = sheet.raster(scale, turned + angle, dpi=OCR_DPI)
            reading = engine.read(raster.picture, timeout=timeout)
    if not has_text(joined(layer.pieces)) and len(reading.text.strip()) >= len(joined(layer.pieces).strip()):
        layer.pieces.clear()  # a page number, a stray word: OCR has it too
    lines = [line for line in reading.lines if not layer.pieces or _is_certain(line)]
    lines = _not_in(layer, lines, raster)
    return _Ocr(_paragraphs(lines, raster), lines, notes=[note] if note else [], skew=angle, turned=turned)


def _skew(sheet: Sheet) -> float:
    angle = skew(sheet.raster(min(_SKEW_SCALE, (_MOST_INK_PIXELS / max(1.0, _area((0, 0, *sheet.size)))) ** 0.5)).grey)
    return angle if abs(angle) >= _LEAST_SKEW else 0.0


def _best_turn(sheet: Sheet, engine: ocr.Engine, recognised: ocr.Recognised, angle: float, timeout: float) -> int:
    """Return the quarter turn that makes a page upright if it reads badly as it is; 0 if none does.

    Tesseract also reads lines that run up the page, but a page that has them is not upright.
    """
    scale, _ = sheet.ocr_scale(QUICK_LOOK_DPI)
    looks = {
        turn: engine.read(sheet.raster(scale, turn + angle, dpi=QUICK_LOOK_DPI).picture, timeout=timeout)
        for turn in (90, 270, 180)
    }
    turn = max(looks, key=lambda turn: looks[turn].confident_words / (1 if looks[turn].is_level else 2))
    return turn if looks[turn].confident_words >= max(_TURNED_WORDS, 2 * recognised.confident_words) else 0


def _regions(sheet: Sheet, layer: _Layer, ink: Ink, engine: ocr.Engine, timeout: float) -> _Ocr:
    """Read the regions that the text layer leaves open, each by itself; lines that are not certain do not count."""
    regions, pictures = _open_regions(sheet, layer, ink)
    reading = _Ocr(left_out=_wordless(pictures))
    scale, note = sheet.ocr_scale(OCR_DPI)
    page = sheet.size[0] * sheet.size[1]
    for box in regions:
        raster = sheet.raster(scale, clip=_padded(box))
        recognised = engine.read(raster.picture, timeout=timeout, one_block=_area(box) < _ONE_BLOCK * page)
        lines = _not_in(layer, [line for line in recognised.lines if _is_certain(line)], raster)
        reading.pieces += _paragraphs(lines, raster)
        reading.lines += lines
        if not lines:
            reading.left_out.append(LeftOut("picture", "OCR found no words in it", 0, box))
    if reading.lines and note:
        reading.notes.append(note)
    return reading


def _padded(box: Box) -> Box:
    return box[0] - 6, box[1] - 6, box[2] + 6, box[3] + 6


def _not_in(layer: _Layer, lines: Iterable[ocr.OcrLine], raster: Raster) -> list[ocr.OcrLine]:
    """Return the lines that the text layer does not contain."""
    return [line for line in lines if not is_read_already(Piece(raster.to_page(line.box), line.text), layer.pieces)]


def _is_certain(line: ocr.OcrLine) -> bool:
    """Return whether a line read next to a text layer is print, not hatching: a word or a figure, and few scraps."""
    tokens = ["".join(c for c in token if c.isalnum()) for token in line.text.split()]
    scraps = sum(len(token) <= 2 and not token.isdigit() for token in tokens)
    has_word = any(len(token) >= 3 or (token.isdigit() and len(token) >= 2) for token in tokens)
    return line.confidence >= _SURE and has_word and scraps <= len(tokens) / 2


def _paragraphs(lines: Sequence[ocr.OcrLine], raster: Raster) -> list[Piece]:
    """Return lines of print as pieces of the page's text, one per paragraph."""
    pieces: list[Piece] = []
    for line in lines:
        box, text = raster.to_page(line.box), f"{clean_text(line.text)}\n"
        if pieces and not line.begins_paragraph:
            pieces[-1] = Piece(_around(pieces[-1].box, box), pieces[-1].text + text)
        else:
            pieces.append(Piece(box, text))
    return pieces


def _merge(sheet: Sheet, layer: _Layer, ink: Ink | None, recognised: _Ocr) -> PageReading:
    layout = sheet.layout
    garbled, left_out = _judge_garbled(layer, recognised)
    tables: tuple[Table, ...] = ()
    if layer.is_changed:
        text = joined(merged(layer.pieces, recognised.pieces)) if layer.pieces else _as_read(recognised)
    elif layer.pieces:
        text, tables = sheet.with_tables()
        text = insert(text, layer.pieces, recognised.pieces) if recognised.pieces else text
    else:
        text = _as_read(recognised)
    text = clean_text(text)
    text += comment_lines(sheet.comments(), text)
    everything = [*layer.pieces, *recognised.pieces]
    return PageReading(
        sheet.number,
        text,
        _read_by(bool(joined(layer.pieces).strip()), bool(recognised.pieces)),
        covered=None if ink is None or layout.is_empty else ink.covered(piece.box for piece in everything),
        confidence=recognised.confidence,
        skew=recognised.skew if recognised.pieces else 0.0,
        turned=recognised.turned,
        left_out=(*left_out, *kept_apart(layer.hidden), *recognised.left_out),
        notes=tuple(recognised.notes),
        hidden=(*layer.hidden, *garbled),
        margins=margin_lines([(-1, piece.box, clean_text(piece.text)) for piece in everything], sheet.size[1]),
        tables=tables,
    )


def _as_read(recognised: _Ocr) -> str:
    return clean_text(ocr.as_text(recognised.lines))


def _read_by(has_layer: bool, has_ocr: bool) -> ReadBy:
    if has_layer:
        return "both" if has_ocr else "text"
    return "ocr" if has_ocr else "none"


def _judge_garbled(layer: _Layer, recognised: _Ocr) -> tuple[list[HiddenText], list[LeftOut]]:
    """Return the parts of the layer that are not plausible text, which are kept apart, and the account of them."""
    if not layer.garbled:
        return [], []
    reason = "a part of its text layer is not plausible text"
    reason += " and was read by OCR instead" if recognised.pieces else ", and there is no better reading of it"
    apart = [HiddenText("garbled_text", clean_text(piece.text).strip(), piece.box) for piece in layer.garbled]
    return apart, [LeftOut("garbled_text", reason, sum(len(part.text) for part in apart))]
