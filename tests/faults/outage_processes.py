"""The processes of a data folder that nobody starts by hand."""

from __future__ import annotations

from pathlib import Path

KINDS = {"trigpoint.storage.keeper": "keeper", "valkey-server": "Valkey", "chroma run": "Chroma"}


def embedded_processes(data: Path) -> list[tuple[str, int]]:
    """The keepers of a data folder and the servers that they keep, by kind."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended since
        if str(data) in command:
            found += [(kind, int(entry.name)) for mark, kind in KINDS.items() if mark in command]
    return found
