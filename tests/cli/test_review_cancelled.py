"""Ctrl-C while a review runs: one line that says so, and the exit code of an interrupt."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from trigpoint.cli.main import main


def test_a_review_that_is_broken_off_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    async def interrupted(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)

    target = tmp_path / "review.md"
    monkeypatch.setenv("TRIGPOINT_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("trigpoint.cli.review.review_here", interrupted)
    monkeypatch.setattr(sys, "argv", ["trigpoint", "review", "25/01178/REM", "--local", "--out", str(target)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err.splitlines()[-1] == "trigpoint: the review was cancelled; nothing was written"
    assert not target.exists()
