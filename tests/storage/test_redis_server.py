"""The embedded Valkey: shared by the processes of a data folder, gone with the last, whole after kill -9."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis

from trigpoint.config import Settings, load_settings
from trigpoint.storage import valkey
from trigpoint.storage.redis import redis_client, redis_server
from trigpoint_process import kill_and_wait

MEMBER = """
import sys, time
from trigpoint.config import load_settings
from trigpoint.storage.redis import redis_server
with redis_server(load_settings(trigpoint_data_dir=sys.argv[1])) as url:
    print(url, flush=True)
    time.sleep(60)
"""


def start_member(settings: Settings) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-c", MEMBER, str(settings.data_dir)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def socket_of(url: str) -> Path:
    return Path(url.removeprefix("unix://").split("?")[0])


def wait_until_gone(path: Path) -> None:
    deadline = time.monotonic() + 15
    while valkey.Server(path.parent).answers():
        assert time.monotonic() < deadline, "the server is still there"
        time.sleep(0.05)


def test_two_processes_share_one_server_and_it_outlives_the_first(settings: Settings) -> None:
    with redis_server(settings) as url:
        redis.Redis.from_url(url).set("who", "first")
        member, other_url = start_member(settings)
        assert other_url == url
    client = redis.Redis.from_url(url)
    assert client.get("who") == b"first"
    member.kill()
    member.wait()
    wait_until_gone(socket_of(url))


def test_what_was_written_is_there_after_the_last_has_left(settings: Settings) -> None:
    with redis_server(settings) as url:
        redis.Redis.from_url(url).set("kept", "yes")
    wait_until_gone(socket_of(url))
    with redis_server(settings) as url:
        assert redis.Redis.from_url(url).get("kept") == b"yes"


def test_a_killed_server_is_started_again_with_its_data(settings: Settings) -> None:
    with redis_server(settings) as url:
        client = redis.Redis.from_url(url)
        client.set("kept", "yes")
        os.kill(client.info("server")["process_id"], signal.SIGKILL)
        wait_until_gone(socket_of(url))
    with redis_server(settings) as url:
        assert redis.Redis.from_url(url).get("kept") == b"yes"


def test_a_killed_keeper_is_replaced_and_the_server_adopted(settings: Settings) -> None:
    with redis_server(settings) as url:
        server = redis.Redis.from_url(url).info("server")["process_id"]
        keeper = int(Path(f"/proc/{server}/stat").read_text().rsplit(")", 1)[1].split()[1])
        kill_and_wait(keeper)
        with redis_server(settings) as again:
            assert redis.Redis.from_url(again).info("server")["process_id"] == server
    wait_until_gone(socket_of(url))


def test_a_server_and_its_keeper_killed_together_are_back_within_ten_seconds(settings: Settings) -> None:
    with redis_server(settings) as url:
        client = redis.Redis.from_url(url)
        client.set("kept", "yes")
        server = client.info("server")["process_id"]
        keeper = int(Path(f"/proc/{server}/stat").read_text().rsplit(")", 1)[1].split()[1])
        os.kill(keeper, signal.SIGKILL)
        os.kill(server, signal.SIGKILL)
        killed = time.monotonic()
        while not valkey.Server(socket_of(url).parent).answers():
            assert time.monotonic() - killed < 10
            time.sleep(0.05)
        assert redis.Redis.from_url(url).get("kept") == b"yes"
    wait_until_gone(socket_of(url))


def test_a_path_too_long_for_a_socket_still_works(tmp_path: Path) -> None:
    settings = load_settings(trigpoint_data_dir=tmp_path / ("long" * 30) / "data")
    with redis_server(settings) as url:
        assert len(str(socket_of(url))) < 108
        assert redis.Redis.from_url(url).ping()


def test_a_url_is_used_as_it_is() -> None:
    with redis_server(load_settings(redis_url="redis://example.invalid:6379/0")) as url:
        assert url == "redis://example.invalid:6379/0"


async def test_the_client_goes_on_after_its_connection_was_cut(redis_url: str) -> None:
    client = redis_client(redis_url)
    await client.set("a", "1")
    await client.client_kill_filter(skipme=False)
    assert await client.get("a") == "1"
    await client.aclose()


def test_an_unreachable_server_is_reported_within_seconds() -> None:
    async def ask() -> None:
        client = redis_client("redis://127.0.0.1:1/0")
        with pytest.raises(redis.exceptions.ConnectionError):
            await client.ping()

    asyncio.run(asyncio.wait_for(ask(), 10))
