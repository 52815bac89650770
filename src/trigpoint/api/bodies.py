"""Request bodies of the REST API: limits on their size, and JSON that is parsed strictly and to a limited depth."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import Scope

from trigpoint.config import Settings

JSON_BYTES = 1024 * 1024
FORM_BYTES = 64 * 1024  # of a form, not counting its file
_DEEPEST = 64


def upload_limit(settings: Settings) -> int:
    """Return how many bytes a form with one file may have."""
    return settings.max_upload_mb * 1024 * 1024 + FORM_BYTES


def files_limit(settings: Settings) -> int:
    """Return how many bytes a form with all documents of an application may have."""
    return settings.max_application_mb * 1024 * 1024 + FORM_BYTES


def body_limit(settings: Settings) -> Callable[[Scope], int]:
    """Return the limit by kind of request: forms carry files, everything else is JSON."""
    with_file, with_files = upload_limit(settings), files_limit(settings)

    def limit_of(scope: Scope) -> int:
        kind = dict(scope["headers"]).get(b"content-type", b"").lower()
        if kind.startswith(b"multipart/form-data") and scope["path"] == "/api/v1/applications":
            return with_files
        return with_file if kind.startswith(b"multipart/form-data") else JSON_BYTES

    return limit_of


class _StrictRequest(Request):
    async def json(self) -> Any:
        body = await self.body()
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise json.JSONDecodeError(str(error.msg), "", error.pos) from None
        if _too_deep(value):
            raise json.JSONDecodeError(f"nested more than {_DEEPEST} levels deep", "", 0)
        return value


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)


class StrictRoute(APIRoute):
    """A route whose JSON is read by orjson: no NaN, no lone surrogates, no nesting beyond reason."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return handle_strictly
