"""`trigpoint watch`: new applications in a register that match what you look for. Nothing is fetched unless you run it."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

import typer

from trigpoint.cli.outputs import AsJson, printable
from trigpoint.config import load_settings
from trigpoint.dates import parse_day
from trigpoint.errors import TrigpointError
from trigpoint.registers.entries import load_registers
from trigpoint.watch.asking import asked_for
from trigpoint.watch.models import Sighting, WatchRecord
from trigpoint.watch.store import WatchStore

app = typer.Typer(no_args_is_help=True, add_completion=False)

WatchId = Annotated[str, typer.Argument(help="The watch's id; see `trigpoint watch list`.", metavar="ID")]


@app.command()
def add(
    authority: Annotated[
        str | None, typer.Option(help="Whose register: slug or name; see `trigpoint portal registers`.")
    ] = None,
    word: Annotated[
        list[str] | None, typer.Option(help="Words in the proposal or address; may be repeated: any of them matches.")
    ] = None,
    ward: Annotated[list[str] | None, typer.Option(help="A ward, as the register writes it; may be repeated.")] = None,
    min_dwellings: Annotated[int | None, typer.Option(help="Smallest number of homes.")] = None,
    min_floorspace: Annotated[int | None, typer.Option(help="Smallest floor area in square metres.")] = None,
    since: Annotated[str | None, typer.Option(help="First day to look at, YYYY-MM-DD. Default: two weeks ago.")] = None,
) -> None:
    """Add a watch. It looks at the register only when you run it."""
    settings = load_settings()
    watch = asked_for(
        settings,
        authority,
        words=word or (),
        wards=ward or (),
        min_dwellings=min_dwellings,
        min_floorspace=min_floorspace,
        since=parse_day(since) if since else None,
    )
    WatchStore(settings).add(watch)
    print(f"{watch.id}  {_authority_name(watch.authority)}: {watch.described()}, since {watch.since}")
    print(f"Look now:  trigpoint watch run {watch.id}")


@app.command("list")
def list_watches(as_json: AsJson = False) -> None:
    """List all watches, and how many new applications each has found."""
    kept = WatchStore(load_settings()).all()
    if as_json:
        print(json.dumps([one.model_dump(mode="json") for one in kept.records], indent=1, ensure_ascii=False))
    for record in () if as_json else kept.records:
        looked = f"last checked {record.last.at:%Y-%m-%d %H:%M} UTC" if record.last else "not checked yet"
        watch = record.watch
        print(
            f"{watch.id}  {_authority_name(watch.authority)}: {watch.described()}  "
            f"({record.new_count} new of {len(record.sightings)}, {looked})"
        )
        if record.last and record.last.problem:
            print(f"          {record.last.problem}")
    for name in kept.unreadable:
        typer.echo(f"not readable: {name}", err=True)
    if not kept.records and not as_json:
        print("No watches. `trigpoint watch add --help` shows how to add one.")


@app.command()
def run(
    ids: Annotated[list[str] | None, typer.Argument(help="Watches to run. Default: all.", metavar="ID")] = None,
) -> None:
    """Look at the registers' lists now, and print what is new."""
    store = WatchStore(load_settings())
    chosen = list(dict.fromkeys(ids)) if ids else [record.watch.id for record in store.all().records]
    records = [store.get(one) for one in chosen]
    if not records:
        print("No watches. `trigpoint watch add --help` shows how to add one.")
    failed = [record for record in records if not _look_and_print(store, record)]
    if failed:
        raise typer.Exit(1)


@app.command()
def show(watch_id: WatchId, as_json: AsJson = False) -> None:
    """Show what a watch has found, newest first."""
    record = WatchStore(load_settings()).get(watch_id)
    if as_json:
        print(record.model_dump_json(indent=1))
        return
    for one in record.sightings:
        _print_sighting(one, record.watch.authority)
    print(f"{len(record.sightings)} found, {record.new_count} new")


@app.command()
def seen(watch_id: WatchId) -> None:
    """Mark everything that a watch has found as seen."""
    record = WatchStore(load_settings()).change(watch_id, lambda kept: kept.seen())
    print(f"{len(record.sightings)} marked as seen")


@app.command()
def remove(watch_id: WatchId) -> None:
    """Remove a watch, and the list of what it has found."""
    WatchStore(load_settings()).remove(watch_id)
    print(f"removed {watch_id}")


def _look_and_print(store: WatchStore, record: WatchRecord) -> bool:
    """Look, print what is new, and return whether the register could be read."""
    from trigpoint.watch.looking import look  # brings the reading with it, which takes a second

    watch = record.watch
    print(f"{_authority_name(watch.authority)}: {watch.described()}")
    try:
        looked = asyncio.run(look(load_settings(), store, watch.id))
    except TrigpointError as error:
        typer.echo(f"  {error.message}", err=True)
        return False
    for one in looked.added:
        _print_sighting(one, watch.authority)
    last = looked.record.last
    if last is not None:
        unknown = f", {last.wards_unknown} of them in wards not known yet" if last.wards_unknown else ""
        odd = f", {last.left_out} not readable" if last.left_out else ""
        print(f"  {last.listed} listed since {last.since}{odd}, {last.found} match{unknown}, {len(looked.added)} new")
    return True


def _print_sighting(one: Sighting, authority: str) -> None:
    sizes = [
        f"{one.dwellings:,g} homes" if one.dwellings else "",
        f"{one.floorspace:,g} m2" if one.floorspace else "",
        "size not stated" if one.size == "not stated" else "",
    ]
    about = ", ".join(part for part in (*sizes, one.ward or "", "new" if one.new else "") if part)
    default = load_registers(load_settings()).is_default(authority)
    named = "" if default else f" --authority {authority}"
    print(printable(f"  {one.reference}  {one.address or ''}  ({about})"))
    print(printable(f"    {one.proposal or ''}"))
    print(f"    {one.page_url}")
    print(f"    trigpoint review {one.reference}{named}")


def _authority_name(authority: str) -> str:
    entry = load_registers(load_settings()).find(authority)
    return entry.name if entry else authority
