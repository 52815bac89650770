"""The three MCP servers as a job reaches them: over HTTP, with our key, one connection a server, opened when first used."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from trigpoint.config import Settings
from trigpoint.errors import ServerUnreachable, ToolFailed
from trigpoint.jobs.patience import try_again
from trigpoint.jobs.pausing import has_space
from trigpoint.jobs.queue import LeaseLost
from trigpoint.mcp.client import ToolClient
from trigpoint.review.models import Server, ToolProgress

log = logging.getLogger(__name__)

LONGEST_CALL_SECONDS = 3600.0  # a call may last as long as a large document takes; a job can be cancelled meanwhile
_PATIENCE_SECONDS = 900.0  # longer than a restart, a full disk or a failing store takes somebody to mend
_REGISTER_PATIENCE_SECONDS = 60.0  # a council's register may be down for long, and many wait for it
_REGISTER_AWAY = "request_failed"
_TRANSIENT = frozenset(
    {"store_unavailable", "registry_unavailable", "server_unreachable", "insufficient_storage", "store_restarting"}
)


class McpTools:
    """Connections for the length of one job: `async with McpTools(settings) as tools: await tools.call(…)`."""

    def __init__(self, settings: Settings, *, patience: float = _PATIENCE_SECONDS) -> None:
        self._settings = settings
        self._patience = patience
        self._connections: dict[str, _Connection] = {}
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self._connections.values():
            await connection.close()

    async def call(
        self, server: Server, tool: str, args: dict[str, Any], *, progress: ToolProgress | None = None
    ) -> dict[str, Any]:
        """Return a tool's answer. A server or store that is down is waited for, with back-off, while the lease is kept.

        Raises ToolFailed for what only the caller can mend, and the last error once patience has run out.
        """

        async def once() -> dict[str, Any]:
            await has_space(self._settings, what=f"{tool} of {server}")
            try:
                client = await self._client(server)
                return await client.call(tool, args, timeout=LONGEST_CALL_SECONDS, progress=_quietly(progress))  # type: ignore[arg-type]
            except ServerUnreachable:
                await self._drop(server)
                raise

        return await try_again(
            once, what=f"{tool} of {server}", patience=self._patience_for, first_wait=0.5, longest_wait=5.0
        )

    def _patience_for(self, error: Exception) -> float:
        if not isinstance(error, ServerUnreachable | ToolFailed):
            return 0
        if error.code == _REGISTER_AWAY:
            return min(self._patience, _REGISTER_PATIENCE_SECONDS)
        return self._patience if error.code in _TRANSIENT else 0

    async def _client(self, server: Server) -> ToolClient:
        async with self._opening:
            if server not in self._connections:
                client = ToolClient(self._settings.server_url(server), self._settings.mcp_token)
                self._connections[server] = await _Connection.open(client)
            return self._connections[server].client

    async def _drop(self, server: Server) -> None:
        async with self._opening:
            if connection := self._connections.pop(server, None):
                await connection.close()


def _quietly(progress: ToolProgress | None) -> ToolProgress | None:
    """Return the callback without its error for a job that was cancelled meanwhile.

    Its worker stops it, and the protocol's library would only log a traceback for each message.
    """
    if progress is None:
        return None

    async def tell(done: float, total: float | None, message: str | None) -> None:
        with suppress(LeaseLost):
            await progress(done, total, message)

    return tell


class _Connection:
    """A client in a task of its own.

    The protocol's library wants it closed by the task that opened it, and calls come from several tasks.
    """

    def __init__(self, client: ToolClient) -> None:
        self.client = client
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own())

    @classmethod
    async def open(cls, client: ToolClient) -> Self:
        connection = cls(client)
        try:
            await connection._opened
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _own(self) -> None:
        try:
            async with self.client:
                if not self._opened.done():
                    self._opened.set_result(None)
                await self._closing.wait()
        except Exception as error:
            if self._opened.done():
                log.debug("closing %s: %s", self.client.url, error)
            else:
                self._opened.set_exception(error)
        finally:
            if not self._opened.done():  # cancelled within the library: whoever waits must not wait for ever
                message = f"The connection to {self.client.url} broke off while it was opened"
                self._opened.set_exception(ServerUnreachable(message, url=self.client.url))

    async def close(self) -> None:
        self._closing.set()
        _, late = await asyncio.wait({self._owner}, timeout=2)
        for task in late:
            task.cancel()
