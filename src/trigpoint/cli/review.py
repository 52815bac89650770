"""`trigpoint review`: one review from the command line, by a running API, or with its own servers if there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from trigpoint.cli.outputs import check_files, escape
from trigpoint.cli.review_sources import FolderSource, RegisterSource, ReviewSource, answer_of
from trigpoint.config import Settings, load_settings
from trigpoint.dates import parse_day
from trigpoint.errors import InvalidInput, ReviewFailed, ScraperError, first_error, shorten
from trigpoint.ids import ref_as_name
from trigpoint.registers.entries import load_registers
from trigpoint.registers.submission import Stated
from trigpoint.review.formats import FORMATS, FormatName
from trigpoint.review.models import FOCUS_AREAS, ReviewOptions
from trigpoint.review.models import Progress as Where
from trigpoint.review.result import ReviewResult
from trigpoint.storage.files import write_atomic

app = typer.Typer(add_completion=False)

_POLL_SECONDS = 0.4
_COLOURS = {"green": "green", "amber": "yellow", "red": "red"}

Show = Callable[[Where], Awaitable[None]]


@app.command()
def review(
    reference: Annotated[
        str | None, typer.Argument(help="Planning application reference, for example 25/01178/REM.")
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(help="Folder with the application's documents, instead of a register.")
    ] = None,
    authority: Annotated[
        str | None, typer.Option(help="The planning authority: slug or name; see `trigpoint portal registers`.")
    ] = None,
    ref: Annotated[str | None, typer.Option(help="With --documents: the application's reference.")] = None,
    address: Annotated[str | None, typer.Option(help="With --documents: the address of the site.")] = None,
    proposal: Annotated[str | None, typer.Option(help="With --documents: what is proposed.")] = None,
    validated: Annotated[
        str | None, typer.Option(help="With --documents: when the application was validated, YYYY-MM-DD.")
    ] = None,
    consultation_responses: Annotated[
        bool | None,
        typer.Option(help="Read consultees' responses. Default: only if the documents come from a folder."),
    ] = None,
    public_comments: Annotated[
        bool | None,
        typer.Option(help="Read comments from the public. Default: only if the documents come from a folder."),
    ] = None,
    superseded: Annotated[bool, typer.Option("--superseded", help="Read superseded documents as well.")] = False,
    focus: Annotated[
        list[str] | None, typer.Option(help=f"Aspect to review; may be repeated. One of: {', '.join(FOCUS_AREAS)}.")
    ] = None,
    format: Annotated[
        list[FormatName] | None,
        typer.Option(help="Format to write; may be repeated. letter, docx and text are the letter to the council."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File, or a folder for several formats. Default: the current folder.")
    ] = None,
    matrix: Annotated[bool, typer.Option(help="Include the policy compliance matrix.")] = True,
    conditions: Annotated[bool, typer.Option(help="Include suggested planning conditions.")] = True,
    local: Annotated[bool, typer.Option("--local", help="Do not look for a running API.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what a model would read and be asked, without asking it.")
    ] = False,
) -> None:
    """Review a planning application against the policy that was in force when it was validated."""
    settings = load_settings()
    formats = list(dict.fromkeys(format or [FormatName.MARKDOWN]))
    options = _review_options(
        focus_areas=tuple(focus) if focus else None,
        include_policy_matrix=matrix,
        include_suggested_conditions=conditions,
        include_consultation_responses=consultation_responses,
        include_public_comments=public_comments,
        include_superseded=superseded,
    )
    source: ReviewSource
    if documents is None:
        source = _in_register(settings, reference, authority, given=(ref, address, proposal, validated))
    else:
        stated = Stated(reference or ref, authority, address, proposal, parse_day(validated) if validated else None)
        source = FolderSource(documents.expanduser(), stated)
    if dry_run:
        from trigpoint.cli.review_plan import print_plan

        print_plan(settings, source, options, _InMemory())
        return
    _review_and_write(settings, source, options, _targets(source.name, formats, out), local=local)


def _in_register(
    settings: Settings, reference: str | None, authority: str | None, *, given: tuple[str | None, ...]
) -> RegisterSource:
    """Return the application's source. Raises InvalidInput, UnknownAuthority, InvalidReference."""
    if reference is None:
        raise InvalidInput("Name the reference of an application, or --documents FOLDER with its documents")
    if any(given):
        raise InvalidInput("--ref, --address, --proposal and --validated go with --documents FOLDER")
    entry = load_registers(settings).get(authority)
    entry.require_readable()
    return RegisterSource(entry.check_reference(reference), authority and entry.authority)


def review_and_write(settings: Settings, reference: str, formats: list[FormatName], folder: Path) -> ReviewResult:
    """Review in this process, write the files to a folder, and print the summary."""
    return _review_and_write(
        settings, RegisterSource(reference), ReviewOptions(), _targets(reference, formats, folder), local=True
    )


def _review_and_write(
    settings: Settings, source: ReviewSource, options: ReviewOptions, targets: dict[FormatName, Path], *, local: bool
) -> ReviewResult:
    check_files(targets.values())  # a review takes long: what cannot be written is said before it starts
    try:
        finished = asyncio.run(_reviewed(settings, source, options, list(targets), local=local))
    except KeyboardInterrupt:
        typer.echo("trigpoint: the review was cancelled; nothing was written", err=True)
        raise
    except ScraperError as error:  # the contract fixes its words for REST; here there is room for the way out
        raise ReviewFailed(f"{source.name}: {error.message}{_way_out(error)}") from None
    for kind, path in targets.items():
        write_atomic(path, finished.files[kind])
    _print_result(finished.result, targets)
    return finished.result


def _way_out(error: ScraperError) -> str:
    if "--documents" in error.message:  # a register that cannot be read has said it
        return ""
    return ". Check the reference on the council's register; --authority names another council, --documents FOLDER your own files"


@dataclass(frozen=True)
class Finished:
    """A finished review, and its files."""

    result: ReviewResult
    files: dict[FormatName, bytes]


async def _review_by_api(
    client: httpx.AsyncClient, source: ReviewSource, options: ReviewOptions, show: Show, formats: list[FormatName]
) -> Finished:
    """Submit to an API and follow the review to its end. Raises ReviewFailed, or what the API refused."""
    accepted = await source.submit(client, options)
    address = accepted["links"]["self"]
    try:
        while True:
            state = answer_of(await client.get(address))
            if state["status"] == "completed":
                files = {kind: await _downloaded(client, address, kind) for kind in formats}
                return Finished(ReviewResult.model_validate(state), files)
            if state["status"] in ("failed", "cancelled"):
                raise _failure(state)
            if state["progress"]:
                await show(Where(**state["progress"]))
            await asyncio.sleep(_POLL_SECONDS)
    except asyncio.CancelledError:
        await client.post(accepted["links"]["cancel"])
        raise


def _failure(state: dict[str, Any]) -> ReviewFailed:
    error = state["error"] or {}
    kind = ScraperError if error.get("code") == ScraperError.code else ReviewFailed
    return kind(error.get("message") or f"The review was {state['status']}")


async def _downloaded(client: httpx.AsyncClient, address: str, kind: FormatName) -> bytes:
    answer = await client.get(f"{address}/download", params={"format": kind.value})
    if not answer.is_success:
        answer_of(answer)  # raises what the API refused
    return answer.content


async def review_here(
    settings: Settings, source: ReviewSource, options: ReviewOptions, show: Show, formats: list[FormatName]
) -> Finished:
    """Run the pipeline in this process, with its own servers on free ports."""
    from trigpoint.mcp.local_servers import local_servers
    from trigpoint.review.files import rendered_files
    from trigpoint.review.pipeline import run_review

    if settings.trigpoint_model is not None:
        from trigpoint.review.agent.model_name import named_model

        named_model(settings.trigpoint_model)  # a wrong name is said before anything is fetched
    request = await source.prepare(settings, options)
    try:
        async with local_servers(settings) as (tools, local):
            result = await run_review(request, tools=tools, checkpoints=_InMemory(), report=show, settings=local)
            return Finished(result, await rendered_files(tools, local, result, formats))
    except BaseExceptionGroup as group:  # task groups of the servers wrap what went wrong
        raise first_error(group) from None


async def _reviewed(
    settings: Settings, source: ReviewSource, options: ReviewOptions, formats: list[FormatName], *, local: bool
) -> Finished:
    with _bar() as bar:
        task = bar.add_task("Starting", total=100)

        async def show(where: Where) -> None:
            bar.update(task, completed=where.percent_complete, description=escape(where.detail))

        async with _api(settings) as client:
            if not local and await _is_our_api(client):
                return await _review_by_api(client, source, options, show, formats)
        return await review_here(settings, source, options, show, formats)


class _InMemory:
    """Checkpoints of a review that lives as long as the command."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, Any]] = {}

    async def load(self, phase: str) -> dict[str, Any] | None:
        return self._kept.get(phase)

    async def save(self, phase: str, data: dict[str, Any]) -> None:
        self._kept[phase] = data


def _api(settings: Settings) -> httpx.AsyncClient:
    key = settings.key_ring.own("submit")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    address = f"http://127.0.0.1:{settings.api_port}"
    return httpx.AsyncClient(base_url=address, headers=headers, timeout=30, trust_env=False)


async def _is_our_api(client: httpx.AsyncClient) -> bool:
    """Return whether a Trigpoint API is there, and not some other server on that port."""
    try:
        health = await client.get("/api/v1/health", timeout=2)
        return health.status_code == 200 and "services" in health.json()
    except (httpx.HTTPError, ValueError):
        return False


def _review_options(**chosen: Any) -> ReviewOptions:
    try:
        return ReviewOptions(**chosen)
    except ValidationError as error:
        raise InvalidInput(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def _targets(reference: str, formats: list[FormatName], out: Path | None) -> dict[FormatName, Path]:
    """Return the path of each format. One format may name its file; several need a folder."""
    if out is not None and not out.is_dir() and out.suffix:
        if len(formats) > 1:
            raise InvalidInput(
                f"--out {shorten(out)} is one file, and {len(formats)} formats were asked for. Name a folder"
            )
        return {formats[0]: out}
    folder = out or Path()
    return {kind: folder / FORMATS[kind].file_name.format(ref_as_name(reference)) for kind in formats}


def _bar() -> Progress:
    """Return a bar of one line: a long name is cut, so that the line moves in place."""
    return Progress(
        TextColumn("{task.description}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
        BarColumn(bar_width=12),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )


def _print_result(result: ReviewResult, targets: dict[FormatName, Path]) -> None:
    console, review, metadata = Console(), result.review, result.metadata
    table = Table("aspect", "rating", "key issue", title=escape(result.application.reference), title_justify="left")
    for aspect in review.aspects:
        table.add_row(aspect.name, _coloured(aspect.shown_rating), escape(aspect.key_issue))
    console.print(table)
    console.print(f"Overall: {_coloured(review.shown_rating)}. {escape(review.summary)}")
    console.print(
        f"Policy as of {metadata.policy_effective_date}; {metadata.citations.verified} of {metadata.citations.checked} "
        f"citations verified; {metadata.processing_time_seconds} s",
        highlight=False,
    )
    for path in targets.values():
        console.print(f"Written: {path}", highlight=False, markup=False, soft_wrap=True)


def _coloured(rating: str) -> str:
    return f"[{_COLOURS.get(rating, 'bright_black')}]{rating.upper()}[/]"
