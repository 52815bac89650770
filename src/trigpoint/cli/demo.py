"""`trigpoint demo`: a local planning portal and the sample applications."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from trigpoint.cli.outputs import check_folder
from trigpoint.config import Settings, load_settings
from trigpoint.errors import InvalidInput, shorten

app = typer.Typer(no_args_is_help=True, add_completion=False)

_MAIN = "25/01178/REM"


@app.command()
def run(
    reference: Annotated[
        str, typer.Option(help="Which sample application to review; see `trigpoint demo list`.")
    ] = _MAIN,
    out: Annotated[Path, typer.Option(help="Folder for the files, and for the demo's own data.")] = Path("demo-output"),
    transcripts: Annotated[
        Path | None, typer.Option(help="Folder with recorded answers of a model. Default: those shipped with the demo.")
    ] = None,
) -> None:
    """Review a sample application from end to end: a local portal, real stores, no network and no key.

    If answers of a model have been recorded for it, a second review is judged by them, next to the brief.
    """
    from trigpoint.cli.review import review_and_write
    from trigpoint.demo.applications import sample_applications
    from trigpoint.demo.portal import DemoPortal
    from trigpoint.demo.register import sample_register
    from trigpoint.review.formats import FormatName

    if reference not in sample_applications():
        raise InvalidInput(f"No sample application {shorten(reference)}. There are: {', '.join(sample_applications())}")
    check_folder(out)
    settings = load_settings(trigpoint_data_dir=out.absolute() / "data")
    print(f"Review of {reference}, a fictional application, from a planning portal on this machine.")
    with DemoPortal(sample_register(settings), port=0) as server:
        settings = load_settings(
            trigpoint_data_dir=settings.data_dir, cherwell_portal_url=server.url, scraper_rate_limit=0.0
        )
        review_and_write(settings, reference, list(FormatName), out)
        if settings.trigpoint_model is None:
            _judge_by_recorded_answers(settings, reference, out, transcripts)
    print("Next: `.venv/bin/trigpoint up --demo`, then http://127.0.0.1:8080 in a browser, and enter 25/01178/REM.")


def _judge_by_recorded_answers(settings: Settings, reference: str, out: Path, transcripts: Path | None) -> None:
    """Write the review that a model judged, from its recorded answers. The pipeline and every check run for real."""
    from trigpoint.cli.review import review_and_write
    from trigpoint.demo.recorded import recorded_answers
    from trigpoint.errors import AnalysisFailed
    from trigpoint.review.formats import FormatName

    file = recorded_answers(reference, transcripts)
    if file is None:
        print("No answers of a model have been recorded for this application: the brief above is by rules.")
        return
    print("\nThe same application judged by a model, from answers that were recorded earlier:")
    settings = settings.model_copy(update={"trigpoint_model": f"replay:{file}"})
    (out / "judged").mkdir(parents=True, exist_ok=True)
    try:
        review_and_write(settings, reference, list(FormatName), out / "judged")
    except AnalysisFailed as error:
        raise AnalysisFailed(f"{error.message}. The brief is in {out}") from None


@app.command("list")
def list_samples() -> None:
    """List the sample applications, their documents, and how a review should rate them."""
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
            help="A fault as kind[:times[:value]]: error, too_many, slow, cut, html, moved, away, disclaimer, empty, "
            "challenge, passing, strange."
        ),
    ] = None,
    software: Annotated[str, typer.Option(help="Structure of the pages: atrium or idox.")] = "atrium",
) -> None:
    """Serve the sample applications as a planning portal on this machine."""
    from trigpoint.demo.faults import parse_fault
    from trigpoint.demo.idox_portal import IdoxDemoPortal
    from trigpoint.demo.portal import DemoPortal
    from trigpoint.demo.register import sample_register

    faults = [parse_fault(one) for one in fault or []]
    kinds = {"atrium": DemoPortal, "idox": IdoxDemoPortal}
    if software not in kinds:
        raise InvalidInput(f"--software {shorten(software)}: expected {' or '.join(kinds)}")
    with kinds[software](sample_register(load_settings()), host=host, port=port, faults=faults) as server:
        print(f"Demo portal on {server.url} (fictional applications). Stop with Ctrl-C.")
        if software == "atrium":
            print(f"Use it with  CHERWELL_PORTAL_URL={server.url}")
        else:
            print(f'Use it with a row of REGISTERS_FILE: software = "idox", address = "{server.address}"')
        print(f"Requests seen: {server.url}/_demo/requests   Faults: GET or PUT {server.url}/_demo/faults")
        server.wait()
