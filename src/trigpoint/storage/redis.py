"""Redis: the server at `REDIS_URL`, or the Valkey out of a wheel on a socket in the data folder.

The embedded server is shared by all processes of one data folder: the first to come has it started, it stops
when the last has left, and a process that was killed counts as gone (see keeper.py). Its append-only file is on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

from trigpoint.config import Settings
from trigpoint.storage import valkey
from trigpoint.storage.files import data_folder
from trigpoint.storage.keeper import joined

LONGEST_SECONDS = 5.0  # a Redis that says nothing for so long is reported as unreachable


@contextmanager
def redis_server(settings: Settings, *, insist: bool = True) -> Iterator[str]:
    """Yield the URL of the server to use. While the context is open, an embedded server stays up.

    Raises StoreUnavailable if the embedded one does not start; without `insist`, only later requests fail.
    """
    if settings.redis_url is not None:
        yield settings.redis_url
        return
    folder = data_folder(settings, "redis", mode=0o700)
    server = valkey.Server(folder)
    with joined(server, insist=insist):
        yield f"unix://{server.socket}?db=0"


@asynccontextmanager
async def open_redis(settings: Settings, *, insist: bool = True) -> AsyncIterator[Redis]:
    """Yield a client of the server to use, which is started in a thread to block nobody else. See `redis_server`."""
    with ExitStack() as stack:
        url = await asyncio.to_thread(stack.enter_context, redis_server(settings, insist=insist))
        async with redis_client(url) as client:
            yield client


def redis_client(url: str, *, decode: bool = True) -> Redis:
    """Return a client with time-outs. It retries when a connection was lost, but not when no answer came in time.

    A server that hangs would take as long at every try, and the command may have been carried out already.
    """
    return Redis.from_url(
        url,
        decode_responses=decode,
        socket_connect_timeout=5,
        socket_timeout=15,
        health_check_interval=30,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.02), 4, supported_errors=(RedisConnectionError,)),
    )


def describe(client: Redis) -> str:
    """Return what this client talks to, as a message can name it. No password is shown."""
    given = client.connection_pool.connection_kwargs
    path = given.get("path")
    if path is not None and Path(path).name == valkey.SOCKET:
        return f"The embedded Valkey in {Path(path).parent}"
    return f"Redis at {path or '{}:{}'.format(given.get('host'), given.get('port'))} (REDIS_URL)"
