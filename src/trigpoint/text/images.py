"""Pictures on pages: how much of a page they cover, which files are renderings, what is too large to rasterise."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

Box = tuple[float, float, float, float]

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".tiff", ".tif", ".bmp"})
SUPPORTED_SUFFIXES = IMAGE_SUFFIXES | {".pdf"}

OCR_DPI = 300
QUICK_LOOK_DPI = 150
_QUICK_LOOK_SIDE = 1750  # pixels: A4 at that resolution
_MAX_RASTER_PIXELS = 80_000_000
MAX_IMAGE_PIXELS = 180_000_000
_MAX_RASTER_SIDE = 30_000

_RENDERING = re.compile(
    r"""(?<![a-z0-9])(?:
        bird \s? s? \s eye | perspectives? | cgis? | 3 \s? d \s visual(?:s|isations?|izations?)? |
        artist \s? s? \s impressions? | photo \s? montages? | street \s? scenes? | render(?:s|ed|ings?)?
    )(?![a-z0-9])""",
    re.VERBOSE,
)


_SIGNATURES = (
    (b"\x89PNG\r\n", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
    (b"BM", "bmp"),
)


def image_kind(path: str | Path) -> str | None:
    """Return the format of an image file by its first bytes."""
    with open(path, "rb") as file:
        head = file.read(8)
    return next((kind for signature, kind in _SIGNATURES if head.startswith(signature)), None)


_CAPITAL = r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})"
_DIGITS = r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
_JOINT = re.compile(f"{_CAPITAL}|{_DIGITS}")  # as in `SitePlan2`


def plain_name(filename: str) -> str:
    """Return a file's name as words: lower case, no suffix; separators, and joints as in `SitePlan`, as one space."""
    name = filename.strip()
    stem, dot, suffix = name.rpartition(".")
    if dot and 1 <= len(suffix) <= 5 and suffix.isalnum():
        name = stem
    name = _JOINT.sub(" ", name)
    name = re.sub(r"['’‘`´]", "", name.lower())
    return re.sub(r"[^a-z0-9&]+", " ", name).strip()


def is_rendering_name(filename: str) -> bool:
    """Return whether a name is that of an architectural rendering, for which OCR is of no use."""
    return _RENDERING.search(plain_name(filename)) is not None


def covered_ratio(boxes: Iterable[Box], page: Box) -> float:
    """Return the share of the page under at least one box: overlaps merged, parts off the page left out."""
    left, top, right, bottom = page
    area = (right - left) * (bottom - top)
    inside = [
        (max(x0, left), max(y0, top), min(x1, right), min(y1, bottom))
        for x0, y0, x1, y1 in boxes
        if x0 < right and x1 > left and y0 < bottom and y1 > top
    ]
    if area <= 0 or not inside:
        return 0.0
    return min(1.0, _union_area(inside) / area)


def _union_area(boxes: Sequence[Box]) -> float:
    edges = sorted({x for box in boxes for x in (box[0], box[2])})
    rows = sorted(boxes, key=lambda box: box[1])
    total = 0.0
    for x0, x1 in itertools.pairwise(edges):
        height = 0.0
        reached = float("-inf")
        for left, top, right, bottom in rows:
            if left < x1 and right > x0 and bottom > reached:
                height += bottom - max(top, reached)
                reached = bottom
        total += (x1 - x0) * height
    return total


def overlap(box: Box, other: Box) -> float:
    """Return the share of `box` that lies under `other`."""
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    area = (box[2] - box[0]) * (box[3] - box[1])
    return width * height / area if width > 0 and height > 0 and area > 0 else 0.0


def raster_scale(width: float, height: float, scale: float) -> float:
    """Return the scale at which width × height may be rasterised: the one asked for, or the largest that is safe."""
    if width <= 0 or height <= 0:
        return scale
    by_area = math.sqrt(_MAX_RASTER_PIXELS / (width * height))
    return min(scale, by_area, _MAX_RASTER_SIDE / max(width, height))


def sheet_scale(width: float, height: float, dpi: int) -> float:
    """Return pixels per point for a sheet; for a quick look, one smaller than A4 gets as many pixels as A4."""
    if dpi != QUICK_LOOK_DPI:
        return dpi / 72
    return min(OCR_DPI / 72, max(dpi / 72, _QUICK_LOOK_SIDE / max(width, height, 1)))


def picture_scale(width: int, height: int, dpi: int) -> float:
    """Return the scale of an image file: its own pixels, doubled if it is small.

    Its stated resolution is often wrong.
    """
    side = max(width, height, 1)
    if side < _QUICK_LOOK_SIDE:
        return 2.0
    return _QUICK_LOOK_SIDE / side if dpi == QUICK_LOOK_DPI else 1.0
