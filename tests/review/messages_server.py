"""A local server that speaks the Messages API: answers as a test tells it to, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Answer = dict[str, Any] | tuple[int, dict[str, Any]] | float
Model = Callable[[dict[str, Any]], Answer]


def judgement(**fields: Any) -> Callable[[dict[str, Any]], Answer]:
    """A model that answers with this judgement, whatever it is asked."""

    def model(request: dict[str, Any]) -> Answer:
        return said(request, fields)

    return model


def said(request: dict[str, Any], value: Any, tokens: tuple[int, int] = (900, 100)) -> Answer:
    """A structured answer: by the output tool where the request offers one, else as JSON."""
    tools = request.get("tools") or []
    if tools:
        block = {"type": "tool_use", "id": "toolu_1", "name": tools[0]["name"], "input": value}
        return message([block], "tool_use", tokens)
    return message([{"type": "text", "text": json.dumps(value)}], "end_turn", tokens)


def message(content: list[dict[str, Any]], stop_reason: str, tokens: tuple[int, int] = (900, 100)) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
    }


def failure(status: int, kind: str) -> tuple[int, dict[str, Any]]:
    return status, {"type": "error", "error": {"type": kind, "message": f"{kind} of the test"}}


class MessagesServer:
    """`with MessagesServer(model) as server:` A number as an answer is a pause in seconds before a plain one."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.requests: list[dict[str, Any]] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.requests.append(body)
                answer = owner.model(body)
                if isinstance(answer, float):
                    time.sleep(answer)
                    answer = message([{"type": "text", "text": "late"}], "end_turn")
                status, value = answer if isinstance(answer, tuple) else (200, answer)
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.send_header("retry-after", "0")
                self.end_headers()
                try:
                    self.wfile.write(data)
                except OSError:  # the client gave up waiting, as a test wanted it to
                    return

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def prompt(self, index: int = -1) -> str:
        """The text of the last user message that was sent."""
        content = self.requests[index]["messages"][-1]["content"]
        return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
