"""`library refs`: matched, doubtful, shared and unmatched files, and what a person decides about them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from library_samples import library_settings
from typer.testing import CliRunner

from trigpoint.cli.main import app
from trigpoint.library.library import Library

REFERENCES = [
    {"id": "amr2020", "type": "report", "title": "Annual Monitoring Report 2020", "issued": {"date-parts": [[2020]]},
     "author": [{"literal": "Harrowdene Council"}]},
    {"id": "kerbs", "type": "report", "title": "The Value of Kerbs", "issued": {"date-parts": [[2011]]},
     "author": [{"family": "Moss", "given": "Petra"}]},
    {"id": "unread", "type": "report", "title": "A Report Nobody Has", "issued": {"date-parts": [[1999]]}},
]  # fmt: skip
FILES = {
    "right.md": "# The Value of Kerbs\n\nPetra Moss, 2011\n\nKerbs have a value that few have measured.",
    "twin.md": "# Annual Monitoring Report 2020: Draft\n\nHarrowdene Council\n\nIn 2020 there were 300 completions.",
    "minutes.md": "# Minutes of the allotment committee\n\nThe hedge was discussed at length.",
}


class Desk:
    """The command line on a project with three files and three references."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.settings = library_settings(folder, '[library.projects."p"]\nreferences = "refs.json"\n')
        monkeypatch.setenv("TRIGPOINT_CONFIG", str(folder / "trigpoint.toml"))
        monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(folder / "data"))
        self.write_references(REFERENCES)
        self.files = folder / "files"
        self.files.mkdir()
        for name, text in FILES.items():
            (self.files / name).write_text(text)

    def write_references(self, entries: list[dict]) -> None:
        (self.folder / "refs.json").write_text(json.dumps(entries))

    def run(self, *words: str, fails: bool = False) -> str:
        result = CliRunner().invoke(app, ["library", *words, "-p", "p"])
        assert (result.exit_code != 0) is fails, result.output
        return result.output

    def ingest(self, *more: str) -> str:
        return self.run("ingest", str(self.files), *more)

    def refs(self, *words: str) -> dict[str, list[dict]]:
        self.run("refs", *words)
        return json.loads(self.run("refs", "--json"))

    def doubt(self, question: str) -> str | None:
        library = Library.open(self.settings)
        try:
            return library.query_hybrid("p", question, 1)["items"][0]["citation_doubt"]
        finally:
            library.close()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


def names(files: list[dict]) -> list[str]:
    return [Path(file["path"]).name for file in files]


def test_files_are_listed_by_how_they_are_cited(desk: Desk) -> None:
    said = desk.ingest()
    assert "twin.md: cited as amr2020, which is doubtful" in said
    found = desk.refs()
    assert [names(found[kind]) for kind in ("matched", "doubtful", "shared", "unmatched")] == [
        ["right.md"], ["twin.md"], [], ["minutes.md"]
    ]  # fmt: skip
    assert found["without_file"] == ["unread"]
    printed = desk.run("refs")
    assert "1 matched, 1 doubtful, 0 shared, 1 unmatched" in printed
    assert "draft" in printed


def test_a_confirmed_citation_is_no_longer_doubtful_and_stays_so_when_the_file_is_read_again(desk: Desk) -> None:
    desk.ingest()
    assert desk.doubt("completions in 2020")
    assert names(desk.refs("--confirm", "twin.md")["matched"]) == ["right.md", "twin.md"]
    assert desk.doubt("completions in 2020") is None
    desk.ingest("--force")
    (desk.files / "twin.md").write_text(FILES["twin.md"] + " And 20 losses.")
    desk.ingest()
    assert names(desk.refs()["matched"]) == ["right.md", "twin.md"]


def test_a_reference_can_be_set_and_taken_away(desk: Desk) -> None:
    desk.ingest()
    found = desk.refs("--set", "minutes.md=unread", "--set", "twin.md=-")
    assert [file["citekey"] for file in found["matched"]] == ["unread", "kerbs"]
    assert names(found["unmatched"]) == ["twin.md"]
    desk.ingest("--force")
    assert names(desk.refs()["unmatched"]) == ["twin.md"]


def test_two_files_that_match_one_reference_are_both_doubtful_until_one_is_confirmed(desk: Desk) -> None:
    desk.ingest()
    (desk.files / "second.md").write_text(FILES["right.md"] + " A second copy with notes.")
    said = desk.ingest()
    assert "right.md: cited as kerbs, which is doubtful: second.md is cited as this too" in said
    assert names(desk.refs()["shared"]) == ["right.md", "second.md"]
    assert desk.doubt("kerbs have a value")
    found = desk.refs("--confirm", "right.md")
    assert (names(found["matched"]), names(found["shared"])) == (["right.md"], ["second.md"])
    (desk.files / "second.md").unlink()
    assert desk.doubt("value that few have measured") in (None, "right.md is cited as this too")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "right.md=nobody"), "No reference has the citekey 'nobody'"),
        (("--set", "right.md"), "expected FILE=CITEKEY"),
        (("--confirm", "nothing.md"), "No document of this project is called 'nothing.md'"),
        (("--confirm", "minutes.md"), "is cited as none of the references"),
    ],
)
def test_a_decision_that_cannot_be_taken_says_why(desk: Desk, words: tuple[str, ...], message: str) -> None:
    desk.ingest()
    result = CliRunner().invoke(app, ["library", "refs", *words, "-p", "p"])
    assert message in str(result.output) + str(result.exception)


def test_a_repeated_citekey_is_refused_with_both_places(desk: Desk) -> None:
    desk.write_references([*REFERENCES, {"id": "kerbs", "type": "book", "title": "Another Book of Kerbs"}])
    result = CliRunner().invoke(app, ["library", "ingest", str(desk.files), "-p", "p"])
    said = str(result.output) + str(result.exception)
    assert "item 2 (The Value of Kerbs)" in said
    assert "item 4 (Another Book of Kerbs)" in said
