"""Sites and what runs beside them: in which order they start, and how they stop."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import httpx
import pytest
from sse_starlette.sse import AppStatus
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from trigpoint.cli.running import Site, run_sites
from trigpoint.errors import ConfigurationError


@pytest.fixture(autouse=True)
def only_here() -> Iterator[None]:
    """The library behind SSE notes a signal to stop for the whole process: streams of later tests would end at once."""
    yield
    AppStatus.should_exit = False


@pytest.fixture
def site(free_port: Callable[[], int]) -> Site:
    async def answer(_: object) -> PlainTextResponse:
        return PlainTextResponse("here")

    routes = Starlette(routes=[Route("/", answer)])
    return Site("test", routes, "127.0.0.1", free_port(), "TEST_PORT", auth_on=False)


def stop() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


async def answered(site: Site) -> str:
    async with httpx.AsyncClient(trust_env=False) as client:
        return (await client.get(f"http://{site.host}:{site.port}/")).text


async def test_a_site_answers_while_things_are_made_ready_and_the_worker_starts_after_that(site: Site) -> None:
    """No review is taken up while the policies are still being loaded."""
    happened: list[str] = []

    async def ready() -> None:
        happened.append(await answered(site))
        await asyncio.sleep(0.2)
        happened.append("ready")

    async def worker(stopping: asyncio.Event) -> None:
        happened.append("worker")
        stop()
        await stopping.wait()
        happened.append("worker stopped")

    await run_sites([site], [worker], ready)
    assert happened == ["here", "ready", "worker", "worker stopped"]


async def test_a_stop_while_things_are_made_ready_starts_no_worker(site: Site) -> None:
    async def ready() -> None:
        stop()
        await asyncio.sleep(60)

    async def worker(_: asyncio.Event) -> None:
        pytest.fail("the worker was started")

    await asyncio.wait_for(run_sites([site], [worker], ready), 10)


async def test_what_keeps_things_from_getting_ready_ends_the_run(site: Site) -> None:
    async def ready() -> None:
        raise RuntimeError("no policies")

    async def worker(_: asyncio.Event) -> None:
        pytest.fail("the worker was started")

    with pytest.raises(RuntimeError, match="no policies"):
        await run_sites([site], [worker], ready)


async def test_a_port_that_is_taken_is_named_with_its_variable(site: Site) -> None:
    with socket.create_server((site.host, site.port)), pytest.raises(ConfigurationError) as raised:
        await run_sites([site])
    assert raised.value.message == (
        f"test cannot listen on 127.0.0.1:{site.port} (address already in use). "
        "Stop what listens there, or choose another port with TEST_PORT"
    )


async def test_an_address_that_is_not_of_this_machine_is_named_with_its_variables(site: Site) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot assign requested address\). Check HOST and TEST_PORT"):
        await run_sites([dataclasses.replace(site, host="192.0.2.1")])


HELD_UP, FREED = threading.Event(), threading.Event()


@pytest.fixture
def busy(site: Site, free_port: Callable[[], int]) -> Site:
    """A site next to the first that holds up its event loop until `FREED` is set, as it is unless a test clears it."""
    HELD_UP.clear()
    FREED.set()

    async def hold_up(_: object) -> PlainTextResponse:
        HELD_UP.set()
        FREED.wait(20)
        return PlainTextResponse("at last")

    return dataclasses.replace(site, name="busy", app=Starlette(routes=[Route("/", hold_up)]), port=free_port())


async def test_a_site_with_a_loop_of_its_own_answers_while_the_others_are_held_up(site: Site, busy: Site) -> None:
    FREED.clear()

    async def worker(stopping: asyncio.Event) -> None:
        asking = asyncio.create_task(asyncio.to_thread(httpx.get, f"http://{busy.host}:{busy.port}/", trust_env=False))
        await asyncio.to_thread(ask)
        assert (await asking).text == "at last"
        stop()
        await stopping.wait()

    def ask() -> None:
        assert HELD_UP.wait(20)
        assert httpx.get(f"http://{site.host}:{site.port}/", trust_env=False).text == "here"
        FREED.set()  # only now: the busy loop was held up until the other had answered

    await run_sites([dataclasses.replace(site, own_loop=True), busy], [worker])
    assert FREED.is_set()


async def test_two_loops_get_ready_together_and_stop_together(site: Site, busy: Site) -> None:
    happened: list[str] = []

    async def ready() -> None:
        happened.append(await answered(site))
        happened.append(await answered(busy))

    async def worker(stopping: asyncio.Event) -> None:
        happened.append("worker")
        stop()
        await stopping.wait()

    await asyncio.wait_for(run_sites([dataclasses.replace(site, own_loop=True), busy], [worker], ready), 20)
    assert happened == ["here", "at last", "worker"]


@pytest.mark.parametrize("broken", ["site", "busy"])
async def test_a_site_that_cannot_open_ends_the_other_loop_too(site: Site, busy: Site, broken: str) -> None:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        raise RuntimeError("no store")
        yield

    sites = {"site": dataclasses.replace(site, own_loop=True), "busy": busy}
    sites[broken] = dataclasses.replace(sites[broken], app=Starlette(lifespan=lifespan))
    with pytest.raises(RuntimeError, match="no store"):
        await asyncio.wait_for(run_sites(list(sites.values())), 20)


async def test_what_keeps_the_other_loop_from_getting_ready_ends_the_run(site: Site, busy: Site) -> None:
    async def ready() -> None:
        raise RuntimeError("no policies")

    async def worker(_: asyncio.Event) -> None:
        pytest.fail("the worker was started")

    with pytest.raises(RuntimeError, match="no policies"):
        await asyncio.wait_for(run_sites([dataclasses.replace(site, own_loop=True), busy], [worker], ready), 20)


_HEAPS_OF_EIGHT_THREADS = """
import ctypes, threading
from trigpoint.cli.running import share_heaps

share_heaps()
libc = ctypes.CDLL(None)
libc.fdopen.restype = libc.malloc.restype = ctypes.c_void_p
together = threading.Barrier(9)

def allocate():
    libc.malloc(1000)
    together.wait()
    together.wait()

for _ in range(8):
    threading.Thread(target=allocate).start()
together.wait()
output = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, output)
libc.fflush(output)
together.wait()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about heaps of the GNU C library")
@pytest.mark.parametrize(("chosen", "heaps"), [({}, 2), ({"MALLOC_ARENA_MAX": "5"}, 5)])
def test_threads_of_a_server_share_two_heaps_unless_the_user_says_otherwise(chosen: dict[str, str], heaps: int) -> None:
    env = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"} | chosen
    command = [sys.executable, "-c", _HEAPS_OF_EIGHT_THREADS]
    told = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert told.count("<heap nr=") == heaps
