"""Whose words a passage has: the source's are certified, a reader's highlights, comments and notes never are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from library_samples import PROJECT, item, library_settings, seeded_vector
from reportlab.pdfgen.canvas import Canvas
from zotero_samples import ZoteroFile

from trigpoint.errors import DocumentNotInProject, InvalidFilter
from trigpoint.library import zotero
from trigpoint.library.ingest import Ingestion
from trigpoint.library.library import Library
from trigpoint.library.zotero_database import ZoteroDatabase
from trigpoint.text.extract import DocumentProcessor

PAGE = "The lamp on the quay was lit every evening by the keeper."


def make_pdf(path: Path, words: str) -> None:
    canvas = Canvas(str(path))
    canvas.drawString(60, 780, words)
    canvas.save()


def make_zotero(folder: Path, *, pdf: bool = True) -> Path:
    """One item with a PDF, a snapshot of its web page, a highlight with a comment, and two notes."""
    made = ZoteroFile(folder)
    lamps = made.item("LAMPS001", "book", title="Lamps", date="2001", authors=[("Ann", "Quay")], citationKey="quay2001")
    web = made.attachment("WEB00001", lamps, "storage:lamps.html", "text/html")
    (folder / "storage" / "WEB00001" / "lamps.html").write_text(f"<p>{PAGE}</p>")
    attached = made.attachment("PDF00001", lamps, "storage:lamps.pdf") if pdf else web
    if pdf:
        make_pdf(folder / "storage" / "PDF00001" / "lamps.pdf", PAGE)
    made.annotation("ANNO0001", attached, 1, "1", "lit every evening", "A remark: was it really lit in summer?")
    made.database.execute("update itemAnnotations set color = '#ffd400'")
    for key, note in (
        ("NOTE0001", "<h1>Reading</h1><p>The keeper drank <b>heavily</b>.</p>"),
        ("NOTE0002", "<p>Second.</p>"),
    ):
        made._insert("itemNotes", itemID=made.item(key, "note"), parentItemID=lamps, note=note)
    made.collection("INNER001", "Harbours", (lamps,), parent=made.collection("OUTER001", "Sea", ()))
    made.close()
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with closing(Library.open(library_settings(tmp_path))) as made:
        yield made


def ingest(library: Library, folder: Path) -> list[str]:
    source = ZoteroDatabase(folder)
    with closing(DocumentProcessor(library_settings(folder.parent))) as processor:
        ingestion = Ingestion(library, library.projects.get(PROJECT), processor, folder.parent / "audit")
        audit = ingestion.run_all(list(zotero.origins(source, zotero.items(source))))
    assert audit.count("failed") == 0
    return [entry.path for entry in audit.entries]


def kinds(library: Library, **filters: Any) -> dict[str, str]:
    answer = library.query_hybrid(PROJECT, "keeper lamp lit evening remark second", 20, filters)
    return {found["render_text"]: found["kind"] for found in answer["items"]}


def test_marks_comments_and_notes_are_passages_of_their_own_kinds(tmp_path: Path, library: Library) -> None:
    names = ingest(library, make_zotero(tmp_path / "zotero"))
    assert names == ["zotero://PDF00001", "zotero://PDF00001/annotations", "zotero://LAMPS001/notes"]
    assert kinds(library) == {
        PAGE: "source",
        "lit every evening": "highlight",
        "A remark: was it really lit in summer?": "comment",
        "Reading\nThe keeper drank heavily.": "note",
        "Second.": "note",
    }
    comment = library.query_hybrid(PROJECT, "remark about summer", 1, {"kind": "comment"})["items"][0]
    payload = library.passages(library.projects.get(PROJECT)).get([comment["chunk_id"]])[0].metadata["doc"]
    assert (payload["annotation"]["colour"], payload["annotation"]["quote"]) == ("#ffd400", "lit every evening")
    assert (comment["citekey"], comment["page_span"]) == ("quay2001", [1, 1])


def test_only_words_of_the_source_are_certified(tmp_path: Path, library: Library) -> None:
    ingest(library, make_zotero(tmp_path / "zotero"))
    assert library.find_quote(PROJECT, "The keeper drank heavily")["matches"] == []
    assert library.find_quote(PROJECT, "was it really lit in summer")["matches"] == []
    (match,) = library.find_quote(PROJECT, "lit every evening")["matches"]
    assert (match["text"], match["page"]) == ("lit every evening", 1)


@pytest.mark.parametrize(("kind", "count"), [("source", 1), ("highlight", 1), ("comment", 1), ("note", 2)])
def test_a_search_can_be_limited_to_a_kind(tmp_path: Path, library: Library, kind: str, count: int) -> None:
    ingest(library, make_zotero(tmp_path / "zotero"))
    assert list(kinds(library, kind=kind).values()) == [kind] * count
    with pytest.raises(InvalidFilter, match="source, highlight, comment, note"):
        kinds(library, kind="gossip")


@pytest.mark.parametrize("collection", ["Harbours", "INNER001", "Sea"])
def test_a_collection_of_zotero_is_a_filter_and_includes_those_in_it(
    tmp_path: Path, library: Library, collection: str
) -> None:
    ingest(library, make_zotero(tmp_path / "zotero"))
    assert len(kinds(library, collection=collection)) == 5
    assert kinds(library, collection="Mountains") == {}


def test_a_snapshot_is_read_only_if_the_item_has_nothing_with_pages(tmp_path: Path, library: Library) -> None:
    names = ingest(library, make_zotero(tmp_path / "zotero", pdf=False))
    assert "zotero://WEB00001" in names
    assert library.find_quote(PROJECT, "lit every evening")["count"] == 1


def test_chunks_of_a_client_are_sources_unless_they_say_otherwise(library: Library) -> None:
    note = item("b", "My own thought about entities.", doc={"kind": "note"}, source={"path": "notes"})
    library.store_chunks(PROJECT, [item("a"), note])
    found = library.find_chunks(PROJECT, "entities")["items"]
    assert {one["chunk_id"]: one["kind"] for one in found} == {"a": "source", "b": "note"}
    assert library.find_quote(PROJECT, "My own thought")["count"] == 0


def test_annotations_of_a_database_of_version_0_1_0_are_not_certified(tmp_path: Path) -> None:
    settings = library_settings(tmp_path)
    old = item("old", "A reader wrote this.", doc={"type": "annotation", "page_span": [1, 1]})
    with closing(Library.open(settings)) as library:
        library.store_chunks(PROJECT, [item("a"), old])
    with closing(sqlite3.connect(tmp_path / "data" / "library" / "library.db")) as database:
        database.execute("alter table chunk drop column facets")  # the released schema had none
        database.commit()
    with closing(Library.open(settings)) as library:
        found = library.find_chunks(PROJECT, "reader", 5, {"kind": "highlight"})["items"]
        assert [one["chunk_id"] for one in found] == ["old"]
        assert library.find_quote(PROJECT, "A reader wrote this")["count"] == 0
        library.store_chunks(PROJECT, [item("new", embedding=seeded_vector(4))])


def test_matches_are_spread_over_documents_and_counted(library: Library) -> None:
    long = " ".join(["the same words again"] * 30)
    library.store_chunks(
        PROJECT,
        [item("long", long, source={"path": "long"}), item("short", "the same words again", source={"path": "short"})],
    )
    answer = library.find_quote(PROJECT, "the same words again")
    assert (answer["count"], answer["total"], answer["complete"]) == (20, 31, True)
    assert {match["doc_id"] for match in answer["matches"][:2]} == {match["doc_id"] for match in answer["matches"]}
    assert len({match["doc_id"] for match in answer["matches"]}) == 2


def test_a_quotation_in_a_document_that_is_not_there_is_refused(library: Library) -> None:
    library.store_chunks(PROJECT, [item("a", "The beacon was lit.", doc={"doc_id": "harbours"})])
    assert library.find_quote(PROJECT, "beacon was lit", "harbours")["count"] == 1
    with pytest.raises(DocumentNotInProject, match="No document 'Harbours' in project"):
        library.find_quote(PROJECT, "beacon was lit", "Harbours")


@pytest.mark.parametrize(("start", "count"), [(22, 1), (5000, 0)])
def test_no_quotation_is_certified_across_words_that_were_not_stored(library: Library, start: int, count: int) -> None:
    texts = {0: "Cycling here is never", start: "allowed by the owner."}
    chunks = [
        item(f"c{at}", text, doc={"doc_id": "rules", "start": at, "end": at + len(text)}) for at, text in texts.items()
    ]
    library.store_chunks(PROJECT, chunks)
    assert library.find_quote(PROJECT, "is never allowed by")["count"] == count
    assert library.find_quote(PROJECT, "allowed by the owner")["matches"][0]["start"] == start
