"""`trigpoint graph`: load files into the graph, look at it, write a project out again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.console import Console
from rich.progress import Progress
from rich.table import Column, Table

from trigpoint.cli.outputs import AsJson, check_files, escape
from trigpoint.config import load_settings
from trigpoint.errors import GraphBadRequest
from trigpoint.graph.export import export_project
from trigpoint.graph.fields import check_slug, check_uuid
from trigpoint.graph.inputs import EntityFilter, GraphFilter, PageRequest
from trigpoint.graph.load import items_of, load_document, load_search_csv, located, read_document, sample_files
from trigpoint.graph.neighbourhood import Caps, entity_graph
from trigpoint.graph.queries import list_entities, list_projects, project_named
from trigpoint.graph.store import GraphStore
from trigpoint.graph.vocabulary import DEFAULT_PROJECT_SLUG

app = typer.Typer(no_args_is_help=True, add_completion=False)
_out = Console(highlight=False, soft_wrap=True)

_SAMPLE_SLUG = "waymark"
_ID = Column("id", no_wrap=True, min_width=36)
ProjectSlug = Annotated[str, typer.Option("--project", "-p", help="Slug of the project.")]


@contextmanager
def _opened_store() -> Iterator[GraphStore]:
    store = GraphStore(load_settings())
    try:
        yield store
    finally:
        store.close()


@app.command()
def load(
    paths: Annotated[list[Path] | None, typer.Argument(help="JSON or YAML files of projects; CSV exports.")] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Load the fictional sample project.")] = False,
    project: ProjectSlug = DEFAULT_PROJECT_SLUG,
    start: Annotated[str | None, typer.Option("--from", help="First day of a CSV without dates, YYYY-MM-DD.")] = None,
    end: Annotated[str | None, typer.Option("--to", help="Last day of a CSV without dates, YYYY-MM-DD.")] = None,
) -> None:
    """Load files. Each is loaded completely or not at all; loading it again changes only what differs."""
    chosen = [(path, project) for path in paths or []]
    chosen += [(path, _SAMPLE_SLUG) for path in sample_files()] if sample else []
    if not chosen:
        raise GraphBadRequest("Nothing to load: name files, or give --sample")
    summary: Counter[str] = Counter()
    filled: dict[str, None] = {}
    with _opened_store() as store, Progress(console=Console(stderr=True), transient=True) as progress:
        for path, slug in chosen:
            task = progress.add_task(escape(path.name), total=None)
            moved = partial(progress.advance, task)
            with store.writing() as connection:
                if path.suffix.lower() == ".csv":
                    summary += load_search_csv(connection, slug, path, start=start, end=end, progress=moved)
                    filled[slug] = None
                    continue
                for document in read_document(path):
                    with located(str(path)):
                        progress.reset(task, total=items_of(document))
                        summary += load_document(connection, document, moved)
                    filled[document["project"]["slug"]] = None
    for what, count in sorted(summary.items()):
        _out.print(f"{count:8,}  {what}")
    for slug in filled:
        _out.print(f"Loaded into the project {slug}. To look at it: trigpoint graph entities -p {slug}")


@app.command()
def projects(as_json: AsJson = False) -> None:
    """List the projects."""
    with _opened_store() as store, store.snapshot() as connection:
        page = list_projects(connection, PageRequest(limit=100))
    if as_json:
        _out.print_json(json.dumps([item.shown() for item in page.items]))
        return
    table = Table("slug", "name", _ID)
    for item in page.items:
        table.add_row(item.slug, escape(item.name), item.id)
    _out.print(table)


@app.command()
def entities(
    project: ProjectSlug = DEFAULT_PROJECT_SLUG,
    kind: Annotated[str | None, typer.Option("--type", help="guide, concept, project or news.")] = None,
    status: Annotated[
        str | None, typer.Option("--status", help="draft, publish_requested, published, archived.")
    ] = None,
    search: Annotated[str | None, typer.Option("--search", "-s", help="Text in title or slug.")] = None,
    page: Annotated[int, typer.Option("--page", min=1, help="Page of the list.")] = 1,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="Entities on a page.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the entities of a project, newest first."""
    chosen = EntityFilter.parse({"entityType": kind, "status": status, "search": search})
    with _opened_store() as store, store.snapshot() as connection:
        project_id = project_named(connection, slug=check_slug(project, "project"))
        listed = list_entities(connection, project_id, chosen, PageRequest(page=page, limit=limit))
    if as_json:
        body = {"data": [item.shown() for item in listed.items], "pagination": listed.pagination.shown()}
        _out.print_json(json.dumps(body))
        return
    table = Table("type", "status", "title", _ID)
    for item in listed.items:
        table.add_row(item.entity_type, item.status, escape(item.title), item.id)
    _out.print(table)
    _out.print(f"{listed.pagination.total:,} in all; page {page}")


@app.command()
def show(
    entity_id: Annotated[str, typer.Argument(help="UUID of the entity.")],
    project: ProjectSlug = DEFAULT_PROJECT_SLUG,
    depth: Annotated[int, typer.Option("--depth", min=1, max=2, help="Steps from the entity.")] = 1,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Continue where the previous answer was cut.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show one entity and its relations."""
    settings = load_settings()
    caps = Caps(settings.graph_max_edges, settings.graph_max_nodes)
    with _opened_store() as store, store.snapshot() as connection:
        project_id = project_named(connection, slug=check_slug(project, "project"))
        ident = check_uuid(entity_id, "entity")
        neighbourhood = entity_graph(connection, project_id, ident, GraphFilter(depth=depth, cursor=cursor), caps)
    if as_json:
        _out.print_json(json.dumps(neighbourhood.shown()))
        return
    root, titles = neighbourhood.root_entity, {node.id: node.title for node in neighbourhood.nodes}
    _out.print(f"[bold]{escape(root.title)}[/]  {root.entity_type}/{root.slug}  {root.status}")
    if root.summary:
        _out.print(escape(root.summary))
    for edge in neighbourhood.relationships:
        ends = [escape(titles.get(end, end)) for end in (edge.from_entity_id, edge.to_entity_id)]
        _out.print(f"  {'  ' * (edge.hop - 1)}{ends[0]} [dim]{edge.relation_type}[/] {ends[1]}")
    if neighbourhood.truncated:
        _out.print("There is more than GRAPH_MAX_EDGES and GRAPH_MAX_NODES allow in one answer.")
    if neighbourhood.next_cursor is not None:
        _out.print(f"The next relations of this entity: --cursor {neighbourhood.next_cursor}")


@app.command()
def export(
    project: ProjectSlug = DEFAULT_PROJECT_SLUG,
    to: Annotated[
        Path | None, typer.Option("--to", "-o", help="File; .json for JSON. Default: YAML on stdout.")
    ] = None,
) -> None:
    """Write a project's entities, relations and blocks as a file that `load` reads."""
    if to is not None:
        check_files([to])
    with _opened_store() as store, store.snapshot() as connection:
        document = export_project(connection, project_named(connection, slug=check_slug(project, "project")))
    as_json = to is not None and to.suffix.lower() == ".json"
    text = (
        json.dumps(document, indent=1, ensure_ascii=False)
        if as_json
        else yaml.safe_dump(document, allow_unicode=True, sort_keys=False, width=120)
    )
    if to is None:
        typer.echo(text, nl=False)
    else:
        to.write_text(text, encoding="utf-8")
        _out.print(f"{len(document['entities'])} entities, {len(document['relations'])} relations to {to}")
