"""Runs HTTP applications side by side in one process, and stops them together on SIGINT or SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from uvicorn.loops.auto import auto_loop_factory

from trigpoint.errors import ConfigurationError, first_error
from trigpoint.http.connections import GuardedProtocol
from trigpoint.http.hosts import LOOPBACK
from trigpoint.http.serving import listen, with_state
from trigpoint.storage.files import reason

log = logging.getLogger(__name__)

_GRACE_SECONDS = 10
_KEEP_ALIVE_SECONDS = 20  # longer than clients keep idle connections, or a request could meet one that is being closed
_SWITCH_SECONDS = (
    0.001  # Python lets a busy thread run for 5 ms by default, and an answer would wait for several of them
)
_HEAPS = 2
_M_ARENA_MAX = -8  # of GNU's malloc.h


@dataclass(frozen=True)
class Site:
    """One application, where it listens, and the variable of its port. `stop` is called on a signal, before anything closes.

    Sites with their own loop answer even while the others are busy.
    """

    name: str
    app: Any
    host: str
    port: int
    variable: str
    auth_on: bool
    stop: Callable[[], None] | None = None
    own_loop: bool = False


BackgroundTask = Callable[[asyncio.Event], Awaitable[None]]
Ready = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class _Group:
    """The sites that share an event loop. `open` is set once they answer."""

    sites: Sequence[tuple[Site, socket.socket]]
    background: Sequence[BackgroundTask] = ()
    ready: Ready | None = None
    open: Future[None] = field(default_factory=Future)


class _Stop:
    """Tells every group to stop, from whatever thread, and those that open later as well."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told: dict[Callable[[int], None], asyncio.AbstractEventLoop] = {}
        self._signum: int | None = None

    def __call__(self, signum: int = signal.SIGTERM) -> None:
        with self._lock:
            self._signum = signum
            for tell, loop in self._told.items():
                loop.call_soon_threadsafe(tell, signum)

    @contextlib.contextmanager
    def telling(self, tell: Callable[[int], None]) -> Iterator[None]:
        """Call `tell` in the running loop when the time has come."""
        with self._lock:
            self._told[tell] = asyncio.get_running_loop()
            if self._signum is not None:
                self._told[tell].call_soon(tell, self._signum)
        try:
            yield
        finally:
            with self._lock:
                del self._told[tell]


class _SiteServer(uvicorn.Server):
    """Signals are handled once for all servers of the process."""

    sockets_given: list[socket.socket]

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def serve_sites(sites: Sequence[Site], background: Sequence[BackgroundTask] = (), ready: Ready | None = None) -> None:
    """Run the sites until a signal comes, on uvloop's event loop if it is installed."""
    share_heaps()
    sys.setswitchinterval(_SWITCH_SECONDS)
    _run_in_loop(run_sites(sites, background, ready))


def share_heaps() -> None:
    """Let all threads, and those of processes that we start, share two heaps of the C library.

    GNU's gives each of many threads its own heap, and keeps what was freed in it: a tenth of all memory after a few
    reviews. Other libraries have no such setting.
    """
    if "MALLOC_ARENA_MAX" in os.environ:
        return
    os.environ["MALLOC_ARENA_MAX"] = str(_HEAPS)
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _HEAPS)


def _run_in_loop(work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
        runner.run(work)


async def run_sites(
    sites: Sequence[Site], background: Sequence[BackgroundTask] = (), ready: Ready | None = None
) -> None:
    """Serve until a signal comes. Requests in flight get `_GRACE_SECONDS` to end. Raises any error of a site's start.

    `ready` is awaited once all listen. The tasks in `background` start after it, run as long as the sites do, and end when
    their event is set: no job is taken up before what it needs is in place.
    """
    with contextlib.ExitStack() as opened:
        # all at once, so that a port that is taken is found before anything opens
        listening = [(site, opened.enter_context(_listen(site))) for site in sites]
        here = [one for one in listening if one[0].own_loop]
        there = [one for one in listening if not one[0].own_loop]
        try:
            if here and (there or background):
                await _run_two(_Group(here), there, background, ready)
            else:
                await _run_group(_Group(listening, background, ready), _Stop())
        except BaseExceptionGroup as group:  # task groups of the parts wrap what went wrong; a user wants that alone
            raise first_error(group) from None


async def _run_two(
    here: _Group, there: Sequence[tuple[Site, socket.socket]], background: Sequence[BackgroundTask], ready: Ready | None
) -> None:
    """Run one group in this loop and all else in another thread's. If one ends, so does the other."""

    async def ready_when_all_are_open() -> None:
        await asyncio.shield(asyncio.wrap_future(here.open))
        if ready is not None:
            await ready()

    stop, others = _Stop(), _Group(there, background, ready_when_all_are_open)
    running = asyncio.create_task(asyncio.to_thread(_run_in_loop, _run_group(others, stop)))
    running.add_done_callback(lambda _: stop())
    try:
        await asyncio.wait({running, asyncio.wrap_future(others.open)}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            await _run_group(here, stop)
    finally:
        stop()
        await asyncio.wait({running})
    running.result()


async def _run_group(group: _Group, stop: _Stop) -> None:
    servers: list[_SiteServer] = []
    stopping = asyncio.Event()

    def stop_these(signum: int) -> None:
        if not stopping.is_set():
            log.info("stopping")
        stopping.set()
        for site, _ in group.sites:
            if site.stop is not None:
                site.stop()
        for server in servers:
            server.handle_exit(signum, None)

    async with contextlib.AsyncExitStack() as opened:
        for site, sock in group.sites:
            state = await opened.enter_async_context(site.app.router.lifespan_context(site.app))
            servers.append(_SiteServer(_config(with_state(site.app, state))))
            servers[-1].sockets_given = [sock]
        opened.enter_context(stop.telling(stop_these))
        _stop_on_signals(stop)
        for site, _ in group.sites:
            log.info("%s on http://%s:%d%s", site.name, site.host, site.port, _reach(site))
        tasks = [asyncio.create_task(server.serve(sockets=server.sockets_given)) for server in servers]
        group.open.set_result(None)
        greeting = asyncio.ensure_future(group.ready()) if group.ready else None
        tasks += [asyncio.create_task(_run_after(greeting, run, stopping)) for run in group.background]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.set()
            for server in servers:  # one that ends takes the others with it
                server.should_exit = True
            if greeting is not None:
                greeting.cancel()
        await asyncio.gather(*tasks)


def _stop_on_signals(stop: _Stop) -> None:
    """Stop every server on SIGINT or SIGTERM, which only the main thread hears."""
    if threading.current_thread() is threading.main_thread():
        for signum in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(signum, stop, signum)


async def _run_after(greeting: asyncio.Future[None] | None, run: BackgroundTask, stopping: asyncio.Event) -> None:
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
        taken = f"Stop what listens there, or choose another port with {site.variable}"
        way_out = taken if error.errno == errno.EADDRINUSE else f"Check HOST and {site.variable}"
        raise ConfigurationError(
            f"{site.name} cannot listen on {site.host}:{site.port} ({reason(error)}). {way_out}"
        ) from None


def _reach(site: Site) -> str:
    if site.auth_on:
        return ""
    return "; auth is off, so only this machine can reach it" if site.host in LOOPBACK else "; auth is off"


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        server_header=False,
        http=GuardedProtocol,
    )
