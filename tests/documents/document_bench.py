"""Files to ingest, made on the spot, and a store with its two ways in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import chromadb
import pymupdf

from trigpoint.config import Settings
from trigpoint.documents.ingest import DocumentIngest, IngestRequest
from trigpoint.documents.search import DocumentSearch
from trigpoint.documents.store import LEDGER, DocumentStore
from trigpoint.storage.chroma import Collection
from trigpoint.storage.chroma_server import Server
from trigpoint.text.extract import DocumentProcessor

REF = "25/01178/REM"
CYCLE = "The development provides 200 covered cycle parking spaces beside the entrance to each block."
NOISE = "Road traffic noise at the northern facade was measured at 62 dB over a period of sixteen hours."


def make_pdf(path: Path, pages: Sequence[str]) -> Path:
    """A PDF with a text layer, one page a text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    document = pymupdf.open()
    for text in pages:
        page = document.new_page()
        if text:
            page.insert_textbox(pymupdf.Rect(50, 50, 545, 800), text, fontsize=9)
    document.save(path, no_new_id=True)
    document.close()
    return path


def prose(topic: str, sentences: int) -> str:
    """Text that differs sentence by sentence, so that passages can be told apart."""
    return " ".join(
        f"In part {n} of the {topic} the applicant records item {n * 37 % 101} of the survey." for n in range(sentences)
    )


class Bench:
    """One open store and its two ways in."""

    def __init__(self, settings: Settings, processor: DocumentProcessor) -> None:
        self.settings = settings
        self.folder = settings.data_dir
        self.store = DocumentStore(settings)
        self.ingest = DocumentIngest(settings, self.store, processor)
        self.search = DocumentSearch(self.store).search

    @property
    def layout(self) -> Collection:
        """The ledger of the store's documents."""
        return self.store._chroma.collection(LEDGER)

    def add(self, path: Path, ref: str = REF, document_type: str | None = None, **options):
        return self.ingest.ingest(IngestRequest(str(path), ref, document_type), **options)


def other_client(settings: Settings) -> Any:
    """Chroma as another program would open it."""
    if settings.chroma_url is None:
        address = Server(settings.chroma_dir("documents")).address()
        assert address is not None, "our server does not run"
        return chromadb.HttpClient("127.0.0.1", address[0])
    parts = urlsplit(settings.chroma_url)
    return chromadb.HttpClient(str(parts.hostname), parts.port or 8000)


def empty_chroma(url: str) -> None:
    client = chromadb.HttpClient(str(urlsplit(url).hostname), urlsplit(url).port or 8000)
    for collection in client.list_collections():
        client.delete_collection(collection.name)
