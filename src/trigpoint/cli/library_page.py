"""`trigpoint library page`: the page that a quotation is on, as a picture with the quotation marked."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from trigpoint.cli.library_session import ProjectName, opened, out
from trigpoint.cli.outputs import escape
from trigpoint.config import load_settings
from trigpoint.errors import DocumentNotInProject, InvalidInput, shorten
from trigpoint.library.library import Library
from trigpoint.text.pdf_mark import file_is_pdf
from trigpoint.text.picture import PageRenderer


def page(
    words: Annotated[str, typer.Argument(help="The quotation, as you have it.")],
    project: ProjectName,
    doc_id: Annotated[str | None, typer.Option("--doc", help="Look in this document only, by its id.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Image file to write.")] = Path("page.png"),
) -> None:
    """Draw the PDF page that has these words, with the words marked."""
    with opened() as library:
        file, number, citation = _place_of(library, project, words, doc_id)
    with closing(PageRenderer(load_settings())) as renderer:
        picture = renderer.render_page(file, number, words)
    output.write_bytes(picture.png)
    marked = "marked" if picture.marked else "not marked: the page has no text layer, like a scan"
    out.print(f"{escape(citation)}, p. {number}: {escape(str(output))} ({marked})")


def _place_of(library: Library, project: str, words: str, doc_id: str | None) -> tuple[Path, int, str]:
    """Return the file, the physical page and the name of the first work that says these words on a page."""
    matches = library.find_quote(project, words, doc_id)["matches"]
    match = next((match for match in matches if match["page"]), None)
    if match is None:
        raise InvalidInput(f"No document of this project says that on a page: {shorten(words)}")
    rows = library.passages(library.projects.get(project)).documents()
    path = next((row.path for row in rows if row.document_id == match["doc_id"]), None)
    if path is None or not Path(path).is_file() or not file_is_pdf(Path(path)):
        raise DocumentNotInProject(f"The page cannot be drawn: {path or match['doc_id']} is not a PDF on this machine")
    return Path(path), match["page"], match["citekey"] or match["title"] or match["doc_id"]
