"""A tool server with one tool of each temper."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import BaseModel

from trigpoint.config import Settings
from trigpoint.errors import FileMissing
from trigpoint.mcp.server import PlainText, Tool, ToolCall, ToolInput, ToolServer


class EchoInput(ToolInput):
    text: PlainText
    times: int = 1


class EchoOutput(BaseModel):
    status: Literal["success"] = "success"
    text: str


class Nothing(ToolInput):
    pass


class Log:
    """What handlers saw."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self.left: list[bool] = []
        self.began = asyncio.Event()
        self.ended = asyncio.Event()


def echo_server(settings: Settings, log: Log | None = None, **options) -> ToolServer:
    async def echo(given: EchoInput, call: ToolCall) -> EchoOutput:
        return EchoOutput(text=given.text * given.times)

    async def fail(given: Nothing, call: ToolCall) -> EchoOutput:
        raise FileMissing("No file here")

    async def crash(given: Nothing, call: ToolCall) -> EchoOutput:
        raise RuntimeError("the password is hunter2")

    async def steps(given: Nothing, call: ToolCall) -> dict:
        for done in (1, 2, 2, 1, 3):  # a client hears of what is new only
            await call.progress(done, 3, f"step {done}")
        return {"status": "success", "text": "done"}

    async def wait(given: Nothing, call: ToolCall) -> EchoOutput:
        assert log is not None
        log.calls.append(call)
        log.began.set()
        try:
            await asyncio.sleep(60)
        finally:
            log.left.append(call.cancelled())
            log.ended.set()
        raise AssertionError("nobody cancelled")

    tools = [
        Tool("echo", "Says it again.", EchoInput, EchoOutput, echo, read_only=True),
        Tool("fail", "Fails.", Nothing, EchoOutput, fail, idempotent=True),
        Tool("crash", "Crashes.", Nothing, EchoOutput, crash, destructive=True),
        Tool("steps", "Reports progress.", Nothing, EchoOutput, steps),
        Tool("wait", "Waits.", Nothing, EchoOutput, wait),
    ]
    return ToolServer("echo-mcp", tools, settings, **options)
