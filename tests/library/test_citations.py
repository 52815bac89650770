"""How chunks are cited: by the project's references, else by what they say of themselves, in one style."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from library_samples import PROJECT, item, library_settings

from trigpoint.library.citations import References, formatted, work_behind
from trigpoint.library.library import Library

WORKS = [
    {
        "id": "martin2017",
        "citation-key": "martin2017",
        "type": "book",
        "title": "Clean Architecture",
        "author": [{"family": "Martin", "given": "Robert C.", "comma-suffix": True}],
        "issued": {"date-parts": [[2017]]},
        "publisher": "Prentice Hall",
    },
    {
        "id": "who2020",
        "type": "report",
        "title": "On Streets",
        "DOI": "10.1000/ABC",
        "issued": {"date-parts": [[2020]]},
    },
]
MARTIN = "Martin, R.C. (2017) Clean Architecture. Prentice Hall."


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    (tmp_path / "refs.json").write_text(json.dumps(WORKS))
    opened = Library.open(library_settings(tmp_path, f'[library.projects."{PROJECT}"]\nreferences = "refs.json"'))
    yield opened
    opened.close()


def cited(library: Library, **metadata: Any) -> dict[str, Any]:
    library.store_chunks(PROJECT, [item(**({"source": {}, "zotero": {}} | metadata))])
    (shown,) = library.find_chunks(PROJECT, "entities")["items"]
    assert library.get_chunk(PROJECT, shown["chunk_id"])["chunk"]["citation"] == shown["citation"]
    (quoted,) = library.find_quote(PROJECT, "value objects are distinct")["matches"]
    assert quoted["citation"] == shown["citation"]
    return shown


def test_a_chunk_is_cited_by_the_entry_with_its_citekey_else_with_its_doi(library: Library) -> None:
    found = cited(library, zotero={"citekey": "martin2017", "doi": "10.1000/abc"})
    assert (found["citation"], found["title"]) == (MARTIN, "Clean Architecture")
    found = cited(library, zotero={"citekey": "unknown", "doi": "https://doi.org/10.1000/ABC"})
    assert found["citation"] == "On Streets (2020). Available at: https://doi.org/10.1000/ABC."
    assert cited(library, source={"doi": "10.1000/abc"})["doi"] == "10.1000/abc"


def test_a_citation_that_a_chunk_brings_is_left_as_it_is(library: Library) -> None:
    assert cited(library, zotero={"citekey": "martin2017", "citation": "Martin 2017."})["citation"] == "Martin 2017."


@pytest.mark.parametrize(
    ("zotero", "source", "citation"),
    [
        (
            {"title": "Ports", "authors": ["Port, Ann", "Quay, Bo"], "year": 2021},
            {},
            "Port, A. and Quay, B. (2021) Ports.",
        ),
        (
            {"title": "Ports", "authors": "Port, Ann; Quay, Bo", "year": "2021"},
            {},
            "Port, A. and Quay, B. (2021) Ports.",
        ),
        ({"author": [{"family": "Port", "given": "Ann"}]}, {"title": "Ports"}, "Port, A. (no date) Ports."),
        ({"title": "Ports", "authors": ["Ann Port"]}, {"title": "ports.pdf"}, "Ann Port (no date) Ports."),
        ({"year": 2021}, {"title": "Ports (2nd ed.) and quays"}, "Ports (2nd ed.) and quays (2021)."),
        ({"authors": ["Port, Ann"], "year": 2021}, {}, "Port, A. (2021)."),
        ({"title": "Ports", "url": "https://x.test"}, {}, "Ports (no date). Available at: https://x.test."),
        ({"citekey": "unknown", "year": 2021}, {"path": "a.pdf"}, None),
        ({"title": 5, "authors": [5, None, " "], "year": [1], "doi": 5, "url": 7}, {"title": " "}, None),
    ],
)
def test_without_an_entry_it_is_made_of_the_chunks_own_metadata(
    library: Library, zotero: dict[str, Any], source: dict[str, Any], citation: str | None
) -> None:
    assert cited(library, zotero=zotero, source=source)["citation"] == citation


def test_a_changed_references_file_counts_at_once_and_a_broken_one_costs_no_answer(
    library: Library, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    zotero = {"citekey": "martin2017", "title": "Notes"}
    assert cited(library, zotero=zotero)["citation"] == MARTIN
    (tmp_path / "refs.json").write_text(json.dumps([WORKS[0] | {"publisher": "Pearson Education"}]))
    assert cited(library, zotero=zotero)["citation"] == MARTIN.replace("Prentice Hall", "Pearson Education")
    (tmp_path / "refs.json").write_text("{")
    with caplog.at_level(logging.WARNING):
        assert cited(library, zotero=zotero)["citation"] == "Notes (no date)."
    assert "refs.json" in caplog.text


def test_metadata_of_any_size_are_cited_in_short() -> None:
    work = work_behind(References(), {"title": "a (b) " * 100_000, "authors": ["Port, Ann"] * 100_000}, {})
    assert work is not None
    assert len(work.citation) < 1100


def test_fields_that_the_style_does_not_know_are_left_out_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert formatted({**WORKS[0], "shortTitle": "Clean", "custom": {"a": 1}}) == MARTIN
