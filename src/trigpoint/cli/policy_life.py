"""`trigpoint policies`, continued: add a policy, upload, replace and delete revisions, and confirm provisions."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable
from pathlib import Path
from typing import Annotated

import typer
import yaml
from pydantic import ValidationError

from trigpoint.cli.outputs import escape
from trigpoint.cli.policies import (
    SourceArgument,
    app,
    out,
    policy_tools,
    print_rows,
    run,
    with_registry,
)
from trigpoint.cli.policy_progress import Report, ingestion_bar
from trigpoint.config import Settings, load_settings
from trigpoint.dates import parse_day, today
from trigpoint.errors import (
    FileMissing,
    InvalidInput,
    NoParkingStandard,
    RevisionNotFound,
    TrigpointError,
    UnsupportedFileType,
    shorten,
)
from trigpoint.ids import new_job_id
from trigpoint.policies.knowledge import PolicyKnowledge
from trigpoint.policies.models import Policy, PolicyCategory, Revision
from trigpoint.policies.parking import ParkingStandard, ParkingStandards
from trigpoint.policies.placements import Placement, Placements, PlacementStatus
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.storage.files import inside, safe_name
from trigpoint.storage.redis import redis_client, redis_server
from trigpoint.text.pdf_mark import file_is_pdf

RevisionArgument = Annotated[str, typer.Argument(help="Revision id, for example rev_NPPF_2024_12.")]
ProvisionArgument = Annotated[str, typer.Argument(help="Provision id, for example priority_walking_cycling.")]


# Provisions


@app.command()
def provisions(
    source: SourceArgument,
    revision: Annotated[
        str | None, typer.Option("--revision", help="Revision id. Default: the one in force today.")
    ] = None,
    unsure: Annotated[bool, typer.Option("--unsure", help="Only those whose section is to be confirmed.")] = False,
) -> None:
    """List what a policy requires, and the section that states it."""
    run(with_registry(lambda registry: _provisions(registry, source, revision, unsure)))


@app.command()
def confirm(source: SourceArgument, revision: RevisionArgument, provision: ProvisionArgument) -> None:
    """Confirm the section that was found for a provision."""
    run(with_registry(lambda registry: _print_placement(Placements(registry).confirm(source, revision, provision))))


@app.command("set")
def set_section(
    source: SourceArgument,
    revision: RevisionArgument,
    provision: ProvisionArgument,
    section: Annotated[
        str, typer.Argument(help="Section, for example 'Policy TR4', or 'none': it is not stated there.")
    ],
) -> None:
    """Set the section that states a provision, or say that none does."""
    wanted = None if section == "none" else section
    run(
        with_registry(
            lambda registry: _print_placement(Placements(registry).set_section(source, revision, provision, wanted))
        )
    )


@app.command()
def parking(
    source: SourceArgument,
    revision: RevisionArgument,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="YAML file with section and rates (see docs/policies.md). Without a file, the standard is shown."
        ),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the standard.")] = False,
) -> None:
    """Show the cycle parking standard of a local plan's revision, set it from a file, or remove it."""
    if remove and file is not None:
        raise InvalidInput("Give a file or --remove, not both")
    given = None if file is None else _read_standard(file)
    run(with_registry(lambda registry: _parking(ParkingStandards(registry), source, revision, given, remove)))


async def _parking(
    standards: ParkingStandards, source: str, revision: str, given: ParkingStandard | None, remove: bool
) -> None:
    if remove:
        await standards.remove(source, revision)
        out.print(f"{revision}: no parking standard")
        return
    standard = await (standards.get(source, revision) if given is None else standards.put(source, revision, given))
    if standard is None:
        raise NoParkingStandard(source, revision)
    out.print(f"{revision}, {escape(standard.section)}")
    rows: list[tuple[str, ...]] = [("USE", "STAY", "RATE", "SIZES")]
    rows += [(rate.use, rate.stay, rate.words, rate.sizes) for rate in standard.rates]
    print_rows(rows)


def _read_standard(file: Path) -> ParkingStandard:
    try:
        return ParkingStandard.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{shorten(file)} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise InvalidInput(f"{shorten(file)} is not YAML: {shorten(error)}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidInput(f"{shorten(file)} is not a parking standard: {where}: {first['msg']}") from None


async def _provisions(registry: PolicyRegistry, source: str, revision_id: str | None, unsure: bool) -> None:
    policy = await registry.get_policy(source)
    current = policy.in_force(today())
    wanted = revision_id or (current.revision_id if current else "")
    placed = next((p for p in await Placements(registry).of_policy(policy) if p.revision.revision_id == wanted), None)
    if placed is None:
        raise RevisionNotFound(source, wanted or "in force today")
    if not placed.current:
        out.print("[yellow]The text has changed and has not been searched yet: a running policy server does that.[/]")
    rows: list[tuple[str, ...]] = [("PROVISION", "SECTION", "STATE", "CONFIDENCE", "TITLE")]
    rows += [
        _placement_cells(p) for p in placed.placements if not unsure or p.status is PlacementStatus.TO_BE_CONFIRMED
    ]
    print_rows(rows)


def _placement_cells(placement: Placement) -> tuple[str, ...]:
    state = placement.status.value.replace("_", " ")
    shown = (placement.section_ref or "-", state, f"{placement.confidence:.2f}")
    return (placement.provision.id, *shown, placement.provision.title)


async def _print_placement(work: Awaitable[Placement]) -> None:
    placement = await work
    out.print(f"{placement.provision.id}: {escape(placement.where)} ({placement.status.value.replace('_', ' ')})")


# The life of policies and revisions


@app.command()
def add(
    source: SourceArgument,
    title: Annotated[str, typer.Argument(help="Title of the policy.")],
    category: Annotated[PolicyCategory, typer.Option(help="Kind of policy.")],
    authority: Annotated[
        list[str] | None,
        typer.Option(help="Authority that it applies to, by slug; may be repeated. None: all of England."),
    ] = None,
) -> None:
    """Register a policy; upload its text afterwards."""
    made: Policy = run(with_registry(lambda r: r.create_policy(source, title, category, authorities=authority or ())))
    out.print(f"added {made.source}")


@app.command()
def upload(
    source: SourceArgument,
    file: Annotated[Path, typer.Argument(help="PDF file.")],
    label: Annotated[str, typer.Option("--label", help="Name of this version, for example 'December 2024'.")],
    start: Annotated[str | None, typer.Option("--from", help="YYYY-MM-DD, in force from. Not with --replace.")] = None,
    end: Annotated[str | None, typer.Option("--to", help="YYYY-MM-DD, last day in force.")] = None,
    replace: Annotated[str | None, typer.Option("--replace", help="Revision whose text this file replaces.")] = None,
) -> None:
    """Ingest a PDF as a new revision, or in place of one with the same dates, such as a digest."""
    if (start is None) == (replace is None):
        raise InvalidInput("Give --from for a new revision, or --replace for the text of one that is there")
    revision = run(upload_revision(load_settings(), source, file, label, start=start, end=end, replace=replace))
    out.print(f"ingested {revision.revision_id}: {revision.chunk_count} passages")


@app.command()
def delete(
    source: SourceArgument,
    revision: RevisionArgument,
    restore: Annotated[
        bool,
        typer.Option(
            "--restore-predecessor",
            help="Delete even the only active revision; the one before it comes back into force.",
        ),
    ] = False,
) -> None:
    """Delete a revision with its passages."""
    removed = run(_delete(load_settings(), source, revision, restore))
    out.print(f"deleted {revision}: {removed} passages")


async def upload_revision(
    settings: Settings,
    source: str,
    file: Path,
    label: str,
    *,
    start: str | None = None,
    end: str | None = None,
    replace: str | None = None,
) -> Revision:
    """Ingest a PDF as a new revision from `start` on, or in place of the text of the revision `replace`."""
    size = _size_of_pdf(file)
    job_id = new_job_id()
    name = f"{job_id}-{safe_name(file.name, fallback='policy.pdf')}"
    folder = inside(settings.data_dir / "policy", source)
    with redis_server(settings) as url:
        redis = redis_client(url)
        registry = PolicyRegistry(redis)
        try:
            async with policy_tools(settings) as tools:
                if replace is not None:
                    path = _copy_to(file, inside(folder, replace) / name)
                    await registry.begin_replace(
                        source,
                        replace,
                        job_id,
                        file_path=str(path),
                        file_size_bytes=size,
                        version_label=label,
                        notes=None,
                    )
                    revision_id = replace
                else:
                    made, _ = await registry.create_revision(
                        source,
                        version_label=label,
                        effective_from=parse_day(start),
                        effective_to=None if end is None else parse_day(end),
                        file_path=str(folder / "{revision_id}" / name),
                        file_size_bytes=size,
                        job_id=job_id,
                    )
                    revision_id = made.revision_id
                    path = _copy_to(file, inside(folder, revision_id) / name)
                with ingestion_bar(f"Reading {source}") as report:
                    return await _ingest_revision(registry, tools, source, revision_id, path, job_id, report)
        finally:
            await redis.aclose()


def _size_of_pdf(file: Path) -> int:
    if not file.is_file():
        raise FileMissing(f"There is no file {shorten(file)}")
    if not file_is_pdf(file):
        raise UnsupportedFileType(f"{shorten(file.name)} is not a PDF")
    return file.stat().st_size


def _copy_to(file: Path, place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, place)
    return place


async def _ingest_revision(
    registry: PolicyRegistry, tools: object, source: str, revision_id: str, path: Path, job_id: str, report: Report
) -> Revision:
    async def progress(done: float, total: float | None, message: str | None) -> None:
        report(done, total, message)

    try:
        if isinstance(tools, PolicyKnowledge):
            ingested = await tools.ingest(source, revision_id, str(path), report=report)
            chunks, pages = ingested.chunks_created, ingested.page_count
        else:
            args = {"source": source, "revision_id": revision_id, "file_path": str(path), "reindex": True}
            answer = await tools.call("ingest_policy_revision", args, timeout=None, progress=progress)  # type: ignore[attr-defined]
            chunks, pages = int(answer["chunks_created"]), int(answer["page_count"])
    except BaseException as error:
        reason = error.message if isinstance(error, TrigpointError) else "interrupted"
        await asyncio.shield(registry.mark_failed(source, revision_id, reason, job_id=job_id))
        raise
    revision = await registry.mark_active(source, revision_id, chunk_count=chunks, page_count=pages, job_id=job_id)
    if isinstance(tools, PolicyKnowledge):
        await tools.settle()
        await tools.placer.bring_up_to_date(source)
    return revision


async def _delete(settings: Settings, source: str, revision_id: str, restore: bool) -> int:
    with redis_server(settings) as url:
        redis = redis_client(url)
        registry = PolicyRegistry(redis)
        try:
            async with policy_tools(settings) as tools:
                revision = await registry.begin_delete(source, revision_id, restore_predecessor=restore)
                if isinstance(tools, PolicyKnowledge):
                    removed = await tools.remove(source, revision_id)
                else:
                    args = {"source": source, "revision_id": revision_id}
                    removed = int((await tools.call("remove_policy_revision", args))["chunks_removed"])
                await registry.delete_revision(source, revision_id)
        finally:
            await redis.aclose()
    own = inside(settings.data_dir / "policy", source, revision_id)
    if revision.file_path is not None and Path(revision.file_path).parent == own:
        shutil.rmtree(own, ignore_errors=True)
    return removed
