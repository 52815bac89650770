"""A data folder or an output that cannot be written: one clear line before any work, whatever the command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from trigpoint.cli.main import main
from trigpoint.config import Settings

NOWHERE = "/proc/nowhere"  # not even root can make a folder there
Run = Callable[..., str]

DATA_FOLDER_COMMANDS = (
    "up",
    "policies list",
    "policies seed --digest",
    "policies search kerbs",
    "policies fetch NPPF",
    "graph projects",
    "graph load --sample",
    "library ingest README.md -p notes",
    "demo list",
    "demo portal --port 0",
    "portal show 25/01178/REM",
    "portal download 25/01178/REM",
    "review 25/01178/REM --local",
    "serve api",
    "serve worker",
    "serve policy-kb",
    "serve document-store",
    "serve scraper",
)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs a command that must fail; the line in which it said why."""
    config = tmp_path / "trigpoint.toml"
    config.write_text('[library.projects."notes"]\n')
    monkeypatch.setenv("TRIGPOINT_CONFIG", str(config))
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr("trigpoint.cli.everything.configure_logging", _silent)
    monkeypatch.setattr("trigpoint.cli.serve.configure_logging", _silent)
    for name in Settings.model_fields:
        if name.endswith("_port"):
            monkeypatch.setenv(name.upper(), "0")

    def run(*arguments: str, **variables: str) -> str:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["trigpoint", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 1
        *_, line = capsys.readouterr().err.splitlines()  # a progress bar may stand before it
        assert line.startswith("trigpoint: ")
        return line

    return run


def _silent(settings: Settings) -> None:
    """The tests keep their own logging."""


@pytest.mark.parametrize("command", DATA_FOLDER_COMMANDS)
def test_a_data_folder_that_is_a_file_is_named_with_its_variable(failing: Run, tmp_path: Path, command: str) -> None:
    file = tmp_path / "file"
    file.write_text("")
    line = failing(*command.split(), TRIGPOINT_DATA_DIR=str(file))
    assert str(file) in line
    assert "not a directory" in line
    assert "TRIGPOINT_DATA_DIR" in line


@pytest.mark.parametrize("command", ["up", "policies list", "graph projects", "demo list", "portal show 25/01178/REM"])
def test_a_data_folder_that_cannot_be_made_is_named_with_its_variable(failing: Run, command: str) -> None:
    line = failing(*command.split(), TRIGPOINT_DATA_DIR=f"{NOWHERE}/data")
    assert f"{NOWHERE}/data" in line
    assert "TRIGPOINT_DATA_DIR" in line


@pytest.mark.parametrize(
    "command",
    [
        "review 25/01178/REM --local --out",
        "demo run --out",
        "portal download 25/01178/REM --to",
        "graph export --to",
        "restore backup.tar --to",
    ],
)
@pytest.mark.usefixtures("no_work")
def test_an_output_that_cannot_be_written_is_refused_before_the_work_starts(failing: Run, command: str) -> None:
    line = failing(*command.split(), f"{NOWHERE}/x.json")
    assert f"{NOWHERE}/x.json cannot be written (no such file or directory)" in line


@pytest.mark.usefixtures("no_work")
def test_a_file_cannot_take_the_place_of_a_folder(failing: Run, tmp_path: Path) -> None:
    (tmp_path / "review-25_01178_REM.md").mkdir()
    assert "it is a folder" in failing("review", "25/01178/REM", "--local", "--out", str(tmp_path))


@pytest.mark.usefixtures("no_work")
def test_a_backup_goes_into_a_folder_that_is_there(failing: Run, tmp_path: Path) -> None:
    assert f"there is no folder {tmp_path}/backups" in failing("backup", str(tmp_path / "backups" / "x.tar"))
    assert not (tmp_path / "backups").exists()
    assert "cannot be written" in failing("backup", "/proc/x.tar")


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the work that the outputs would be of."""
    for work in (
        "cli.review._reviewed",
        "demo.register.sample_register",
        "cli.portal.open_register",
        "cli.graph.GraphStore",
        "storage.backup.back_up",
        "storage.restore.restore",
    ):
        monkeypatch.setattr(f"trigpoint.{work}", _work)


def _work(*_: object, **__: object) -> None:
    pytest.fail("the work was started")
