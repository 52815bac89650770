"""`trigpoint doctor` as a user runs it: a table, and an exit code that scripts can use."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("trigpoint")


def run_doctor(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"TRIGPOINT_DATA_DIR": str(folder), "COLUMNS": "200"} | variables
    return subprocess.run([PROGRAM, "doctor"], env=environment, capture_output=True, text=True, timeout=100)


def test_a_fresh_machine_is_found_in_order(tmp_path: Path) -> None:
    done = run_doctor(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "embedded Valkey" in done.stdout
    assert "384 dimensions" in done.stdout
    assert "missing" not in done.stdout


def test_what_cannot_be_reached_is_named_and_the_exit_code_says_so(
    tmp_path: Path, free_port: Callable[[], int]
) -> None:
    port = free_port()
    done = run_doctor(
        tmp_path,
        CHROMA_URL=f"http://127.0.0.1:{port}",
        REDIS_URL=f"redis://127.0.0.1:{port}",
        EMBEDDING_MODEL_PATH=str(tmp_path / "none"),
    )
    assert done.returncode == 1
    assert f"CHROMA_URL=http://127.0.0.1:{port} cannot be reached" in done.stdout
    assert "REDIS_URL cannot be reached" in done.stdout
    assert done.stdout.count("missing") >= 3
    assert "Traceback" not in done.stderr


def test_a_wrong_setting_is_one_clear_line(tmp_path: Path) -> None:
    done = run_doctor(tmp_path, API_PORT="eighty")
    assert done.returncode == 1
    assert "API_PORT=eighty" in done.stderr
    assert "Traceback" not in done.stderr
