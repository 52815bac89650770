"""Pages without a text layer: pixels in a PDF, and the tilt and specks of a worn office scanner."""

from __future__ import annotations

import random
import struct
import tempfile
import zlib
from datetime import datetime
from pathlib import Path

import typst

_SPECKS = 1500
_WIDTH, _HEIGHT = 827, 1169  # A4 at 100 dots an inch


def image_pages(pictures: list[bytes], created: datetime) -> bytes:
    """Return a PDF in which each page is one PNG and nothing else."""
    body = "#set page(margin: 0pt, width: auto, height: auto)\n" + "#pagebreak()\n".join(
        f'#image("{n}.png", width: {_points(picture)[0]}pt, height: {_points(picture)[1]}pt)\n'
        for n, picture in enumerate(pictures)
    )
    compiled = _compile(body, pictures, format="pdf", created=created)
    return compiled[0]


def scanned_pages(pictures: list[bytes], created: datetime) -> bytes:
    """Return pages as a scanner would give them: a little askew, grey at the edges, specks of dust."""
    body = '#set page(paper: "a4", margin: 0pt, fill: rgb("#fbfaf6"))\n' + "#pagebreak()\n".join(
        f'#place(dx: 2pt, dy: 3pt, rotate(0.5deg, image("{n}.png", width: 100%)))\n'
        f'#place(image("{len(pictures)}.png", width: 100%, height: 100%))\n'
        for n in range(len(pictures))
    )
    worn = _compile(body, [*pictures, _dust(seed=1178)], format="png", created=created)
    return image_pages(worn, created)


def _compile(body: str, pictures: list[bytes], *, format: str, created: datetime) -> list[bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for n, picture in enumerate(pictures):
            (folder / f"{n}.png").write_bytes(picture)
        (folder / "main.typ").write_text(body, encoding="utf-8")
        compiled = typst.compile(
            folder / "main.typ",
            root=folder,
            format="pdf" if format == "pdf" else "png",
            ppi=200,
            timestamp=created,
            ignore_system_fonts=True,
        )
    return compiled if isinstance(compiled, list) else [compiled or b""]


def _points(png: bytes) -> tuple[float, float]:
    """Return the size on the page of a PNG of A4 in either direction: its longer side is 842 points."""
    width, height = struct.unpack(">II", png[16:24])
    scale = 841.89 / max(width, height)
    return round(width * scale, 2), round(height * scale, 2)


def _dust(seed: int) -> bytes:
    """Return a transparent PNG of A4 with dark specks (grey with alpha, eight bits)."""
    rng = random.Random(seed)
    rows = [bytearray(1 + 2 * _WIDTH) for _ in range(_HEIGHT)]
    for _ in range(_SPECKS):
        x, y = rng.randrange(_WIDTH), rng.randrange(_HEIGHT)
        rows[y][1 + 2 * x : 3 + 2 * x] = bytes((rng.randrange(60, 140), rng.randrange(90, 200)))
    header = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 4, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(b"".join(rows), 6))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
