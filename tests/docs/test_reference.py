"""docs/reference/ is what the code says; `make docs` rewrites it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import reference  # noqa: E402


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_reference_says_what_the_code_does(name: str) -> None:
    written = (reference.FOLDER / name).read_text(encoding="utf-8")
    assert written == reference.NOTE + reference.PAGES[name](), f"docs/reference/{name} is out of date: run `make docs`"


def test_every_setting_is_in_the_reference_with_its_meaning() -> None:
    from trigpoint.config import Settings

    written = (reference.FOLDER / "settings.md").read_text(encoding="utf-8")
    for name, field in Settings.model_fields.items():
        assert field.description, f"{name} has no description"
        assert f"| `{name.upper()}` |" in written


def test_every_error_is_in_the_reference_with_its_meaning() -> None:
    written = (reference.FOLDER / "errors.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split(" | ") for line in written if line.startswith("| `")]
    assert rows
    assert [row[2] for row in rows if not row[-1].strip(" |")] == []


def test_the_command_line_says_what_may_be_left_out_and_what_may_not() -> None:
    written = (reference.FOLDER / "cli.md").read_text(encoding="utf-8")
    assert "### `trigpoint review [REFERENCE] [OPTIONS]`" in written
    assert "### `trigpoint policies show SOURCE`" in written
    assert "| `--label` | Name of this version, for example 'December 2024'. Required. |" in written
