"""The commands on the life of a policy, one after the other in one data folder, as a person would give them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest

from trigpoint.cli.main import main

Command = Callable[..., tuple[int, str]]

PLAN = (
    "Policy T1\nDevelopment will promote walking, cycling and public transport.\n"
    "Policy T2\nCycle parking: 2 spaces for each home."
)


@pytest.fixture
def trigpoint(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    free_port: Callable[[], int],
) -> Command:
    """Run a command in an empty data folder: its exit code, and what it printed."""
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("POLICY_KB_PORT", str(free_port()))
    monkeypatch.setenv("COLUMNS", "200")  # of a terminal in which no cell of a table is wrapped

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["trigpoint", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out + printed.err

    return run


def _pdf(path: Path, text: str) -> Path:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), text)
        document.save(path)
    return path


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_said_of_revisions_that_are_known_before_and_after_they_are_added(trigpoint: Command) -> None:
    assert trigpoint("policies", "seed", "NPPF", "--digest")[0] == 0
    before = {day: trigpoint("policies", "effective", day)[1] for day in ("2024-06-01", "2026-09-01")}
    doctor = trigpoint("doctor")[1]
    assert "rev_NPPF_2023_09" in before["2024-06-01"]
    assert "revision of December 2023, in force from 2023-12-20 to 2024-12-11, is known and not" in before["2024-06-01"]
    assert "rev_NPPF_2024_12" in before["2026-09-01"]
    assert "revision of August 2026, in force since 2026-08-17, is known and not loaded" in before["2026-09-01"]
    assert "August 2026" in doctor

    assert trigpoint("policies", "update")[0] == 0
    after = {day: trigpoint("policies", "effective", day)[1] for day in ("2024-06-01", "2026-09-01")}
    assert "rev_NPPF_2023_12" in after["2024-06-01"]
    assert "rev_NPPF_2026_08" in after["2026-09-01"]
    assert not any("not loaded" in text for text in after.values())
    assert "no later revision known" in trigpoint("doctor")[1]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_policy_of_ones_own_from_its_first_text_to_its_last(trigpoint: Command, tmp_path: Path) -> None:
    plan = _pdf(tmp_path / "plan.pdf", PLAN)
    made = trigpoint(
        "policies", "add", "HEREFORD", "Core Strategy", "--category", "local_plan", "--authority", "hereford"
    )
    assert made == (0, "added HEREFORD\n")
    code, said = trigpoint("policies", "upload", "HEREFORD", str(plan), "--label", "2020", "--from", "2020-01-01")
    assert (code, re.findall(r"rev_\w+", said)) == (0, ["rev_HEREFORD_2020_01"])
    revision = "rev_HEREFORD_2020_01"

    listed = trigpoint("policies", "provisions", "HEREFORD", "--revision", revision)[1]
    assert "local_sustainable_modes" in listed
    assert (
        "Policy T2 (confirmed)"
        in trigpoint("policies", "set", "HEREFORD", revision, "local_sustainable_modes", "policy t2")[1]
    )
    assert "not stated" in trigpoint("policies", "set", "HEREFORD", revision, "local_sustainable_modes", "none")[1]
    wrong, reason = trigpoint("policies", "set", "HEREFORD", revision, "local_sustainable_modes", "Policy Z9")
    assert wrong != 0
    assert "Policy Z9" in reason

    rates = tmp_path / "standard.yaml"
    rates.write_text(
        "section: Policy T2\nrates: [{name: cycle_parking_long_stay, use: dwellings, count: 2, unit: dwelling}]\n"
    )
    assert "2 per dwelling" in trigpoint("policies", "parking", "HEREFORD", revision, str(rates))[1]
    assert "2 per dwelling" in trigpoint("policies", "parking", "HEREFORD", revision)[1]
    rates.write_text("section: Policy T2\nrates: [{name: cycle_parking_long_stay, use: castles}]\n")
    wrong, reason = trigpoint("policies", "parking", "HEREFORD", revision, str(rates))
    assert wrong != 0
    assert "rates.0.use" in reason
    assert trigpoint("policies", "parking", "HEREFORD", revision, "--remove")[0] == 0
    assert trigpoint("policies", "parking", "HEREFORD", revision)[0] != 0

    later = trigpoint("policies", "upload", "HEREFORD", str(plan), "--label", "2024", "--from", "2024-01-01")[1]
    assert "rev_HEREFORD_2024_01" in later
    replaced = trigpoint(
        "policies", "upload", "HEREFORD", str(plan), "--label", "final", "--replace", "rev_HEREFORD_2024_01"
    )
    assert replaced[0] == 0
    code, said = trigpoint("policies", "delete", "HEREFORD", "rev_HEREFORD_2024_01", "--restore-predecessor")
    assert code == 0
    assert "deleted rev_HEREFORD_2024_01" in said
    assert revision in trigpoint("policies", "effective", "2024-06-01")[1]
    wrong, reason = trigpoint("policies", "delete", "HEREFORD", revision)
    assert wrong != 0
    assert "sole active revision" in reason
