"""On 85 files with near-twins: no wrong citation is unmarked, and nearly all true ones are sure."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pymupdf
import pytest
from library_samples import library_settings
from matching_set import FILES, REFERENCES, File

from trigpoint.library.citations import work_of
from trigpoint.library.ingest import Ingestion
from trigpoint.library.library import Library
from trigpoint.library.matching import FileEvidence, match_work
from trigpoint.text.extract import DocumentProcessor

LEAST_MATCHED = 0.95
TWINS = '[library.projects."twins"]\nreferences = "references.json"\n'
WORKS = [work_of(reference.csl(), citekey=reference.citekey, tags=()) for reference in REFERENCES]
Cited = dict[str, tuple[str | None, str | None]]


def evidence_of(file: File) -> FileEvidence:
    """What an ingest would know of the file; titles that programs invent are no titles there."""
    title = None if file.title.startswith(("untitled", "Microsoft")) else file.title
    return FileEvidence(file.name, title or None, f"{file.page}\n\n{file.second_page}")


def test_each_file_is_matched_to_its_reference_or_to_none() -> None:
    matches = {file.name: match_work(evidence_of(file), WORKS) for file in FILES}
    sure = {name: match.work.citekey for name, match in matches.items() if match and match.is_sure}
    assert {name: key for name, key in sure.items() if key != truth_of(name)} == {}
    true = [file for file in FILES if file.truth]
    missed = [file.name for file in true if file.name not in sure]
    assert len(true) >= 60
    assert 1 - len(missed) / len(true) >= LEAST_MATCHED, missed


@pytest.mark.parametrize("file", [file for file in FILES if file.truth], ids=lambda file: file.name)
def test_a_file_whose_reference_is_missing_is_not_surely_another(file: File) -> None:
    match = match_work(evidence_of(file), [work for work in WORKS if work.citekey != file.truth])
    assert match is None or (not match.is_sure and match.reasons), match


def test_no_file_is_surely_a_reference_that_is_the_only_one_and_not_its_own() -> None:
    wrong = [
        (file.name, work.citekey)
        for file in FILES
        for work in WORKS
        if work.citekey != file.truth and (match := match_work(evidence_of(file), [work])) and match.is_sure
    ]
    assert wrong == []


@pytest.fixture(scope="module")
def cited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cited]:
    """Read as real PDFs. By name of the file: the citekey that it is cited by, and why that is doubtful."""
    folder = tmp_path_factory.mktemp("twins")
    (folder / "references.json").write_text(json.dumps([reference.csl() for reference in REFERENCES]))
    (folder / "files").mkdir()
    for file in FILES:
        _make_pdf(folder / "files" / file.name, file)
    settings = library_settings(folder, TWINS)
    with closing(Library.open(settings)) as library, closing(DocumentProcessor(settings)) as processor:
        project = library.projects.get("twins")
        Ingestion(library, project, processor, folder / "audit").run([folder / "files"])
        rows = library.passages(project).documents()
        yield {
            Path(row.path or "").name: (row.about["zotero"]["citekey"], row.about["zotero"].get("doubt"))
            for row in rows
        }


@pytest.mark.slow
def test_no_wrong_citation_is_unmarked_after_an_ingest(cited: Cited) -> None:
    wrong = {
        file.name: (cited[file.name], file.truth)
        for file in FILES
        if cited[file.name][0] not in (None, file.truth) and not cited[file.name][1]
    }
    assert wrong == {}


@pytest.mark.slow
def test_true_references_are_matched_without_a_doubt_after_an_ingest(cited: Cited) -> None:
    true = [file for file in FILES if file.truth]
    missed = {file.name: (file.truth, cited[file.name]) for file in true if cited[file.name] != (file.truth, None)}
    assert 1 - len(missed) / len(true) >= LEAST_MATCHED, missed


def truth_of(name: str) -> str | None:
    return next(file.truth for file in FILES if file.name == name)


def _make_pdf(path: Path, file: File) -> None:
    with pymupdf.open() as document:
        for words in (file.page, file.second_page):
            page = document.new_page()
            page.insert_htmlbox((72, 72, 520, 760), html.escape(words).replace("\n", "<br>"))
        document.set_metadata({"title": file.title, "author": file.author})
        document.save(path)
