"""`trigpoint portal`: look an application up in the council's register, list its documents, fetch them."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from trigpoint.cli.outputs import check_folder
from trigpoint.config import load_settings
from trigpoint.ids import parse_application_ref
from trigpoint.portal.client import PortalClient
from trigpoint.portal.downloads import Run, download_all, downloads_dir
from trigpoint.portal.filters import Wanted, judge
from trigpoint.portal.models import Application, PortalDocument
from trigpoint.storage.files import data_folder

app = typer.Typer(no_args_is_help=True, add_completion=False)

Reference = Annotated[str, typer.Argument(help="Application reference, for example 25/01178/REM.", metavar="REF")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]
Consultees = Annotated[bool, typer.Option("--consultation-responses", help="Fetch responses of consultees as well.")]
Public = Annotated[bool, typer.Option("--public-comments", help="Fetch comments of the public as well.")]


@app.command()
def show(ref: Reference, as_json: AsJson = False) -> None:
    """What the register says of an application."""
    application = asyncio.run(_application(parse_application_ref(ref)))
    if as_json:
        print(_json(dataclasses.asdict(application)))
        return
    for field in dataclasses.fields(application):
        value = getattr(application, field.name)
        print(f"{field.name.replace('_', ' '):18}{'' if value is None else value}".rstrip())


@app.command()
def documents(ref: Reference, as_json: AsJson = False) -> None:
    """The documents of an application, and which of them a review would fetch."""
    listed = asyncio.run(_documents(parse_application_ref(ref)))
    if as_json:
        print(_json([dataclasses.asdict(one) | {"fetched": judge(one).keep} for one in listed]))
        return
    table = Table("section", "description", "date", "file", "KB", "fetched")
    for document in listed:
        verdict = judge(document)
        size = "" if document.file_size is None else f"{document.file_size // 1024:,}"
        day = document.date_published.isoformat() if document.date_published else ""
        fetched = "yes" if verdict.keep else f"no: {verdict.reason}"
        table.add_row(document.document_type, document.description, day, document.file_name, size, fetched)
    Console().print(table)
    print(f"{len(listed)} documents")


@app.command()
def download(
    ref: Reference,
    to: Annotated[
        Path | None, typer.Option(help="Folder to write to. Default: `downloads` in the data folder.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Fetch every document, whatever it is.")] = False,
    consultation_responses: Consultees = False,
    public_comments: Public = False,
) -> None:
    """Fetch the documents of an application. A second run fetches only what is missing."""
    reference, settings = parse_application_ref(ref), load_settings()
    data_folder(settings)
    folder = to.expanduser().absolute() if to is not None else downloads_dir(settings)
    check_folder(folder)
    wanted = Wanted(consultation_responses, public_comments)
    run = asyncio.run(_download(reference, folder, wanted, everything))
    print(
        f"{run.count('downloaded')} fetched, {run.count('already_present')} already there, "
        f"{len(run.filtered)} filtered out, {run.count('failed')} failed, in {run.folder}"
    )
    for one in run.downloads:
        if one.error is not None:
            print(f"failed: {one.document.description}: {one.error.message}")
    if run.count("failed"):
        raise typer.Exit(1)


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, default=str)


async def _application(ref: str) -> Application:
    async with PortalClient(load_settings()) as client:
        return await client.application(ref)


async def _documents(ref: str) -> list[PortalDocument]:
    async with PortalClient(load_settings()) as client:
        return await client.documents(ref)


async def _download(ref: str, folder: Path, wanted: Wanted, everything: bool) -> Run:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"Looking up {ref}", total=None)

        async def progress(done: int, total: int, message: str) -> None:
            bar.update(task, completed=done, total=total, description=message[:50])

        async with PortalClient(load_settings()) as client:
            return await download_all(client, ref, folder, skip_filter=everything, wanted=wanted, progress=progress)
