"""`trigpoint library`: put sources into a project, search them, see what is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from trigpoint.cli import library_add, library_cite, library_page, library_refs, library_sync, library_zotero
from trigpoint.cli.library_session import AllowEmpty, ProjectName, opened, out, print_pruned, read_into
from trigpoint.cli.outputs import AsJson, escape
from trigpoint.errors import HybridNotSupported
from trigpoint.library.library import DEFAULT_TOP_K, MOST_ELSEWHERE, MOST_NEIGHBOURS
from trigpoint.library.sync import prune_files

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.add_typer(library_zotero.app, name="zotero")
app.command("add")(library_add.add)
app.command("refs")(library_refs.refs)
app.command("sync")(library_sync.sync)
app.command("cite")(library_cite.cite)
app.command("page")(library_page.page)


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders: PDF, EPUB, Markdown, HTML, DOCX, text.")],
    project: ProjectName,
    force: Annotated[bool, typer.Option(help="Read unchanged files again, too.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Remove documents whose files below PATHS are gone.")] = False,
    allow_empty: AllowEmpty = False,
) -> None:
    """Read files into a project. Unchanged ones are skipped; an interrupted run continues where it stopped."""
    with opened() as library:
        chosen = library.projects.get(project)
        audit = read_into(library, chosen, lambda into, show: into.run(paths, force=force, progress=show))
        if prune:
            print_pruned(prune_files(library.passages(chosen), paths, allow_empty=allow_empty))
    raise typer.Exit(1 if audit.count("failed") else 0)


@app.command()
def query(
    question: Annotated[str, typer.Argument(help="What to look for.")],
    project: ProjectName,
    top_k: Annotated[int, typer.Option("-n", min=1, max=100, help="How many passages.")] = DEFAULT_TOP_K,
    tag: Annotated[list[str] | None, typer.Option(help="Only passages with this tag; may be repeated.")] = None,
    citekey: Annotated[str | None, typer.Option(help="Only passages of this work.")] = None,
    year: Annotated[int | None, typer.Option(help="Only works of this year.")] = None,
    semantic: Annotated[bool, typer.Option("--semantic", help="Search by meaning only, not by words.")] = False,
    as_json: AsJson = False,
) -> None:
    """Search a project; each passage comes with its citation."""
    chosen = {"tags": tag, "citekey": citekey, "year": year}
    filters = {key: value for key, value in chosen.items() if value}
    with opened() as library:
        try:
            search = library.find_chunks if semantic else library.query_hybrid
            answer = search(project, question, top_k, filters)
        except HybridNotSupported:
            answer = library.find_chunks(project, question, top_k, filters)
    if as_json:
        _print_json(answer)
        return
    if answer.get("weak"):
        out.print("No passage seems to answer this. These are the closest ones.\n")
    if answer.get("note"):
        out.print(f"[yellow]{answer['note']}[/]\n")
    for item in answer["items"]:
        out.print(f"[bold]{escape(_reference(item))}[/] [dim]{item['score']:.2f}[/]")
        out.print(escape(" ".join(item["render_text"].split())))
        if item["citation"]:
            out.print(f"[dim]{escape(item['citation'])}[/]")
        if item["citation_doubt"]:
            out.print(f"[yellow]Doubtful citation: {escape(item['citation_doubt'])}[/]")
        out.print()
    if not answer["items"]:
        out.print("Nothing found.")


@app.command()
def quote(
    words: Annotated[str, typer.Argument(help="The quotation, as you have it.")],
    project: ProjectName,
    as_json: AsJson = False,
) -> None:
    """Find a quotation: its document, page and offsets."""
    with opened() as library:
        answer = library.find_quote(project, words)
    if as_json:
        _print_json(answer)
    for match in () if as_json else answer["matches"]:
        page = f"p. {match['page']}" if match["page"] else "no pages"
        exact = "word for word" if match["exact"] else "the same words, typeset differently"
        out.print(f"[bold]{escape(match['citekey'] or match['title'] or match['doc_id'])}[/], {page} ({exact})")
    if not answer["matches"]:
        out.print("No document of this project says that.")
        raise typer.Exit(1)


@app.command()
def passage(
    chunk_id: Annotated[str, typer.Argument(help="Id of a passage: `chunk_id` of `query --json`.")],
    project: ProjectName,
    neighbours: Annotated[
        int, typer.Option(min=0, max=MOST_NEIGHBOURS, help="How many passages before and after it.")
    ] = 1,
    elsewhere: Annotated[
        int, typer.Option(min=0, max=MOST_ELSEWHERE, help="How many other documents with similar passages.")
    ] = 3,
    as_json: AsJson = False,
) -> None:
    """Show a passage with its neighbours, and other documents that say something similar."""
    with opened() as library:
        answer = library.get_chunk(project, chunk_id, neighbours, elsewhere)
    if as_json:
        _print_json(answer)
        return
    for part in answer["before"]:
        out.print(f"[dim]{escape(' '.join(part['text'].split()))}[/]")
    out.print(f"[bold]{escape(_reference(answer['chunk']))}[/]")
    out.print(escape(" ".join(answer["chunk"]["full_text"].split())))
    for part in answer["after"]:
        out.print(f"[dim]{escape(' '.join(part['text'].split()))}[/]")
    for item in answer.get("elsewhere", []):
        out.print(f"\nelsewhere: [bold]{escape(_reference(item))}[/] [dim]{item['score']:.2f}[/]")
        out.print(escape(" ".join(item["render_text"].split())))


@app.command()
def inspect(
    project: ProjectName,
    sample: Annotated[int, typer.Option(min=0, max=5, help="How many payloads to show.")] = 0,
) -> None:
    """Show a project's size, model and documents, and sample payloads."""
    with opened() as library:
        _print_json(library.inspect_collection(project, sample))
        for row in library.passages(library.projects.get(project)).documents():
            out.print(f"[bold]{row.document_id}[/] {row.chunk_count} chunks: {escape(row.title or '')}")
            out.print(f"  {escape(row.path or 'sent by a client')}")


@app.command()
def projects() -> None:
    """List the configured projects."""
    with opened() as library:
        listed = library.list_projects()["projects"]
        table = Table("project", "chunks", "hybrid", "model")
        for entry in listed:
            size = library.inspect_collection(entry["id"])["size"]
            table.add_row(
                escape(entry["id"]), str(size), "yes" if entry["hybrid_enabled"] else "no", entry["embed_model"]
            )
    if not listed:
        out.print(f'No projects. Add [library.projects."name"] to {library.projects.file.name}.', markup=False)
        return
    out.print(table)


@app.command()
def delete(
    doc_id: Annotated[str, typer.Argument(help="Document id, as `inspect` shows it.")],
    project: ProjectName,
) -> None:
    """Remove a document and all its chunks."""
    with opened() as library:
        answer = library.delete_document(project, doc_id)
    out.print(f"Removed {answer['chunks_removed']} chunks of {doc_id}.")


@app.command()
def reindex(project: ProjectName) -> None:
    """Read every file of a project again, with the current chunking and references."""
    with opened() as library:
        chosen = library.projects.get(project)
        rows = library.passages(chosen).documents()
        files = [Path(row.path) for row in rows if row.path and Path(row.path).exists()]
        gone = [row.path or row.document_id for row in rows if not row.path or not Path(row.path).exists()]
        read_into(library, chosen, lambda into, show: into.run(files, force=True, progress=show))
    for name in gone:
        reason = "use `library zotero ingest --force`" if name.startswith("zotero://") else "the file is not there"
        out.print(f"[yellow]kept as it was[/]: {escape(name)} ({reason})")


def _reference(item: dict[str, Any]) -> str:
    section = f" ({item['section']})" if item["section"] else ""
    return f"{item['citekey'] or item['title'] or item['doc_id']}{_page_span(item['page_span'])}{section}"


def _page_span(span: list[int] | None) -> str:
    if not span:
        return ""
    first, last = span
    return f", p. {first}" if first == last else f", pp. {first}-{last}"


def _print_json(answer: dict[str, Any]) -> None:
    typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
