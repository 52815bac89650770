"""One rule for "is it a PDF": the bytes decide, whatever a file is called."""

from __future__ import annotations

from pathlib import Path

HEAD_BYTES = 1024


def is_pdf(head: bytes) -> bool:
    """Return whether the first bytes of a file have a PDF's mark; some producers and servers write a few bytes before it."""
    return b"%PDF-" in head[:HEAD_BYTES]


def file_is_pdf(path: Path) -> bool:
    """Return whether the file is a PDF by its first bytes."""
    with path.open("rb") as file:
        return is_pdf(file.read(HEAD_BYTES))
