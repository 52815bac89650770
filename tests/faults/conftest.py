"""A data folder with the shipped policies in it, made once and copied for each test that damages it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from trigpoint.config import load_settings
from trigpoint.storage.keeper import wait_until_gone
from trigpoint_process import Running, environment


@pytest.fixture(scope="session")
def seeded_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `trigpoint up` leaves behind after its first start."""
    folder = tmp_path_factory.mktemp("seeded") / "data"
    with Running("up", env=environment(folder)) as up:
        assert up.stop() == 0
    settings = load_settings(trigpoint_data_dir=folder)
    for part in (folder / "redis", settings.chroma_dir("policies"), settings.chroma_dir("documents")):
        wait_until_gone(part)
    return folder


@pytest.fixture
def copied(seeded_folder: Path, tmp_path: Path) -> Callable[[], Path]:
    def copy() -> Path:
        return Path(shutil.copytree(seeded_folder, tmp_path / "data", ignore=shutil.ignore_patterns("*.sock")))

    return copy
