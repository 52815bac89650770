"""Zotero: its database as it lies, its local API to the last page; items, tags, annotations and cached text ingested."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from library_samples import PROJECT, library_settings
from reportlab.pdfgen.canvas import Canvas
from zotero_samples import CACHED, LocalApi, make_zotero

from trigpoint.errors import CollectionNotFound, StoreUnavailable
from trigpoint.library import zotero
from trigpoint.library.ingest import Ingestion
from trigpoint.library.library import Library
from trigpoint.library.zotero_api import ZoteroApi
from trigpoint.library.zotero_database import ZoteroDatabase
from trigpoint.text.extract import DocumentProcessor


def make_pdf(path: Path, pages: list[str]) -> None:
    canvas = Canvas(str(path))
    for text in pages:
        canvas.drawString(60, 780, text)
        canvas.showPage()
    canvas.save()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_zotero(tmp_path / "My Zotero #1", make_pdf)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library.open(library_settings(tmp_path))
    yield made
    made.close()


def test_items_come_with_citekeys_tags_attachments_and_annotations(folder: Path) -> None:
    source = ZoteroDatabase(folder)
    survey, roads = zotero.items(source)
    work = survey.work
    assert (work.citekey, work.title, work.doi, work.year, work.tags) == (
        "ridgeBeacons2017",
        "Beacons and Pillars",
        "10.1000/beacons",
        2017,
        ("maps", "survey"),
    )
    assert "Ridge" in work.citation
    assert "Journal of Marks" in work.citation
    assert roads.work.citekey == "roads1999"
    (attachment,) = survey.attachments
    assert attachment.path == folder / "storage" / "PDF00001" / "Beacons & Pillars.pdf"
    assert [(a.page, a.page_label, a.quote, a.comment) for a in attachment.annotations] == [
        (1, "xi", None, "A note without a quotation."),
        (2, "xii", "pillars in the valley", "Compare with the roads."),
    ]


def test_a_collection_includes_those_in_it_and_an_unknown_one_is_named(folder: Path) -> None:
    source = ZoteroDatabase(folder)
    assert [(c.key, c.name, c.parent) for c in source.collections()] == [
        ("COLLSUB1", "Beacons", "COLLTOP1"),
        ("COLLTOP1", "Surveying", None),
    ]
    assert [i.key for i in zotero.items(source, "Beacons")] == ["SURVEY01"]
    assert [i.key for i in zotero.items(source, "COLLTOP1")] == ["SURVEY01", "ROADS001"]
    with pytest.raises(CollectionNotFound, match="Beacons, Surveying"):
        zotero.items(source, "Nothing")


def test_a_database_in_use_is_read_and_never_written(folder: Path) -> None:
    import sqlite3

    file = folder / "zotero.sqlite"
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("pragma locking_mode = exclusive")
    holder.execute("begin exclusive")
    before = file.read_bytes()
    assert len(zotero.items(ZoteroDatabase(folder))) == 2
    assert file.read_bytes() == before
    holder.close()


def test_a_folder_without_zotero_and_a_damaged_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"no zotero\.sqlite"):
        ZoteroDatabase(tmp_path).collections()
    (tmp_path / "zotero.sqlite").write_bytes(b"nonsense" * 1000)
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        ZoteroDatabase(tmp_path).records()


def ingest(library: Library, source: zotero.ZoteroSource, folder: Path) -> Any:
    processor = DocumentProcessor(library_settings(folder.parent))
    try:
        chosen = list(zotero.origins(source, zotero.items(source)))
        return Ingestion(library, library.projects.get(PROJECT), processor, folder.parent / "audit").run_all(chosen)
    finally:
        processor.close()


def test_attachments_annotations_and_cached_text_become_chunks_with_citations(folder: Path, library: Library) -> None:
    audit = ingest(library, ZoteroDatabase(folder), folder)
    assert [(e.path, e.outcome, e.citekey) for e in audit.entries] == [
        ("zotero://PDF00001", "added", "ridgeBeacons2017"),
        ("zotero://PDF00001/annotations", "added", "ridgeBeacons2017"),
        ("zotero://CACHE001", "added", "roads1999"),
    ]
    (quoted,) = library.find_quote(PROJECT, "speaks of pillars in the valley")["matches"]
    assert (quoted["citekey"], quoted["page"]) == ("ridgeBeacons2017", 2)
    (cached,) = library.find_quote(PROJECT, CACHED)["matches"]
    assert (cached["citekey"], cached["page"]) == ("roads1999", None)
    note = library.query_hybrid(PROJECT, "compare with the roads", 1, {"tags": ["survey"]})["items"][0]
    assert (note["page_span"], note["page_label"], note["section"]) == ([2, 2], "xii", "Annotations")
    marked = library.store.get(library.projects.get(PROJECT), [note["chunk_id"]])[0].payload["doc"]
    assert (marked["type"], marked["annotation"]["quote"], marked["annotation"]["comment"]) == (
        "annotation",
        "pillars in the valley",
        "Compare with the roads.",
    )
    assert {e.outcome for e in ingest(library, ZoteroDatabase(folder), folder).entries} == {"skipped"}


def api_items(folder: Path) -> list[dict[str, Any]]:
    """The records of the database, as the API wraps them."""
    source = ZoteroDatabase(folder)
    wrapped = []
    for record in source.records():
        path = source.file_of(record)
        links = {"enclosure": {"href": path.as_uri()}} if path and path.exists() else {}
        wrapped.append({"key": record["key"], "data": dict(record), "links": links})
    return wrapped


async def test_the_local_api_is_read_to_its_last_page_and_gives_the_same(folder: Path, serve: Any) -> None:
    database = ZoteroDatabase(folder)
    collections = [
        {"key": c.key, "data": {"key": c.key, "name": c.name, "parentCollection": c.parent or False}}
        for c in database.collections()
    ]
    app = LocalApi(api_items(folder), collections, {"CACHE001": CACHED})
    async with serve(app) as url:
        api = ZoteroApi(f"{url}/api")
        found = await asyncio.to_thread(zotero.items, api)
        assert [i.work for i in found] == [i.work for i in zotero.items(database)]
        assert [i.attachments[0].annotations for i in found] == [
            i.attachments[0].annotations for i in zotero.items(database)
        ]
        assert found[0].attachments[0].path == folder / "storage" / "PDF00001" / "Beacons & Pillars.pdf"
        assert await asyncio.to_thread(api.collections) == database.collections()
        assert await asyncio.to_thread(api.cached_text, "CACHE001") == CACHED
        assert await asyncio.to_thread(api.cached_text, "NOBODY01") is None
    assert sum("start=" in request for request in app.requests) >= 2


def test_a_zotero_that_does_not_run_is_named(free_port: Any) -> None:
    url = f"http://127.0.0.1:{free_port()}/api"
    with pytest.raises(StoreUnavailable, match="Start Zotero"):
        ZoteroApi(url).collections()
