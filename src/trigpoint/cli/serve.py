"""`trigpoint serve NAME…`: runs some of the parts, in one process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from trigpoint.cli.roots import settings_with_roots
from trigpoint.cli.running import BackgroundTask, Site, serve_sites
from trigpoint.config import Settings
from trigpoint.errors import InvalidInput, shorten
from trigpoint.logs import configure_logging
from trigpoint.mcp import SERVERS, build_server

app = typer.Typer(add_completion=False)
log = logging.getLogger(__name__)

PARTS = ("api", "worker", *SERVERS)


@app.command()
def serve(
    names: Annotated[list[str], typer.Argument(help=f"Which parts: {', '.join(PARTS)}.")],
    root: Annotated[list[Path] | None, typer.Option(help="Folder that documents may be ingested from.")] = None,
) -> None:
    """Run some of the parts. Each can run on its own machine."""
    settings = settings_with_roots(root)
    configure_logging(settings)
    chosen = list(dict.fromkeys(names))
    serve_sites(sites(chosen, settings), workers(chosen, settings))


def sites(names: Sequence[str], settings: Settings) -> list[Site]:
    """Return the HTTP applications of these parts. Raises InvalidInput if no part has that name."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise InvalidInput(f"No part is called '{shorten(unknown[0])}'. There are: {', '.join(PARTS)}")
    return [_api_site(settings) if name == "api" else _mcp_site(name, settings) for name in names if name != "worker"]


def workers(names: Sequence[str], settings: Settings) -> list[BackgroundTask]:
    """Return the tasks to run along with the sites. Raises ConfigurationError if the model's name or key is wrong."""
    if "worker" not in names:
        return []
    from trigpoint.jobs.worker import run_worker

    _require_model(settings)

    return [lambda stop: run_worker(settings, stop)]


def _require_model(settings: Settings) -> None:
    """Ask the model a short question before reviews are taken. If it is only unreachable for now, the worker starts anyway."""
    if settings.trigpoint_model is None:
        return
    from trigpoint.review.agent.probe import ModelUnreachable, probe_model

    try:
        log.info("%s", asyncio.run(probe_model(settings)))
    except ModelUnreachable as error:
        log.warning("%s", error.message)


def _api_site(settings: Settings) -> Site:
    from trigpoint.api.app import create_app

    host = settings.bind_host(auth_on=settings.rest_auth_on)
    app = create_app(settings)
    auth_on, stop = settings.rest_auth_on, app.state.begin_stop
    return Site("api", app, host, settings.api_port, "API_PORT", auth_on, stop, own_loop=True)


def _mcp_site(name: str, settings: Settings) -> Site:
    """Return an MCP server as a site. Raises InvalidInput if no server has that name."""
    tools = build_server(name, settings)
    host = settings.bind_host(auth_on=settings.mcp_auth_on)
    port, variable = SERVERS[name].port(settings), SERVERS[name].port_setting.upper()
    return Site(name, tools.app(), host, port, variable, settings.mcp_auth_on, tools.begin_stop)
