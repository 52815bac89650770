"""What goes wrong on a command line is one line with the way out, and `up` speaks before it works."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from trigpoint.cli import main as program
from trigpoint.config import load_settings
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint.errors import ScraperError

PROGRAM = Path(sys.executable).with_name("trigpoint")


def run(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"TRIGPOINT_DATA_DIR": str(folder)} | variables
    return subprocess.run([PROGRAM, *arguments], env=environment, capture_output=True, text=True, timeout=300)


def test_a_wrong_name_of_a_model_is_said_before_anything_is_fetched(
    tmp_path: Path, free_port: Callable[[], int]
) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    said = run(tmp_path, "review", "25/01178/REM", "--local", TRIGPOINT_MODEL="clod:opus", CHERWELL_PORTAL_URL=nowhere)
    assert said.returncode == 1
    (line,) = [line for line in said.stderr.splitlines() if line.strip()]
    assert line.startswith("trigpoint: TRIGPOINT_MODEL=clod:opus cannot be used")
    assert "leave it out" in line


def test_the_help_of_a_command_says_all_that_the_reference_says_about_it(tmp_path: Path) -> None:
    said = run(tmp_path, "repair", "--help", COLUMNS="200").stdout
    assert "Trigpoint must not be running on the data folder" in said
    assert "Exit code 1 if something cannot be repaired." in said
    assert "Repair damaged files of the data folder." in run(tmp_path, "--help", COLUMNS="200").stdout


@pytest.mark.parametrize("reference", ["2501178", "25/01178/REM/..", "x"])
def test_a_mistyped_reference_is_one_line_with_an_example(tmp_path: Path, reference: str) -> None:
    said = run(tmp_path, "review", reference, "--local")
    assert said.returncode == 1
    assert len(said.stderr.splitlines()) == 1
    assert "25/01178/REM" in said.stderr


@pytest.mark.slow
def test_an_application_that_the_register_does_not_have_is_one_line_with_its_reference_and_the_way_out(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    register = sample_register(load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("register")))
    with DemoPortal(register, port=0) as portal:
        said = run(tmp_path, "review", "25/99999/F", "--local", CHERWELL_PORTAL_URL=portal.url)
    assert said.returncode == 1
    (line,) = [line for line in said.stderr.splitlines() if line.strip()]
    assert line.startswith(
        "trigpoint: 25/99999/F: Application not found on Cherwell planning portal. Check the reference"
    )


@pytest.mark.slow
def test_a_register_that_cannot_be_reached_is_told_once(tmp_path: Path, free_port: Callable[[], int]) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    said = run(tmp_path, "review", "25/01178/REM", "--local", CHERWELL_PORTAL_URL=nowhere)
    assert said.returncode == 1
    (line,) = [line for line in said.stderr.splitlines() if line.strip()]
    assert "The register at 127.0.0.1 cannot be reached" in line
    assert "`trigpoint review --documents FOLDER`" in line


def test_a_mistyped_command_is_answered_with_the_nearest(tmp_path: Path) -> None:
    said = run(tmp_path, "reviw", "25/01178/REM")
    assert said.returncode == 2
    assert "No such command 'reviw'. Did you mean 'review'?" in said.stderr


def test_a_server_that_is_not_there_is_told_with_the_command_that_starts_it(
    tmp_path: Path, free_port: Callable[[], int]
) -> None:
    said = run(tmp_path, "call", "scraper", "list_documents", CHERWELL_SCRAPER_PORT=str(free_port()))
    assert said.returncode == 1
    assert len(said.stderr.splitlines()) == 1
    assert "`trigpoint up` starts all servers" in said.stderr


def test_without_a_key_the_variable_is_named_and_no_advice_to_programmers(tmp_path: Path) -> None:
    said = run(tmp_path, "review", "25/01178/REM", "--local", TRIGPOINT_MODEL="anthropic:claude", ANTHROPIC_API_KEY="")
    assert said.returncode == 1
    (line,) = [line for line in said.stderr.splitlines() if line.strip()]
    assert "ANTHROPIC_API_KEY" in line
    assert "Agent(" not in line


def test_of_what_ran_side_by_side_the_first_fault_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def side_by_side() -> None:
        async with asyncio.TaskGroup() as outer:
            outer.create_task(_nested())

    async def _nested() -> None:
        async with asyncio.TaskGroup() as inner:
            inner.create_task(_fails())

    async def _fails() -> None:
        raise ScraperError("The register cannot be reached")

    monkeypatch.setattr(program, "app", lambda: asyncio.run(side_by_side()))
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == "trigpoint: The register cannot be reached\n"


def test_up_speaks_before_it_imports_what_it_runs(tmp_path: Path, free_port: Callable[[], int]) -> None:
    ports = {name: str(free_port()) for name in ("API_PORT", "CHERWELL_SCRAPER_PORT", "DOCUMENT_STORE_PORT")}
    environment = os.environ | {"TRIGPOINT_DATA_DIR": str(tmp_path)} | ports
    began = time.monotonic()
    with subprocess.Popen([PROGRAM, "up"], env=environment, stderr=subprocess.PIPE, text=True) as started:
        assert started.stderr is not None
        first = started.stderr.readline()
        took = time.monotonic() - began
        started.terminate()
    assert first.startswith("Starting Trigpoint")
    assert took < 3  # a second on a machine that has nothing else to do
