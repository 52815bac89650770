"""`library sync` and `--prune`: what is gone goes, an empty place removes nothing, and a watch follows changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from library_samples import library_settings
from test_kinds import make_zotero
from typer.testing import CliRunner

from trigpoint.cli.main import app
from trigpoint.errors import InvalidInput
from trigpoint.library.library import Library
from trigpoint.library.sync import state_of, watch


class Desk:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.files = folder / "files"
        self.files.mkdir()
        self.settings = library_settings(
            folder, '[library.projects."p"]\nsources = ["files"]\n[library.projects."z"]\nzotero = "Zotero"\n'
        )
        monkeypatch.setenv("TRIGPOINT_CONFIG", str(folder / "trigpoint.toml"))
        monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(folder / "data"))

    def run(self, *words: str, project: str = "p") -> str:
        result = CliRunner().invoke(app, ["library", *words, "-p", project])
        assert result.exit_code == 0, (result.output, result.exception)
        return result.output

    def names(self, project: str = "p") -> list[str]:
        library = Library.open(self.settings)
        try:
            rows = library.passages(library.projects.get(project)).documents()
            return sorted((row.path or "").removeprefix("zotero://").rsplit(str(self.files) + "/")[-1] for row in rows)
        finally:
            library.close()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    made = Desk(tmp_path, monkeypatch)
    for name in ("a.md", "b.md"):
        (made.files / name).write_text(f"# {name}\n\nWords of {name}.")
    return made


def test_a_sync_adds_changes_and_removes(desk: Desk) -> None:
    desk.run("sync")
    (desk.files / "a.md").unlink()
    (desk.files / "b.md").write_text("# b\n\nOther words.")
    (desk.files / "c.md").write_text("# c\n\nNew words.")
    said = desk.run("sync")
    assert desk.names() == ["b.md", "c.md"]
    assert "1 added, 1 replaced, 0 skipped, 0 failed" in said
    assert "removed" in said
    assert str(desk.files / "c.md") in " ".join(desk.run("inspect").split())


def test_prune_removes_only_below_the_paths_that_are_named(desk: Desk) -> None:
    other = desk.folder / "other"
    other.mkdir()
    (other / "o.md").write_text("# o\n\nOther.")
    (other / "keep.md").write_text("# keep\n\nKept.")
    desk.run("ingest", str(desk.files), str(other))
    (desk.files / "a.md").unlink()
    (other / "o.md").unlink()
    desk.run("ingest", str(desk.files), "--prune")
    assert [Path(name).name for name in desk.names()] == ["keep.md", "o.md", "b.md"]


def test_an_empty_or_missing_folder_removes_nothing(desk: Desk) -> None:
    desk.run("sync")
    for file in desk.files.iterdir():
        file.unlink()
    assert "Nothing was removed" in desk.run("sync")
    assert desk.names() == ["a.md", "b.md"]
    desk.files.rmdir()
    missing = CliRunner().invoke(app, ["library", "sync", "-p", "p"])
    assert "no such folder" in missing.output + str(missing.exception)
    assert desk.names() == ["a.md", "b.md"]
    desk.files.mkdir()
    desk.run("sync", "--allow-empty")
    assert desk.names() == []


def test_what_is_binned_in_zotero_goes_at_the_next_sync(desk: Desk) -> None:
    import sqlite3

    folder = make_zotero(desk.folder / "Zotero")
    desk.run("sync", project="z")
    assert desk.names("z") == ["LAMPS001/notes", "PDF00001", "PDF00001/annotations"]
    with sqlite3.connect(folder / "zotero.sqlite") as database:
        database.execute(
            "insert into deletedItems (itemID) select itemID from items where key in ('NOTE0001', 'NOTE0002')"
        )
    desk.run("sync", project="z")
    assert desk.names("z") == ["PDF00001", "PDF00001/annotations"]


def test_a_project_without_sources_says_what_to_name(desk: Desk) -> None:
    result = CliRunner().invoke(app, ["library", "sync", "-p", "z", "--zotero", str(desk.folder / "nowhere")])
    assert "no zotero.sqlite" in result.output + str(result.exception)


def test_a_watch_acts_when_a_change_has_settled(tmp_path: Path) -> None:
    acted: list[int] = []
    steps = iter([("one", "a"), ("one", "ab"), None, None, ("two", "c"), None])

    def sleep(_: float) -> None:
        if (step := next(steps)) is not None:
            (tmp_path / step[0]).write_text(step[1])

    watch(
        lambda: state_of([tmp_path], None), lambda: acted.append(len(list(tmp_path.iterdir()))), sleep=sleep, rounds=6
    )
    assert acted == [0, 1, 2]
    with pytest.raises(InvalidInput, match="above 0"):
        watch(frozenset, lambda: None, every=0)
