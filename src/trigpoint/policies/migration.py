"""A store of version 0.1.0, which kept the places of passages in their texts, and interrupted changes, in files.

Both are taken over once. The files are moved to `from-0.1.0` when all of them have been, so that a crash in between
repeats what may be repeated, and nothing is lost. Chroma's own data stays as it is.
"""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np

from trigpoint.passages.chroma import ChromaPassages
from trigpoint.passages.model import Passage

log = logging.getLogger(__name__)

BACKUP = "from-0.1.0"


def migrate(folder: Path, passages: ChromaPassages) -> None:
    """Take over the layouts and the interrupted changes of version 0.1.0, if there are any."""
    layouts, journals = sorted((folder / "layout").glob("*.json")), sorted((folder / "journal").glob("*.npz"))
    if not layouts and not journals:
        return
    with passages.journal.turn():
        for path in journals:
            log.info("Finishing the interrupted indexing of %s", path.stem)
            passages.write(_journalled(path), replace=[path.stem])
        interrupted = {path.stem for path in journals}
        for path in layouts:
            if path.stem not in interrupted:
                passages.place(path.stem, _places(path))
        _set_aside(folder, [*journals, *layouts])
    log.info("The policies' store %s has been taken over from version 0.1.0; its files are in %s", folder, BACKUP)


def _journalled(path: Path) -> list[Passage]:
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as packed:
        rows: list[Any] = json.loads(packed["rows"].tobytes())
        vectors = packed["vectors"]
    return [
        Passage(key, path.stem, int(metadata["chunk_index"]), text, metadata, vector, start, end, tuple(*pages))
        for (key, text, metadata, start, end, *pages), vector in zip(rows, vectors, strict=True)
    ]


def _places(path: Path) -> dict[str, tuple[int, int, tuple[int, ...]]]:
    places: dict[str, list[Any]] = json.loads(path.read_text())
    return {key: (start, end, tuple(*pages)) for key, (start, end, *pages) in places.items()}


def _set_aside(folder: Path, paths: list[Path]) -> None:
    """Move the files aside, journals first: as long as one is there, its revision's layout has not been taken over."""
    for path in paths:
        kept = folder / BACKUP / path.relative_to(folder)
        kept.parent.mkdir(parents=True, exist_ok=True)
        path.replace(kept)
