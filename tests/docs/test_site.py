"""The site builds with nothing amiss, and no page of it fetches anything from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_site_builds_strictly_and_loads_nothing_from_outside(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    for page in (tmp_path / "site").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe)[^>]*\ssrc="(https?:[^"]+)|<link[^>]*\shref="(https?:[^"]+)', text)
        assert not loaded, f"{page.name}: {loaded}"


def test_links_of_the_readme_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    later = {"docs/benchmarks.md"}  # written after the first `make bench`
    targets = {t for t in re.findall(r'(?:\]\(|src=")([^)"#]+)', text) if not t.startswith("http")}
    assert targets
    assert [t for t in sorted(targets - later) if not (ROOT / t).exists()] == []


def test_the_readme_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text
