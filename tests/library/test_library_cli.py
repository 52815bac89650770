"""`trigpoint library` as a user types it: in, asked, quoted, looked at, read again, removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result
from zotero_samples import ZoteroFile

from trigpoint.cli.library import app
from trigpoint.errors import InvalidInput, InvalidProject


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "trigpoint.toml").write_text(
        "[library.projects.notes]\n[library.projects.plain]\nhybrid_enabled = false\n"
    )
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "marks.md").write_text("# Marks\n\nA pillar stands on [bold]the ridge[/bold].")
    return tmp_path


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == code, (result.output, result.exception)
    return result


def test_a_source_from_ingest_to_deletion(folder: Path) -> None:
    assert "1 added" in run("ingest", "sources", "-p", "notes").output
    assert "1 skipped" in run("ingest", "sources", "-p", "notes").output
    answer = json.loads(run("query", "where is the pillar?", "-p", "notes", "--json").stdout)
    assert (answer["count"], answer["hybrid_enabled"]) == (1, True)
    assert "[bold]the ridge[/bold]" in run("query", "pillar", "-p", "notes").output
    assert "word for word" in run("quote", "A pillar stands", "-p", "notes").output
    run("quote", "Nobody said this", "-p", "notes", code=1)
    inspected = run("inspect", "-p", "notes").output
    assert '"size": 1' in inspected
    assert "1 replaced" in run("reindex", "-p", "notes").output
    assert "notes" in run("projects").output
    doc_id = answer["items"][0]["doc_id"]
    assert "Removed 1 chunks" in run("delete", doc_id, "-p", "notes").output
    assert "Nothing found" in run("query", "pillar", "-p", "notes").output


def test_a_passage_is_shown_with_those_around_it_and_where_else_the_like_is_said(folder: Path) -> None:
    text = "# Marks\n\nFirst of all.\n\n# Pillars\n\nA pillar was built on the ridge in 1936.\n\n# End\n\nThat is all."
    (folder / "sources" / "book.md").write_text(text)
    run("ingest", "sources", "-p", "notes")
    found = json.loads(run("query", "pillar of 1936", "-p", "notes", "-n", "1", "--json").stdout)["items"][0]
    shown = run("passage", found["chunk_id"], "-p", "notes").output
    before, itself, after, elsewhere = (
        shown.index(words) for words in ("First of all", "built on the ridge", "That is all", "elsewhere: Marks")
    )
    assert before < itself < after < elsewhere


def test_a_project_without_hybrid_search_is_asked_by_meaning(folder: Path) -> None:
    run("ingest", "sources", "-p", "plain")
    assert "hybrid_enabled" not in json.loads(run("query", "pillar", "-p", "plain", "--json").stdout)


def test_a_failed_file_is_told_and_the_exit_code_says_so(folder: Path) -> None:
    (folder / "sources" / "bad.pdf").write_bytes(b"%PDF broken")
    output = run("ingest", "sources", "-p", "notes", code=1).output
    assert "1 added, 0 replaced, 0 skipped, 1 failed" in output
    assert "bad.pdf" in output


def test_an_unknown_project_is_the_error_that_names_the_others(folder: Path) -> None:
    result = CliRunner().invoke(app, ["query", "x", "-p", "nobody"])
    assert isinstance(result.exception, InvalidProject)


@pytest.mark.parametrize("words", ["", " \n "])
@pytest.mark.parametrize("command", ["query", "quote"])
def test_an_empty_question_is_refused(folder: Path, command: str, words: str) -> None:
    result = CliRunner().invoke(app, [command, words, "-p", "notes"])
    assert isinstance(result.exception, InvalidInput)
    assert "is empty" in result.exception.message


def test_zotero_is_listed_and_ingested(folder: Path) -> None:
    made = ZoteroFile(folder / "Zotero")
    item = made.item("ITEM0001", "book", title="A Book of Marks", citationKey="marks2020")
    made.attachment("NOTE0001", item, "storage:note.txt", "text/plain")
    (folder / "Zotero" / "storage" / "NOTE0001" / "note.txt").write_text("Beacons were lit.")
    made.collection("COLL0001", "Marks", (item,))
    made.close()
    where = ("--folder", str(folder / "Zotero"))
    assert "COLL0001" in run("zotero", "collections", *where).output
    assert "marks2020" in run("zotero", "items", *where).output
    assert "1 added" in run("zotero", "ingest", "-p", "notes", "-c", "Marks", *where).output
    assert "marks2020" in run("query", "beacons", "-p", "notes").output
    assert "zotero ingest" in run("reindex", "-p", "notes").output
