"""One envelope for every error of the REST API: ours, the framework's, and unexpected ones."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from trigpoint.errors import InvalidInput, PolicyError, TrigpointError, shorten
from trigpoint.http.envelope import envelope
from trigpoint.storage.space import full_disk_behind

log = logging.getLogger(__name__)

_CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "payload_too_large",
    415: "unsupported_media_type",
    422: "validation_error",
    429: "rate_limited",
    500: "internal_error",
    503: "store_unavailable",
}
_MOST_SHOWN = 50
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_PLAIN = {
    "tuple_type": "Input should be a list",
    "list_type": "Input should be a list",
    "dict_type": "Input should be an object",
    "model_type": "Input should be an object",
    "model_attributes_type": "Input should be an object",
}  # what pydantic says in Python's words
RETRY_AFTER_SECONDS = "5"


def error_response(
    status: int,
    code: str,
    message: str,
    details: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    return Response(envelope(code, message, details), status, headers, media_type="application/json")


def validation_response(problems: Sequence[Mapping[str, Any]]) -> Response:
    errors = [
        {
            "field": shorten(".".join(str(part) for part in problem["loc"]), 200),
            "message": shorten(_PLAIN.get(problem["type"], problem["msg"]), 1000),
            "type": problem["type"],
        }
        for problem in problems[:_MOST_SHOWN]
    ]
    return error_response(422, "validation_error", "Request validation failed", {"errors": errors})


def add_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(TrigpointError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(OSError, _system)


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, TrigpointError)
    if isinstance(error, InvalidInput):
        loc = ("body", error.details["field"]) if "field" in error.details else ("body",)
        return validation_response([{"loc": loc, "msg": f"Value error, {error.message}", "type": "value_error"}])
    if error.status >= 500:
        log.error("%s %s: %s: %s", request.method, request.url.path, error.code, error.message)
    headers = {"Retry-After": RETRY_AFTER_SECONDS} if error.status == 503 else None
    shown = error.details if error.status < 500 or isinstance(error, PolicyError) else None
    return error_response(error.status, error.code, error.message, shown, headers)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return validation_response([_without_position(problem) for problem in error.errors()])


def _without_position(problem: dict[str, Any]) -> dict[str, Any]:
    """Return a problem without its offset: malformed JSON is an error of the body, not of a field named after it."""
    if problem["type"] != "json_invalid":
        return problem
    reason = problem.get("ctx", {}).get("error", "")
    return {"loc": ("body",), "msg": f"JSON decode error: {reason}", "type": "json_invalid"}


async def _system(request: Request, error: Exception) -> Response:
    """Tell a full disk apart from errors that nobody expected."""
    if (full := full_disk_behind(error)) is None:
        raise error
    return await _ours(request, full)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if (full := full_disk_behind(error)) is not None:  # the framework takes it for a form that cannot be read
        return await _ours(request, full)
    code = _CODES.get(error.status_code, "error")
    message = error.detail if isinstance(error.detail, str) else HTTPStatus(error.status_code).phrase
    if error.status_code == 404:
        message = f"There is nothing at {shorten(request.url.path)}"
    if error.status_code == 405 and request.method == "OPTIONS":
        return Response(status_code=204, headers={"Allow": allowed_methods(request)})
    if error.status_code == 405:
        message = f"{shorten(request.method)} is not allowed at {shorten(request.url.path)}"
        return error_response(405, code, message, headers={"Allow": allowed_methods(request)})
    return error_response(error.status_code, code, message, headers=error.headers)


def allowed_methods(request: Request) -> str:
    """Return the methods of every route at this path, as `Allow` names them; the framework names those of the first."""

    def is_there(method: str) -> bool:
        asked = {**request.scope, "method": "GET" if method == "HEAD" else method}
        return any(route.matches(asked)[0] is Match.FULL for route in request.app.routes)

    return ", ".join([*(method for method in _METHODS if is_there(method)), "OPTIONS"])
