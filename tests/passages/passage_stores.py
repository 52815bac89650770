"""Every store of passages, opened on an empty place, and passages to put into it. For the tests of this area."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
from qdrant_client import QdrantClient

from trigpoint.config import load_settings
from trigpoint.library.chunks import RULES as LIBRARY_RULES
from trigpoint.passages.chroma import ChromaPassages
from trigpoint.passages.model import Passage, Rules
from trigpoint.passages.qdrant import QdrantStores
from trigpoint.passages.sqlite import SqliteStores
from trigpoint.passages.store import PassageStore
from trigpoint.storage.chroma import ChromaStore

MODEL = "fastembed/all-MiniLM-L6-v2"
CHROMA_RULES = Rules(
    document_key="doc", seq_key="seq", section=lambda p: p.metadata["section"], searched_text=lambda p: _headed(p)
)

Opened = AbstractContextManager[PassageStore]


def _headed(passage: Passage) -> str:
    return f"{passage.metadata['section']}\n{passage.text}"


def unit_vector(seed: int, size: int = 384) -> np.ndarray:
    vector = np.random.default_rng(seed).standard_normal(size).astype(np.float32)
    return vector / np.linalg.norm(vector)


def make_passage(
    name: str,
    seed: int,
    *,
    doc: str = "d1",
    text: str | None = None,
    tags: tuple[str, ...] = (),
    year: int | None = None,
    path: tuple[str, ...] = ("Part I",),
) -> Passage:
    """Metadata for every store: flat, as Chroma wants it, and nested, as the library has it."""
    metadata = {
        "doc": doc,
        "seq": seed,
        "section": " / ".join(path),
        "citekey": f"key-{doc}",
        **({"year": year} if year else {}),
    }
    return Passage(name, doc, seed, text or f"passage number {name}", metadata, unit_vector(seed), 0, 9, (1, 2))


def for_library(passage: Passage, tags: tuple[str, ...] = ()) -> Passage:
    """The same passage as the library describes it."""
    flat = passage.metadata
    path = flat["section"].split(" / ")
    payload = {
        "source": {
            "path": f"{passage.document_id}.pdf",
            "title": passage.document_id.upper(),
            "sha256": f"hash-{passage.document_id}",
        },
        "zotero": {"citekey": flat["citekey"], "tags": list(tags), "year": flat.get("year")},
        "doc": {"section": path[-1], "section_path": path, "page_span": [1, 2]},
    }
    return Passage(passage.id, passage.document_id, passage.seq, passage.text, payload, passage.vector)


@contextmanager
def sqlite(folder: Path, name: str = "mine") -> Iterator[PassageStore]:
    stores = SqliteStores(folder, LIBRARY_RULES)
    try:
        yield stores.collection(name)
    finally:
        stores.close()


def qdrant_in(client: QdrantClient) -> Callable[[Path, str], Opened]:
    @contextmanager
    def qdrant(folder: Path, name: str = "mine") -> Iterator[PassageStore]:
        yield QdrantStores(client, LIBRARY_RULES).collection(name)

    return qdrant


@contextmanager
def chroma(folder: Path, name: str = "mine", url: str | None = None) -> Iterator[PassageStore]:
    settings = load_settings(trigpoint_data_dir=folder, chroma_url=url)
    with ChromaStore(settings, "documents") as store:
        passages = ChromaPassages(
            store, settings.chroma_dir("documents"), name, f"{name}_ledger", CHROMA_RULES, lambda: "fingerprint"
        )
        try:
            yield passages
        finally:
            passages.close()
