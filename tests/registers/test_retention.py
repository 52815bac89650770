"""Documents go when nobody has used them for as long as the operator said; nothing else does."""

from __future__ import annotations

import os
import time
from pathlib import Path

from trigpoint.config import load_settings
from trigpoint.registers.retention import remove_old_documents


def aged(path: Path, days: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    then = time.time() - days * 86_400
    for one in (path, path.parent):
        os.utime(one, (then, then))
    return path.parent


def test_only_old_folders_go_and_only_if_asked(tmp_path: Path) -> None:
    old = aged(tmp_path / "downloads" / "25_1_F" / ".downloads.json", 40)
    other = aged(tmp_path / "downloads" / "york" / "24_2_FUL" / ".downloads.json", 40)
    recent = aged(tmp_path / "downloads" / "25_3_F" / ".downloads.json", 2)
    submitted = aged(tmp_path / "applications" / "rev_1" / "application.json", 40)
    unfinished = aged(tmp_path / "applications" / "rev_2" / "a.pdf", 2)
    policy = aged(tmp_path / "policy" / "NPPF" / "x.pdf", 400)

    assert remove_old_documents(load_settings(trigpoint_data_dir=tmp_path)) == 1
    assert not unfinished.exists()
    assert old.exists()
    assert remove_old_documents(load_settings(trigpoint_data_dir=tmp_path, downloads_kept_days=30)) == 3
    assert [folder.exists() for folder in (old, other, recent, submitted, policy)] == [False, False, True, False, True]
