"""Runs HTTP applications side by side in one process, and stops them together on SIGINT or SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import uvicorn

from trigpoint.errors import StoreError

log = logging.getLogger(__name__)

GRACE_SECONDS = 10


@dataclass(frozen=True)
class Site:
    """One application and where it listens."""

    name: str
    app: Any
    host: str
    port: int
    auth_on: bool


class _Server(uvicorn.Server):
    """Signals are handled once for all servers of the process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


async def run_sites(sites: Sequence[Site]) -> None:
    """Serve until a signal comes. Requests in flight get `GRACE_SECONDS` to end."""
    servers = [_Server(_config(site)) for site in sites]

    def stop(signum: int) -> None:
        log.info("stopping")
        for server in servers:
            server.handle_exit(signum, None)

    loop = asyncio.get_running_loop()
    for signum in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signum, stop, signum)
    for site in sites:
        reach = "" if site.auth_on else "; auth is off" + ("" if site.host != "127.0.0.1" else ", this machine only")
        log.info("%s on http://%s:%d%s", site.name, site.host, site.port, reach)
    tasks = [asyncio.create_task(_serve(server, site)) for server, site in zip(servers, sites, strict=True)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for server in servers:  # one that fails or stops takes the others with it
            server.should_exit = True
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome


async def _serve(server: _Server, site: Site) -> None:
    try:
        await server.serve()
    except SystemExit:
        raise StoreError(
            f"{site.name} cannot start on {site.host}:{site.port}; see the lines above. Is the port taken?"
        ) from None
    if not server.started:
        raise StoreError(f"{site.name} cannot start; see the lines above")


def _config(site: Site) -> uvicorn.Config:
    return uvicorn.Config(
        site.app,
        host=site.host,
        port=site.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
    )
