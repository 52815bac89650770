"""Errors of MCP tools, those we serve and those we call."""

from __future__ import annotations

from typing import Any

from trigpoint.errors.root import InvalidInput, TrigpointError


class UnknownTool(TrigpointError):
    """A client called a tool that this server does not have; lists those it has."""

    code = "unknown_tool"
    status = 404


class AnswerTooLarge(InvalidInput):
    """The answer to a call is larger than MCP clients accept; the message says how to ask for less."""

    code = "answer_too_large"
    status = 413


class ToolFailed(TrigpointError):
    """A tool that we called answered with an error. `code` is the tool's own; `details` is its error object."""

    code = "tool_error"
    status = 502

    def __init__(self, code: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code  # type: ignore[misc]
        self.details = details or {}


class ServerUnreachable(TrigpointError):
    """An MCP server that we need does not answer. Names its address and the reason."""

    code = "server_unreachable"
    status = 503
