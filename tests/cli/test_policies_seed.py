"""`trigpoint policies seed` says what is there, and fails only where something is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from trigpoint.cli.main import main

Run = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def seed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    free_port: Callable[[], int],
) -> Run:
    """Seeds the NPPF, which has two revisions; the exit code, and the line of each revision."""
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("POLICY_KB_PORT", str(free_port()))

    def run(*options: str) -> tuple[int, list[str]]:
        monkeypatch.setattr(sys, "argv", ["trigpoint", "policies", "seed", "NPPF", *options])
        with pytest.raises(SystemExit) as ended:
            main()
        lines = [line for line in capsys.readouterr().out.splitlines() if " NPPF " in line]
        return int(ended.value.code or 0), lines

    return run


def test_a_digest_stands_in_for_a_text_that_was_not_downloaded(seed: Run) -> None:
    code, lines = seed()
    assert code == 1
    assert [line.split()[0] for line in lines] == ["missing", "missing"]
    assert seed("--digest")[0] == 0
    code, lines = seed()
    assert code == 0
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("kept ")
        assert "a digest is loaded; the official text was not downloaded" in line
        assert "policies fetch" in line
