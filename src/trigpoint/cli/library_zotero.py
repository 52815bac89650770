"""`trigpoint library zotero`: see what Zotero has, and put it into a project with its citations and annotations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from trigpoint.cli.library_session import ProjectName, opened, out, read_into
from trigpoint.cli.outputs import escape
from trigpoint.config import load_settings
from trigpoint.extras import needs_extra
from trigpoint.library import zotero

if TYPE_CHECKING:
    from trigpoint.library.zotero_api import ZoteroApi

app = typer.Typer(no_args_is_help=True, help="Zotero's collections, items and annotations.")

FolderOption = Annotated[Path, typer.Option("--folder", help="Zotero's data folder, with zotero.sqlite in it.")]
Api = Annotated[bool, typer.Option("--api", help="Use the local API of a running Zotero instead.")]
Web = Annotated[
    str | None, typer.Option("--web", help="Use a library on zotero.org instead: users/NUMBER or groups/NUMBER.")
]
InCollection = Annotated[str | None, typer.Option("--collection", "-c", help="Key or name of a collection.")]
_ZOTERO_FOLDER = Path("~/Zotero")


@app.command()
def collections(folder: FolderOption = _ZOTERO_FOLDER, api: Api = False, web: Web = None) -> None:
    """List the collections with their keys."""
    table = Table("key", "collection", "in")
    for entry in open_zotero(folder, api=api, web=web).collections():
        table.add_row(entry.key, escape(entry.name), entry.parent or "")
    out.print(table)


@app.command()
def items(
    collection: InCollection = None, folder: FolderOption = _ZOTERO_FOLDER, api: Api = False, web: Web = None
) -> None:
    """List the items, with what could be ingested from each."""
    table = Table("key", "citekey", "title", "attachments", "annotations")
    for item in zotero.items(open_zotero(folder, api=api, web=web), collection):
        marks = sum(len(attachment.annotations) for attachment in item.attachments)
        table.add_row(
            item.key, escape(item.work.citekey or ""), escape(item.work.title), str(len(item.attachments)), str(marks)
        )
    out.print(table)


@app.command()
def ingest(
    project: ProjectName,
    collection: InCollection = None,
    folder: FolderOption = _ZOTERO_FOLDER,
    api: Api = False,
    web: Web = None,
    force: Annotated[bool, typer.Option(help="Read unchanged attachments again, too.")] = False,
) -> None:
    """Read attachments and annotations into a project. Unchanged ones are skipped."""
    source = open_zotero(folder, api=api, web=web)
    origins = list(zotero.origins(source, zotero.items(source, collection)))
    with opened() as library:
        chosen = library.projects.get(project)
        audit = read_into(library, chosen, lambda into, show: into.run_all(origins, force=force, progress=show))
    raise typer.Exit(1 if audit.count("failed") else 0)


def open_zotero(folder: Path | None, *, api: bool, web: str | None = None) -> zotero.ZoteroSource:
    """Return Zotero's database in this folder, a running Zotero's local API, or a library on zotero.org."""
    if api or web:
        return open_api(web)
    from trigpoint.library.zotero_database import ZoteroDatabase

    return ZoteroDatabase((folder or _ZOTERO_FOLDER).expanduser())


def open_api(web: str | None) -> ZoteroApi:
    with needs_extra("zotero", "pyzotero", "Zotero's API"):
        from trigpoint.library.zotero_api import ZoteroApi
    key = load_settings().zotero_api_key
    return ZoteroApi(library=web, key=key.get_secret_value() if key and web else None)
