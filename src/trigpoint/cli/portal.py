"""`trigpoint portal`: look an application up in a council's register, list its documents, fetch them."""

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

from trigpoint.cli.outputs import AsJson, check_folder, escape, printable
from trigpoint.config import load_settings
from trigpoint.registers.directory import open_register
from trigpoint.registers.downloads import Run, download_all, downloads_dir
from trigpoint.registers.entries import load_registers
from trigpoint.registers.filters import Wanted, judge
from trigpoint.registers.models import Application, RegisterDocument
from trigpoint.storage.files import data_folder

app = typer.Typer(no_args_is_help=True, add_completion=False)

ReferenceArgument = Annotated[
    str, typer.Argument(help="Application reference, for example 25/01178/REM.", metavar="REF")
]
AuthorityOption = Annotated[
    str | None,
    typer.Option(help="Slug of the authority; see `trigpoint portal registers`. Default: the first register."),
]
Consultees = Annotated[bool, typer.Option("--consultation-responses", help="Fetch consultees' responses as well.")]
Public = Annotated[bool, typer.Option("--public-comments", help="Fetch comments from the public as well.")]


@app.command()
def show(ref: ReferenceArgument, authority: AuthorityOption = None, as_json: AsJson = False) -> None:
    """Show what the register says about an application."""
    application = asyncio.run(_look_up(ref, authority))
    if as_json:
        print(_to_json(dataclasses.asdict(application)))
        return
    for field in dataclasses.fields(application):
        value = getattr(application, field.name)
        shown = "" if value is None else printable(str(value))
        print(f"{field.name.replace('_', ' '):18}{shown}".rstrip())


@app.command()
def documents(ref: ReferenceArgument, authority: AuthorityOption = None, as_json: AsJson = False) -> None:
    """List the documents of an application, and which of them a review would fetch."""
    listed = asyncio.run(_list_documents(ref, authority))
    if as_json:
        print(_to_json([dataclasses.asdict(one) | {"fetched": judge(one).keep} for one in listed]))
        return
    table = Table("section", "description", "date", "file", "KB", "fetched")
    for document in listed:
        verdict = judge(document)
        size = "" if document.file_size is None else f"{document.file_size // 1024:,}"
        day = document.date_published.isoformat() if document.date_published else ""
        fetched = "yes" if verdict.keep else f"no: {verdict.reason}"
        names = map(escape, (document.document_type, document.description, day, document.file_name))
        table.add_row(*names, size, fetched)
    Console().print(table)
    print(f"{len(listed)} documents")


@app.command()
def download(
    ref: ReferenceArgument,
    to: Annotated[
        Path | None, typer.Option(help="Folder to write to. Default: `downloads` in the data folder.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Fetch every document, whatever it is.")] = False,
    consultation_responses: Consultees = False,
    public_comments: Public = False,
    authority: AuthorityOption = None,
) -> None:
    """Fetch the documents of an application. A second run fetches only what is missing."""
    settings = load_settings()
    data_folder(settings)
    folder = to.expanduser().absolute() if to is not None else downloads_dir(settings)
    check_folder(folder)
    wanted = Wanted(consultation_responses, public_comments)
    run = asyncio.run(_download_documents(ref, authority, folder, wanted, everything))
    print(
        f"{run.count('downloaded')} fetched, {run.count('already_present')} already there, "
        f"{len(run.filtered)} filtered out, {run.count('failed')} failed, in {run.folder}"
    )
    for one in run.downloads:
        if one.error is not None:
            print(printable(f"failed: {one.document.description}: {one.error.message}"))
    if run.count("failed"):
        raise typer.Exit(1)


def _to_json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, default=str)


@app.command()
def registers(as_json: AsJson = False) -> None:
    """List the known planning registers, and whether Trigpoint can read them."""
    table = load_registers(load_settings())
    if as_json:
        print(_to_json([entry.model_dump() | {"readable": entry.readable} for entry in table.entries.values()]))
        return
    shown = Table("authority", "name", "software", "reference", "readable", "tried")
    for entry in table.entries.values():
        name = f"{entry.name} (default)" if table.is_default(entry.authority) else entry.name
        readable = "yes" if entry.readable else "no"
        shown.add_row(
            entry.authority, name, entry.product or entry.software, entry.example or "any", readable, entry.tried
        )
    Console().print(shown)


async def _look_up(ref: str, authority: str | None) -> Application:
    async with open_register(load_settings(), authority) as register:
        return await register.application(register.entry.check_reference(ref))


async def _list_documents(ref: str, authority: str | None) -> list[RegisterDocument]:
    async with open_register(load_settings(), authority) as register:
        return await register.documents(register.entry.check_reference(ref))


async def _download_documents(ref: str, authority: str | None, folder: Path, wanted: Wanted, everything: bool) -> Run:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    async with open_register(load_settings(), authority) as register:
        reference = register.entry.check_reference(ref)
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(f"Looking up {reference}", total=None)

            async def progress(done: int, total: int, message: str) -> None:
                bar.update(task, completed=done, total=total, description=escape(message[:50]))

            return await download_all(
                register, reference, folder, skip_filter=everything, wanted=wanted, progress=progress
            )
