"""The answers of a scripted model in the shape of the OpenAI chat API."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from messages_server import Answer


def in_chat_shape(model: Callable[[dict[str, Any]], Answer]) -> Callable[[dict[str, Any]], Answer]:
    """Return the same model, asked and answering in the chat API."""

    def chat(request: dict[str, Any]) -> Answer:
        told = [one for one in request["messages"] if one["role"] == "system"]
        said = [_plain(one) for one in request["messages"] if one["role"] != "system"]
        answer = model({"system": told, "messages": said, "tools": request.get("tools")})
        return _completion(answer) if isinstance(answer, dict) else answer

    return chat


def _plain(one: dict[str, Any]) -> dict[str, Any]:
    content = one.get("content") or json.dumps(one.get("tool_calls"))
    return {"role": one["role"], "content": content if isinstance(content, str) else list(content)}


def _completion(answer: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": b["name"], "arguments": json.dumps(b["input"])}}
        for n, b in enumerate(answer["content"])
        if b["type"] == "tool_use"
    ]
    text = "".join(block["text"] for block in answer["content"] if block["type"] == "text") or None
    said = {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})
    asked, written = answer["usage"]["input_tokens"], answer["usage"]["output_tokens"]
    usage = {"prompt_tokens": asked, "completion_tokens": written, "total_tokens": asked + written}
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": said}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "local", "choices": [choice], "usage": usage}
