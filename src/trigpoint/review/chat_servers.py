"""Models behind a server that speaks the chat API: each message goes to it as one text, since many such servers know no parts."""

from __future__ import annotations

from dataclasses import replace

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

CHAT = "openai-chat:"


class ChatServerModel(WrapperModel):
    """A model that is sent the parts of a message joined. Marks for a provider's cache fall away."""

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        joined = [_joined(message) for message in messages]
        return await super().request(joined, model_settings, model_request_parameters)


def _joined(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    return replace(message, parts=[_one_text(p) if isinstance(p, UserPromptPart) else p for p in message.parts])


def _one_text(part: UserPromptPart) -> UserPromptPart:
    if isinstance(part.content, str):
        return part
    return replace(part, content="\n\n".join(one for one in part.content if isinstance(one, str)))
