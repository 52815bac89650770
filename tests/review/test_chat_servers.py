"""Servers that speak the chat API and cannot do all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from messages_server import Answer
from openai_answers import in_chat_shape
from review_samples import evidence_of_text
from scripted_model import ScriptedModel
from test_agent import TEXT, judge, judged, use

__all__ = ["use"]  # the fixture


async def test_a_server_that_cannot_force_a_tool_is_asked_once_and_then_leaves_the_choice_to_the_model(
    use: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    script = in_chat_shape(ScriptedModel(judge=judged()))

    def model(request: dict[str, Any]) -> Answer:
        if request.get("tool_choice") != "auto":
            return 400, {"error": {"message": "Only tool_choice 'auto' is supported", "type": "invalid_request_error"}}
        return script(request)

    with use(model, trigpoint_model="openai-chat:local", review_model_concurrency=1) as (server, settings):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "test-key")
        judging = await judge(evidence_of_text(TEXT), settings)
    assert [one.text for aspect in judging.judgement.aspects for one in aspect.findings if "-" in one.check]
    choices = [request.get("tool_choice") for request in server.requests]
    assert choices[0] != "auto"
    assert set(choices[1:]) == {"auto"}
    assert "cannot force a tool" in caplog.text
