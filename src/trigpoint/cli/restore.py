"""`trigpoint restore FILE --to DIR`: restores a backup into a new data folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trigpoint.cli.outputs import check_folder

app = typer.Typer(add_completion=False)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="Archive that `trigpoint backup` wrote.")],
    to: Annotated[Path, typer.Option(help="Data folder to create; it must be empty or not exist.")],
) -> None:
    """Restore a backup into an empty data folder."""
    from trigpoint.storage.restore import restore as put_back

    folder = to.expanduser().absolute()
    check_folder(folder.parent, folder)
    manifest = put_back(file, folder)
    print(f"Restored {manifest.data_dir} as of {manifest.created_at} to {folder} (version {manifest.version})")
    for name in manifest.elsewhere:
        print(f"Not included in the backup: the data behind {name}. Restore that server separately")
    print(f"Start with  TRIGPOINT_DATA_DIR={folder} trigpoint up")
