"""`trigpoint library cite`: the references that a text cites, in a citation style or as a file for another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trigpoint.cli.library_session import ProjectName, opened
from trigpoint.errors import InvalidInput
from trigpoint.library.citations import formatted, load_references, style_named
from trigpoint.library.exports import ExportFormat, chosen_works, cited_keys, exported

TextsArgument = Annotated[list[Path] | None, typer.Argument(help="Texts that cite by @citekey or \\cite{citekey}.")]
Keys = Annotated[list[str] | None, typer.Option("--key", "-k", help="A citekey; may be repeated.")]
Style = Annotated[
    str, typer.Option(help="harvard, a CSL file, or apa, chicago, oscola with trigpoint\\[styles] installed.")
]
FormatOption = Annotated[
    ExportFormat | None, typer.Option("--format", help="Print a format for other programs instead of a formatted list.")
]


def cite(
    project: ProjectName,
    texts: TextsArgument = None,
    keys: Keys = None,
    style: Style = "harvard",
    form: FormatOption = None,
) -> None:
    """Print the references that a text cites, in a citation style or as CSL-JSON, BibTeX or RIS."""
    with opened() as library:
        references = load_references(library.projects.get(project).references)
    cited = [key for text in texts or [] for key in cited_keys(text.read_text(encoding="utf-8", errors="replace"))]
    wanted = list(dict.fromkeys([*(keys or []), *cited]))
    if not wanted:
        raise InvalidInput("Nothing is cited: name a text that cites by @citekey, or give --key CITEKEY")
    works = chosen_works(references, wanted)
    if form is not None:
        typer.echo(exported(works, form), nl=False)
        return
    chosen = style_named(style)
    for work in works:
        typer.echo(formatted(work.csl, chosen) or work.citation)
