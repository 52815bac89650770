"""Sites and what runs beside them: in which order they start, and how they stop."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import socket
from collections.abc import Callable, Iterator

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
        "Stop what listens there, or choose another port by TEST_PORT"
    )


async def test_an_address_that_is_not_of_this_machine_is_named_with_its_variables(site: Site) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot assign requested address\). Check HOST and TEST_PORT"):
        await run_sites([dataclasses.replace(site, host="192.0.2.1")])
