"""A bar for the ingestion of a policy: which page, then which passage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from trigpoint.cli.outputs import escape
from trigpoint.policies.models import IngestPhase, IngestStage

_UNITS = {IngestPhase.EXTRACTING: "page", IngestPhase.EMBEDDING: "passage", IngestPhase.STORING: "stored passage"}

Report = Callable[[float, float | None, str | None], None]


@contextmanager
def ingestion_bar(name: str) -> Iterator[Report]:
    """Show a bar, and yield what moves it: the progress as the policy server and the domain report it."""
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(name), total=100)

        def report(done: float, total: float | None, message: str | None) -> None:
            stage = IngestStage.from_message(message or "")
            place = f", {_UNITS[stage.phase]} {stage.done} of {stage.total}" if stage else ""
            bar.update(task, completed=done, total=total, description=escape(f"{name}{place}"))

        yield report
