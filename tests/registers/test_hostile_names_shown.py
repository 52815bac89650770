"""Names that a register gives to its documents are printed as they are, whatever they would mean to a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from portal_samples import PDF, REF, served

from trigpoint.demo.portal import DemoPortal

NAME = "Plan [/b] [red]of\u009b2J the site"


@pytest.mark.parametrize("command", ["documents", "download"])
def test_names_of_documents_are_neither_markup_nor_codes(
    command: str, portal: Callable[..., DemoPortal], tmp_path: Path
) -> None:
    running = portal(served("Site.pdf", PDF, description=NAME), served("Note.pdf", b"<html>", description=NAME))
    environment = os.environ | {
        "TRIGPOINT_DATA_DIR": str(tmp_path / "data"),
        "CHERWELL_PORTAL_URL": running.url,
        "SCRAPER_RATE_LIMIT": "0.01",
        "COLUMNS": "300",
    }
    line = [sys.executable, "-m", "trigpoint.cli.main", "portal", command, REF]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300)
    assert "Traceback" not in done.stderr
    assert "Plan [/b] [red]of" in done.stdout
    assert "\u009b" not in done.stdout + done.stderr
