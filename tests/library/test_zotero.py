"""Zotero: its database as it lies, its local API to the last page; items, tags, annotations and cached text ingested."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from library_samples import PROJECT, library_settings
from reportlab.pdfgen.canvas import Canvas
from zotero_samples import CACHED, Answer, LocalApi, UnrulyApi, ZoteroFile, make_zotero

from trigpoint.errors import CollectionNotFound, InvalidInput, StoreUnavailable
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


def test_cases_acts_and_maps_have_the_title_date_and_author_of_their_kind(tmp_path: Path) -> None:
    made = ZoteroFile(tmp_path / "Zotero")
    case = {"caseName": "Tesco v Dundee", "dateDecided": "2012-03-21 21 March 2012", "court": "UKSC"}
    made.item("CASE0001", "case", reporter="PTSR", reporterVolume="3", firstPage="983", **case)
    made.item("ACT00001", "statute", nameOfAct="Planning Act", dateEnacted="2008-00-00 2008", code="c", codeNumber="29")
    made.item("MAP00001", "map", role=3, authors=[("Una", "Sheet")], title="One inch", date="1899")
    made.close()
    works = {item.key: item.work for item in zotero.items(ZoteroDatabase(tmp_path / "Zotero"))}
    assert {key: (work.title, work.year, work.csl["type"], work.citekey) for key, work in works.items()} == {
        "CASE0001": ("Tesco v Dundee", 2012, "legal_case", "anon-tesco-2012"),
        "ACT00001": ("Planning Act", 2008, "legislation", "anon-planning-2008"),
        "MAP00001": ("One inch", 1899, "map", "sheet-one-1899"),
    }
    csl = works["CASE0001"].csl
    assert (csl["authority"], csl["container-title"], csl["volume"], csl["page"]) == ("UKSC", "PTSR", "3", "983")


def test_a_citekey_that_two_works_have_is_an_error_that_names_both_and_a_work_that_is_there_twice_is_none(
    tmp_path: Path,
) -> None:
    made = ZoteroFile(tmp_path / "Zotero")
    made.item("FIRST001", "report", title="Monitoring Report", date="2020", extra="Citation Key: monitoring")
    made.item("COPY0001", "report", title="Monitoring report", date="2020", extra="Citation Key: monitoring")
    made.database.commit()
    source = ZoteroDatabase(tmp_path / "Zotero")
    assert list(zotero.origins(source, zotero.items(source))) == []  # one work, in two libraries
    made.item("NEXT0001", "report", title="Monitoring Report", date="2021", extra="Citation Key: monitoring")
    made.close()
    with pytest.raises(InvalidInput, match=r"citekey monitoring is used twice, by item FIRST001 .* by item NEXT0001 "):
        list(zotero.origins(source, zotero.items(source)))
    assert len(zotero.items(source)) == 3  # listed all the same, to find them by


def test_an_item_without_a_citekey_gets_one_that_later_items_do_not_change(tmp_path: Path) -> None:
    made = ZoteroFile(tmp_path / "Zotero")
    about = {"title": "Roads", "date": "1999", "authors": [("Ada", "Ridge")]}
    first, second = made.item("ZZZZ0001", "book", **about), made.item("AAAA0001", "report", **about)
    for item_id, day in ((first, "2020-01-01"), (second, "2021-01-01")):
        made.database.execute("update items set dateAdded = ? where itemID = ?", (day, item_id))
    made.close()
    keys = {item.key: item.work.citekey for item in zotero.items(ZoteroDatabase(tmp_path / "Zotero"))}
    assert keys == {"ZZZZ0001": "ridge-roads-1999", "AAAA0001": "ridge-roads-1999b"}


def test_a_file_with_a_note_of_its_own_stays_with_its_item_and_the_note_is_a_note(tmp_path: Path) -> None:
    made = ZoteroFile(tmp_path / "Zotero")
    roads = made.item("ROADS001", "book", title="Roads", date="1999")
    made.note(made.attachment("PDF00001", roads, "storage:roads.pdf"), "Scanned badly.")
    made.close()
    (item,) = zotero.items(ZoteroDatabase(tmp_path / "Zotero"))
    assert (item.key, [a.key for a in item.attachments]) == ("ROADS001", ["PDF00001"])
    assert item.notes == (("PDF00001", "Scanned badly."),)


def test_feeds_are_left_out_groups_are_not_and_binned_collections_are_no_collections(tmp_path: Path) -> None:
    made = ZoteroFile(tmp_path / "Zotero")
    own = made.item("MINE0001", "book", title="Mine")
    made.item("GROUP001", "book", library=2, title="Ours")
    made.item("FEED0001", "journalArticle", library=3, title="News of the day")
    binned = made.collection("COLLBIN1", "Old", (own,))
    made._insert("deletedCollections", collectionID=binned)
    made.close()
    source = ZoteroDatabase(tmp_path / "Zotero")
    assert [(item.key, item.collections) for item in zotero.items(source)] == [("MINE0001", ()), ("GROUP001", ())]
    assert source.collections() == []


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
    marked = library.passages(library.projects.get(PROJECT)).get([note["chunk_id"]])[0].metadata["doc"]
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


BOOKS = [{"key": f"BOOK000{n}", "data": {"key": f"BOOK000{n}", "itemType": "book", "title": f"{n}"}} for n in range(5)]


def keys_of(source: ZoteroApi) -> list[str]:
    return [record["key"] for record in source.records()]


async def test_pauses_that_the_server_asks_for_are_kept(serve: Any) -> None:
    def trouble(api: UnrulyApi, path: str, start: int) -> Answer | None:
        if len(api.requests) == 1:
            return 429, "Slow down", [(b"retry-after", b"1")]
        if len(api.requests) == 2:
            return 503, "Overloaded", [(b"retry-after", b"1")]
        if start == 2:  # a page, and a wish
            return 200, api.items[2:4], [(b"total-results", b"5"), (b"backoff", b"1"), LINK_TO_4]
        return None

    app = UnrulyApi(BOOKS, trouble)
    async with serve(app) as url:
        found = await asyncio.to_thread(keys_of, ZoteroApi(url, library="users/123", key="secret"))
    assert found == [book["key"] for book in BOOKS]
    pauses = [after - before for before, after in zip(app.times, app.times[1:], strict=False)]
    assert [round(pause) >= 1 for pause in pauses] == [True, True, False, True]
    assert all(path.startswith("/users/123/items") for path in app.requests)
    assert set(app.keys) == {"Bearer secret"}


LINK_TO_4 = (b"link", b'<http://anywhere.test/users/123/items?start=4&limit=2>; rel="next"')


async def test_a_library_that_changes_between_two_pages_is_read_again_from_the_start(serve: Any) -> None:
    def trouble(api: UnrulyApi, path: str, start: int) -> Answer | None:
        if start == 2 and len(api.items) == 5:  # somebody adds a book before the pages that follow
            api.items = [{"key": "NEWBOOK1", "data": {"key": "NEWBOOK1", "itemType": "book"}}, *api.items]
            api.version += 1
        return None

    app = UnrulyApi(list(BOOKS), trouble)
    async with serve(app) as url:
        source = ZoteroApi(url, library="groups/7")
        assert await asyncio.to_thread(source.version) == 100
        found = await asyncio.to_thread(keys_of, source)
        assert await asyncio.to_thread(source.version) == 101  # by which `sync --watch` sees a change
    assert found == ["NEWBOOK1", *(book["key"] for book in BOOKS)]


def missing(api: UnrulyApi, path: str, start: int) -> Answer | None:
    return (200, [], [(b"total-results", b"5")]) if start == 2 else None


def always(status: int, body: Any, *headers: tuple[bytes, bytes]) -> Any:
    return lambda api, path, start: (status, body, list(headers))


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (missing, "did not give a whole list"),
        (always(304, ""), "cannot be used"),
        (always(200, b'[{"key": "BOOK0001", "da'), "cannot be used"),
        (always(429, "", (b"retry-after", b"3600")), "asks for a pause"),
        (always(503, "", (b"retry-after", b"Wed, 21 Oct 2026 07:28:00 GMT")), "asks for a pause"),
        (always(403, "Forbidden"), "ZOTERO_API_KEY"),
        (always(404, "Not found"), "no such library"),
    ],
)
async def test_a_list_that_does_not_come_whole_is_an_error_and_no_shorter_list(
    serve: Any, trouble: Any, said: str
) -> None:
    async with serve(UnrulyApi(list(BOOKS), trouble)) as url:
        with pytest.raises(StoreUnavailable, match=said):
            await asyncio.to_thread(keys_of, ZoteroApi(url, library="users/123"))


def test_a_library_is_named_by_its_kind_and_number() -> None:
    with pytest.raises(InvalidInput, match="users/NUMBER"):
        ZoteroApi(library="users/me")


LIVE = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
for pragma in sys.argv[2].split(";"):
    database.execute(f"pragma {pragma}")
def add(key, title):
    kind = database.execute("select itemTypeID from itemTypes where typeName = 'book'").fetchone()[0]
    field = database.execute("select fieldID from fields where fieldName = 'title'").fetchone()[0]
    item = database.execute("insert into items (itemTypeID, libraryID, key) values (?, 1, ?)", (kind, key)).lastrowid
    value = database.execute("insert into itemDataValues (value) values (?)", (title,)).lastrowid
    database.execute("insert into itemData values (?, ?, ?)", (item, field, value))
database.execute("begin immediate"); add("NEWEST01", "Added a moment ago"); database.execute("commit")
database.execute("begin immediate"); add("PENDING1", "Not yet committed")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    "pragmas",
    [
        "journal_mode=wal;wal_autocheckpoint=0",
        "journal_mode=wal;wal_autocheckpoint=0;locking_mode=exclusive",
        "journal_mode=delete",
        "journal_mode=delete;locking_mode=exclusive;cache_spill=1",
    ],
)
def test_a_running_zotero_hides_nothing_in_either_journal_mode_locked_or_not(folder: Path, pragmas: str) -> None:
    before = {item.key for item in zotero.items(ZoteroDatabase(folder))}
    command = [sys.executable, "-c", LIVE, str(folder / "zotero.sqlite"), pragmas]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        while_open = {item.key for item in zotero.items(ZoteroDatabase(folder))}
        running.communicate("")
    assert while_open == before | {"NEWEST01"}


def test_a_zotero_that_keeps_writing_is_read_whole(folder: Path) -> None:
    writer = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("pragma journal_mode=wal"); database.execute("pragma locking_mode=exclusive")
print("ready", flush=True)
for number in range(400):
    database.execute("begin immediate")
    for part in range(3):
        database.execute("insert into tags (name) values (?)", (f"live-{number}-{part}",))
    database.execute("commit")
"""
    command = [sys.executable, "-c", writer, str(folder / "zotero.sqlite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        running.stdout.readline()
        for _ in range(3):
            with ZoteroDatabase(folder)._open() as database:
                count = database.execute("select count(*) from tags where name like 'live-%'").fetchone()[0]
            assert count % 3 == 0  # whole transactions only
