"""`trigpoint demo run`, which is what `make demo` calls: from nothing to a finished review with its files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trigpoint_process import environment, trigpoint

pytestmark = pytest.mark.slow


@pytest.mark.timeout(400)
def test_the_demo_leaves_a_review_on_the_screen_and_its_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = trigpoint("demo", "run", "--out", str(out), env=environment(tmp_path / "unused"), timeout=380)
    assert done.returncode == 0, done.stderr
    assert "Overall:" in done.stdout
    assert "citations verified" in done.stdout
    for name in ("review-25_01178_REM.md", "review-25_01178_REM.json", "review-25_01178_REM.pdf"):
        assert name in done.stdout.replace("\n", "")
        assert (out / name).stat().st_size > 1000
    review = json.loads((out / "review-25_01178_REM.json").read_text(encoding="utf-8"))
    assert review["review"]["overall_rating"] in ("red", "amber", "green")
    assert (out / "review-25_01178_REM.pdf").read_bytes().startswith(b"%PDF")
    judged = json.loads((out / "judged" / "review-25_01178_REM.json").read_text(encoding="utf-8"))
    assert judged["metadata"]["analyser"] == "llm"
    assert "recorded earlier" in judged["review"]["notice"]
    assert judged["metadata"]["citations"]["dropped"] == 0
    assert not (tmp_path / "unused").exists()
