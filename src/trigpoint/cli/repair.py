"""`trigpoint repair`: repairs the damaged files of a data folder, and says what was kept and what was lost."""

from __future__ import annotations

import typer

from trigpoint.cli.everything import only_one
from trigpoint.config import load_settings
from trigpoint.storage.files import data_folder

app = typer.Typer(add_completion=False)


@app.command()
def repair() -> None:
    """Check every embedded store, and repair what is damaged. Trigpoint must not be running on the data folder.

    A damaged Valkey log is cut off where the damage begins; a vector store is set aside to be rebuilt; a database is
    rebuilt from its rows, or set aside. The damaged files are kept in the folder `damaged` of the data folder. Exit code
    1 if something cannot be repaired.
    """
    from trigpoint.storage.repair import repair as repair_stores

    settings = load_settings()
    with only_one(data_folder(settings)):
        done = repair_stores(settings)
    for one in done:
        print(f"{one.what}: {one.problem}.\n  {one.done}.")
    if not done:
        print(f"Nothing in {settings.data_dir} is damaged.")
    if not all(one.repaired for one in done):
        raise typer.Exit(1)
