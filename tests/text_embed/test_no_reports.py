"""The library that runs the model reports to nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_embedding_leaves_nothing_outside_the_data_folder(tmp_path: Path) -> None:
    """ONNX Runtime's reports begin with an id of the machine in the user's cache: none may be there."""
    home = tmp_path / "home"
    home.mkdir()
    code = "from trigpoint.config import load_settings; from trigpoint.text.embed import EmbeddingService; "
    code += "print(len(EmbeddingService(load_settings()).embed('a cycle track')))"
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["TRIGPOINT_DATA_DIR"] = str(tmp_path / "data")
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert done.stdout == "384\n", done.stderr
    assert [str(path) for path in home.rglob("*")] == []
