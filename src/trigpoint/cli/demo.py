"""`trigpoint demo`: a local planning portal and the sample applications."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from trigpoint.config import load_settings

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.command()
def run() -> None:
    """Make the sample documents and show what they are."""
    from trigpoint.demo.applications import sample_applications
    from trigpoint.demo.documents import sample_documents
    from trigpoint.demo.facts import sample_facts

    files = sample_documents(load_settings())
    for reference, application in sample_applications().items():
        facts = sample_facts(reference)
        table = Table("document", "section", "size", title=f"{reference}  {application.address}  (fictional)")
        for document in application.documents:
            size = files[reference][document.file].stat().st_size
            table.add_row(document.file, document.section, f"{size // 1024:,} KB")
        Console().print(table)
        print(f"{len(facts.facts)} known facts; a review should rate it {facts.overall}")
        print(f"in {files[reference][application.documents[0].file].parent}\n")


@app.command()
def portal(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 8085,
    host: Annotated[str, typer.Option(help="Address to bind.")] = "127.0.0.1",
    fault: Annotated[
        list[str] | None,
        typer.Option(
            help="A fault as kind[:times[:value]]: error, too_many, slow, cut, html, moved, away, disclaimer, empty."
        ),
    ] = None,
) -> None:
    """Serve the sample applications as a planning portal on this machine."""
    from trigpoint.demo.faults import parse_fault
    from trigpoint.demo.portal import DemoPortal
    from trigpoint.demo.register import sample_register

    faults = [parse_fault(one) for one in fault or []]
    with DemoPortal(sample_register(load_settings()), host=host, port=port, faults=faults) as server:
        print(f"Demo portal on {server.url} (fictional applications). Stop with Ctrl-C.")
        print(f"Use it with  CHERWELL_PORTAL_URL={server.url}")
        print(f"Requests seen: {server.url}/_demo/requests   Faults: GET or PUT {server.url}/_demo/faults")
        server.wait()
