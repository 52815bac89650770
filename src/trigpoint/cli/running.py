"""Runs HTTP applications side by side in one process, and stops them together on SIGINT or SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import uvicorn
from uvicorn.loops.auto import auto_loop_factory

from trigpoint.errors import ConfigurationError, first_error
from trigpoint.http.connections import GuardedProtocol
from trigpoint.http.serving import listen, with_state
from trigpoint.storage.files import reason

log = logging.getLogger(__name__)

GRACE_SECONDS = 10
KEEP_ALIVE_SECONDS = 20  # longer than clients keep idle connections, or a request could meet one that is being closed
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Site:
    """One application, where it listens, and the variable of its port. `stop` is called on a signal, before anything closes."""

    name: str
    app: Any
    host: str
    port: int
    variable: str
    auth_on: bool
    stop: Callable[[], None] | None = None


Beside = Callable[[asyncio.Event], Awaitable[None]]


class _Server(uvicorn.Server):
    """Signals are handled once for all servers of the process."""

    sockets_given: list[socket.socket]

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def serve_sites(
    sites: Sequence[Site], beside: Sequence[Beside] = (), ready: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Run the sites until a signal comes, on uvloop's event loop if it is installed."""
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
        runner.run(run_sites(sites, beside, ready))


async def run_sites(
    sites: Sequence[Site], beside: Sequence[Beside] = (), ready: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Serve until a signal comes. Requests in flight get `GRACE_SECONDS` to end. Raises any error of a site's start.

    `ready` is awaited once all listen. The tasks in `beside` start after it, run as long as the sites do, and end when
    their event is set: no job is taken up before what it needs is in place.
    """
    try:
        await _run(sites, beside, ready)
    except BaseExceptionGroup as group:  # task groups of the parts wrap what went wrong; a user wants that alone
        raise first_error(group) from None


async def _run(sites: Sequence[Site], beside: Sequence[Beside], ready: Callable[[], Awaitable[None]] | None) -> None:
    servers: list[_Server] = []
    stopping = asyncio.Event()

    def stop(signum: int) -> None:
        log.info("stopping")
        stopping.set()
        for site in sites:
            if site.stop is not None:
                site.stop()
        for server in servers:
            server.handle_exit(signum, None)

    loop = asyncio.get_running_loop()
    async with contextlib.AsyncExitStack() as opened:
        sockets = [opened.enter_context(_listen(site)) for site in sites]  # a taken port is found before anything opens
        for site, sock in zip(sites, sockets, strict=True):
            state = await opened.enter_async_context(site.app.router.lifespan_context(site.app))
            servers.append(_Server(_config(with_state(site.app, state))))
            servers[-1].sockets_given = [sock]
        for signum in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(signum, stop, signum)
        for site in sites:
            log.info("%s on http://%s:%d%s", site.name, site.host, site.port, _reach(site))
        tasks = [asyncio.create_task(server.serve(sockets=server.sockets_given)) for server in servers]
        greeting = asyncio.ensure_future(ready()) if ready else None
        tasks += [asyncio.create_task(_run_after(greeting, run, stopping)) for run in beside]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.set()
            for server in servers:  # one that ends takes the others with it
                server.should_exit = True
            if greeting is not None:
                greeting.cancel()
        await asyncio.gather(*tasks)


async def _run_after(greeting: asyncio.Future[None] | None, run: Beside, stopping: asyncio.Event) -> None:
    if greeting is not None:
        await asyncio.wait({greeting})
        if stopping.is_set():
            return
        greeting.result()
    await run(stopping)


def _listen(site: Site) -> socket.socket:
    try:
        return listen(site.host, site.port)
    except OSError as error:
        taken = f"Stop what listens there, or choose another port by {site.variable}"
        way_out = taken if error.errno == errno.EADDRINUSE else f"Check HOST and {site.variable}"
        raise ConfigurationError(
            f"{site.name} cannot listen on {site.host}:{site.port} ({reason(error)}). {way_out}"
        ) from None


def _reach(site: Site) -> str:
    if site.auth_on:
        return ""
    return "; auth is off, so only this machine can reach it" if site.host in _LOOPBACK else "; auth is off"


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        server_header=False,
        http=GuardedProtocol,
    )
