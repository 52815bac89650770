"""`trigpoint library sync`: brings a project in line with its folders and Zotero, once or for as long as it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trigpoint.cli.library_session import AllowEmpty, ProjectName, opened, out, print_pruned, read_into
from trigpoint.cli.library_zotero import Api, InCollection, Web, open_api, open_zotero
from trigpoint.cli.outputs import escape
from trigpoint.errors import InvalidInput, StoreUnavailable
from trigpoint.library import zotero
from trigpoint.library.library import Library
from trigpoint.library.projects import Project
from trigpoint.library.sync import PlacesState, prune_files, prune_zotero, state_of, watch


def sync(
    project: ProjectName,
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Folders and files. Default: the project's `sources`.")
    ] = None,
    zotero_folder: Annotated[
        Path | None, typer.Option("--zotero", help="Zotero's data folder. Default: the project's `zotero`.")
    ] = None,
    collection: InCollection = None,
    api: Api = False,
    web: Web = None,
    watching: Annotated[bool, typer.Option("--watch", help="Keep running, and follow every change.")] = False,
    every: Annotated[float, typer.Option(help="Seconds between two checks with --watch.")] = 5.0,
    allow_empty: AllowEmpty = False,
) -> None:
    """Update a project from its sources: read new and changed files, and remove missing ones."""
    with opened() as library:
        chosen = library.projects.get(project)
        folders, data = paths or list(chosen.sources), zotero_folder or chosen.zotero
        online = api or web is not None
        if not folders and data is None and not online:
            raise InvalidInput(
                "Nothing to sync: name folders or --zotero, or set `sources` or `zotero` for the project"
            )
        _refuse_missing(folders)

        def once() -> int:
            failed = _sync_files(library, chosen, folders, allow_empty=allow_empty) if folders else 0
            if data is not None or online:
                source = open_zotero(data, api=api, web=web)
                failed += _sync_zotero(library, chosen, source, collection, allow_empty=allow_empty)
            return failed

        def again() -> None:
            try:
                once()
            except StoreUnavailable as error:
                out.print(f"[yellow]{escape(error.message)}[/] Still watching for changes.")

        if not watching:
            raise typer.Exit(1 if once() else 0)
        out.print(f"Watching; looking every {every:g} s. End with Ctrl-C.")
        try:
            watch(lambda: state_of(folders, data) | (_state_online(web) if online else frozenset()), again, every=every)
        except KeyboardInterrupt:
            out.print("Ended.")


def _refuse_missing(folders: list[Path]) -> None:
    missing = [str(folder) for folder in folders if not folder.expanduser().exists()]
    if missing:
        raise InvalidInput(f"{', '.join(missing)}: there is no such folder or file. Nothing was changed")


def _sync_files(library: Library, project: Project, folders: list[Path], *, allow_empty: bool) -> int:
    audit = read_into(library, project, lambda into, show: into.run(folders, progress=show))
    print_pruned(prune_files(library.passages(project), folders, allow_empty=allow_empty))
    return audit.count("failed")


def _sync_zotero(
    library: Library, project: Project, source: zotero.ZoteroSource, collection: str | None, *, allow_empty: bool
) -> int:
    origins = list(zotero.origins(source, zotero.items(source, collection)))
    audit = read_into(library, project, lambda into, show: into.run_all(origins, progress=show))
    names = [origin.name for origin in origins]
    print_pruned(prune_zotero(library.passages(project), names, allow_empty=allow_empty))
    return audit.count("failed")


def _state_online(web: str | None) -> PlacesState:
    """Return the version of the library behind the API; None if it cannot be reached."""
    try:
        return frozenset({("api", open_api(web).version(), 0)})
    except StoreUnavailable:
        return frozenset({("api", -1, 0)})
