"""Models behind a server that speaks the chat API: each message goes to it as one text, since many such servers know no parts."""

from __future__ import annotations

import logging
from dataclasses import replace

from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

log = logging.getLogger(__name__)

CHAT = "openai-chat:"


class ChatServerModel(WrapperModel):
    """A model that is sent the parts of a message joined. Marks for a provider's cache fall away.

    A server that refuses to force a tool (`tool_choice`) is asked again with the choice left to the model, from then on.
    """

    _forces_tools = True

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        joined = [_joined(message) for message in messages]
        if self._forces_tools:
            try:
                return await super().request(joined, model_settings, model_request_parameters)
            except ModelHTTPError as error:
                if not _refuses_forcing(error):
                    raise
                log.warning("the server cannot force a tool (%s): the choice is left to the model", error.status_code)
                self._forces_tools = False
        left_open = replace(model_request_parameters, allow_text_output=True)
        return await super().request(joined, model_settings, left_open)


def _refuses_forcing(error: ModelHTTPError) -> bool:
    """Return whether a server turned a request down because it was to force a tool."""
    return error.status_code in (400, 422, 501) and "tool_choice" in str(error.body)


def _joined(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    return replace(message, parts=[_one_text(p) if isinstance(p, UserPromptPart) else p for p in message.parts])


def _one_text(part: UserPromptPart) -> UserPromptPart:
    if isinstance(part.content, str):
        return part
    return replace(part, content="\n\n".join(one for one in part.content if isinstance(one, str)))
