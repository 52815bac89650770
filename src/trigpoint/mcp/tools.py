"""A tool, declared once: what it takes, what it gives, how it behaves. Schema, validation and results follow from that."""

from __future__ import annotations

import asyncio
import copy
import json
import math
import re
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from trigpoint.errors import InvalidInput, TrigpointError, shorten
from trigpoint.mcp.answers import Cut, left_off_schema

ErrorBody = Callable[[TrigpointError], dict[str, Any]]
SendProgress = Callable[[float, float | None, str | None], Awaitable[None]]


def _has_nul(value: Any) -> bool:
    match value:
        case str():
            return "\x00" in value
        case BaseModel():
            return any(_has_nul(item) for _, item in value)
        case list() | tuple():
            return any(map(_has_nul, value))
    return False


def _without_nul(given: Any) -> Any:
    if _has_nul(given):
        raise ValueError("contains a NUL character")
    return given


NO_NUL = AfterValidator(_without_nul)  # for a text, and for anything that holds texts
PlainText = Annotated[str, NO_NUL]


class ToolInput(BaseModel):
    """Arguments of a tool: types are strict as in JSON Schema, and unknown arguments are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ToolCall:
    """One call of a tool, as its handler sees it."""

    authorization: str | None = None  # the header that came with the call over HTTP, for a handler that passes it on
    over_stdio = False
    client_info: Any = None  # what the client has said of itself
    any_size = False  # the caller takes answers of any size

    def __init__(
        self,
        request_id: str,
        send_progress: SendProgress,
        state: Any = None,
        stopping: threading.Event | None = None,
    ) -> None:
        self.request_id = request_id
        self.state = state
        self._send_progress = send_progress
        self._cancelled = threading.Event()
        self._stopping = stopping or threading.Event()
        self._loop = asyncio.get_running_loop()
        self._latest: tuple[float, float | None, str | None] | None = None
        self._sent = -math.inf
        self._pump: asyncio.Task[None] | None = None

    @property
    def client(self) -> str:
        """Return the name that the client gives itself, with its version: `claude-ai 0.1.0`."""
        info = self.client_info
        name = f"{info.title or info.name} {info.version}".strip() if info is not None else ""
        return shorten(name) or "unnamed MCP client"

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the work is, unless it did not ask for that or knows it already."""
        if done > self._sent:  # MCP: the value must grow with each notification
            self._sent = done
            await self._send_progress(done, total, message)

    def report(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress from a worker thread: never waits, and a newer report replaces one not yet sent."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._enqueue, (done, total, message))

    def cancelled(self) -> bool:
        """Return whether the client gave up, or the server is stopping. Threads ask this between their steps."""
        return self._cancelled.is_set() or self._stopping.is_set()

    def cancel(self) -> None:
        self._cancelled.set()

    def _enqueue(self, latest: tuple[float, float | None, str | None]) -> None:
        self._latest = latest
        if self._pump is None or self._pump.done():
            self._pump = self._loop.create_task(self._send_latest())

    async def _send_latest(self) -> None:
        while self._latest is not None and not self._cancelled.is_set():
            latest, self._latest = self._latest, None
            await self.progress(*latest)

    async def flush(self) -> None:
        """Send progress that is still waiting before the result goes out."""
        if self._pump is not None:
            await self._pump


@dataclass(frozen=True)
class Tool:
    """A handler gets the validated input and the call; it returns the output model, or a dict of that shape."""

    name: str
    description: str
    input: type[BaseModel]
    output: type[BaseModel]
    handler: Callable[[Any, ToolCall], Awaitable[BaseModel | dict[str, Any]]]
    read_only: bool = False
    idempotent: bool = False
    destructive: bool = False
    open_world: bool = False
    title: str | None = None
    cut: Cut | None = None

    @property
    def takes_space(self) -> bool:
        """Whether a call may fill the disk: it changes something, and does not remove it."""
        return not self.read_only and not self.destructive

    def input_schema(self) -> dict[str, Any]:
        return _object_schema(self.input.model_json_schema(by_alias=True))

    def output_schema(self, error_schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema of a result or of the error object: some clients check structured errors too."""
        schema = copy.deepcopy(self.output.model_json_schema(by_alias=True, mode="validation"))
        schema = _compact(schema)
        definitions = schema.pop("$defs", None)
        variants = schema.get("anyOf") or schema.get("oneOf") or [schema]
        if self.cut:
            schema.setdefault("properties", {})["left_off"] = left_off_schema()
        return {
            "type": "object",
            "anyOf": [*variants, dict(error_schema)],
            **({"$defs": definitions} if definitions else {}),
        }

    def parse(self, arguments: Mapping[str, Any] | None) -> BaseModel:
        """Return the arguments as the input model. Raises InvalidInput naming each argument that is wrong."""
        try:
            return self.input.model_validate_json(json.dumps(_whole_numbers(arguments or {})), strict=True)
        except ValidationError as error:
            problems = [_explain(problem) for problem in error.errors(include_url=False, include_context=False)]
        except (ValueError, RecursionError):
            problems = ["the arguments cannot be read as JSON"]
        raise InvalidInput(f"Invalid arguments for {self.name}: " + "; ".join(problems[:10]), problems=problems[:10])


def status_error(error: TrigpointError) -> dict[str, Any]:
    """Return the envelope of the planning servers."""
    return {"status": "error", "error_type": error.code, "message": error.message}


def error_schema(error_body: ErrorBody) -> dict[str, Any]:
    """Return a schema for a surface's error objects, made from two of them: fields of both are required."""
    plain, detailed = error_body(TrigpointError("")), error_body(InvalidInput("", problems=["one"]))
    return _schema_like(plain, detailed)


def _schema_like(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required = [key for key in one if key in other]
    for key in required:
        if isinstance(one[key], Mapping) and isinstance(other[key], Mapping):
            properties[key] = _schema_like(one[key], other[key])
        elif isinstance(one[key], str) and isinstance(other[key], str):
            properties[key] = {"const": one[key]} if key == "status" else {"type": "string"}
        else:
            properties[key] = {}
    known = {"properties": properties, "required": required} if required else {}
    return {"type": "object", **known}


def _compact(schema: Any) -> Any:
    """Write `anyOf` of plain types as a list of types: a model pays for every character of a tool list."""
    if isinstance(schema, list):
        return [_compact(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    options = schema.get("anyOf")
    if isinstance(options, list) and all(isinstance(one, dict) and one.keys() == {"type"} for one in options):
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return {"type": [one["type"] for one in options], **rest}
    return {key: _compact(value) for key, value in schema.items()}


def _object_schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {}, **schema}


def _whole_numbers(value: Any) -> Any:
    """Return whole floats as integers, as JSON Schema sees them: `2.0` is an integer."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _whole_numbers(item) for key, item in value.items()}
    return [_whole_numbers(item) for item in value] if isinstance(value, list) else value


def _explain(problem: Any) -> str:
    where = ".".join(str(part) for part in problem["loc"])
    match problem["type"]:
        case "missing":
            return f"'{where}' is required"
        case "extra_forbidden":
            return f"'{shorten(where)}' is not an argument of this tool"
        case "json_invalid":
            return "the arguments cannot be read as JSON"
    reason = problem["msg"].removeprefix("Value error, ")
    value = problem["input"]
    if isinstance(value, str):
        reason = re.sub(r"item(s?) after validation", r"character\1", reason)
    shown = shorten(json.dumps(value)) if isinstance(value, bool | int | float | list | dict) else shorten(repr(value))
    return f"'{where}': {reason[0].lower() + reason[1:]} (got {shown})"
