"""Everything in one process on this machine, with the shipped policies in place from the first start."""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from rich.console import Console
from rich.table import Table

from trigpoint.cli.roots import settings_with_roots
from trigpoint.cli.running import Site, serve_sites
from trigpoint.cli.serve import PARTS, sites, workers
from trigpoint.config import Settings
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint.errors import StoreInUse, TrigpointError
from trigpoint.jobs.tools import McpTools
from trigpoint.logs import configure_logging
from trigpoint.mcp.local_servers import ingester
from trigpoint.policies.first_load import seed_missing
from trigpoint.policies.seed import Ingester
from trigpoint.storage.files import data_folder
from trigpoint.storage.redis import redis_server

log = logging.getLogger(__name__)


def run_everything(root: list[Path] | None, *, seed: bool, demo: bool = False) -> None:
    """Run until a signal comes. Raises what keeps a part from starting."""
    started = time.monotonic()
    given = settings_with_roots(root)
    configure_logging(given)
    with only_one(data_folder(given)), _demo_register(given) if demo else nullcontext(given) as settings:
        all_sites = sites(PARTS, settings)

        async def ready() -> None:
            if seed:
                await _seed(settings)
            _print_start(settings, all_sites, time.monotonic() - started)
            if demo:
                known = ", ".join(sample_applications())
                Console(stderr=True).print(
                    f"The register is a demo. Its fictional applications: {known}", highlight=False
                )

        serve_sites(all_sites, workers(PARTS, settings), ready)


@contextmanager
def _demo_register(settings: Settings) -> Iterator[Settings]:
    """Serve the sample applications, and yield the settings that read them."""
    with DemoPortal(sample_register(settings), port=0) as portal:
        yield settings.model_copy(update={"cherwell_portal_url": portal.url, "scraper_rate_limit": 0.0})


@contextmanager
def only_one(data_dir: Path) -> Iterator[None]:
    """Hold the data folder for this process. Raises StoreInUse if a Trigpoint is running on it."""
    with (data_dir / "up.lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise StoreInUse(
                f"Trigpoint is already up on {data_dir} (process {lock.read().strip() or 'unknown'}). "
                "Stop it, or choose another folder with TRIGPOINT_DATA_DIR"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _print_start(settings: Settings, all_sites: Sequence[Site], seconds: float) -> None:
    """Print what runs where, whether it asks for a key, and where the data is."""
    table = Table("part", "address", "auth", title=f"Trigpoint is up ({seconds:.1f} s)", title_justify="left")
    for site in all_sites:
        host = f"[{site.host}]" if ":" in site.host else site.host
        path = "" if site.name == "api" else "/mcp"
        name = "API and pages" if site.name == "api" else site.name
        table.add_row(name, f"http://{host}:{site.port}{path}", "on" if site.auth_on else "off")
    table.add_row("worker", f"{settings.worker_concurrency} jobs at once", "")
    console = Console(stderr=True)
    console.print(table)
    console.print(f"data folder: {settings.data_dir}    stop: Ctrl-C", markup=False)
    pages = next((site for site in all_sites if site.name == "api"), None)
    if pages is not None:
        console.print(
            f"Open http://{'127.0.0.1' if pages.host == '0.0.0.0' else pages.host}:{pages.port} in a browser."
        )


async def _seed(settings: Settings) -> None:
    """Load the shipped policies. If one fails, that is logged, and it is tried again at the next start: better to be up without it than not at all."""
    try:
        with redis_server(settings) as url:
            here = settings.model_copy(update={"redis_url": url})
            async with McpTools(here, patience=10.0) as tools:
                await seed_missing(here, _announcing(ingester(tools)))
    except TrigpointError as error:
        log.warning("some shipped policies are missing: %s", error.message)


def _announcing(ingest: Ingester) -> Ingester:
    """Say which policy is being read, so that a first start is not silent."""

    async def tell(source: str, revision_id: str, file_path: str) -> tuple[int, int]:
        Console(stderr=True).print(f"Loading the policy {source} (first start only)", highlight=False)
        return await ingest(source, revision_id, file_path)

    return tell
