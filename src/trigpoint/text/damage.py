"""Signs of damage in the bytes of a PDF that its reader silently ignores: a lost tail, fewer pages than promised."""

from __future__ import annotations

import os
import re

_TAIL_BYTES = 2048
_HEAD_BYTES = 2048

_LINEARIZED = re.compile(rb"/Linearized\b[^>]{0,400}?/N\s+([0-9]{1,7})\b")


def lost_tail(path: str) -> str:
    """Return words to add to "damaged" if the end-of-file mark is missing; else an empty text."""
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - _TAIL_BYTES))
        return "" if b"%%EOF" in file.read() else " (its end is missing, as after a broken download)"


def _promised_pages(path: str) -> int | None:
    """Return the page count that the head of a web-optimised PDF states, which survives the loss of its tail."""
    with open(path, "rb") as file:
        found = _LINEARIZED.search(file.read(_HEAD_BYTES))
    return int(found.group(1)) if found else None


def damage(path: str, *, repaired: bool, page_count: int) -> list[str]:
    """Return the warnings that a reader of the result needs about a file that could be opened."""
    cut = lost_tail(path)
    said = []
    if repaired:
        said.append(f"The file was damaged{cut} and was repaired; parts of it may be missing.")
    elif cut:
        said.append(f"The file may be incomplete{cut}.")
    promised = _promised_pages(path)
    if promised is not None and promised > page_count:
        said.append(f"The file should have {promised} pages; {page_count} were found.")
    return said
