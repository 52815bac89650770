"""`trigpoint up`: says at once that it is starting, because its imports take a while."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trigpoint import __version__

app = typer.Typer(add_completion=False)


@app.command()
def up(
    root: Annotated[list[Path] | None, typer.Option(help="Folder that documents may be ingested from.")] = None,
    seed: Annotated[bool, typer.Option(help="Load the shipped policies if they are missing.")] = True,
    demo: Annotated[
        bool, typer.Option("--demo", help="Read fictional applications on this machine instead of Cherwell's register.")
    ] = False,
) -> None:
    """Run everything: API and pages, the six MCP servers, a worker. Stop with Ctrl-C."""
    typer.echo(f"Starting Trigpoint {__version__} …", err=True)
    from trigpoint.cli.everything import run_everything

    run_everything(root, seed=seed, demo=demo)
