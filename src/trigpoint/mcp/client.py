"""Calls a tool of an MCP server for the worker, the API and the CLI, with the key and with plain errors."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2
from mcp import MCPError
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import REQUEST_TIMEOUT, CallToolRequest, CallToolRequestParams, CallToolResult, TextContent

from trigpoint.errors import ServerUnreachable, ToolFailed, shorten
from trigpoint.http.certificates import certificates
from trigpoint.logs import request_id
from trigpoint.mcp.answers import ANY_SIZE_HEADER
from trigpoint.mcp.shapes import wrong_shape

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
READ_SECONDS = 300.0

_REFUSALS = {
    401: "it rejected our key (401); MCP_API_KEY must be the same on both sides",
    413: "the request is larger than it allows (413)",
    421: "it does not answer to this host name (421); add the name to its MCP_ALLOWED_HOSTS",
}


class ToolClient:
    """One connection to one server: `async with ToolClient(url, key) as client: await client.call("tool", {…})`.

    `url` is the server's address (`http://127.0.0.1:3002`), or an endpoint of it that ends in `/mcp` or `/sse`.
    Calls may run side by side; a call that is cancelled here is cancelled there.
    """

    def __init__(self, url: str, api_key: str | None = None) -> None:
        self.url = url.rstrip("/")
        self._api_key = api_key
        self._stack = AsyncExitStack()
        self._client: Client | None = None
        self._refused_with: int | None = None

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            try:
                self._client = await stack.enter_async_context(Client(self._transport()))
            except Exception as error:
                raise self._unreachable(error) from None
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client = None
        try:
            await self._stack.aclose()
        except Exception as problem:
            log.debug("closing the connection to %s: %s", self.url, _reason(problem))

    async def call(
        self,
        tool: str,
        args: dict[str, Any],
        *,
        timeout: float | None = READ_SECONDS,
        progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """Return the tool's answer. Raises ToolFailed if the tool refuses, ServerUnreachable if nobody answers."""
        if self._client is None:
            raise RuntimeError("ToolClient is used within `async with`")
        try:
            request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=args))
            result = await self._client.session.send_request(
                request, CallToolResult, request_read_timeout_seconds=timeout, progress_callback=progress
            )
            wrong = "" if result.is_error else await wrong_shape(self.url, self._client, tool, result)
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                raise ToolFailed("timeout", f"{tool} at {self.url} did not answer within {timeout:g} s") from None
            raise self._unreachable(error) from None
        except Exception as error:
            raise self._unreachable(error) from None
        if wrong:
            raise ToolFailed(
                "invalid_answer", f"{tool} at {self.url} gave an answer that it does not declare: {shorten(wrong, 300)}"
            )
        body = _answer_body(result)
        if result.is_error or body.get("status") == "error":
            code, message = _failure(body)
            raise ToolFailed(code, message, body)
        return body

    def _transport(self) -> Any:
        if urlsplit(self.url).path.endswith("/sse"):
            return sse_client(self.url, httpx_client_factory=self._http_for_sse)
        endpoint = self.url if urlsplit(self.url).path.endswith("/mcp") else f"{self.url}/mcp"
        return _streamable(endpoint, self._http({ANY_SIZE_HEADER.encode(): b"1"}))

    def _http_for_sse(self, headers: Any = None, timeout: Any = None, auth: Any = None) -> httpx2.AsyncClient:
        return self._http()

    def _http(self, more_headers: Mapping[bytes, bytes] | None = None) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={**self._headers(), **(more_headers or {})},
            timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            event_hooks={"response": [self._note_refusal]},
            trust_env=False,  # these are our own servers: a proxy for the web must not come between
            verify=certificates(),
        )

    def _headers(self) -> dict[bytes, bytes]:
        """Return our key, and the id of the request on whose behalf we call, which links both sides' logs."""
        headers = {b"Authorization": b"Bearer " + self._api_key.encode()} if self._api_key else {}
        ident = request_id.get()
        return headers if ident == "-" or not ident.isascii() else headers | {b"X-Request-ID": ident.encode()}

    async def _note_refusal(self, response: httpx2.Response) -> None:
        self._refused_with = response.status_code if response.status_code in (401, 413, 421) else None

    def _unreachable(self, error: BaseException) -> ServerUnreachable:
        reason = _REFUSALS.get(self._refused_with or 0) or _reason(error)
        return ServerUnreachable(f"The MCP server at {self.url} cannot be used: {reason}", url=self.url)


@asynccontextmanager
async def _streamable(endpoint: str, http: httpx2.AsyncClient) -> AsyncIterator[Any]:
    async with http, streamable_http_client(endpoint, http_client=http, max_sse_event_size=None) as streams:
        yield streams


def _answer_body(result: CallToolResult) -> dict[str, Any]:
    if isinstance(result.structured_content, dict):
        return result.structured_content
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    try:
        parsed = json.loads(text)  # a server without structured content
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"message": text}


def _failure(body: dict[str, Any]) -> tuple[str, str]:
    """Return code and message from any of the surfaces' envelopes."""
    inner = body["error"] if isinstance(body.get("error"), dict) else body
    code = inner.get("error_type") or inner.get("code") or body.get("error") or "tool_error"
    return str(code), str(inner.get("message") or body.get("message") or code)


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return shorten(str(error) or type(error).__name__, 300)
