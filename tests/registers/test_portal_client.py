"""The client against a real local portal: its pace, its patience, and what it never contacts."""

from __future__ import annotations

import asyncio
import itertools
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from portal_samples import INTERVAL, PDF, REF, served

from trigpoint.config import Settings
from trigpoint.demo.faults import Fault
from trigpoint.demo.portal import DemoPortal
from trigpoint.errors import (
    ApplicationNotFound,
    DownloadFailed,
    InvalidReference,
    PageNotUnderstood,
    PortalBusy,
    RequestFailed,
)
from trigpoint.registers.directory import open_register
from trigpoint.registers.register import WebRegister

Portal = Callable[..., DemoPortal]
ClientOf = Callable[..., WebRegister]


def gaps(portal: DemoPortal) -> list[float]:
    times = sorted(one.at for one in portal.seen)
    return [later - earlier for earlier, later in itertools.pairwise(times)]


# --- pace


async def test_eight_callers_together_keep_the_pace(portal: Portal, client_of: ClientOf) -> None:
    running = portal(served("A.pdf"))
    one, other = client_of(running), client_of(running)  # two clients in one process share the turn as well
    await asyncio.gather(*(client.application(REF) for client in (one, other) for _ in range(4)))
    assert len(running.seen) == 8
    assert min(gaps(running)) >= INTERVAL


async def test_processes_share_the_pace(portal: Portal, to_portal: Callable[..., Settings], tmp_path: Path) -> None:
    running = portal(served("A.pdf"))
    settings = to_portal(running)
    program = textwrap.dedent(f"""
        import asyncio
        from trigpoint.config import load_settings
        from trigpoint.registers.directory import open_register
        async def main():
            settings = load_settings(trigpoint_data_dir={str(settings.data_dir)!r}, cherwell_portal_url={running.url!r}, scraper_rate_limit={INTERVAL})
            async with open_register(settings) as client:
                await asyncio.gather(*(client.application({REF!r}) for _ in range(5)))
        asyncio.run(main())
    """)
    children = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]  # noqa: ASYNC220
    try:
        codes = [await asyncio.to_thread(child.wait, 60) for child in children]
    finally:
        for child in children:
            child.kill()
    assert codes == [0, 0]
    assert len(running.seen) == 10
    assert min(gaps(running)) >= INTERVAL


async def test_redirects_and_retries_keep_the_pace_too(portal: Portal, client_of: ClientOf) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind="error"), Fault(kind="cut"), Fault(kind="moved")])
    await client_of(running).application(REF)
    assert len(running.seen) >= 4
    assert min(gaps(running)) >= INTERVAL


async def test_retry_after_binds_every_caller(portal: Portal, client_of: ClientOf) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind="too_many", value="1")])
    client = client_of(running)
    await asyncio.gather(client.application(REF), client.documents(REF))
    assert [one.fault for one in running.seen] == ["too_many", None, None]
    assert gaps(running)[0] >= 1


async def test_a_cancelled_caller_gives_up_its_turn(portal: Portal, client_of: ClientOf) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind="slow", value="5")])
    client = client_of(running)
    slow = asyncio.create_task(client.application(REF))
    while not running.seen:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    assert (await client.application(REF)).reference == REF


# --- patience


@pytest.mark.parametrize("kind", ["error", "cut", "too_many"])
async def test_two_faults_are_survived_and_three_are_not(kind: str, portal: Portal, client_of: ClientOf) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind=kind, times=2, value="0")])
    client = client_of(running)
    assert (await client.application(REF)).reference == REF
    running.faults.replace([Fault(kind=kind, times=3, value="0")])
    running.seen.clear()
    with pytest.raises(PortalBusy if kind == "too_many" else RequestFailed, match="3"):
        await client.application(REF)
    assert len(running.seen) == 3


async def test_a_slow_page_is_given_up_and_tried_again(portal: Portal, client_of: ClientOf) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind="slow", value="30")])
    client = client_of(running, scraper_timeout=0.3)
    assert (await client.application(REF)).reference == REF
    assert len(running.seen) == 2


async def test_a_host_that_drips_is_given_up(
    client_of: ClientOf, to_portal: Callable[..., Settings], tmp_path: Path
) -> None:
    from trigpoint.config import load_settings

    with _Dripping() as url:
        settings = load_settings(
            trigpoint_data_dir=tmp_path, cherwell_portal_url=url, scraper_rate_limit=0.01, scraper_timeout=0.4
        )
        async with open_register(settings) as client:
            with pytest.raises(RequestFailed, match="no whole answer"):
                await client.application(REF)


async def test_nobody_listening_is_a_clear_error(free_port: Callable[[], int], tmp_path: Path) -> None:
    from trigpoint.config import load_settings

    settings = load_settings(
        trigpoint_data_dir=tmp_path, cherwell_portal_url=f"http://127.0.0.1:{free_port()}", scraper_rate_limit=0.01
    )
    async with open_register(settings) as client:
        with pytest.raises(RequestFailed, match="failed 3 times"):
            await client.documents(REF)


async def test_the_disclaimer_is_accepted_once_and_remembered(portal: Portal, client_of: ClientOf) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind="disclaimer", times=None)])
    client = client_of(running)
    assert len(await client.documents(REF)) == 1
    assert await client.application(REF)
    assert [one.method for one in running.seen].count("POST") == 1


async def test_a_disclaimer_that_stays_is_an_access_failure_not_no_documents(
    portal: Portal, client_of: ClientOf
) -> None:
    running = portal(served("A.pdf"))
    running.faults.take = lambda target, accepted: Fault(kind="disclaimer") if "Display" in target else None  # type: ignore[method-assign]
    with pytest.raises(RequestFailed, match="disclaimer"):
        await client_of(running).documents(REF)


# --- what is not there


@pytest.mark.parametrize("redirects", [False, True])
async def test_an_unknown_reference(redirects: bool, portal: Portal, client_of: ClientOf) -> None:
    running = portal(served("A.pdf"), unknown_redirects=redirects)
    with pytest.raises(ApplicationNotFound) as failure:
        await client_of(running).application("25/99999/F")
    assert failure.value.message == "Application not found on Cherwell planning portal"


async def test_another_page_in_its_place_is_not_understood(portal: Portal, client_of: ClientOf) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind="html")])
    with pytest.raises(PageNotUnderstood, match="no summary table"):
        await client_of(running).documents(REF)


@pytest.mark.parametrize("ref", ["../../etc/passwd", "25/01178/REM\n", "25/01178/REM?x=1", "25/01178/../x", ""])
async def test_a_malformed_reference_sends_nothing(ref: str, portal: Portal, client_of: ClientOf) -> None:
    running = portal(served("A.pdf"))
    with pytest.raises(InvalidReference):
        await client_of(running).application(ref)
    assert running.seen == []


# --- documents


async def test_a_document_arrives_whole_with_its_hash(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    import hashlib

    running = portal(served("A.pdf"), faults=[Fault(kind="cut", match="Download")])
    client = client_of(running)
    (document,) = await client.documents(REF)
    fetched = await client.fetch(document.url, tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == PDF
    assert (fetched.file_size, fetched.sha256) == (len(PDF), hashlib.sha256(PDF).hexdigest())
    assert fetched.kind.content_type == "application/pdf"


@pytest.mark.parametrize(("kind", "says"), [("html", "web page"), ("empty", "empty"), ("error", "HTTP 500")])
async def test_what_is_no_document_leaves_no_file(
    kind: str, says: str, portal: Portal, client_of: ClientOf, tmp_path: Path
) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind=kind, match="Download", times=None)])
    client = client_of(running)
    (document,) = await client.documents(REF)
    with pytest.raises(DownloadFailed, match=says):
        await client.fetch(document.url, tmp_path / "part")
    assert not (tmp_path / "part").exists()


async def test_a_disclaimer_before_a_document_is_accepted(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind="disclaimer", match="Download", times=None)])
    client = client_of(running)
    (document,) = await client.documents(REF)
    await client.fetch(document.url, tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == PDF


async def test_a_document_beyond_the_limit_is_not_kept(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    running = portal(served("A.pdf"))
    client = client_of(running, max_document_bytes=1000)
    (document,) = await client.documents(REF)
    with pytest.raises(DownloadFailed, match="larger than 1,000 bytes"):
        await client.fetch(document.url, tmp_path / "part")
    assert not (tmp_path / "part").exists()


# --- only the register's own origin


async def test_no_redirect_leads_to_another_service(portal: Portal, client_of: ClientOf, tmp_path: Path) -> None:
    elsewhere = portal(served("secret.pdf"))
    running = portal(served("A.pdf"))
    client = client_of(running)
    (document,) = await client.documents(REF)
    for target in (
        elsewhere.url + "/Document/Download?recordNumber=160000&imageId=1",
        "http://169.254.169.254/latest",
        "//evil.example/x",
        "file:///etc/passwd",
    ):
        running.faults.replace([Fault(kind="away", value=target)])
        with pytest.raises(DownloadFailed, match="away from"):
            await client.fetch(document.url, tmp_path / "part")
        running.faults.replace([Fault(kind="away", value=target)])
        with pytest.raises(RequestFailed, match="away from"):
            await client.application(REF)
    assert elsewhere.seen == []
    assert not (tmp_path / "part").exists()


async def test_an_address_of_another_host_is_refused_before_anything_is_sent(
    portal: Portal, client_of: ClientOf, tmp_path: Path
) -> None:
    elsewhere = portal(served("secret.pdf"))
    running = portal(served("A.pdf"))
    client = client_of(running)
    port = running.url.rsplit(":", 1)[1]
    for url in (
        elsewhere.url + "/Document/Download",
        running.url.replace("http:", "https:"),
        running.url.replace("127.0.0.1", "localhost"),
        f"http://user@127.0.0.1:{port}/x",
        f"http://127.0.0.1:{port}@{elsewhere.url[7:]}/x",
        f"http://127.0.0.1:{port}\\@evil.example/x",
        "//evil.example/x",
        "file:///etc/passwd",
        "http://[bad",
        "http://127.1/x",
        "javascript:alert(1)",
    ):  # fmt: skip
        with pytest.raises(DownloadFailed):
            await client.fetch(url, tmp_path / "part")
    assert elsewhere.seen == []
    assert running.seen == []


class _Dripping:
    """Answers with a byte now and then, for ever."""

    def __enter__(self) -> str:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._stop = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._socket.close()

    def _serve(self) -> None:
        while not self._stop.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._drip, args=(connection,), daemon=True).start()

    def _drip(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while not self._stop.wait(0.05):
                    connection.sendall(b" ")
            except OSError:
                return
