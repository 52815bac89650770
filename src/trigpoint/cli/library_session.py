"""Shared by the library's commands: the library opened, a progress bar, the audit in a few lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from trigpoint.cli.outputs import escape
from trigpoint.config import load_settings
from trigpoint.library.ingest import Audit, Ingestion
from trigpoint.library.library import Library
from trigpoint.library.progress import Progress as ShowProgress
from trigpoint.library.progress import Reached
from trigpoint.library.projects import Project
from trigpoint.library.sync import Pruned
from trigpoint.storage.files import data_folder
from trigpoint.text.extract import DocumentProcessor

out = Console(highlight=False, soft_wrap=True)

AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Remove documents even if none of their files can be found.")
]
ProjectName = Annotated[str, typer.Option("--project", "-p", help="Project id, as in trigpoint.toml.")]


@contextmanager
def opened() -> Iterator[Library]:
    library = Library.open(load_settings())
    try:
        yield library
    finally:
        library.close()


def read_into(library: Library, project: Project, run: Callable[[Ingestion, ShowProgress], Audit]) -> Audit:
    """Ingest with a progress bar, and print how it went."""
    settings = load_settings()
    with closing(DocumentProcessor(settings)) as processor:
        ingestion = Ingestion(library, project, processor, data_folder(settings, "library", "audit"))
        audit = _with_progress(lambda show: run(ingestion, show))
    _print_audit(audit)
    return audit


def print_pruned(pruned: Pruned) -> None:
    for name in pruned.removed:
        out.print(f"[yellow]removed[/] {escape(name)}")
    if pruned.refused:
        out.print(f"[red]{escape(pruned.refused)}[/]")


def _with_progress(run: Callable[[ShowProgress], Audit]) -> Audit:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("reading", total=None)

        def show(reached: Reached) -> None:
            place = f", {reached.place}" if reached.place else ""
            description = escape(Path(reached.name).name[:40] + place)
            bar.update(task, completed=reached.done, total=reached.total, description=description)

        return run(show)


def _print_audit(audit: Audit) -> None:
    for entry in audit.entries:
        for warning in entry.warnings:
            out.print(f"[yellow]note[/] {escape(Path(entry.path).name)}: {escape(warning)}")
        if entry.outcome == "failed":
            out.print(f"[red]failed[/] {escape(entry.path)}: {escape(entry.reason or '')}")
        if entry.outcome == "skipped" and entry.reason != "unchanged":
            out.print(f"[dim]skipped {escape(Path(entry.path).name)}: {escape(entry.reason or '')}[/]")
        if entry.outcome == "doubted":
            out.print(f"[yellow]note[/] {escape(Path(entry.path).name)}: {escape(entry.reason or '')}")
    counts = ", ".join(f"{audit.count(outcome)} {outcome}" for outcome in ("added", "replaced", "skipped", "failed"))
    out.print(f"{counts}; {audit.chunks_written} chunks written")
    out.print(f"[dim]{audit.file}[/]")
