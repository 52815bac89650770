"""One factory for every MCP server: tools over SSE (`/sse`, `/messages/`), Streamable HTTP (`/mcp`) and stdio.

Owns transports, limits, logging of calls and the shape of failures; what a tool does is its handler's business.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import cached_property
from http import HTTPStatus
from typing import Any

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from trigpoint import __version__
from trigpoint.config import Settings
from trigpoint.errors import InvalidInput, TrigpointError, Unauthorized, UnknownTool, shorten
from trigpoint.http.context import RequestIds
from trigpoint.http.hosts import HostGuard, allowed_hosts
from trigpoint.http.limits import BodyLimit
from trigpoint.logs import new_request_id, request_id
from trigpoint.mcp.answers import ANY_SIZE_HEADER, MOST_BYTES, fitting, tool_result
from trigpoint.mcp.auth import MCPAuthMiddleware
from trigpoint.mcp.opening import Lifespan, Opening
from trigpoint.mcp.prompts import Prompt
from trigpoint.mcp.stdio import answering_stdio
from trigpoint.mcp.tools import (
    ErrorBody,
    PlainText,
    Tool,
    ToolCall,
    ToolInput,
    error_schema,
    status_error,
)
from trigpoint.metrics import CONTENT_TYPE, TOOL_CALLS, exposition
from trigpoint.storage.space import full_disk_behind, require_space

__all__ = ["PlainText", "Tool", "ToolCall", "ToolInput", "ToolServer", "status_error"]

log = logging.getLogger(__name__)

Problems = Callable[[Any], Sequence[str]]

_CANCEL_SECONDS = 10.0
SESSION_IDLE_SECONDS = 900.0  # a client that has asked nothing for so long, and listens to nothing, has gone away
MOST_SESSIONS = 2_000


class ToolServer:
    """Tools under one name. What the lifespan yields reaches each handler as `call.state`."""

    def __init__(
        self,
        name: str,
        tools: Sequence[Tool],
        settings: Settings,
        *,
        error_body: ErrorBody = status_error,
        unauthorized: str = Unauthorized.code,
        lifespan: Lifespan | None = None,
        max_body_bytes: int = 4 * 1024 * 1024,
        instructions: str | None = None,
        prompts: Sequence[Prompt] = (),
        prepare_alone: Callable[[Any], Awaitable[None]] | None = None,
        most_bytes: int = MOST_BYTES,
        problems: Problems = lambda state: [],
    ) -> None:
        """Make a server of tools. `prepare_alone` runs once if a client started it over stdio; tools wait for that.

        `problems` is asked for what health should tell of an open server.
        """
        self.name = name
        self.tools = {tool.name: tool for tool in tools}
        if len(self.tools) != len(tools):
            raise ValueError(f"{name}: two tools have the same name")
        self.settings = settings
        self.error_body = error_body
        self.unauthorized = unauthorized
        self.max_body_bytes = max_body_bytes
        self.most_bytes = most_bytes
        self.prompts = {prompt.name: prompt for prompt in prompts}
        self._prepare_alone = prepare_alone
        self._preparing: asyncio.Task[None] | None = None
        self._opening = Opening(name, lifespan or nullcontext)
        self._problems = problems
        self._stopping = threading.Event()
        self._inputs = {tool.name: tool.input_schema() for tool in tools}
        self._server: Server[Any] = Server(
            name,
            version=__version__,
            instructions=instructions,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=self._list_prompts if prompts else None,
            on_get_prompt=self._get_prompt if prompts else None,
            get_tool_input_schema=self._inputs.get,
        )

    # --- transports

    def app(self) -> Starlette:
        """Return the HTTP application; its lifespan opens what the handlers need and closes it again."""
        sessions = StreamableHTTPSessionManager(
            self._server,
            max_request_body_size=self.max_body_bytes,
            session_idle_timeout=SESSION_IDLE_SECONDS,
            max_sessions=MOST_SESSIONS,
        )
        sse = SseServerTransport("/messages/", max_request_body_size=self.max_body_bytes)

        @asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            async with self.running(), sessions.run():
                yield

        token = self.settings.mcp_token
        hosts = allowed_hosts(self.settings, auth_on=self.settings.mcp_auth_on)
        return Starlette(
            routes=[
                Route("/health", self._health, methods=["GET"]),
                Route("/metrics", _metrics, methods=["GET"]),
                Route("/sse", _SseEndpoint(self._server, sse)),
                Mount("/messages/", app=sse.handle_post_message),
                Route("/mcp", StreamableHTTPASGIApp(sessions)),
            ],
            exception_handlers={HTTPException: self._http_error},
            middleware=[
                Middleware(RequestIds),
                *([Middleware(MCPAuthMiddleware, api_key=token, code=self.unauthorized)] if token else []),
                Middleware(HostGuard, hosts=hosts, header="Host"),
                Middleware(HostGuard, hosts=hosts, header="Origin"),
                Middleware(BodyLimit, limit_of=lambda scope: self.max_body_bytes),
            ],
            lifespan=lifespan,
        )

    async def run_stdio(self) -> None:
        """Serve this process's stdin and stdout until the client closes them."""
        async with self.running() as state, answering_stdio() as (read, write):
            if self._prepare_alone is not None:
                self._preparing = asyncio.create_task(self._prepare(self._prepare_alone(state)))
            try:
                await self._server.run(read, write, self._server.create_initialization_options())
            finally:
                if self._preparing is not None:
                    self._preparing.cancel()
                    await asyncio.wait({self._preparing})

    async def _prepare(self, work: Awaitable[None]) -> None:
        """Run the preparation and log its failure: answering without it is better than not answering."""
        try:
            await work
        except TrigpointError as error:
            log.warning("%s is not prepared: %s", self.name, error.message)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Any]:
        """Open what the handlers need. Transports enter this; a test may, too."""
        async with self._opening.running():
            yield self._opening.state

    async def _health(self, request: Request) -> JSONResponse:
        """Report `degraded` while a store cannot be opened, or has a problem that should be known."""
        away = self._opening.problem
        problems = [away.message] if away is not None else list(self._problems(self._opening.state))
        return JSONResponse({"status": "degraded", "problems": problems} if problems else {"status": "ok"})

    async def _http_error(self, request: Request, error: Exception) -> Response:
        """Answer a wrong path or method in the envelope, with codes in the case that this server uses."""
        assert isinstance(error, HTTPException)
        if request.method == "OPTIONS" and error.status_code == 405:
            return Response(status_code=204, headers=error.headers)
        code = HTTPStatus(error.status_code).name
        shown = code if self.unauthorized.isupper() else code.lower()
        message = f"{HTTPStatus(error.status_code).phrase}: {request.method} {shorten(request.url.path)}"
        return JSONResponse({"error": {"code": shown, "message": message}}, error.status_code, error.headers)

    def begin_stop(self) -> None:
        """Tell work in threads that the process is about to end, as if its caller had cancelled."""
        self._stopping.set()

    # --- the protocol's requests

    @cached_property
    def descriptions(self) -> list[types.Tool]:
        """Return the tools as a client sees them. Made once: clients ask in every session, and schemas take 10 ms."""
        failure = error_schema(self.error_body)
        return [
            types.Tool(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=self._inputs[tool.name],
                output_schema=tool.output_schema(failure),
                annotations=types.ToolAnnotations(
                    title=tool.title,
                    read_only_hint=tool.read_only,
                    idempotent_hint=tool.idempotent or tool.read_only,
                    destructive_hint=tool.destructive,
                    open_world_hint=tool.open_world,
                ),
            )
            for tool in self.tools.values()
        ]

    async def _list_tools(self, ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self.descriptions)

    async def _list_prompts(self, ctx: Any, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[prompt.description_for_clients() for prompt in self.prompts.values()])

    async def _get_prompt(self, ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = self.prompts.get(params.name)
        if prompt is None:
            known = ", ".join(self.prompts)
            raise MCPError(types.INVALID_PARAMS, f"No prompt is called '{shorten(params.name)}'. There are: {known}")
        try:
            text = prompt.fill(params.arguments or {})
        except InvalidInput as error:
            raise MCPError(types.INVALID_PARAMS, error.message) from None
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def _call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        ident = _caller_id(ctx) or new_request_id()
        call = ToolCall(ident, ctx.session.report_progress, self._opening.state, self._stopping)
        call.over_stdio = ctx.request is None
        call.any_size = ctx.request is not None and ANY_SIZE_HEADER in ctx.request.headers
        call.authorization = ctx.request.headers.get("authorization") if ctx.request is not None else None
        call.client_info = getattr(ctx.session.client_params, "client_info", None)
        request_id.set(call.request_id)
        started = time.perf_counter()
        failure: TrigpointError | None = None
        try:
            body = await self._run(params.name, params.arguments, call)
        except TrigpointError as error:
            failure, body = error, self.error_body(error)
        except asyncio.CancelledError:
            log.info("%s cancelled by the client", shorten(params.name))
            raise
        except Exception as error:
            log.exception("%s failed unexpectedly", shorten(params.name))
            internal = TrigpointError(f"Internal error. The server's log has the details under {call.request_id}")
            failure = full_disk_behind(error) or internal  # a worker waits until there is space, and asks again
            body = self.error_body(failure)
        took = (time.perf_counter() - started) * 1000
        known = params.name if params.name in self.tools else "unknown"
        TOOL_CALLS.labels(self.name, known, failure.code if failure else "ok").observe(took / 1000)
        outcome = f"{failure.code}: {shorten(failure.message, 300)}" if failure else "ok"
        log.info("%s %s in %.0f ms", known, outcome, took)
        return tool_result(body, failed=failure is not None, any_size=call.any_size)

    async def _run(self, name: str, arguments: Mapping[str, Any] | None, call: ToolCall) -> dict[str, Any]:
        tool = self.tools.get(name)
        if tool is None:
            raise UnknownTool(f"Unknown tool '{shorten(name)}'. {self.name} has: {', '.join(self.tools)}")
        parsed = tool.parse(arguments)
        if self._opening.problem is not None:
            raise self._opening.problem
        if self._preparing is not None:
            await asyncio.wait({self._preparing})
        if tool.takes_space:
            require_space(self.settings)
        task = asyncio.ensure_future(tool.handler(parsed, call))
        try:
            result = await asyncio.shield(task)
        except asyncio.CancelledError:
            call.cancel()  # first the flag, for work in threads; then the handler itself
            task.cancel()
            with anyio.move_on_after(_CANCEL_SECONDS, shield=True):
                await asyncio.wait([task])
            if task.done() and not task.cancelled() and (error := task.exception()):
                log.debug("%s ended with %r after it was cancelled", name, error)
            raise
        await call.flush()
        body = result if isinstance(result, dict) else result.model_dump(mode="json", by_alias=True)
        return body if call.any_size else fitting(body, tool.cut, self.most_bytes)


class _SseEndpoint:
    """`GET /sse`: one connection, one session, until the client leaves."""

    def __init__(self, server: Server[Any], transport: SseServerTransport) -> None:
        self.server = server
        self.transport = transport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            raise HTTPException(405, headers={"Allow": "GET"})
        async with self.transport.connect_sse(scope, receive, send) as (read, write):
            await self.server.run(read, write, self.server.create_initialization_options())


async def _metrics(request: Request) -> Response:
    return Response(exposition(), media_type=CONTENT_TYPE)


def _caller_id(ctx: Any) -> str | None:
    """Return the id that one of our own clients sent along over HTTP."""
    headers = getattr(getattr(ctx, "request", None), "headers", None)
    ident: str = headers.get("x-request-id", "") if headers is not None else ""
    return ident if ident.isascii() and ident.isprintable() and 0 < len(ident) <= 128 else None
