"""What comes in: bodies are limited while they come, JSON is read strictly and only so deep."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigpoint.api.errors import send_error

JSON_BYTES = 1024 * 1024
FORM_BYTES = 64 * 1024  # what a form may hold beside its file
_DEEPEST = 64


class TooLarge(HTTPException):
    """Raised where the body is read; the framework lets it through to our handler."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, too_large(limit))


def too_large(limit: int) -> str:
    shown = f"{limit // (1024 * 1024)} MB" if limit >= 1024 * 1024 else f"{limit} bytes"
    return f"The request is larger than the {shown} that are allowed"


class BodyLimit:
    """Plain ASGI middleware: refuses by the declared length at once, and by the real one while it comes in (P10)."""

    def __init__(self, app: ASGIApp, upload_bytes: int) -> None:
        self.app = app
        self._form_limit = upload_bytes + FORM_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        is_form = headers.get(b"content-type", b"").lower().startswith(b"multipart/form-data")
        limit = self._form_limit if is_form else JSON_BYTES
        declared = headers.get(b"content-length", b"")
        if declared.isdigit() and (len(declared) > 15 or int(declared) > limit):
            await send_error(send, 413, "payload_too_large", too_large(limit))
            return
        taken = 0

        async def receive_within_limit() -> Message:
            nonlocal taken
            message = await receive()
            if message["type"] == "http.request":
                taken += len(message.get("body", b""))
                if taken > limit:
                    raise TooLarge(limit)
            return message

        await self.app(scope, receive_within_limit, send)


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
