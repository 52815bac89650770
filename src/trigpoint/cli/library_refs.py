"""`trigpoint library refs`: shows which file is cited as which reference, and takes decisions on the doubtful ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from trigpoint.cli.library_session import ProjectName, opened, out
from trigpoint.cli.outputs import escape
from trigpoint.errors import InvalidInput, shorten
from trigpoint.library.assignments import CitedFile, RefsReport, confirm, report, set_reference
from trigpoint.library.citations import References, load_references
from trigpoint.library.library import Library
from trigpoint.library.projects import Project

Confirmed = Annotated[
    list[str] | None,
    typer.Option("--confirm", metavar="FILE", help="The citation of this file is right; may be repeated."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FILE=CITEKEY", help="Cite FILE as this reference (FILE=CITEKEY); FILE=- for none."),
]


def refs(
    project: ProjectName,
    confirmed: Confirmed = None,
    chosen: SetOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Show how each file is cited: matched, doubtful, shared or not at all. Confirm or correct it."""
    with opened() as library:
        of_project = library.projects.get(project)
        references = load_references(of_project.references)
        _decide(library, of_project, references, confirmed or [], chosen or [])
        refs_report = report(library.passages(of_project).documents(), references)
    if as_json:
        typer.echo(json.dumps(asdict(refs_report), ensure_ascii=False, indent=2))
        return
    _print_refs(refs_report)


def _decide(
    library: Library, project: Project, references: References, confirmed: Sequence[str], chosen: Sequence[str]
) -> None:
    passages, model = library.passages(project), project.embed_model
    for name in confirmed:
        file = confirm(passages, model, name)
        out.print(f"[green]confirmed[/] {escape(Path(file.path).name)}: {escape(file.citekey or '')}")
    for pair in chosen:
        name, equals, citekey = pair.rpartition("=")
        if not equals or not name or not citekey:
            raise InvalidInput(f"--set {shorten(pair)}: expected FILE=CITEKEY, or FILE=- for none of the references")
        file = set_reference(passages, model, name, citekey, references)
        out.print(f"[green]set[/] {escape(Path(file.path).name)}: {escape(file.citekey or 'no reference')}")


def _print_refs(refs_report: RefsReport) -> None:
    for name, files in (("doubtful", refs_report.doubtful), ("shared", refs_report.shared)):
        for file in files:
            out.print(f"[yellow]{name}[/] {escape(Path(file.path).name)}: {escape(file.citekey or '')}")
            out.print(f"  {escape(file.doubt or '')}")
    for file in refs_report.unmatched:
        out.print(f"[yellow]unmatched[/] {escape(Path(file.path).name)}")
    for file in refs_report.matched:
        out.print(f"[green]matched[/] {escape(Path(file.path).name)}: {escape(file.citekey or '')} ({_by(file)})")
    for citekey in refs_report.without_file:
        out.print(f"[dim]no file {escape(citekey)}[/]")
    counts = {name: len(getattr(refs_report, name)) for name in ("matched", "doubtful", "shared", "unmatched")}
    out.print(", ".join(f"{count} {name}" for name, count in counts.items()))
    if refs_report.doubtful or refs_report.shared:
        out.print("Confirm with --confirm FILE, or correct with --set FILE=CITEKEY.")


def _by(file: CitedFile) -> str:
    names = {"identifier": "by its identifier", "title": "by its title", "zotero": "by Zotero", "reader": "confirmed"}
    return names[file.by or "title"]
