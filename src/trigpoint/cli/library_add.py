"""`trigpoint library add`: adds references to a project's file, by DOI or ISBN, from a file of metadata."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from filelock import FileLock

from trigpoint.cli.library_session import ProjectName, opened, out
from trigpoint.cli.outputs import escape
from trigpoint.config import load_settings
from trigpoint.errors import InvalidInput
from trigpoint.library.reference_file import add_works, find_works
from trigpoint.storage.files import data_folder

From = Annotated[Path, typer.Option("--from", help="Metadata file: CSL-JSON (.json), BibTeX (.bib) or RIS (.ris).")]
Dois = Annotated[list[str] | None, typer.Option("--doi", help="Only the entry with this DOI; may be repeated.")]
Isbns = Annotated[list[str] | None, typer.Option("--isbn", help="Only the entry with this ISBN; may be repeated.")]


def add(project: ProjectName, source: From, dois: Dois = None, isbns: Isbns = None) -> None:
    """Add references from a metadata file to the project's references. Existing ones are left as they are."""
    with opened() as library:
        chosen = library.projects.get(project)
    if chosen.references is None:
        raise InvalidInput(
            f"Project '{chosen.id}' has no references file. Set `references` for it in the projects file"
        )
    works = find_works(source, dois or [], isbns or [])
    with FileLock(data_folder(load_settings(), "library") / "references.lock"):  # of two callers both are kept
        added = add_works(chosen.references, works)
    for work in added:
        out.print(f"[green]added[/] {escape(work.citekey or '')}: {escape(work.citation)}")
    out.print(f"{len(added)} added, {len(works) - len(added)} there already.")
    if added:
        out.print(f"Files of the project are matched with them by `library reindex -p {escape(chosen.id)}`.")
