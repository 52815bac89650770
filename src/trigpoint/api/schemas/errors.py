"""The error envelope, and how OpenAPI shows the errors of a route."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

_DESCRIPTIONS = {
    400: "Malformed or invalid request",
    401: "Missing or invalid API key",
    403: "The key lacks the scope that is needed, or the page of another site may not call",
    404: "Resource not found",
    409: "Duplicate or conflicting operation",
    413: "The body is larger than is allowed",
    422: "Field validation failed",
    429: "Rate limit exceeded",
    500: "Unhandled server error",
    502: "The policy server refused what was needed of it",
    503: "A store or a server that is needed cannot be reached",
    507: "Too little free space for new work",
}


class ErrorBody(BaseModel):
    code: str = Field(description="Machine-readable code", examples=["not_found"])
    message: str = Field(description="What was wrong, with what, and what to do")
    details: dict[str, Any] | None = Field(None, description="Data about the error; left out if there are none")


class ErrorResponse(BaseModel):
    """All errors have this envelope."""

    error: ErrorBody


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route: those given, and those that every route may answer with."""
    every = sorted({*statuses, 401, 403, 422, 429, 500, 503})
    return {status: {"model": ErrorResponse, "description": _DESCRIPTIONS[status]} for status in every}
