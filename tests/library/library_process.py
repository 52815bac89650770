"""Run by tests in a process of its own: ingest a folder, search without end, or write and say so."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from library_samples import PROJECT, library_settings, seeded_vector

from trigpoint.library.ingest import Ingestion
from trigpoint.library.library import Library, open_stores
from trigpoint.passages.model import Question
from trigpoint.text.extract import DocumentProcessor


def ingest(folder: Path, files: Path) -> None:
    settings = library_settings(folder)
    library = Library.open(settings)
    processor = DocumentProcessor(settings)
    ingestion = Ingestion(library, library.projects.get(PROJECT), processor, folder / "audit")
    ingestion.run([files], progress=lambda reached: print(int(reached.done), flush=True))
    processor.close()
    library.close()


def search(folder: Path, stop: Path, board: Path) -> None:
    """Every number on the board was written before it was put there, so it must be found, by meaning and by words."""
    settings = library_settings(folder)
    stores = open_stores(settings)
    store = stores.collection(PROJECT)
    asked = 0
    while not stop.exists() or asked == 0:
        number = int(board.read_text() or "0")
        if number:
            vector = np.array(seeded_vector(number), dtype=np.float32)
            by_meaning = store.search(Question(vector, 3))
            by_words = store.search(Question(vector * 0, 3, words=f"unique{number}", alpha=0.0))
            if by_meaning[0].id != f"c{number}" or by_words[0].id != f"c{number}":
                sys.exit(f"stale: {number}")
            asked += 1
        time.sleep(0.002)
    stores.close()
    print(asked)


if __name__ == "__main__":
    {"ingest": ingest, "search": search}[sys.argv[1]](*map(Path, sys.argv[2:]))
