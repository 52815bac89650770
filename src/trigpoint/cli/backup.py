"""`trigpoint backup FILE`: the data folder as one archive, even while everything is running."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trigpoint.cli.outputs import check_files
from trigpoint.config import load_settings

app = typer.Typer(add_completion=False)


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="Archive to write: NAME.tar.zst, NAME.tar.gz or NAME.tar.")],
) -> None:
    """Back up the data folder as it is at one instant. Nothing has to be stopped."""
    from trigpoint.storage.backup import back_up, check_target

    settings = load_settings()
    check_target(file)
    check_files([file])
    manifest = back_up(settings, file)
    print(f"Backed up {settings.data_dir} as of {manifest.created_at}: {manifest.files} files, {_mb(manifest.size)}")
    print(f"Written: {file.absolute()} ({_mb(file.stat().st_size)})")
    for name in manifest.elsewhere:
        print(f"Not included: the data behind {name}. Back up that server separately")


def _mb(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"
