"""Ingestion: unchanged files cost nothing, changed ones leave nothing behind, failures and crashes stay their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from library_samples import MODEL, PROJECT, library_settings, seeded_vector

from trigpoint.errors import EmbeddingMismatch
from trigpoint.library.chunks import RULES, section_path_of
from trigpoint.library.ingest import Audit, Ingestion
from trigpoint.library.library import Library
from trigpoint.library.projects import Project
from trigpoint.passages.model import Passage
from trigpoint.passages.sqlite import SqlitePassages, SqliteStores
from trigpoint.text.extract import DocumentProcessor

PROCESS = Path(__file__).with_name("library_process.py")


class Desk:
    """A library, a folder of files, and the two together."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = folder / "files"
        self.files.mkdir()
        settings = library_settings(folder)
        self.library = Library.open(settings)
        self.project = self.library.projects.get(PROJECT)
        self.processor = DocumentProcessor(settings)

    def write(self, name: str, text: str) -> Path:
        path = self.files / name
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, **options: bool) -> Audit:
        return Ingestion(self.library, self.project, self.processor, self.folder / "audit").run([self.files], **options)

    def texts(self) -> set[str]:
        rows = self.library.passages(self.project).documents()
        return {chunk.text for row in rows for chunk in self.library.passages(self.project).document(row.document_id)}

    def close(self) -> None:
        self.processor.close()
        self.library.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.close()


def test_100_unchanged_files_write_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(100):
        desk.write(f"{n:03d}.txt", f"note number {n}")
    assert desk.run().count("added") == 100
    monkeypatch.setattr(SqlitePassages, "write", lambda *_, **__: pytest.fail("something was written"))
    again = desk.run()
    assert (again.count("skipped"), again.chunks_written, len(again.entries)) == (100, 0, 100)


def test_a_changed_file_leaves_no_stale_chunk(desk: Desk) -> None:
    desk.write("a.md", "# Old\n\nObsolete words stand here.\n\n# Kept\n\nThese words stay.")
    desk.write("b.txt", "The other file.")
    desk.run()
    desk.write("a.md", "# New\n\nFresh words stand here.\n\n# Kept\n\nThese words stay.")
    assert [e.outcome for e in desk.run().entries] == ["replaced", "skipped"]
    assert desk.texts() == {"# New\n\nFresh words stand here.", "# Kept\n\nThese words stay.", "The other file."}
    assert desk.library.find_quote(PROJECT, "Obsolete words")["count"] == 0
    assert desk.library.query_hybrid(PROJECT, "obsolete")["count"] == 3


def test_a_moved_file_is_the_same_document_and_a_copy_is_none_of_its_own(desk: Desk) -> None:
    first = desk.write("first.txt", "The same content.")
    desk.run()
    desk.write("copy.txt", "The same content.")
    entries = {Path(e.path).name: e for e in desk.run().entries}
    assert "same content as" in (entries["copy.txt"].reason or "")
    first.rename(desk.files / "moved.txt")
    desk.run()
    assert len(desk.library.passages(desk.project).documents()) == 1


def test_a_file_that_becomes_a_copy_of_another_forgets_what_it_said(desk: Desk) -> None:
    desk.write("a.txt", "What A said.")
    desk.write("b.txt", "What B says.")
    desk.run()
    desk.write("a.txt", "What B says.")
    desk.run()
    assert desk.texts() == {"What B says."}


def test_two_copies_of_which_one_changes_keep_both_contents(desk: Desk) -> None:
    desk.write("a.txt", "Shared words.")
    desk.write("b.txt", "Shared words.")
    desk.run()
    desk.write("a.txt", "Changed words.")
    desk.run()
    desk.run()
    assert desk.texts() == {"Shared words.", "Changed words."}


def test_a_file_that_fails_stops_nobody_and_the_audit_tells_why(desk: Desk) -> None:
    desk.write("a.txt", "Good words.")
    (desk.files / "b.pdf").write_bytes(b"%PDF-1.4 broken")
    (desk.files / "c.docx").write_bytes(b"no zip")
    (desk.files / "d.txt").write_bytes(b"\0\0binary")
    desk.write("e.md", "   ")
    desk.write("ignored.xyz", "not of a kind that is read")
    desk.write(".hidden.txt", "hidden")
    audit = desk.run()
    assert [(Path(e.path).name, e.outcome) for e in audit.entries] == [
        ("a.txt", "added"),
        ("b.pdf", "failed"),
        ("c.docx", "failed"),
        ("d.txt", "failed"),
        ("e.md", "failed"),
        ("ignored.xyz", "skipped"),
    ]
    assert ".xyz files are not read" in (audit.entries[-1].reason or "")
    kept = [json.loads(line) for line in audit.file.read_text().splitlines()]
    assert [(k["outcome"], bool(k["reason"])) for k in kept] == [
        ("added", False),
        *[("failed", True)] * 4,
        ("skipped", True),
    ]
    assert all("Traceback" not in (k["reason"] or "") for k in kept)


def test_a_name_that_is_not_utf8_stops_nobody(desk: Desk) -> None:
    """It ended the run with a traceback, and with it every file that came after it."""
    for name, content in ((b"a\xff.txt", b"first"), (b"b\xff.xls\xfe", b"no reader knows it"), (b"c.txt", b"last")):
        Path(os.fsdecode(os.fsencode(desk.files) + b"/" + name)).write_bytes(content)
    audit = desk.run()
    assert [(Path(e.path).name, e.outcome) for e in audit.entries] == [
        ("a\ufffd.txt", "failed"),
        ("c.txt", "added"),
        ("b\ufffd.xls\ufffd", "skipped"),
    ]
    assert "not valid UTF-8. Rename it" in (audit.entries[0].reason or "")
    lines = audit.file.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["path"] for line in lines] == [entry.path for entry in audit.entries]
    assert desk.texts() == {"last"}


def test_one_sentence_is_one_chunk_and_headings_make_paths(desk: Desk) -> None:
    desk.write("one.txt", "One sentence.")
    desk.write("tree.md", "# A\n\nalpha\n\n## B\n\nbeta\n\n# C\n\ngamma\n\n# D\n\n## E\n\ndelta")
    desk.write("page.html", "<title>T</title><h1>Top</h1><p>First</p><h2>Below</h2><p>Second</p><script>no()</script>")
    desk.run()
    chunks = [
        c
        for row in desk.library.passages(desk.project).documents()
        for c in desk.library.passages(desk.project).document(row.document_id)
    ]
    paths = {c.text.split("\n")[-1]: section_path_of(c.metadata) for c in chunks}
    assert paths == {
        "One sentence.": (),
        "alpha": ("A",),
        "beta": ("A", "B"),
        "gamma": ("C",),
        "delta": ("D", "E"),
        "First": ("Top",),
        "Second": ("Top", "Below"),
    }
    assert all(c.metadata["doc"]["page_span"] is None for c in chunks)


def test_a_reference_is_found_by_doi_then_by_title_and_a_document_without_one_is_taken_in(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    references = [
        {"id": "byDoi2020", "type": "book", "title": "Entirely Different", "DOI": "10.1000/ABC", "keyword": "x, y"},
        {
            "id": "byTitle2021",
            "type": "article-journal",
            "title": "Hexagonal ports, and adapters!",
            "author": [{"family": "Port", "given": "Ann"}],
            "issued": {"date-parts": [[2021]]},
        },
    ]
    (tmp_path / "refs.json").write_text(json.dumps(references))
    project = Project(PROJECT, "proj", references=tmp_path / "refs.json")
    desk.write("a.txt", "A paper. https://doi.org/10.1000/abc. It says much.")
    desk.write("b.md", "# Hexagonal Ports and Adapters\n\nIt says more.")
    desk.write("c.txt", "Nobody refers to this.")
    audit = Ingestion(desk.library, project, desk.processor, tmp_path / "audit").run([desk.files])
    assert [e.citekey for e in audit.entries] == ["byDoi2020", "byTitle2021", None]
    assert "refs.json" in audit.entries[2].warnings[0]
    (item,) = desk.library.query_hybrid(PROJECT, "hexagonal", 1, {"year": 2021})["items"]
    assert item["citekey"] == "byTitle2021"
    assert item["citation"].startswith("Port, A. (2021)")
    assert desk.library.find_chunks(PROJECT, "paper", 5, {"tags": ["x", "y"]})["count"] == 1
    desk.close()


def test_a_project_of_another_model_cannot_take_files(desk: Desk) -> None:
    project = Project(PROJECT, "proj", embed_model="openai/text-embedding-3-small")
    with pytest.raises(EmbeddingMismatch):
        Ingestion(desk.library, project, desk.processor, desk.folder / "audit").run([desk.files])


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROCESS), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_to_the_same_end(tmp_path: Path) -> None:
    (tmp_path / "killed").mkdir()
    (tmp_path / "whole").mkdir()
    killed, whole = Desk(tmp_path / "killed"), Desk(tmp_path / "whole")
    for n in range(24):
        killed.write(f"{n:02d}.md", f"# Part {n}\n\n" + f"Sentence {n} of the work. " * 60)
    for stop_at in (3, 9, 15):
        process = start("ingest", killed.folder, killed.files)
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= stop_at:
                break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    last = killed.run()
    assert last.count("failed") == 0
    assert last.count("skipped") >= 15
    Ingestion(whole.library, whole.project, whole.processor, tmp_path / "audit").run([killed.files])
    assert killed.texts() == whole.texts()
    for question in ("sentence 7", "sentence 23 of the work"):
        one, other = (d.library.query_hybrid(PROJECT, question)["items"] for d in (killed, whole))
        assert [(i["chunk_id"], i["score"]) for i in one] == [(i["chunk_id"], i["score"]) for i in other]
    killed.close()
    whole.close()


@pytest.mark.slow
def test_four_processes_search_while_one_writes_without_error_or_stale_read(tmp_path: Path) -> None:
    settings = library_settings(tmp_path)
    stores = SqliteStores(settings.data_dir / "library", RULES)
    store = stores.collection(PROJECT)
    stop, board = tmp_path / "stop", tmp_path / "board"
    board.write_text("0")
    searchers = [start("search", tmp_path, stop, board) for _ in range(4)]
    for number in range(1, 41):
        vector = np.array(seeded_vector(number), dtype=np.float32)
        chunk = Passage(f"c{number}", f"d{number % 7}", number, f"words with unique{number}", {}, vector)
        store.write([chunk], model=MODEL)
        (tmp_path / "next").write_text(str(number))
        os.replace(tmp_path / "next", board)
    stop.touch()
    for searcher in searchers:
        said, complaint = searcher.communicate(timeout=300)
        assert searcher.returncode == 0, complaint
        assert int(said) > 0
    stores.close()
