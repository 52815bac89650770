"""HEAD works wherever GET does: the same headers, no body."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """Plain ASGI middleware. A stream is never begun for a HEAD: its client could not read it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        headers = [
            (name, value)
            for name, value in scope["headers"]
            if name != b"accept" or b"text/event-stream" not in value.lower()
        ]

        async def send_without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self.app({**scope, "method": "GET", "headers": headers}, receive, send_without_body)
