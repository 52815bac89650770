"""The official TypeScript SDK of the Model Context Protocol, installed from npm for a script of a test."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SDK = "@modelcontextprotocol/sdk@1"


def next_to_the_sdk(script: Path, folder: Path) -> Path:
    """Return a copy of the script in a folder where the SDK is installed. Skip the test if npm cannot do that."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("npm and node are not on this machine")
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    command = ["npm", "install", "--no-audit", "--no-fund", "--silent", SDK]
    installed = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    if installed.returncode != 0:
        pytest.skip(f"npm cannot install {SDK}: {installed.stderr[-300:]}")
    return Path(shutil.copy(script, folder))
